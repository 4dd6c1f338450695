#include "tokens/estimate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "base/json_string.hpp"

namespace undertext {

namespace {

// Weights are in quarters of a token, so that nothing is rounded before the end.
constexpr std::uint64_t quarters_per_token = 4;
constexpr std::uint64_t message_quarters = 4 * quarters_per_token;
constexpr std::uint64_t ascii_quarters = 1;
constexpr std::uint64_t cjk_quarters = 4;
constexpr std::uint64_t other_quarters = 2;
constexpr std::uint64_t image_quarters = 765 * quarters_per_token;  // what OpenAI charges for an image of 1024 by 1024 pixels

bool is_cjk(char32_t code_point) {
  return (code_point >= 0x2E80 && code_point <= 0x9FFF) ||  // radicals, kana, ideographs
         (code_point >= 0xAC00 && code_point <= 0xD7AF) ||  // Hangul
         (code_point >= 0xF900 && code_point <= 0xFAFF) ||  // compatibility ideographs
         (code_point >= 0xFF00 && code_point <= 0xFFEF) ||  // full width
         (code_point >= 0x20000 && code_point <= 0x3FFFF);  // further ideographs
}

std::uint64_t weigh_code_point(char32_t code_point) {
  return code_point < 0x80 ? ascii_quarters : is_cjk(code_point) ? cjk_quarters : other_quarters;
}

// Eight bytes without a backslash or a byte beyond ASCII.
bool is_plain(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
  const std::uint64_t backslashes = word ^ (ones * '\\');
  return (word & highs) == 0 && ((backslashes - ones) & ~backslashes & highs) == 0;
}

// The body of a JSON string: what it says counts, not how it is escaped.
std::uint64_t weigh_text(std::string_view body) {
  std::uint64_t quarters = 0;
  for (std::size_t at = 0; at < body.size();) {
    std::uint64_t word = 0;
    if (body.size() - at >= sizeof word) {
      std::memcpy(&word, body.data() + at, sizeof word);
      if (is_plain(word)) {
        quarters += sizeof word * ascii_quarters;
        at += sizeof word;
        continue;
      }
    }
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(body[at + i]); };
    if (byte(0) < 0x80 && byte(0) != '\\') {
      quarters += ascii_quarters;
      at += 1;
    } else if (byte(0) >= 0xE0 && byte(0) < 0xF0) {
      do {  // such characters come in runs
        quarters +=
            weigh_code_point((char32_t{byte(0)} & 0x0F) << 12 | (char32_t{byte(1)} & 0x3F) << 6 | (char32_t{byte(2)} & 0x3F));
        at += 3;
      } while (at < body.size() && byte(0) >= 0xE0 && byte(0) < 0xF0);
    } else {
      const JsonUnit unit = json_unit(body, at);
      quarters += weigh_code_point(unit.code_point);
      at += unit.size;
    }
  }
  return quarters;
}

// Whether a string is base64 or a data URL rather than something to read. Short strings do not matter.
bool is_encoded(std::string_view body) {
  constexpr std::size_t sample_bytes = 256;
  if (body.size() < 2 * sample_bytes) return false;
  if (body.starts_with("data:")) return true;
  return std::all_of(body.begin(), body.begin() + sample_bytes, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '-' ||
           c == '_' || c == '=' || c == '\\';  // some write / as \/
  });
}

// Goes through JSON that has been checked before, so that nothing is checked again. Much of what a message holds is skipped.
class Cursor {
 public:
  explicit Cursor(std::string_view json) : at_(json.data()), end_(json.data() + json.size()) {}

  bool done() const { return at_ == end_; }
  char here() const { return *at_; }
  void step() { ++at_; }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  // At a quote: the body of the string, and on behind it.
  std::string_view string() {
    const char* const begin = ++at_;
    for (;; ++at_) {
      at_ = static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
      const char* slashes = at_;
      while (slashes != begin && slashes[-1] == '\\') --slashes;
      if ((at_ - slashes) % 2 == 0) break;  // an odd number of backslashes escapes the quote
    }
    return {begin, static_cast<std::size_t>(at_++ - begin)};
  }

  // At a value: its text, and on behind it.
  std::string_view value() {
    const char* const begin = at_;
    std::uint32_t depth = 0;
    while (at_ != end_) {
      const char c = *at_;
      if (c == '"') {
        string();
        if (depth == 0) break;
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;  // behind a number or a word
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) break;
    }
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

 private:
  const char* at_;
  const char* end_;
};

std::string_view body_of(std::string_view json_string) { return json_string.substr(1, json_string.size() - 2); }

bool body_is(std::string_view body, std::string_view text) {
  if (body.find('\\') == std::string_view::npos) return body == text;
  std::string decoded;
  append_json_decoded(decoded, body);
  return decoded == text;
}

// Calls visit(key's body, value's text) for every member of an object, or visit({}, text) for every element of an array.
template <class Visit>
void for_each_inside(std::string_view json, Visit visit) {
  Cursor cursor(json);
  const bool object = cursor.here() == '{';
  cursor.step();
  for (cursor.skip_space(); cursor.here() != '}' && cursor.here() != ']'; cursor.skip_space()) {
    std::string_view key;
    if (object) {
      key = cursor.string();
      cursor.skip_space();
      cursor.step();  // the colon
      cursor.skip_space();
    }
    visit(key, cursor.value());
    cursor.skip_space();
    if (cursor.here() == ',') cursor.step();
  }
}

// Any JSON: its strings as text or as encoded bytes, and what stands around them.
std::uint64_t weigh_json(std::string_view json) {
  std::uint64_t quarters = 0;
  Cursor cursor(json);
  for (cursor.skip_space(); !cursor.done(); cursor.skip_space()) {
    quarters += ascii_quarters;
    if (cursor.here() == '"') {
      const std::string_view body = cursor.string();
      quarters += ascii_quarters + (is_encoded(body) ? image_quarters : weigh_text(body));
    } else {
      cursor.step();
    }
  }
  return quarters;
}

std::uint64_t weigh_part(std::string_view part) {
  if (part.front() != '{') return weigh_json(part);
  std::string_view type, text;
  for_each_inside(part, [&](std::string_view key, std::string_view value) {
    if (value.front() != '"') return;
    if (body_is(key, "type")) type = body_of(value);
    if (body_is(key, "text")) text = body_of(value);
  });
  if (body_is(type, "text")) return weigh_text(text);
  if (body_is(type, "image") || body_is(type, "image_url") || body_is(type, "input_image")) return image_quarters;
  return weigh_json(part);
}

std::uint64_t weigh_content(std::string_view content) {
  if (content.front() == '"') return weigh_text(body_of(content));
  std::uint64_t quarters = 0;
  if (content.front() == '[') {
    for_each_inside(content, [&](std::string_view, std::string_view part) { quarters += weigh_part(part); });
  }
  return quarters;
}

}  // namespace

std::uint32_t estimate_tokens(const Message& message) {
  std::uint64_t quarters = message_quarters;
  for_each_inside(message.json(), [&](std::string_view key, std::string_view value) {
    if (body_is(key, "content")) {
      quarters += weigh_content(value);
    } else if (body_is(key, "toolCalls") || body_is(key, "tool_calls")) {
      quarters += weigh_json(value);
    }
  });
  const std::uint64_t tokens = (quarters + quarters_per_token - 1) / quarters_per_token;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(tokens, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace undertext
