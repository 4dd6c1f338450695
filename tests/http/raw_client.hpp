// For tests: a client that sends exactly the bytes it is told to, and a server around one function.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http.hpp"

namespace undertext::http::testing {

inline std::uint16_t port_in(const std::string& address) {
  return static_cast<std::uint16_t>(std::atoi(address.c_str() + address.rfind(':') + 1));
}
inline std::uint16_t port_of(const Server& server) { return port_in(server.address()); }

class RawClient {
 public:
  // A small buffer makes a client that reads slowly felt soon.
  explicit RawClient(const Server& server, int receive_buffer = 0)
      : RawClient(port_of(server), receive_buffer) {}
  explicit RawClient(std::uint16_t port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0)
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  RawClient(RawClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), read_(std::move(other.read_)) {}
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() { close(); }

  // false: the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end_sending() { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }

  // What the server sends until it closes the connection.
  std::string read_all() {
    while (read_some()) {
    }
    return std::exchange(read_, {});
  }
  // One answer with its head; "" when there is none. HEAD: without its body.
  std::string read_answer(bool is_to_head = false) {
    std::size_t end;
    while ((end = read_.find("\r\n\r\n")) == read_.npos)
      if (!read_some()) return {};
    std::size_t size = end + 4;
    const std::size_t length = read_.find("Content-Length: ");
    if (length < end && !is_to_head)
      size += static_cast<std::size_t>(std::atoll(read_.c_str() + length + 16));
    while (read_.size() < size)
      if (!read_some()) return {};
    std::string answer = read_.substr(0, size);
    read_.erase(0, size);
    return answer;
  }
  std::string read_until(std::string_view text) {
    std::size_t at, searched = 0;
    while ((at = read_.find(text, searched)) == read_.npos) {
      searched = read_.size() - std::min(read_.size(), text.size());
      if (!read_some()) return {};
    }
    std::string before = read_.substr(0, at + text.size());
    read_.erase(0, at + text.size());
    return before;
  }
  int socket() const { return socket_; }

 private:
  bool read_some() {
    pollfd ready{socket_, POLLIN, 0};
    if (::poll(&ready, 1, 20'000) != 1) {
      ADD_FAILURE() << "the server neither answers nor closes; so far: " << read_;
      return false;
    }
    char bytes[16 << 10];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    read_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  std::string read_;
};

inline unsigned status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? static_cast<unsigned>(std::atoi(answer.c_str() + 9)) : 0;
}
inline std::string body_of(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == answer.npos ? std::string() : answer.substr(end + 4);
}
inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Answers with what it was sent: "METHOD target body".
inline void echo(Request request, std::unique_ptr<Exchange> exchange) {
  exchange->answer({.content_type = "text/plain",
                    .body = request.method + " " + request.target + " " + request.body});
}
inline Calls echoing(std::uint64_t body_bytes_max = 1 << 20) {
  return {.admit = [=](const Head&) { return Admission{body_bytes_max}; }, .handle = echo};
}
inline Server serve(Calls calls, Limits limits = {}) {
  return Server::listen({.limits = limits}, std::move(calls)).value();
}

inline std::string get(std::string_view target, std::string_view fields = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
         "\r\n";
}
inline std::string post(std::string_view target, std::string_view body) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

}  // namespace undertext::http::testing
