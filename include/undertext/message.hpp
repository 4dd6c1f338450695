// One immutable message, kept byte for byte as it was given.
//
//     Message hello = Message::parse(R"({"role":"user","content":"Hello"})").value();
//     hello.role();   // Role::user
//     hello.text();   // "Hello"
//     hello.json();   // the very bytes given to parse()
//
// A Message is a handle of one pointer; copies share the bytes, which live as long as any copy. Any thread may read any
// copy. Everything but json(), role(), has_tool_links(), has_thinking() and timestamp_ms() is derived from the bytes at each call, in time
// linear in their number, so that a message costs little more memory than its JSON.
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

enum class Role : std::uint8_t { system, user, assistant, tool };  // an incoming "developer" counts as system
inline constexpr std::size_t role_count = 4;

UNDERTEXT_API std::string_view name(Role role);
UNDERTEXT_API std::optional<Role> role_named(std::string_view name);  // of the four names; not of "developer"

struct MessageLimits {
  std::uint64_t message_bytes = 16u << 20;  // a longer message is too_large
  std::uint32_t depth = 128;                // of nested arrays and objects, the message itself being the first
};

// One element of a list content, as it was given. Views into the message's bytes.
struct Part {
  std::string_view type;  // "text", "tool_use", …, as spelled; empty when the part names none
  std::string_view json;
};

// One side of a tool pair that a message holds: a call it makes, or a result it gives.
struct ToolLink {
  enum class Side : std::uint8_t { call, result };
  Side side = Side::call;
  std::string id;
  friend bool operator==(const ToolLink&, const ToolLink&) = default;
};

struct ToolCall {
  std::string id;         // empty when the call has none
  std::string name;       // empty when the call has none
  std::string_view json;  // the call as given; a view into the message's bytes
};

class UNDERTEXT_API Message {
 public:
  // Checks and copies one JSON object. Surrounding white space is not kept; everything else is.
  // invalid_argument: no RFC 8259 JSON, invalid UTF-8 or too deep, with `byte_offset`; a key twice, with both; or not a
  // message, where `field` names the member at fault and `path` the place in it. too_large: over the limit.
  static Result<Message> parse(std::string_view json, const MessageLimits& limits = {});

  // The message {"role":…,"content":…} with this text. invalid_argument: invalid UTF-8, or no text where one is needed.
  static Result<Message> make(Role role, std::string_view text, const MessageLimits& limits = {});
  // {"role":"tool","toolCallId":…,"content":…}
  static Result<Message> make_tool_result(std::string_view tool_call_id, std::string_view text, const MessageLimits& limits = {});

  std::string_view json() const noexcept;
  Role role() const noexcept;
  bool has_tool_links() const noexcept;                       // whether tool_links() is not empty
  bool has_thinking() const noexcept;                         // a thinking part, or a text of reasoning beside the content
  std::optional<std::int64_t> timestamp_ms() const noexcept;  // milliseconds since 1970

  std::string text() const;  // string content, or the text parts and texts of tool results, joined by newlines
  bool text_contains(std::string_view needle) const;
  std::vector<Part> parts() const;           // empty for string content
  std::vector<ToolCall> tool_calls() const;  // of `toolCalls` (or `tool_calls`) and of tool_use parts, in that order
  std::vector<ToolLink> tool_links() const;  // every call and result this message holds, by id, without repeats; calls first
  std::optional<std::string> id() const;
  std::optional<std::string> tool_call_id() const;
  std::string_view metadata_json() const;  // the object as given; empty when there is none

  // Tells the machine that the bytes will be read soon.
  void prefetch() const noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(rep_);
#endif
  }

  // Equal bytes.
  friend bool operator==(const Message& a, const Message& b) noexcept { return a.rep_ == b.rep_ || a.json() == b.json(); }

  Message(const Message& other) noexcept;
  Message(Message&& other) noexcept : rep_(other.rep_) { other.rep_ = nullptr; }  // `other` may only be assigned or destroyed
  Message& operator=(Message other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Message();

 private:
  friend class MessageSlot;
  struct Rep;
  explicit Message(Rep* rep) noexcept : rep_(rep) {}
  Rep* rep_;
};

}  // namespace undertext
