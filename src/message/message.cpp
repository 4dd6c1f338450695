// The message: its bytes in one allocation, and what is read from them.
#include <undertext/message.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <unordered_set>

#include "base/find_bytes.hpp"
#include "base/json_place.hpp"
#include "base/json_string.hpp"
#include "base/json_text.hpp"
#include "message/check.hpp"
#include "message/shape.hpp"

namespace undertext {

// One allocation:   | Rep | the JSON, size_ bytes | timestamp, 8 bytes, only if there is one |
// A conversation holds millions of these, so what few messages have is not in the header.
struct Message::Rep {
  static constexpr std::uint8_t with_tool_links = 1;
  static constexpr std::uint8_t with_timestamp = 2;
  static constexpr std::uint8_t with_thinking = 8;
  static constexpr std::uint8_t with_backslash = 4;  // without one, every text stands in the JSON as it is

  std::atomic<std::uint32_t> references{1};
  std::uint32_t size;
  Role role;
  std::uint8_t flags;

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }

  static Rep* make(std::string_view json, Role role, bool has_tool_links, bool has_thinking,
                   std::optional<std::int64_t> timestamp_ms) {
    static_assert(sizeof(Rep) == 12);
    void* const memory = ::operator new(sizeof(Rep) + json.size() + (timestamp_ms ? sizeof *timestamp_ms : 0));
    std::uint8_t flags = 0;
    if (has_tool_links) flags |= with_tool_links;
    if (has_thinking) flags |= with_thinking;
    if (timestamp_ms) flags |= with_timestamp;
    if (json.find('\\') != std::string_view::npos) flags |= with_backslash;
    Rep* const rep = new (memory) Rep{.size = static_cast<std::uint32_t>(json.size()), .role = role, .flags = flags};
    std::memcpy(rep->bytes(), json.data(), json.size());
    if (timestamp_ms) std::memcpy(rep->bytes() + json.size(), &*timestamp_ms, sizeof *timestamp_ms);
    return rep;
  }

  void acquire() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    this->~Rep();
    ::operator delete(this);
  }
};

namespace {

// The thread's table of JSON nodes, so that reading a message allocates nothing. One at a time, so it stays in this file.
class Reading {
 public:
  Reading() = default;
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() { table_.release_above(table_bytes_kept); }

  std::optional<Error> read(std::string_view json, std::uint32_t depth) { return table_.read(json, {.depth = depth}); }

  // Of a message's own bytes, which have been read before and cannot fail.
  JsonValue message(std::string_view json) {
    table_.read(json, {.depth = std::numeric_limits<std::uint32_t>::max()});
    return root();
  }
  JsonValue root() const { return table_.root(); }

 private:
  static constexpr std::size_t table_bytes_kept = 1u << 20;
  static JsonText& table_of_thread() {
    static thread_local JsonText table;
    return table;
  }
  JsonText& table_ = table_of_thread();
};

std::string_view without_surrounding_space(std::string_view json) {
  constexpr std::string_view space = " \t\n\r";
  const std::size_t first = json.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return json.substr(first, json.find_last_not_of(space) + 1 - first);
}

std::string string_or_empty(const std::optional<JsonValue>& value) { return value ? value->string() : std::string(); }

}  // namespace

std::string_view name(Role role) {
  switch (role) {
    case Role::system: return "system";
    case Role::user: return "user";
    case Role::assistant: return "assistant";
    case Role::tool: return "tool";
  }
  return "user";
}

std::optional<Role> role_named(std::string_view name) {
  if (name == "system") return Role::system;
  if (name == "user") return Role::user;
  if (name == "assistant") return Role::assistant;
  if (name == "tool") return Role::tool;
  return std::nullopt;
}

Result<Message> Message::parse(std::string_view json, const MessageLimits& limits) {
  const std::uint64_t size = without_surrounding_space(json).size();
  if (size > limits.message_bytes)
    return Error{
        .code = ErrorCode::too_large,
        .message = "a message of " + std::to_string(size) + " bytes is over the limit of " + std::to_string(limits.message_bytes)};
  Reading reading;
  if (std::optional<Error> error = reading.read(json, limits.depth)) {
    // The member at fault, unless it is a key itself.
    const std::vector<JsonStep> steps = json_steps(json, static_cast<std::size_t>(error->byte_offset.value_or(0)));
    if (error->field.empty() && !steps.empty()) error->field = steps.front().key;
    if (steps.size() > 1) error->path = json_path(steps);
    return std::move(*error);
  }
  MessageFacts facts;
  if (std::optional<Error> error = check_message(reading.root(), facts)) return std::move(*error);
  bool has_tool_links = false;
  visit_tool_ids(reading.root(), [&has_tool_links](ToolLink::Side, const JsonValue&) { has_tool_links = true; });
  const bool has_thinking = facts.role == Role::assistant && holds_thinking(reading.root());
  return Message(Rep::make(reading.root().raw(), facts.role, has_tool_links, has_thinking, facts.timestamp_ms));
}

Message::Message(const Message& other) noexcept : rep_(other.rep_) {
  if (rep_ != nullptr) rep_->acquire();
}

