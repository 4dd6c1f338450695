// Cache markers in the parts of a request. They move with every turn, so a message is stored
// without them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.hpp"

namespace undertext {

struct MarkerAt {
  std::optional<std::uint64_t> message = {};  // in the list; unset: in what stands before it
  std::uint64_t block = 0;
  std::optional<std::uint64_t> inner = {};  // in the content of a result
  std::string_view json = {};
};

// The markers of the parts of messages, in the order of the list.
std::vector<MarkerAt> markers_of(const JsonValue& root);

// The text of `root` without the markers of its messages' parts. `text` is what `root` was read
// from.
std::string without_markers(std::string_view text, const JsonValue& root);

}  // namespace undertext
