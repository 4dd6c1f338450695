// Signals: which end the process, which are waited for, and who sent them.
#pragma once

#include <initializer_list>

#include <signal.h>

namespace undertext {

// A reader that goes away is a failed write then, not the end of the process.
void ignore_broken_pipes();
// A write beyond `ulimit -f` fails then, as one to a full disk does.
void ignore_file_limit();

// For this thread, and for those that it starts from now on.
sigset_t block_signals(std::initializer_list<int> numbers);
void unblock(const sigset_t& signals);
void await_any(const sigset_t& signals);  // any of these, which are blocked

struct Signal {
  int number = 0;  // below 0: the wait was interrupted
  bool is_of_terminal = false;
};

// Waits for one of these, which are blocked. A terminal sends its own to all processes before it,
// not to one. macOS does not say who sent a signal: those that a terminal sends are then taken for
// its own while it is ours.
Signal wait_for_signal(const sigset_t& signals);

}  // namespace undertext
