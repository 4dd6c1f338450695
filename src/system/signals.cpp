#include "system/signals.hpp"

#include <unistd.h>

namespace undertext {

void ignore_broken_pipes() { ::signal(SIGPIPE, SIG_IGN); }

void ignore_file_limit() { ::signal(SIGXFSZ, SIG_IGN); }

sigset_t block_signals(std::initializer_list<int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : numbers) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void unblock(const sigset_t& signals) { pthread_sigmask(SIG_UNBLOCK, &signals, nullptr); }

void await_any(const sigset_t& signals) {
  int got = 0;
  while (::sigwait(&signals, &got) != 0) {
  }
}

#ifdef __APPLE__

Signal wait_for_signal(const sigset_t& signals) {
  int number = 0;
  if (::sigwait(&signals, &number) != 0) return {.number = -1};
  const bool has_terminal = ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  return {.number = number,
          .is_of_terminal =
              has_terminal && (number == SIGINT || number == SIGQUIT || number == SIGHUP)};
}

#else

Signal wait_for_signal(const sigset_t& signals) {
  siginfo_t info{};
  const int number = ::sigwaitinfo(&signals, &info);
  return {.number = number, .is_of_terminal = info.si_code == SI_KERNEL};
}

#endif

}  // namespace undertext
