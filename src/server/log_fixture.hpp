// A server's log whose lines a test reads.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <unistd.h>

#include "server/log.hpp"

namespace undertext {

class LogPipe {
 public:
  LogPipe() {
    if (::pipe(ends_) != 0) std::abort();
  }
  ~LogPipe() { ::close(ends_[0]); }
  LogPipe(const LogPipe&) = delete;
  LogPipe& operator=(const LogPipe&) = delete;

  ServerLog& log(ServerLog::Requests requests) { return log_.emplace(ends_[1], requests); }
  // All that was logged; ends the log.
  std::string written() {
    log_.reset();
    ::close(ends_[1]);
    std::string text;
    char some[4096];
    for (ssize_t got = 0; (got = ::read(ends_[0], some, sizeof some)) > 0;)
      text.append(some, static_cast<std::size_t>(got));
    return text;
  }

 protected:
  int ends_[2] = {-1, -1};
  std::optional<ServerLog> log_;
};

}  // namespace undertext
