#include "system/sockets.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace undertext {
namespace {

short events_of(WaitFor what) {
  switch (what) {
    case WaitFor::reading: return POLLIN;
    case WaitFor::writing: return POLLOUT;
    case WaitFor::both: return POLLIN | POLLOUT;
  }
  return POLLIN;
}

}  // namespace

Ready wait_until_ready(int descriptor, WaitFor what, int timeout_ms) {
  pollfd place{descriptor, events_of(what), 0};
  if (::poll(&place, 1, timeout_ms) <= 0) return {};
  return {.to_read = (place.revents & ~POLLOUT) != 0, .to_write = (place.revents & POLLOUT) != 0};
}

std::int64_t write_some(int descriptor, const char* bytes, std::uint64_t bytes_max) {
  return ::write(descriptor, bytes, bytes_max);
}

void limit_unsent([[maybe_unused]] int socket, [[maybe_unused]] int bytes_max) {
#ifdef TCP_NOTSENT_LOWAT
  ::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes_max, sizeof bytes_max);
#endif
}

std::uint64_t unsent_bytes(int socket) {
  int bytes = 0;
  return ::ioctl(socket, TIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::uint64_t>(bytes)
                                                             : 0;
}

std::uint16_t port_of_this_side(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

int close_socket(int socket) { return ::close(socket); }

}  // namespace undertext
