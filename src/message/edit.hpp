// Edited copies of messages, made by splicing the JSON: members that an edit does not concern keep
// their bytes and order.
// Pure functions; each result has passed Message::parse. invalid_argument where the result would be
// no valid message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/change.hpp>
#include <undertext/message.hpp>

namespace undertext {

// One message in place of several of one role. String contents are joined with `separator`, lists
// of parts and tool calls are concatenated (a string among lists becomes a text part; null content
// adds nothing); the other members are the first's.
// String bytes are joined as spelled, without decoding. `messages` holds at least one.
Result<Message> merge_messages(std::span<const Message> messages, std::string_view separator,
                               const MessageLimits& limits);

// The pieces between the offsets `at`: code points of a string content (a surrogate pair of escapes
// is one), or places in a list of parts. Rising, each strictly inside; else invalid_argument with
// field "at". Tool calls stay with the last piece, `id` with the first; the other members go to
// every piece. String bytes are cut as spelled, without decoding.
// too_large: the members repeated in every piece would take more than split_bytes_max() together.
Result<std::vector<Message>> split_message(const Message& message,
                                           std::span<const std::uint64_t> at,
                                           const MessageLimits& limits);

inline std::uint64_t split_bytes_max(const MessageLimits& limits) {
  // no message is longer than 4 GiB
  return std::min<std::uint64_t>(limits.message_bytes, 0xFFFF'FFFF) * 16;
}

// Each of these edits every text of the message: its string content, or its text parts and the
// texts of its tool results.
Result<Message> replace_text(const Message& message, const ReplaceText& change,
                             const MessageLimits& limits);
Result<Message> truncate_text(const Message& message, const TruncateText& change,
                              const MessageLimits& limits);

// Gives each tool result of the message another content: stub(tool-call id), or none where that is
// unset. All else stays.
using StubOf = std::function<std::optional<std::string>(std::string_view tool_call_id)>;
Result<Message> replace_tool_results(const Message& message, const StubOf& stub,
                                     const MessageLimits& limits);

// Sets the members given in `metadata`, keeping the other members of the message's metadata.
Result<Message> set_metadata(const Message& message, const SetMetadata& change,
                             const MessageLimits& limits);

}  // namespace undertext
