// A message as people read it: a head with its place, role and size, and its text below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <undertext/ids.hpp>
#include <undertext/message.hpp>

#include "cli/terminal.hpp"

namespace undertext {

struct ShownMessage {
  const Message& message;
  Ordinal ordinal;
  std::optional<std::uint64_t> index = {};  // in the view; unset: it is not visible
  std::optional<std::uint32_t> tokens = {};
  std::optional<std::int64_t> time_ms = {};
  bool pinned = false;
};

Style style_of(Role role);
Line head_of(const ShownMessage& shown);
// The text, and in brackets what is no text: tool calls, images. Every line is printable.
std::vector<std::string> lines_of(const Message& message);
// The same on one line, for tables.
std::string gist_of(const Message& message, std::size_t cells_max);

}  // namespace undertext
