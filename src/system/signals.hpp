// Signals that are waited for, and who sent them.
#pragma once

#include <signal.h>

namespace undertext {

struct Signal {
  int number = 0;  // below 0: the wait was interrupted
  bool is_of_terminal = false;
};

// Waits for one of these, which are blocked. A terminal sends its own to all processes before it, not to one. macOS does not say who sent a
// signal: those that a terminal sends are then taken for its own while it is ours.
Signal wait_for_signal(const sigset_t& signals);

}  // namespace undertext
