// Merging, splitting and metadata: edits of a message's members. Kept members are copied as slices
// of the JSON.
#include "message/edit.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/json_string.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "message/read_fields.hpp"
#include "message/reading.hpp"

namespace undertext {
namespace {

// Of a message's own bytes, which have been read before and cannot fail.
void read_again(JsonText& text, std::string_view json) {
  text.read(json, {.depth = std::numeric_limits<std::uint32_t>::max()});
}

Error invalid(std::string_view field, std::string message) {
  return {.code = ErrorCode::invalid_argument,
          .message = std::move(message),
          .field = std::string(field)};
}

Error too_large(std::string_view what, std::uint64_t bytes_max) {
  return {.code = ErrorCode::too_large,
          .message = std::string(what) + " would be over the limit of " +
                     std::to_string(bytes_max) + " bytes"};
}

// Adds `element` to the array or object being written, whose opening bracket is there already.
void append_element(std::string& out, std::string_view element) {
  if (out.back() != '[' && out.back() != '{') out += ',';
  out += element;
}

std::string_view slice(const JsonMember& member) {
  const char* const begin = member.key.raw().data();
  return {begin,
          static_cast<std::size_t>(member.value.raw().data() + member.value.raw().size() - begin)};
}

// The same member with another value: its key, colon and white space as they were.
void append_member(std::string& out, const JsonMember& member, std::string_view value) {
  const std::string_view whole = slice(member);
  append_element(out, whole.substr(0, whole.size() - member.value.raw().size()));
  out += value;
}

bool has_list_content(const Message& message) {
  JsonText text;
  read_again(text, message.json());
  return text.root().find("content")->is(JsonType::array);
}

// The members of a merged message that come from all of its parts.
struct Joined {
  std::string content;         // JSON
  std::string tool_calls;      // JSON; empty when no message has the member
  std::string tool_calls_key;  // JSON; the first spelling found
};

void join_as_parts(std::string& out, const JsonValue& content) {
  if (content.is(JsonType::array)) {
    for (const JsonValue part : content.elements()) append_element(out, part.raw());
  } else if (content.is(JsonType::string) && !content.string_raw().empty()) {
    append_element(out, R"({"type":"text","text":)");
    (out += content.raw()) += '}';
  }
}

void join_as_string(std::string& out, const JsonValue& content, std::string_view separator) {
  if (!content.is(JsonType::string)) return;
  out += out.empty() ? std::string_view("\"") : separator;
  out += content.string_raw();
}

// The calls of a message's lists, each once: those of the other list and those that are parts as
// well are the same calls.
void append_listed_calls(std::string& out, const Message& message, const JsonValue& root) {
  const MessageReading reading(message, KeptItems::ignored);
  for (const JsonMember member : root.members()) {
    if (!names_tool_calls(member.key)) continue;
    const std::string_view list = member.value.raw();
    for (const Block& block : reading.turn().blocks) {
      const bool is_listed =
          block.raw.data() >= list.data() && block.raw.data() < list.data() + list.size();
      if (block.kind == BlockKind::call && is_listed) append_element(out, block.raw);
    }
  }
}

Result<Joined> join(std::span<const Message> messages, std::string_view separator,
                    const MessageLimits& limits) {
  std::string escaped_separator;
  append_json_escaped(escaped_separator, separator);
  const bool as_parts = std::any_of(messages.begin(), messages.end(), has_list_content);
  Joined joined{.content = as_parts ? "[" : "", .tool_calls = {}, .tool_calls_key = {}};
  JsonText text;
  for (const Message& message : messages) {
    read_again(text, message.json());
    for (const JsonMember member : text.root().members()) {
      if (member.key.string_is("content")) {
        if (as_parts) {
          join_as_parts(joined.content, member.value);
        } else {
          join_as_string(joined.content, member.value, escaped_separator);
        }
      } else if (names_tool_calls(member.key)) {
        if (joined.tool_calls.empty()) {
          joined.tool_calls = "[";
          joined.tool_calls_key = member.key.raw();
        }
      }
    }
    append_listed_calls(joined.tool_calls, message, text.root());
    if (joined.content.size() + joined.tool_calls.size() > limits.message_bytes)
      return too_large("the merged message", limits.message_bytes);
  }
  if (as_parts) {
    joined.content += ']';
  } else {
    joined.content = joined.content.empty() ? "null" : joined.content + '"';
  }
  if (!joined.tool_calls.empty()) joined.tool_calls += ']';
  return joined;
}

// Where the pieces begin and end in the content: bytes of a string's body, or elements of a list.
using Cuts = std::vector<std::size_t>;

Result<Cuts> cuts_of(const JsonValue& content, std::span<const std::uint64_t> at) {
  const bool is_list = content.is(JsonType::array);
  const std::string_view body =
      content.is(JsonType::string) ? content.string_raw() : std::string_view();
  const std::uint64_t length = is_list ? content.count() : count_json_units(body);
  if (at.empty()) return invalid("at", "at must name at least one place to split");
  Cuts cuts{0};
  std::uint64_t previous = 0;
  std::size_t byte = 0;
  for (const std::uint64_t place : at) {
    if (place <= previous || place >= length)
      return invalid("at",
                     "at must rise strictly between 0 and the length of the content, which is " +
                         std::to_string(length));
    for (; !is_list && previous < place; ++previous) byte += json_unit(body, byte).size;
    previous = place;
    cuts.push_back(is_list ? static_cast<std::size_t>(place) : byte);
  }
  cuts.push_back(is_list ? static_cast<std::size_t>(length) : body.size());
  return cuts;
}

// The content of each piece, as JSON.
std::vector<std::string> piece_contents(const JsonValue& content, const Cuts& cuts) {
  std::vector<std::string> contents;
  if (content.is(JsonType::string)) {
    for (std::size_t i = 1; i < cuts.size(); ++i)
      contents.push_back(
          '"' + std::string(content.string_raw().substr(cuts[i - 1], cuts[i] - cuts[i - 1])) + '"');
    return contents;
  }
  std::size_t index = 0;
  for (const JsonValue part : content.elements()) {
    if (index == cuts[contents.size()]) contents.push_back("[");
    append_element(contents.back(), part.raw());
    if (++index == cuts[contents.size()]) contents.back() += ']';
  }
  return contents;
}

// A member's key as a string of its own, exact where decoding to UTF-8 would make two keys one.
std::string exact_key(const JsonMember& member) {
  std::string key;
  append_json_decoded(key, member.key.string_raw(), LoneSurrogates::keep);
  return key;
}

// `metadata` with the members of `set` in it: in their old places, or at the end.
std::string with_members(const JsonValue& metadata, const JsonValue& set) {
  // by key: new value, whether it has a place
  std::unordered_map<std::string, std::pair<std::string_view, bool>> values;
  for (const JsonMember member : set.members())
    values.insert({exact_key(member), {member.value.raw(), false}});
  std::string out = "{";
  for (const JsonMember member : metadata.members()) {
    const auto found = values.find(exact_key(member));
    if (found == values.end()) {
      append_element(out, slice(member));
    } else {
      append_member(out, member, found->second.first);
      found->second.second = true;
    }
  }
  for (const JsonMember member : set.members())
    if (!values.find(exact_key(member))->second.second) append_element(out, slice(member));
  return out += '}';
}

}  // namespace

Result<Message> merge_messages(std::span<const Message> messages, std::string_view separator,
                               const MessageLimits& limits) {
  if (messages.size() == 1) return messages[0];
  if (find_invalid_utf8(separator)) return invalid("separator", "separator must be UTF-8");
  Result<Joined> joined = join(messages, separator, limits);
  if (!joined) return std::move(joined.error());
  JsonText first;
  read_again(first, messages[0].json());
  std::string out = "{";
  bool tool_calls_placed = joined->tool_calls.empty();
  for (const JsonMember member : first.root().members()) {
    if (member.key.string_is("content")) {
      append_member(out, member, joined->content);
    } else if (!names_tool_calls(member.key)) {
      append_element(out, slice(member));
    } else if (!std::exchange(tool_calls_placed, true)) {
      append_member(out, member, joined->tool_calls);
    }
  }
  if (!tool_calls_placed) append_element(out, joined->tool_calls_key + ':' + joined->tool_calls);
  return Message::parse(out += '}', limits);
}

namespace {

// The ids of calls that stand as parts before the last piece, as often as they do.
std::unordered_map<std::string, std::size_t> calls_before_last(const JsonValue& content,
                                                               const Cuts& cuts,
                                                               const Message& message) {
  std::unordered_map<std::string, std::size_t> ids;
  if (!content.is(JsonType::array)) return ids;
  const char* last_piece = nullptr;
  std::size_t index = 0;
  for (const JsonValue part : content.elements())
    if (index++ == cuts[cuts.size() - 2]) last_piece = part.raw().data();
  const std::ptrdiff_t begin = last_piece - message.json().data();
  const MessageReading reading(message);
  for (const Block& block : reading.turn().blocks) {
    const std::ptrdiff_t at = block.raw.data() - message.json().data();
    const std::ptrdiff_t content_at = content.raw().data() - message.json().data();
    if (block.kind == BlockKind::call && !block.id.empty() && at >= content_at && at < begin)
      ++ids[std::string(block.id)];
  }
  return ids;
}

// The list of a message's calls for its last piece: without those that an earlier piece has as
// parts.
std::string calls_of_last(const JsonValue& calls,
                          std::unordered_map<std::string, std::size_t> elsewhere) {
  std::string out = "[";
  for (const JsonValue call : calls.elements()) {
    const std::optional<JsonValue> id = call.find("id");
    const auto given =
        id && id->is(JsonType::string) ? elsewhere.find(id->string()) : elsewhere.end();
    if (given != elsewhere.end() && given->second > 0) {
      --given->second;
    } else {
      append_element(out, call.raw());
    }
  }
  return out + ']';
}

}  // namespace

Result<std::vector<Message>> split_message(const Message& message,
                                           std::span<const std::uint64_t> at,
                                           const MessageLimits& limits) {
  JsonText text;
  read_again(text, message.json());
  const JsonValue content = *text.root().find("content");
  const Result<Cuts> cuts = cuts_of(content, at);
  if (!cuts) return cuts.error();
  // Every piece repeats the other members, so many cuts in a message with large metadata could fill
  // the memory.
  const std::size_t pieces_count = cuts->size() - 1;
  const std::uint64_t repeated = message.json().size() - content.raw().size();
  if (repeated > split_bytes_max(limits) / pieces_count)
    return too_large("the pieces together", split_bytes_max(limits));

  const std::unordered_map<std::string, std::size_t> elsewhere =
      calls_before_last(content, *cuts, message);
  const std::vector<std::string> contents = piece_contents(content, *cuts);
  std::vector<Message> pieces;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    std::string out = "{";
    for (const JsonMember member : text.root().members()) {
      if (member.key.string_is("content")) {
        append_member(out, member, contents[i]);
      } else if (names_tool_calls(member.key)) {
        if (i + 1 < contents.size()) continue;
        if (elsewhere.empty()) {
          append_element(out, slice(member));
        } else {
          append_member(out, member, calls_of_last(member.value, elsewhere));
        }
      } else if (!member.key.string_is("id") || i == 0) {
        append_element(out, slice(member));
      }
    }
    Result<Message> piece = Message::parse(out += '}', limits);
    if (!piece) return std::move(piece.error());
    pieces.push_back(std::move(*piece));
  }
  return pieces;
}

Result<Message> set_metadata(const Message& message, const SetMetadata& change,
                             const MessageLimits& limits) {
  JsonText set;
  if (std::optional<Error> error = set.read(change.object_json, {.depth = limits.depth})) {
    error->field = "setMetadata";
    return std::move(*error);
  }
  if (!set.root().is(JsonType::object))
    return invalid("setMetadata", "setMetadata must be an object");
  if (set.root().empty()) return message;
  JsonText text;
  read_again(text, message.json());
  std::string out = "{";
  bool placed = false;
  for (const JsonMember member : text.root().members()) {
    if (member.key.string_is("metadata")) {
      append_member(out, member, with_members(member.value, set.root()));
      placed = true;
    } else {
      append_element(out, slice(member));
    }
  }
  if (!placed) append_element(out, R"("metadata":)" + std::string(set.root().raw()));
  return Message::parse(out += '}', limits);
}

}  // namespace undertext
