// Sockets and pipes by descriptor: whether they can be read and written, what is still unsent, and
// which port they have.
#pragma once

#include <cstdint>

namespace undertext {

struct Ready {
  bool to_read = false;  // or ended, or failed: a read tells
  bool to_write = false;
  explicit operator bool() const { return to_read || to_write; }
};

enum class WaitFor { reading, writing, both };
// Until one is possible, at most so long; a signal ends the wait too.
Ready wait_until_ready(int descriptor, WaitFor what, int timeout_ms);

// At most `bytes_max`, without beginning again. How many; below 0: it failed, and errno says why.
std::int64_t write_some(int descriptor, const char* bytes, std::uint64_t bytes_max);

// The system takes no more than this beyond what it has sent, where it can be told.
void limit_unsent(int socket, int bytes_max);
std::uint64_t unsent_bytes(int socket);  // that it has taken and the other side has not

std::uint16_t port_of_this_side(int socket);  // 0: it has none
int close_socket(int socket);                 // below 0: it failed, and errno says why

}  // namespace undertext
