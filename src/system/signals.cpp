#include "system/signals.hpp"

#include <unistd.h>

namespace undertext {

#ifdef __APPLE__

Signal wait_for_signal(const sigset_t& signals) {
  int number = 0;
  if (::sigwait(&signals, &number) != 0) return {.number = -1};
  const bool has_terminal = ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  return {.number = number, .is_of_terminal = has_terminal && (number == SIGINT || number == SIGQUIT || number == SIGHUP)};
}

#else

Signal wait_for_signal(const sigset_t& signals) {
  siginfo_t info{};
  const int number = ::sigwaitinfo(&signals, &info);
  return {.number = number, .is_of_terminal = info.si_code == SI_KERNEL};
}

#endif

}  // namespace undertext
