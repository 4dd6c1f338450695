// Strict JSON text (RFC 8259), read into a flat table of spans of the text itself: nothing is
// decoded, rounded or copied, so that numbers keep their spelling and any value can be handed back
// byte for byte.
//
//     JsonText text = *JsonText::parse(line, {});
//     if (std::optional<JsonValue> role = text.root().find("role")) use(role->string());
//
// Refused, each with its byte offset: anything RFC 8259 refuses (a BOM, trailing text, control
// characters in strings, NaN), invalid UTF-8, nesting beyond the limit, and an object with the same
// key twice (compared decoded). Escapes of lone surrogates (\ud800) are RFC 8259 text and are kept;
// string() decodes them to U+FFFD.
//
// A JsonValue borrows the JsonText, which borrows the text: both must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>

namespace undertext {

struct JsonLimits {
  std::uint32_t depth = 128;  // of nested arrays and objects; the outermost is the first
};

enum class JsonType : std::uint8_t { null, boolean, number, string, array, object };

// "null", "boolean", … for messages to people.
std::string_view name(JsonType type);

class JsonValue;

class JsonText {
 public:
  // invalid_argument with byte_offset. Linear in the text but for sorting the keys of large
  // objects.
  static Result<JsonText> parse(std::string_view text, const JsonLimits& limits);

  // As parse(), into a JsonText whose memory is used again. `this` is unusable after an error.
  std::optional<Error> read(std::string_view text, const JsonLimits& limits);

  // Frees the table when it holds more than `bytes`; for one that is used again and was once very
  // large. Ends all values.
  void release_above(std::size_t bytes);

  JsonText() = default;
  JsonValue root() const;

 private:
  friend class JsonValue;
  struct Node {
    std::uint32_t begin;  // of the value's text, quotes and brackets included
    std::uint32_t end;
    std::uint32_t next;  // the node after this one and all it contains
    JsonType type;
    bool escaped;  // a string with at least one backslash
  };
  friend class JsonReader;
  std::string_view text_;
  std::vector<Node> nodes_;  // in document order; an object's are key, value, key, value, …
};

class JsonValue {
 public:
  JsonType type() const { return node().type; }
  bool is(JsonType type) const { return this->type() == type; }
  // its own bytes
  std::string_view raw() const {
    return text_->text_.substr(node().begin, node().end - node().begin);
  }
  std::uint64_t offset() const { return node().begin; }  // where raw() begins in the text

  bool boolean() const { return raw().front() == 't'; }  // of a boolean
  std::string string() const;                            // of a string, decoded to UTF-8
  // without allocating for strings without escapes
  bool string_is(std::string_view utf8) const;
  // the bytes between the quotes, as spelled
  std::string_view string_raw() const { return raw().substr(1, raw().size() - 2); }
  bool has_escapes() const { return node().escaped; }  // of a string

  // A number spelled as an integer (no fraction, no exponent). Nothing when it is spelled otherwise
  // or has no place in the type.
  std::optional<std::int64_t> int64() const;
  // The same for a non-negative one; an integer beyond the type gives its largest value.
  std::optional<std::uint64_t> uint64_saturated() const;

  bool empty() const { return node().next == node_ + 1; }  // an array or object without elements
  // elements of an array, members of an object; O(count)
  std::size_t count() const;
  // nothing unless an object has it; O(count)
  std::optional<JsonValue> find(std::string_view key) const;

  // for (JsonValue v : array.elements());  for (JsonMember m : object.members())
  class Elements;
  class Members;
  Elements elements() const;
  Members members() const;

 private:
  friend class JsonText;
  JsonValue(const JsonText* text, std::uint32_t node) : text_(text), node_(node) {}
  const JsonText::Node& node() const { return text_->nodes_[node_]; }
  const JsonText* text_;
  std::uint32_t node_;
};

struct JsonMember {
  JsonValue key;  // a string
  JsonValue value;
};

class JsonValue::Elements {
 public:
  class iterator {
   public:
    JsonValue operator*() const { return {text_, node_}; }
    iterator& operator++() {
      node_ = text_->nodes_[node_].next;
      return *this;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    friend class Elements;
    iterator(const JsonText* text, std::uint32_t node) : text_(text), node_(node) {}
    const JsonText* text_;
    std::uint32_t node_;
  };
  iterator begin() const { return {array_.text_, array_.node_ + 1}; }
  iterator end() const { return {array_.text_, array_.node().next}; }

 private:
  friend class JsonValue;
  explicit Elements(JsonValue array) : array_(array) {}
  JsonValue array_;
};

class JsonValue::Members {
 public:
  class iterator {
   public:
    JsonMember operator*() const { return {{text_, node_}, {text_, node_ + 1}}; }
    iterator& operator++() {
      node_ = text_->nodes_[node_ + 1].next;
      return *this;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    friend class Members;
    iterator(const JsonText* text, std::uint32_t node) : text_(text), node_(node) {}
    const JsonText* text_;
    std::uint32_t node_;
  };
  iterator begin() const { return {object_.text_, object_.node_ + 1}; }
  iterator end() const { return {object_.text_, object_.node().next}; }

 private:
  friend class JsonValue;
  explicit Members(JsonValue object) : object_(object) {}
  JsonValue object_;
};

// Inline, since readers compare each key with many names: the lengths tell nearly all of them
// apart.
inline bool JsonValue::string_is(std::string_view utf8) const {
  const JsonText::Node& n = node();
  const std::size_t size = n.end - n.begin - 2;
  if (!n.escaped) return size == utf8.size() && string_raw() == utf8;
  return size > utf8.size() && string() == utf8;  // an escape is longer than what it stands for
}

inline JsonValue JsonText::root() const { return {this, 0}; }
inline JsonValue::Elements JsonValue::elements() const { return Elements(*this); }
inline JsonValue::Members JsonValue::members() const { return Members(*this); }

// Appends a JSON string, quotes included, with the fewest escapes RFC 8259 allows. `utf8` is valid
// UTF-8.
void append_json_string(std::string& out, std::string_view utf8);
std::string json_string(std::string_view utf8);
// The shortest digits that read as the same number.
void append_json_number(std::string& out, double number);
// The same without quotes.
void append_json_escaped(std::string& out, std::string_view utf8);

}  // namespace undertext
