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
#include "message/read_fields.hpp"
#include "message/redacted.hpp"
#include "message/turn.hpp"

namespace undertext {

// One allocation:   | Rep | the JSON, size_ bytes | timestamp, 8 bytes, only if there is one |
// A conversation holds millions of these, so what few messages have is not in the header.
struct Message::Rep {
  static constexpr std::uint8_t with_tool_links = 1;
  static constexpr std::uint8_t with_timestamp = 2;
  // without one, every text stands in the JSON as it is
  static constexpr std::uint8_t with_backslash = 4;
  static constexpr std::uint8_t with_reasoning = 8;
  static constexpr std::uint8_t with_reasoning_only = 16;
  static constexpr std::uint8_t redacted = 32;  // as the store's record says

  std::atomic<std::uint32_t> references{1};
  std::uint32_t size;
  Role role;
  std::uint8_t flags;

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }

  static Rep* make(std::string_view json, Role role, std::uint8_t flags,
                   std::optional<std::int64_t> timestamp_ms) {
    static_assert(sizeof(Rep) == 12);
    void* const memory =
        ::operator new(sizeof(Rep) + json.size() + (timestamp_ms ? sizeof *timestamp_ms : 0));
    if (timestamp_ms) flags |= with_timestamp;
    if (json.find('\\') != std::string_view::npos) flags |= with_backslash;
    Rep* const rep = new (memory)
        Rep{.size = static_cast<std::uint32_t>(json.size()), .role = role, .flags = flags};
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

// The thread's table of JSON nodes, so that reading a message allocates nothing. One at a time, so
// it stays in this file.
class Reading {
 public:
  Reading() = default;
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() { table_.release_above(table_bytes_kept); }

  std::optional<Error> read(std::string_view json, std::uint32_t depth) {
    return table_.read(json, {.depth = depth});
  }

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

// The turn, and what it borrows besides the JSON.
struct ReadTurn {
  explicit ReadTurn(JsonValue message) : turn(read_message(message, std::nullopt, arena, ids)) {}
  ReadTurn(JsonValue message, std::size_t blocks_max) {
    arena.limit_blocks(blocks_max);
    turn = read_message(message, std::nullopt, arena, ids);
  }
  Arena arena;
  ToolIds ids;
  Turn turn;
};

// Whether the message is a text and nothing else, as most are: then there is no need to read its
// blocks.
bool is_plain(const JsonValue& message) {
  for (const JsonMember member : message.members()) {
    if (member.key.string_is("content")
            ? !member.value.is(JsonType::string)
            : !is_one_of(member.key, {"role", "id", "timestamp", "metadata", "name"}))
      return false;
  }
  return true;
}

bool is_blank_block(const Block& block) {
  return block.kind == BlockKind::reasoning ||
         (block.kind == BlockKind::text && block.text.empty());
}

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
    return Error{.code = ErrorCode::too_large,
                 .message = "a message of " + std::to_string(size) +
                            " bytes is over the limit of " + std::to_string(limits.message_bytes)};
  Reading reading;
  if (std::optional<Error> error = reading.read(json, limits.depth)) {
    // The member at fault, unless it is a key itself.
    const std::vector<JsonStep> steps =
        json_steps(json, static_cast<std::size_t>(error->byte_offset.value_or(0)));
    if (error->field.empty() && !steps.empty()) error->field = steps.front().key;
    if (steps.size() > 1) error->path = json_path(steps);
    return std::move(*error);
  }
  MessageFacts facts;
  if (std::optional<Error> error = check_message(reading.root(), facts)) return std::move(*error);
  std::uint8_t flags = 0;
  if (!is_plain(reading.root())) {
    const ReadTurn read(reading.root(), blocks_max(limits));
    if (read.arena.is_over()) return too_many_blocks(limits);
    const std::vector<Block>& blocks = read.turn.blocks;
    if (std::any_of(blocks.begin(), blocks.end(), is_linked)) flags |= Rep::with_tool_links;
    if (facts.role == Role::assistant && std::any_of(blocks.begin(), blocks.end(), is_reasoning)) {
      flags |= Rep::with_reasoning;
      if (std::all_of(blocks.begin(), blocks.end(), is_blank_block))
        flags |= Rep::with_reasoning_only;
    }
  }
  return Message(Rep::make(reading.root().raw(), facts.role, flags, facts.timestamp_ms));
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

Result<Message> Message::make_tool_result(std::string_view tool_call_id, std::string_view text,
                                          const MessageLimits& limits) {
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

bool Message::has_reasoning() const noexcept { return rep_->has(Rep::with_reasoning); }
bool Message::is_only_reasoning() const noexcept { return rep_->has(Rep::with_reasoning_only); }
bool Message::is_redacted() const noexcept { return rep_->has(Rep::redacted); }

Message as_redacted(const Message& stub) {
  const auto flags = static_cast<std::uint8_t>(stub.rep_->flags | Message::Rep::redacted);
  return Message(Message::Rep::make(stub.json(), stub.role(), flags, stub.timestamp_ms()));
}

std::optional<std::int64_t> Message::timestamp_ms() const noexcept {
  if (!rep_->has(Rep::with_timestamp)) return std::nullopt;
  std::int64_t timestamp_ms = 0;
  std::memcpy(&timestamp_ms, rep_->bytes() + rep_->size, sizeof timestamp_ms);
  return timestamp_ms;
}

std::string Message::text() const {
  Reading reading;
  const ReadTurn read(reading.message(json()));
  std::string joined;
  bool first = true;
  const auto join = [&](std::string_view body) {
    if (!first) joined += '\n';
    first = false;
    append_json_decoded(joined, body);
    return true;
  };
  visit_texts(read.turn.blocks, join);
  return joined;
}

bool Message::text_contains(std::string_view needle) const {
  if (needle.empty()) return true;
  // The newlines between texts stand nowhere in the JSON.
  if (needle.find('\n') != std::string_view::npos)
    return find_bytes(text(), needle) != std::string_view::npos;
  if (!rep_->has(Rep::with_backslash) && find_bytes(json(), needle) == std::string_view::npos)
    return false;
  Reading reading;
  const ReadTurn read(reading.message(json()));
  bool found = false;
  std::string decoded;
  const auto look = [&](std::string_view body) {
    if (body.find('\\') != std::string_view::npos) {
      decoded.clear();
      append_json_decoded(decoded, body);
      body = decoded;
    }
    found = find_bytes(body, needle) != std::string_view::npos;
    return !found;
  };
  visit_texts(read.turn.blocks, look);
  return found;
}

std::vector<ToolLink> Message::tool_links() const {
  std::vector<ToolLink> links;
  if (!has_tool_links()) return links;
  Reading reading;
  const ReadTurn read(reading.message(json()));
  constexpr std::size_t few = 8;
  std::unordered_set<std::string> seen;  // of one side, where there are more than a few
  for (const ToolLink::Side side : {ToolLink::Side::call, ToolLink::Side::result}) {
    const BlockKind kind = side == ToolLink::Side::call ? BlockKind::call : BlockKind::result;
    const std::size_t first = links.size();
    seen.clear();
    for (const Block& block : read.turn.blocks) {
      if (block.kind != kind || !is_linked(block)) continue;
      const auto is_same = [&](const ToolLink& link) { return link.id == block.id; };
      const bool is_known = links.size() - first < few
                                ? std::any_of(links.begin() + static_cast<std::ptrdiff_t>(first),
                                              links.end(), is_same)
                                : !seen.emplace(block.id).second;
      if (is_known) continue;
      links.push_back({side, std::string(block.id)});
      if (links.size() - first == few)
        for (std::size_t k = first; k < links.size(); ++k) seen.insert(links[k].id);
    }
  }
  return links;
}

std::optional<std::string> Message::id() const {
  Reading reading;
  const std::optional<JsonValue> id = reading.message(json()).find("id");
  return id && id->is(JsonType::string) ? std::optional(id->string()) : std::nullopt;
}

std::string_view Message::metadata_json() const {
  Reading reading;
  const std::optional<JsonValue> metadata = reading.message(json()).find("metadata");
  return metadata && metadata->is(JsonType::object) ? metadata->raw() : std::string_view();
}

}  // namespace undertext
