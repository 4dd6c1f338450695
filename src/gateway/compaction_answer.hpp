// What the gateway answers a request that asks for a compaction: one opaque item, in the form that
// the client asked for. Values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/editing.hpp"

namespace undertext {

struct CompactionAnswer {
  std::string item;  // its encrypted_content
  std::string id;    // of the answer; the item's is made from it
  std::int64_t created_at_ms = 0;
  std::uint64_t tokens_before = 0, tokens_after = 0;
};

// `path` ends with /responses/compact, or `body` has a compaction_trigger: it is then answered as
// any other request, streamed if `body` asks for that.
RequestEdit compaction_answer(const CompactionAnswer& answer, std::string_view path,
                              std::string_view body);

// Of Anthropic's API, where the request asks to pause: the compaction block alone.
RequestEdit paused_answer(const CompactionAnswer& answer, std::string_view summary,
                          std::string_view body);

}  // namespace undertext
