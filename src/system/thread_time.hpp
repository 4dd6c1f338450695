// The time of processors that a thread was given, or waited for.
#pragma once

#include <chrono>

namespace undertext {

// Of the thread that asks: what it ran, and on Linux also what it waited for a processor.
std::chrono::nanoseconds thread_time();

}  // namespace undertext
