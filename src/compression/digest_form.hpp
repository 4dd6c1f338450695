// The form of a digest, which is written by digest.cpp and, when a message holds an earlier digest, read again by digest_read.cpp.
//
//     Digest of 14 messages
//     Requests
//     1. "Why does the build fail?"
//     Errors
//     - src/main.c:3:5: error: unknown type name 'u8'
//     Files
//     - src/main.c
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compression/digest_text.hpp"

namespace undertext::digest {

// In the order in which they stand in a digest. They are lost in the opposite order.
enum class Section : std::uint8_t {
  requests,
  open_questions,
  decisions,
  errors,
  files,
  commands,
  urls,
  last_reply,
  answered_questions,
  tools,
  numbers,
};
inline constexpr std::array<std::string_view, 11> headings = {
    "Requests", "Open questions", "Decisions",          "Errors", "Files",   "Commands",
    "URLs",     "Last reply",     "Answered questions", "Tools",  "Numbers",
};

inline constexpr std::string_view title_begin = "Digest of ", title_end = " messages";

inline std::string_view heading(Section section) { return headings[static_cast<std::size_t>(section)]; }

inline std::optional<Section> section_headed(std::string_view line) {
  for (std::size_t i = 0; i < headings.size(); ++i)
    if (line == headings[i]) return static_cast<Section>(i);
  return std::nullopt;
}

inline std::string title(std::uint64_t messages) {
  return std::string(title_begin) + std::to_string(messages) + std::string(title_end);
}

// How many messages a digest stands for, if the line is the title of one.
inline std::optional<std::uint64_t> messages_of_title(std::string_view line) {
  constexpr std::size_t digits_max = 12;
  if (!line.starts_with(title_begin) || !line.ends_with(title_end) || line.size() <= title_begin.size() + title_end.size())
    return std::nullopt;
  const std::string_view digits = line.substr(title_begin.size(), line.size() - title_begin.size() - title_end.size());
  std::uint64_t messages = 0;
  for (const char c : digits) {
    if (!is_digit(c) || digits.size() > digits_max) return std::nullopt;
    messages = messages * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return messages;
}

}  // namespace undertext::digest
