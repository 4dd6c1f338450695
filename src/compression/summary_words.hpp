// What a model answered when it was asked for a summary: which of it is one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace undertext {

// The text without reasoning. Some models write it as <think>…</think> or <thinking>…</thinking>,
// where their server does not take it out; and some servers take out only the first of the two
// tags. Nothing: reasoning has no end. A tag between backticks is quoted.
std::optional<std::string> without_reasoning(std::string_view text);

// Whether nothing of it can be seen: white space, and characters without width.
bool is_invisible(std::string_view utf8);

}  // namespace undertext