Message::~Message() {
  if (rep_ != nullptr) rep_->release();
}

Result<Message> Message::make(Role role, std::string_view text, const MessageLimits& limits) {
  std::string json = R"({"role":")";
  json += name(role);
  json += R"(","content":)";
  append_json_string(json, text);
  json += '}';
  return parse(json, limits);
}

Result<Message> Message::make_tool_result(std::string_view tool_call_id, std::string_view text, const MessageLimits& limits) {
  std::string json = R"({"role":"tool","toolCallId":)";
  append_json_string(json, tool_call_id);
  json += R"(,"content":)";
  append_json_string(json, text);
  json += '}';
  return parse(json, limits);
}

std::string_view Message::json() const noexcept { return {rep_->bytes(), rep_->size}; }
Role Message::role() const noexcept { return rep_->role; }
bool Message::has_tool_links() const noexcept { return rep_->has(Rep::with_tool_links); }

bool Message::has_thinking() const noexcept { return rep_->has(Rep::with_thinking); }

std::optional<std::int64_t> Message::timestamp_ms() const noexcept {
  if (!rep_->has(Rep::with_timestamp)) return std::nullopt;
  std::int64_t timestamp_ms = 0;
  std::memcpy(&timestamp_ms, rep_->bytes() + rep_->size, sizeof timestamp_ms);
  return timestamp_ms;
}

std::string Message::text() const {
  Reading reading;
  std::string joined;
  bool first = true;
  visit_texts(reading.message(json()), [&](const JsonValue& text) {
    if (!first) joined += '\n';
    first = false;
    append_json_decoded(joined, text.string_raw());
    return true;
  });
  return joined;
}

bool Message::text_contains(std::string_view needle) const {
  if (needle.empty()) return true;
  // The newlines between texts stand nowhere in the JSON.
  if (needle.find('\n') != std::string_view::npos) return find_bytes(text(), needle) != std::string_view::npos;
  if (!rep_->has(Rep::with_backslash) && find_bytes(json(), needle) == std::string_view::npos) return false;
  Reading reading;
  bool found = false;
  std::string decoded;
  visit_texts(reading.message(json()), [&](const JsonValue& text) {
    std::string_view searched = text.string_raw();
    if (text.has_escapes()) {
      decoded.clear();
      append_json_decoded(decoded, searched);
      searched = decoded;
    }
    found = find_bytes(searched, needle) != std::string_view::npos;
    return !found;
  });
  return found;
}

std::vector<Part> Message::parts() const {
  Reading reading;
  std::vector<Part> parts;
  const std::optional<JsonValue> content = reading.message(json()).find("content");
  if (!content->is(JsonType::array)) return parts;
  for (const JsonValue part : content->elements()) {
    const std::optional<JsonValue> type = part.find("type");
    parts.push_back({type ? type->string_raw() : std::string_view(), part.raw()});
  }
  return parts;
}

std::vector<ToolCall> Message::tool_calls() const {
  Reading reading;
  std::vector<ToolCall> calls;
  const JsonValue message = reading.message(json());
  const auto add = [&calls](const JsonValue& fields, const std::optional<JsonValue>& call_name, const JsonValue& whole) {
    calls.push_back({string_or_empty(find_string(fields, "id")), string_or_empty(call_name), whole.raw()});
  };
  visit_tool_calls(message, [&add](const JsonValue& call) {
    // OpenAI's calls have their name inside `function`.
    const std::optional<JsonValue> function = call.find("function");
    std::optional<JsonValue> call_name = find_string(call, "name");
    if (!call_name && function) call_name = find_string(*function, "name");
    add(call, call_name, call);
  });
  visit_parts(message, "tool_use",
              [&add](const JsonValue& part, const JsonValue& fields) { add(fields, find_string(fields, "name"), part); });
  return calls;
}

std::vector<ToolLink> Message::tool_links() const {
  std::vector<ToolLink> links;
  if (!has_tool_links()) return links;
  Reading reading;
  std::unordered_set<std::string> seen[2];  // one for each side
  visit_tool_ids(reading.message(json()), [&](ToolLink::Side side, const JsonValue& id) {
    const auto [place, is_new] = seen[static_cast<std::size_t>(side)].insert(id.string());
    if (is_new) links.push_back({side, *place});
  });
  return links;
}

std::optional<std::string> Message::id() const {
  Reading reading;
  const std::optional<JsonValue> id = reading.message(json()).find("id");
  return id && id->is(JsonType::string) ? std::optional(id->string()) : std::nullopt;
}

std::optional<std::string> Message::tool_call_id() const {
  Reading reading;
  for (const JsonMember member : reading.message(json()).members())
    if (names_tool_call_id(member.key) && member.value.is(JsonType::string)) return member.value.string();
  return std::nullopt;
}

std::string_view Message::metadata_json() const {
  Reading reading;
  const std::optional<JsonValue> metadata = reading.message(json()).find("metadata");
  return metadata && metadata->is(JsonType::object) ? metadata->raw() : std::string_view();
}

}  // namespace undertext
