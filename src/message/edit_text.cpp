// Edits of a message's texts. All other bytes of the message stay, white space included, and so
// does every byte of a text that was not replaced or cut: "caf\u00e9" is not respelled because
// another word of it was replaced.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/find_bytes.hpp"
#include "base/json_string.hpp"
#include "base/utf8.hpp"
#include "message/edit.hpp"
#include "message/reading.hpp"

namespace undertext {
namespace {

std::optional<Error> check_utf8(std::string_view field, std::string_view text) {
  if (!find_invalid_utf8(text)) return std::nullopt;
  return Error{.code = ErrorCode::invalid_argument,
               .message = std::string(field) + " must be UTF-8",
               .field = std::string(field)};
}

// The texts of a message that stand in its own bytes, in the order of these.
std::vector<std::string_view> texts_in(const MessageReading& reading, std::string_view json) {
  std::vector<std::string_view> texts;
  const auto add = [&](std::string_view body) {
    if (body.data() >= json.data() && body.data() + body.size() <= json.data() + json.size())
      texts.push_back(body);
    return true;
  };
  visit_texts(reading.turn().blocks, add);
  std::sort(texts.begin(), texts.end(),
            [](std::string_view a, std::string_view b) { return a.data() < b.data(); });
  return texts;
}

// A copy in which edit(out, body) has appended the new body of each text. Stops as soon as the copy
// is too large: a short text replaced by a long one many times could otherwise fill the memory
// before the limit is asked.
template <class Edit>
Result<Message> edit_texts(const Message& message, const MessageLimits& limits, Edit edit) {
  const std::string_view json = message.json();
  const MessageReading reading(message, KeptItems::ignored);
  std::string out;
  std::size_t copied = 0;
  for (const std::string_view body : texts_in(reading, json)) {
    const auto begin = static_cast<std::size_t>(body.data() - json.data());
    out.append(json, copied, begin - copied);
    edit(out, body);
    copied = begin + body.size();
    if (out.size() > limits.message_bytes)
      return Error{.code = ErrorCode::too_large,
                   .message = "the edited message would be over the limit of " +
                              std::to_string(limits.message_bytes) + " bytes"};
  }
  out.append(json, copied);
  if (out == json) return message;
  return Message::parse(out, limits);
}

// Finds the places of a string's decoded text, asked for in rising order, in its body.
class BodyWalk {
 public:
  explicit BodyWalk(std::string_view body)
      : body_(body), has_escapes_(body.find('\\') != std::string_view::npos) {}
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

Result<Message> replace_text(const Message& message, const ReplaceText& change,
                             const MessageLimits& limits) {
  if (change.find.empty())
    return Error{
        .code = ErrorCode::invalid_argument, .message = "find must not be empty", .field = "find"};
  if (std::optional<Error> error = check_utf8("find", change.find)) return std::move(*error);
  if (std::optional<Error> error = check_utf8("with", change.with)) return std::move(*error);
  std::string with;
  append_json_escaped(with, change.with);
  return edit_texts(message, limits, [&](std::string& out, std::string_view body) {
    const bool has_escapes = body.find('\\') != std::string_view::npos;
    const std::string plain = has_escapes ? decoded(body) : std::string();
    const std::string_view text = has_escapes ? std::string_view(plain) : body;
    BodyWalk walk(body);
    std::size_t kept = 0;  // bytes of the body that are dealt with
    // Both texts are UTF-8, so a match begins and ends between code points, which is between units
    // of the body.
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

Result<Message> truncate_text(const Message& message, const TruncateText& change,
                              const MessageLimits& limits) {
  if (std::optional<Error> error = check_utf8("marker", change.marker)) return std::move(*error);
  std::string marker;
  append_json_escaped(marker, change.marker);
  const std::uint64_t tail_max = change.keep == TruncateText::Keep::head   ? 0
                                 : change.keep == TruncateText::Keep::tail ? change.chars_max
                                                                           : change.chars_max / 2;
  const std::uint64_t head_max = change.chars_max - tail_max;
  return edit_texts(message, limits, [&](std::string& out, std::string_view body) {
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
