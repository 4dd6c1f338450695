// The sockets of connections to upstreams, by the port that each has on this machine: libcurl tells
// no more of the connection that it is about to use again.
//
// On the thread of UpstreamClient alone.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace undertext {

class UpstreamSockets {
 public:
  void opened(int socket) { ports_.insert_or_assign(socket, 0); }
  int close(int socket);  // as close_socket()

  // Whether nothing has come, not even an end, on the connection from this port. Asked when no
  // answer is outstanding:
  // whatever came is none.
  bool is_silent(int local_port);

 private:
  std::unordered_map<int, std::uint16_t> ports_;  // 0: not known yet
};

}  // namespace undertext
