// A body that SQLite and PostgreSQL keep packed: "~" and the pack. A message of a provider whose form the engine
// cannot take as it is says everything twice (`native`, docs/dialects.md); packed it takes no more
// than what came in. A message's JSON begins with a brace, so that no body says that.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pack/pack.hpp"

namespace undertext {

inline constexpr char packed_body_mark = '~';
inline constexpr std::size_t packed_body_bytes_min = 1024;

inline bool is_packed(std::string_view body) { return body.starts_with(packed_body_mark); }

// Nothing: that would save less than half.
inline std::optional<std::string> packed_body(std::string_view body) {
  if (body.size() < packed_body_bytes_min) return std::nullopt;
  std::string packed = packed_body_mark + pack(body, {}, PackEffort::quick);
  if (packed.size() > body.size() / 2) return std::nullopt;
  return packed;
}

inline Result<std::string> unpacked_body(std::string_view body, std::size_t bytes_max) {
  return unpack(body.substr(1), {}, bytes_max);
}

}  // namespace undertext
