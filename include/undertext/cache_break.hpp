// Where two requests stop being equal, as the provider's prompt cache sees them.
//
//     CacheBreak found = cache_break(Dialect::anthropic, request_before, request_after);
//     if (found.kind == CacheBreak::Kind::broken) found.path;     // "system[1].text"
//
// A cache has prefixes of what the model reads, in the provider's order, not in that of the JSON
// text. So each request is written in that order: its sections, compact, without cache markers,
// texts in their long form.
// From the first differing byte on, nothing can be read from the cache.
//
// Pure; any thread may call it. Costs time linear in both texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <undertext/dialect_name.hpp>
#include <undertext/export.hpp>

namespace undertext {

struct CacheBreak {
  enum class Kind : std::uint8_t {
    unknown,    // one of the two is no request
    reference,  // the request has only new messages, and refers to the rest at `path`
    same,
    extended,   // all of the earlier one, and more from `path` on
    shortened,  // the earlier one continued with `path`
    broken,
  };
  Kind kind = Kind::unknown;
  std::uint64_t equal_bytes = 0;  // of the prefix
  std::uint64_t bytes = 0;        // of the whole, as a prefix
  std::string path = {};          // in the later request, such as "messages[4].content[0].text"
  // Of broken:
  // the path of what the earlier one had there; equal to `path` where a value changed
  std::string was = {};
  std::uint64_t byte_in_value = 0;  // of its text; 0 where the paths differ
  std::string same = {};            // the end of what both have
  std::string before = {};          // what differs, abridged
  std::string after = {};
};
UNDERTEXT_API std::string_view name(CacheBreak::Kind kind);  // such as "broken"

UNDERTEXT_API CacheBreak cache_break(Dialect dialect, std::string_view before,
                                     std::string_view after);

}  // namespace undertext
