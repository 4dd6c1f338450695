// Goes through the JSON of a message. It has been checked before, so that nothing is checked again,
// and much of it is passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/json_string.hpp"

namespace undertext {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view json) : at_(json.data()), end_(json.data() + json.size()) {}

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
      if (depth == 0 &&
          (c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t'))
        break;  // behind a number or a word
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

inline bool is_json_string(std::string_view value) { return value.front() == '"'; }
inline bool is_json_object(std::string_view value) { return value.front() == '{'; }
inline bool is_json_array(std::string_view value) { return value.front() == '['; }
inline std::string_view body_of(std::string_view json_string) {
  return json_string.substr(1, json_string.size() - 2);
}

// What a key or a short name says. Names that matter are short, so one that is long as spelled is
// not decoded.
class JsonName {
 public:
  explicit JsonName(std::string_view body) : text_(body) {
    constexpr std::size_t longest = 256;
    if (body.size() > longest || body.find('\\') == std::string_view::npos) return;
    append_json_decoded(decoded_, body);
    text_ = decoded_;
  }
  JsonName(const JsonName&) = delete;
  JsonName& operator=(const JsonName&) = delete;

  operator std::string_view() const { return text_; }

 private:
  std::string decoded_;
  std::string_view text_;
};

// Calls visit(key, value's text) for every member of an object.
template <class Visit>
void for_each_member(std::string_view object, Visit visit) {
  JsonCursor cursor(object);
  cursor.step();
  for (cursor.skip_space(); cursor.here() != '}'; cursor.skip_space()) {
    const JsonName key(cursor.string());
    cursor.skip_space();
    cursor.step();  // the colon
    cursor.skip_space();
    visit(static_cast<std::string_view>(key), cursor.value());
    cursor.skip_space();
    if (cursor.here() == ',') cursor.step();
  }
}

// Calls visit(text) for every element of an array.
template <class Visit>
void for_each_element(std::string_view array, Visit visit) {
  JsonCursor cursor(array);
  cursor.step();
  for (cursor.skip_space(); cursor.here() != ']'; cursor.skip_space()) {
    visit(cursor.value());
    cursor.skip_space();
    if (cursor.here() == ',') cursor.step();
  }
}

// Calls visit(key, body) for every string in a value that is no key, however deep; the key is that
// of the innermost member it is in.
template <class Visit>
void for_each_string(std::string_view json, Visit visit) {
  JsonCursor cursor(json);
  std::string_view key;
  for (cursor.skip_space(); !cursor.done(); cursor.skip_space()) {
    if (cursor.here() != '"') {
      cursor.step();
      continue;
    }
    const std::string_view body = cursor.string();
    cursor.skip_space();
    if (!cursor.done() && cursor.here() == ':') {
      key = body;
    } else {
      visit(key, body);
    }
  }
}

}  // namespace undertext
