// A body that SQLite and PostgreSQL keep once: the row of a copy says "=" and the ordinal of the
// message that has it, of the same conversation. A message's JSON begins with a brace, so that no
// body says that. Copies name the message itself, never another copy.
//
// In SQLite a message that came from a fork says "=" and the number of the fork, "/", and the
// ordinal there. That row may name another one in turn: the fork merged a fork of its own.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace undertext {

inline constexpr char shared_body_mark = '=';

inline std::string shared_body(std::uint64_t ordinal) {
  return shared_body_mark + std::to_string(ordinal);
}

// Nothing: it is a body of its own.
inline std::optional<std::uint64_t> shared_with(std::string_view body) {
  if (body.empty() || body.front() != shared_body_mark) return std::nullopt;
  std::uint64_t ordinal = 0;
  const char* const end = body.data() + body.size();
  const std::from_chars_result read = std::from_chars(body.data() + 1, end, ordinal);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return ordinal;
}

struct BodyOfFork {
  std::uint64_t conversation = 0;  // its number in the file
  std::uint64_t ordinal = 0;
};

inline std::string body_of_fork_prefix(std::uint64_t conversation) {
  return shared_body_mark + std::to_string(conversation) + "/";
}
inline std::string body_of_fork(const BodyOfFork& body) {
  return body_of_fork_prefix(body.conversation) + std::to_string(body.ordinal);
}

// Nothing: it is another kind of body.
inline std::optional<BodyOfFork> read_body_of_fork(std::string_view body) {
  if (body.empty() || body.front() != shared_body_mark) return std::nullopt;
  BodyOfFork found;
  const char* const end = body.data() + body.size();
  std::from_chars_result read = std::from_chars(body.data() + 1, end, found.conversation);
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != '/') return std::nullopt;
  read = std::from_chars(read.ptr + 1, end, found.ordinal);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return found;
}

}  // namespace undertext
