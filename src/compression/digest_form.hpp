// The form of a digest, which is written by digest.cpp and, when a message holds an earlier digest,
// read again by digest_read.cpp.
//
//     Digest of 14 messages
//     Constraints and decisions
//     - Do not touch the public headers.
//     Current request
//     - "Why does the build fail?"
//     Changed files
//     - src/main.c (edited ×2)
//     Test and build results
//     - make test → failed: make: *** [Makefile:12: test] Error 1
//     Errors not fixed
//     - src/main.c:3:5: error: unknown type name 'u8'
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compression/digest_text.hpp"

namespace undertext::digest {

// In the order in which they stand in a digest: how things stand first. docs/digest.md says in
// which order they are lost.
enum class Section : std::uint8_t {
  constraints,
  request,
  plan,
  changes,
  results,
  errors,
  attempts,
  last_reply,
  next_step,
  requests,
  open_questions,
  commands,
  urls,
  numbers,
  files,
  choices,
  earlier_errors,
  answered_questions,
  tools,
};
inline constexpr std::array<std::string_view, 19> headings = {
    "Constraints and decisions",
    "Current request",
    "Plan",
    "Changed files",
    "Test and build results",
    "Errors not fixed",
    "Failed attempts",
    "Last reply",
    "Next step",
    "Requests",
    "Open questions",
    "Commands",
    "URLs",
    "Numbers",
    "Files",
    "Choices of the assistant",
    "Earlier errors",
    "Answered questions",
    "Tools",
};

// Headings of digests that older releases made, and what stands below them. "Decisions" had those
// of everybody.
inline constexpr std::pair<std::string_view, Section> old_headings[] = {
    {"Decisions", Section::choices},
    {"Errors", Section::errors},
};

// Between a command and its outcome.
inline constexpr std::string_view passed_mark = " → passed: ", failed_mark = " → failed: ";
// Before the number of those that were left out.
inline constexpr std::string_view more_begin = "… and ", more_end = " more";

inline constexpr std::string_view title_begin = "Digest of ", title_end = " messages";

inline std::string_view heading(Section section) {
  return headings[static_cast<std::size_t>(section)];
}

inline std::optional<Section> section_headed(std::string_view line) {
  for (std::size_t i = 0; i < headings.size(); ++i)
    if (line == headings[i]) return static_cast<Section>(i);
  for (const auto& [heading, section] : old_headings)
    if (line == heading) return section;
  return std::nullopt;
}

inline std::string title(std::uint64_t messages) {
  return std::string(title_begin) + std::to_string(messages) + std::string(title_end);
}

inline std::string more_line(std::uint64_t count) {
  return std::string(more_begin) + std::to_string(count) + std::string(more_end);
}

// The number between two texts, if that is all of the line.
inline std::optional<std::uint64_t> number_between(std::string_view line, std::string_view begin,
                                                   std::string_view end) {
  constexpr std::size_t digits_max = 12;
  if (!line.starts_with(begin) || !line.ends_with(end) || line.size() <= begin.size() + end.size())
    return std::nullopt;
  const std::string_view digits =
      line.substr(begin.size(), line.size() - begin.size() - end.size());
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (!is_digit(c) || digits.size() > digits_max) return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

// How many messages a digest stands for, if the line is the title of one.
inline std::optional<std::uint64_t> messages_of_title(std::string_view line) {
  return number_between(line, title_begin, title_end);
}

}  // namespace undertext::digest
