#include "gateway/upstream_sockets.hpp"

#include "system/sockets.hpp"

namespace undertext {

int UpstreamSockets::close(int socket) {
  ports_.erase(socket);
  return close_socket(socket);
}

bool UpstreamSockets::is_silent(int local_port) {
  bool is_known = false;
  for (auto& [socket, port] : ports_) {
    if (port == 0) port = port_of_this_side(socket);
    if (port != local_port) continue;
    if (wait_until_ready(socket, WaitFor::reading, 0).to_read) return false;
    is_known = true;
  }
  return is_known;
}

}  // namespace undertext
