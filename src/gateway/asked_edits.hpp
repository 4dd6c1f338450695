// Edits that a request asks its provider for: Anthropic's context_management.edits, and Responses'
// context_management. The gateway makes them itself where its policy says so, for any upstream.
// Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/dialect_name.hpp>

namespace undertext {

struct AskedEdit {
  enum class Kind : std::uint8_t {
    compact,          // compact_20260112, and compaction of Responses
    clear_tool_uses,  // clear_tool_uses_20250919
    clear_thinking,   // clear_thinking_20251015; has no trigger
  };
  Kind kind = Kind::compact;
  std::optional<std::uint64_t> above_tokens = {};     // of the request
  std::optional<std::uint64_t> above_tool_uses = {};  // instead
  std::uint64_t keep = 0;                             // results of tools; turns of thinking
  std::uint64_t tokens_gain_min = 0;
  std::vector<std::string> exclude = {};  // tools
  bool gives_block = false;               // of compact: the answer has a compaction block
  bool pauses = false;                    // and nothing else
};

struct AskedEdits {
  std::vector<AskedEdit> edits = {};
  std::string body = {};  // the request without them; what is not known here stays
};
// Unset: it asks for none that is known. `thinking`: whether clear_thinking is known. It is not
// where a model's thinking is void once something before it has changed: to clear older turns would
// cost the newest one its thinking, too.
enum class ThinkingEdits : std::uint8_t { make, leave };
std::optional<AskedEdits> asked_edits(Dialect dialect, std::string_view body,
                                      ThinkingEdits thinking = ThinkingEdits::make);

}  // namespace undertext
