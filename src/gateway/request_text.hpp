// The bytes of a request around its messages: what they say about cache and answer, and putting
// other messages in. Values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <undertext/dialect_name.hpp>

namespace undertext {

// How deeply a request may be nested: more than the JSON of a message may, for it holds messages.
inline constexpr std::uint32_t request_depth_max = 4096;

// What a request says besides its messages.
struct RequestText {
  std::string model = {};
  std::string tools = "[]";            // a JSON array
  std::uint64_t answer_tokens = 0;     // the most that its answer may have; 0: it does not say
  std::int64_t cache_lifetime_ms = 0;  // of what it asks the provider to keep
};
// `path` has the model of Gemini. Whatever cannot be read is as if it were not there.
RequestText read_request_text(Dialect dialect, std::string_view body, std::string_view path);

// The body with the members of `rendered` (Rendering::json) in place of its own messages and
// instructions. All other members stay as they are, in their order. Both are JSON objects.
std::string with_rendered(Dialect dialect, std::string_view body, std::string_view rendered);

}  // namespace undertext
