// Edits of a message's texts. All other bytes of the message stay, white space included, and so does every byte of a text
// that was not replaced or cut: "caf\u00e9" is not respelled because another word of it was replaced.
#include <limits>
#include <string>
#include <utility>

#include "base/find_bytes.hpp"
#include "base/json_string.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "message/edit.hpp"
#include "message/shape.hpp"

namespace undertext {
namespace {

std::optional<Error> check_utf8(std::string_view field, std::string_view text) {
  if (!find_invalid_utf8(text)) return std::nullopt;
  return Error{.code = ErrorCode::invalid_argument, .message = std::string(field) + " must be UTF-8", .field = std::string(field)};
}

// A copy in which edit(out, text) has appended the new body of each text. Stops as soon as the copy is too large: a short
// text replaced by a long one many times could otherwise fill the memory before the limit is asked.
template <class Edit>
Result<Message> edit_texts(const Message& message, const MessageLimits& limits, Edit edit) {
  const std::string_view json = message.json();
  JsonText text;
  text.read(json, {.depth = std::numeric_limits<std::uint32_t>::max()});  // has been read before and cannot fail
  std::string out;
  std::size_t copied = 0;
  visit_texts(text.root(), [&](const JsonValue& string) {
    const std::size_t body_begin = string.offset() + 1;
    out.append(json, copied, body_begin - copied);
    edit(out, string);
    copied = body_begin + string.string_raw().size();
    return out.size() <= limits.message_bytes;
  });
  if (out.size() > limits.message_bytes)
    return Error{.code = ErrorCode::too_large,
                 .message = "the edited message would be over the limit of " + std::to_string(limits.message_bytes) + " bytes"};
  out.append(json, copied);
  if (out == json) return message;
  return Message::parse(out, limits);
}

// Finds the places of a string's decoded text, asked for in rising order, in its body.
class BodyWalk {
 public:
  explicit BodyWalk(const JsonValue& string) : body_(string.string_raw()), has_escapes_(string.has_escapes()) {}
  std::size_t place_of(std::size_t decoded) {
    if (!has_escapes_) return decoded;
    while (decoded_ < decoded) {
      const JsonUnit unit = json_unit(body_, spelled_);
      spelled_ += unit.size;
      decoded_ += utf8_size(unit.code_point);  // a lone surrogate has the size of U+FFFD
    }
    return spelled_;
  }

 private:
  std::string_view body_;
  bool has_escapes_;
  std::size_t spelled_ = 0;
  std::size_t decoded_ = 0;
};

// The first bytes of `body` that hold `count` units, or all of it.
std::size_t size_of_units(std::string_view body, std::uint64_t count) {
  std::size_t size = 0;
  for (; count > 0 && size < body.size(); --count) size += json_unit(body, size).size;
  return size;
}

}  // namespace

Result<Message> replace_text(const Message& message, const ReplaceText& change, const MessageLimits& limits) {
  if (change.find.empty()) return Error{.code = ErrorCode::invalid_argument, .message = "find must not be empty", .field = "find"};
  if (std::optional<Error> error = check_utf8("find", change.find)) return std::move(*error);
  if (std::optional<Error> error = check_utf8("with", change.with)) return std::move(*error);
  std::string with;
  append_json_escaped(with, change.with);
  return edit_texts(message, limits, [&](std::string& out, const JsonValue& string) {
    const std::string_view body = string.string_raw();
    const std::string decoded = string.has_escapes() ? string.string() : std::string();
    const std::string_view text = string.has_escapes() ? std::string_view(decoded) : body;
    BodyWalk walk(string);
    std::size_t kept = 0;  // bytes of the body that are dealt with
    // Both texts are UTF-8, so a match begins and ends between code points, which is between units of the body.
    for (std::size_t match = 0; out.size() <= limits.message_bytes; match += change.find.size()) {
      match = find_bytes(text, change.find, match);
      if (match == std::string_view::npos) break;
      out.append(body, kept, walk.place_of(match) - kept);
      out += with;
      kept = walk.place_of(match + change.find.size());
    }
    out.append(body, kept);
  });
}

Result<Message> truncate_text(const Message& message, const TruncateText& change, const MessageLimits& limits) {
  if (std::optional<Error> error = check_utf8("marker", change.marker)) return std::move(*error);
  std::string marker;
  append_json_escaped(marker, change.marker);
  const std::uint64_t tail_max = change.keep == TruncateText::Keep::head   ? 0
                                 : change.keep == TruncateText::Keep::tail ? change.chars_max
                                                                           : change.chars_max / 2;
  const std::uint64_t head_max = change.chars_max - tail_max;
  return edit_texts(message, limits, [&](std::string& out, const JsonValue& string) {
    const std::string_view body = string.string_raw();
    const std::uint64_t length = count_json_units(body);
    if (length <= change.chars_max) {
      out += body;
      return;
    }
    out.append(body, 0, size_of_units(body, head_max));
    out += marker;
    out.append(body, size_of_units(body, length - tail_max));
  });
}

}  // namespace undertext
