// Releases before the log had an order stored neither it nor what edited copies stand for. Such a
// history gets both before it is first written to.
#pragma once

#include <undertext/history.hpp>

#include "history/state.hpp"

namespace undertext {

// The same history with the order of its log and with what its messages stand for, made from the
// versions that it has. Of messages that no kept version put anywhere, the order is that of their
// ordinals. O(log n) for each version, and O(n) once.
History with_order(const History& history);

}  // namespace undertext
