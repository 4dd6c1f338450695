// One immutable message, kept byte for byte as it was given.
//
//     Message hello = Message::parse(R"({"role":"user","content":"Hello"})").value();
//     hello.role();   // Role::user
//     hello.text();   // "Hello"
//     hello.json();   // the very bytes given to parse()
//
// A Message is a handle of one pointer; copies share the bytes, which live as long as any copy. Any
// thread may read any copy. Functions that return strings or vectors read the bytes at each call,
// in linear time. So a message takes little more memory than its JSON. blocks.hpp reads the content
// block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>

namespace undertext {

// an incoming "developer" counts as system
enum class Role : std::uint8_t { system, user, assistant, tool };
inline constexpr std::size_t role_count = 4;

UNDERTEXT_API std::string_view name(Role role);
// of the four names; not of "developer"
UNDERTEXT_API std::optional<Role> role_named(std::string_view name);

struct MessageLimits {
  std::uint64_t message_bytes = 16u << 20;  // a longer message is too_large
  std::uint32_t depth = 128;                // of nested arrays and objects, the message included
};

// One side of a tool pair that a message holds: a call it makes, or a result it gives.
struct ToolLink {
  enum class Side : std::uint8_t { call, result };
  Side side = Side::call;
  std::string id;
  friend bool operator==(const ToolLink&, const ToolLink&) = default;
};

class UNDERTEXT_API Message {
 public:
  // Checks and copies one JSON object. Surrounding white space is not kept; everything else is.
  // invalid_argument, with `byte_offset`: no RFC 8259 JSON, invalid UTF-8, too deep, or a key
  // twice. With `field` and `path`: a key twice, or an object that is not a message. too_large:
  // over the limit.
  static Result<Message> parse(std::string_view json, const MessageLimits& limits = {});

  // The message {"role":…,"content":…} with this text. invalid_argument: invalid UTF-8, or no text
  // where one is needed.
  static Result<Message> make(Role role, std::string_view text, const MessageLimits& limits = {});
  // {"role":"tool","toolCallId":…,"content":…}
  static Result<Message> make_tool_result(std::string_view tool_call_id, std::string_view text,
                                          const MessageLimits& limits = {});

  std::string_view json() const noexcept;
  Role role() const noexcept;
  bool has_tool_links() const noexcept;     // whether tool_links() is not empty
  bool has_reasoning() const noexcept;      // of any kind, readable or not
  bool is_only_reasoning() const noexcept;  // and nothing else
  // Whether this is what a store kept of a message that was redacted or pruned. Its bytes do not
  // decide that, since anyone can write the same: it is the store's record of the message.
  bool is_redacted() const noexcept;
  std::optional<std::int64_t> timestamp_ms() const noexcept;  // milliseconds since 1970

  // texts and texts of tool results, joined by newlines; no reasoning, no arguments
  std::string text() const;
  bool text_contains(std::string_view needle) const;
  // Calls and results that have a partner in another message, by id, without repeats; calls first.
  std::vector<ToolLink> tool_links() const;
  std::optional<std::string> id() const;
  std::string_view metadata_json() const;  // the object as given; empty when there is none

  // Prefetches the bytes into the CPU cache.
  void prefetch() const noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(rep_);
#endif
  }

  // Equal bytes.
  friend bool operator==(const Message& a, const Message& b) noexcept {
    return a.rep_ == b.rep_ || a.json() == b.json();
  }

  Message(const Message& other) noexcept;
  // `other` may only be assigned or destroyed
  Message(Message&& other) noexcept : rep_(other.rep_) { other.rep_ = nullptr; }
  Message& operator=(Message other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Message();

 private:
  friend class MessageSlot;
  friend Message as_redacted(const Message& stub);
  struct Rep;
  explicit Message(Rep* rep) noexcept : rep_(rep) {}
  Rep* rep_;
};

}  // namespace undertext
