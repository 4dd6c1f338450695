// Where in a JSON text an error stands, for those who have to mend it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

// A step from a value to one inside it: a member, or an element of an array.
struct JsonStep {
  std::string key;  // as spelled, shortened when very long
  std::optional<std::uint64_t> element = {};
};

// The way from the outermost value to the innermost one that has begun before `offset` and not
// ended. The text up to there is JSON. An error in a key, or behind a member, is on the way to its
// object. Deep ways are cut off after a few steps.
std::vector<JsonStep> json_steps(std::string_view text, std::size_t offset);

// "messages[2].content"; empty for the outermost value.
std::string json_path(const std::vector<JsonStep>& steps);

}  // namespace undertext
