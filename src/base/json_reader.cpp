// The reader of JSON text: one pass, no recursion. Our own because the text must come back as it
// was given: numbers of any size as spelled, keys refused when repeated, errors with their byte.
// simdjson 3.0.1 refuses 1e400 and integers beyond 2^64, keeps repeated keys and tells no offsets.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <limits>

#include "base/json_string.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"

namespace undertext {
namespace {

// Eight bytes at `at`, the first of them lowest.
std::uint64_t load_8(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// The top bit of each byte that ends a run of plain string bytes: a quote, a backslash, a control
// character, not ASCII.
// Bytes above the first such byte may be marked wrongly, because the subtractions borrow upwards;
// the first never is.
std::uint64_t ends_of_plain(std::uint64_t word) {
  constexpr std::uint64_t each = 0x0101010101010101;
  const std::uint64_t quote = (word ^ (each * '"')) - each;
  const std::uint64_t backslash = (word ^ (each * '\\')) - each;
  const std::uint64_t control = word - each * 0x20;
  return (quote | backslash | control | word) & (each * 0x80);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

// While an array or object is open its node's `next` is the node it stands in, so that the table is
// its own stack.
class JsonReader {
 public:
  JsonReader(JsonText& out, const JsonLimits& limits)
      : nodes_(out.nodes_),
        begin_(out.text_.data()),
        end_(begin_ + out.text_.size()),
        at_(begin_),
        depth_max_(limits.depth) {}

  std::optional<Error> read() {
    if (read_document()) return std::nullopt;
    return std::move(error_);
  }

 private:
  using Node = JsonText::Node;
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  bool read_document() {
    while (read_value()) {
      while (!expects_value_) {
        skip_space();
        if (open_ == none) return at_ == end_ || fail(at_, "expected nothing after the value");
        if (!read_separator()) return false;
      }
    }
    return false;
  }

  // A scalar wholly, or the opening of an array or object up to its first value.
  bool read_value() {
    skip_space();
    if (at_ == end_) return fail(at_, "expected a value");
    expects_value_ = false;
    switch (*at_) {
      case '"': return read_string();
      case '{': return open(JsonType::object) && first_member();
      case '[': return open(JsonType::array) && first_element();
      case 't': return read_literal("true", JsonType::boolean);
      case 'f': return read_literal("false", JsonType::boolean);
      case 'n': return read_literal("null", JsonType::null);
      default: return read_number();
    }
  }

  // After a value: a comma and, in an object, the next key; or the closing bracket.
  bool read_separator() {
    const bool in_object = nodes_[open_].type == JsonType::object;
    const char c = at_ == end_ ? '\0' : *at_;
    if (c == ',') {
      ++at_;
      return in_object ? read_key() : (expects_value_ = true);
    }
    if (c == (in_object ? '}' : ']')) return close();
    return fail(at_, in_object ? "expected ',' or '}' after a member"
                               : "expected ',' or ']' after an element");
  }

  bool first_member() {
    skip_space();
    if (at_ != end_ && *at_ == '}') return close();
    return read_key();
  }

  bool first_element() {
    skip_space();
    if (at_ != end_ && *at_ == ']') return close();
    return expects_value_ = true;
  }

  bool read_key() {
    skip_space();
    if (at_ == end_ || *at_ != '"') return fail(at_, "expected a key in quotes");
    if (!read_string()) return false;
    skip_space();
    if (at_ == end_ || *at_ != ':') return fail(at_, "expected ':' after the key");
    ++at_;
    return expects_value_ = true;
  }

  bool open(JsonType type) {
    if (++depth_ > depth_max_)
      return fail(at_, "nested deeper than the limit of " + std::to_string(depth_max_) +
                           " arrays and objects");
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({offset(at_), 0, open_, type, false});
    open_ = node;
    ++at_;
    return true;
  }

  bool close() {
    ++at_;
    --depth_;
    Node& node = nodes_[open_];
    const std::uint32_t outer = node.next;
    node.end = offset(at_);
    node.next = static_cast<std::uint32_t>(nodes_.size());
    if (node.type == JsonType::object && !check_keys(open_)) return false;
    open_ = outer;
    return true;
  }

  void add_scalar(const char* from, JsonType type, bool escaped = false) {
    nodes_.push_back(
        {offset(from), offset(at_), static_cast<std::uint32_t>(nodes_.size() + 1), type, escaped});
  }

  bool read_string() {
    const char* const from = at_++;
    bool escaped = false;
    while (true) {
      while (end_ - at_ >= 8) {
        const std::uint64_t ends = ends_of_plain(load_8(at_));
        if (ends != 0) {
          at_ += std::countr_zero(ends) / 8;
          break;
        }
        at_ += 8;
      }
      if (at_ == end_) return fail(at_, "a string is not closed");
      const auto byte = static_cast<std::uint8_t>(*at_);
      if (byte == '"') {
        ++at_;
        add_scalar(from, JsonType::string, escaped);
        return true;
      }
      if (byte == '\\') {
        escaped = true;
        if (!skip_escape()) return false;
      } else if (byte < 0x20) {
        return fail(at_, "a control character in a string must be escaped");
      } else {
        // Text that is not ASCII seldom changes to ASCII for eight bytes together: stay here while
        // it lasts.
        do {
          const std::size_t size = utf8_sequence_size(at_, end_);
          if (size == 0) return fail(at_, "invalid UTF-8");
          at_ += size;
        } while (at_ != end_ && static_cast<std::uint8_t>(*at_) >= 0x80);
      }
    }
  }

  bool skip_escape() {
    const char* const backslash = at_++;
    if (at_ == end_) return fail(at_, "a string is not closed");
    const char letter = *at_++;
    if (letter != 'u') {
      constexpr std::string_view known = "\"\\/bfnrt";
      return known.find(letter) != std::string_view::npos ||
             fail(backslash, "unknown escape in a string");
    }
    for (int digits = 0; digits < 4; ++digits, ++at_)
      if (at_ == end_ || !is_hex_digit(*at_))
        return fail(backslash, "\\u needs four hexadecimal digits");
    return true;
  }

  bool read_literal(std::string_view literal, JsonType type) {
    const char* const from = at_;
    if (static_cast<std::size_t>(end_ - at_) < literal.size() ||
        std::memcmp(at_, literal.data(), literal.size()) != 0)
      return fail(at_, "expected a value");
    at_ += literal.size();
    add_scalar(from, type);
    return true;
  }

  bool read_number() {
    const char* const from = at_;
    if (*at_ == '-') ++at_;
    const char* const digits = at_;
    if (!skip_digits())
      return fail(from, *from == '-' ? "expected a digit after '-'" : "expected a value");
    if (*digits == '0' && at_ - digits > 1)
      return fail(from, "a number must not begin with a needless zero");
    if (at_ != end_ && *at_ == '.') {
      ++at_;
      if (!skip_digits()) return fail(at_, "expected a digit after '.'");
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!skip_digits()) return fail(at_, "expected a digit in the exponent");
    }
    add_scalar(from, JsonType::number);
    return true;
  }

  bool skip_digits() {
    const char* const from = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != from;
  }

  void skip_space() {
    while (at_ != end_ && is_space(*at_)) ++at_;
  }

  // Few keys are compared each with each, which needs no memory; many are sorted, so that a million
  // stay n log n.
  bool check_keys(std::uint32_t object) {
    std::array<std::uint32_t, 8> keys;
    std::size_t count = 0;
    for (std::uint32_t key = object + 1; key != nodes_.size(); key = nodes_[key + 1].next) {
      if (count == keys.size()) return check_many_keys(object);
      for (std::size_t i = 0; i < count; ++i)
        if (same_key(nodes_[keys[i]], nodes_[key])) return fail_repeated(nodes_[key]);
      keys[count++] = key;
    }
    return true;
  }

  bool check_many_keys(std::uint32_t object) {
    struct Key {
      std::string_view decoded;
      std::uint32_t node;
      bool operator<(const Key& other) const {
        const int order = decoded.compare(other.decoded);
        return order != 0 ? order < 0 : node < other.node;
      }
    };
    std::vector<Key> keys;
    std::deque<std::string> decoded;  // its elements stay where they are
    for (std::uint32_t key = object + 1; key != nodes_.size(); key = nodes_[key + 1].next) {
      std::string_view text = body(nodes_[key]);
      if (nodes_[key].escaped) text = decoded.emplace_back(decoded_key(nodes_[key]));
      keys.push_back({text, key});
    }
    std::sort(keys.begin(), keys.end());
    std::uint32_t repeated = none;
    for (std::size_t i = 1; i < keys.size(); ++i)
      if (keys[i - 1].decoded == keys[i].decoded) repeated = std::min(repeated, keys[i].node);
    return repeated == none || fail_repeated(nodes_[repeated]);
  }

  bool same_key(const Node& a, const Node& b) const {
    if (a.escaped || b.escaped) return decoded_key(a) == decoded_key(b);
    return body(a) == body(b);
  }

  std::string decoded_key(const Node& key) const {
    std::string decoded;
    append_json_decoded(decoded, body(key), LoneSurrogates::keep);
    return decoded;
  }

  std::string_view body(const Node& string) const {
    return {begin_ + string.begin + 1, string.end - string.begin - 2};
  }
  std::uint32_t offset(const char* at) const { return static_cast<std::uint32_t>(at - begin_); }

  // Always false, for `return fail(…)`.
  [[gnu::cold, gnu::noinline]] bool fail(const char* at, std::string_view what) {
    std::string message = std::string(what) + " at byte " + std::to_string(at - begin_);
    if (at == end_) message += ", where the text ends";
    error_ = {.code = ErrorCode::invalid_argument,
              .message = std::move(message),
              .byte_offset = offset(at)};
    return false;
  }

  // The key is the field at fault, but a long one would only be repeated to somebody who sent it.
  [[gnu::cold, gnu::noinline]] bool fail_repeated(const Node& key) {
    constexpr std::size_t key_bytes_max = 128;
    const std::string_view spelled = body(key);
    std::string what = "a key twice in one object";
    if (spelled.size() <= key_bytes_max)
      what = "the key \"" + std::string(spelled) + "\" twice in one object";
    fail(begin_ + key.begin, what);
    if (spelled.size() <= key_bytes_max) append_json_decoded(error_.field, spelled);
    return false;
  }

  std::vector<Node>& nodes_;
  const char* const begin_;
  const char* const end_;
  const char* at_;
  const std::uint32_t depth_max_;
  std::uint32_t depth_ = 0;
  std::uint32_t open_ = none;  // the innermost open array or object
  bool expects_value_ = true;  // or, when not, what follows a value
  Error error_;
};

std::optional<Error> JsonText::read(std::string_view text, const JsonLimits& limits) {
  nodes_.clear();
  text_ = text;
  // what a Node can point at
  constexpr std::uint64_t bytes_max = std::numeric_limits<std::uint32_t>::max();
  if (text.size() > bytes_max)
    return Error{.code = ErrorCode::too_large,
                 .message = "JSON text of " + std::to_string(text.size()) + " bytes; at most " +
                            std::to_string(bytes_max) + " can be read"};
  return JsonReader(*this, limits).read();
}

}  // namespace undertext
