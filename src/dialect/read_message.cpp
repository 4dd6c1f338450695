// Messages of Chat Completions, of Anthropic, and of the engine's own form, which is both and more. What a message may stand as without change
// is found on the way: each member, part and field takes away the dialects that do not know it.
#include "dialect/read_fields.hpp"
#include "dialect/read_part.hpp"
#include "dialect/turn.hpp"

namespace undertext {
namespace {

constexpr DialectSet none = 0;

class MessageReader {
 public:
  MessageReader(std::optional<Dialect> origin, Arena& arena, ToolIds& ids)
      : origin_(origin ? bit(*origin) : DialectSet{0}), arena_(arena), ids_(ids) {}

  Turn read(JsonValue message) {
    turn_.raw = message.raw();
    turn_.shape = Turn::Shape::absent;
    native_ = in_chat | in_anthropic | in_responses;
    for (const JsonMember member : message.members()) read_role(member);
    std::optional<JsonValue> content;
    for (const JsonMember member : message.members()) read_member(member, content);
    if (content) read_content(*content);
    for (Block& call : calls_) turn_.blocks.push_back(std::move(call));
    if (turn_.role == Role::tool) become_result();
    if (turn_.shape == Turn::Shape::absent || turn_.shape == Turn::Shape::null) native_ &= in_chat;
    turn_.native = origin_ != 0 ? origin_ : native_;
    return std::move(turn_);
  }

 private:
  void read_role(const JsonMember& member) {
    if (!member.key.string_is("role") || !member.value.is(JsonType::string)) return;
    const JsonValue& role = member.value;
    if (role.string_is("developer")) {
      turn_.role = Role::system;
      turn_.is_developer = true;
      native_ &= in_chat | in_responses;
    } else if (role.string_is("function")) {
      turn_.role = Role::tool;
      is_function_ = true;
      native_ &= in_chat;
    } else {
      turn_.role = role_named(role.string()).value_or(Role::user);
      if (turn_.role == Role::tool) native_ &= in_chat;
    }
  }

  // Anthropic has nothing beside the content, and a tool calls and thinks nothing.
  bool may_have(const JsonValue& key) const {
    if (origin_ == in_anthropic) return false;
    return turn_.role != Role::tool || !is_one_of(key, {"tool_calls", "toolCalls", "function_call", "refusal", "reasoning_content",
                                                        "reasoning", "reasoning_details", "audio"});
  }

  void read_member(const JsonMember& member, std::optional<JsonValue>& content) {
    const JsonValue &key = member.key, &value = member.value;
    if (key.string_is("role")) return;
    if (key.string_is("content")) {
      content = value;
      turn_.content = value.raw();
      return;
    }
    if (!may_have(key)) {
      native_ = 0;
      turn_.has_unknown = true;
      return;
    }
    if (key.string_is("tool_calls") || key.string_is("toolCalls")) {
      const bool is_chat = key.string_is("tool_calls");
      native_ &= is_chat ? in_chat : none;
      if (value.is(JsonType::array)) {
        turn_.has_empty_calls = turn_.has_empty_calls || (is_chat && value.empty());
        for (const JsonValue call : value.elements()) read_call(call);
      }
    } else if (key.string_is("tool_call_id") || key.string_is("toolCallId")) {
      native_ &= key.string_is("tool_call_id") ? in_chat : none;
      if (value.is(JsonType::string)) result_id_ = decoded_of(value, arena_);
    } else if (key.string_is("name")) {
      native_ &= in_chat;
      if (value.is(JsonType::string)) turn_.name = value.string_raw();
    } else if (key.string_is("refusal")) {
      native_ &= in_chat;
      if (value.is(JsonType::string)) add_text(BlockKind::refusal, value, "refusal");
    } else if (key.string_is("reasoning_content") || key.string_is("reasoning")) {
      native_ &= in_chat;
      if (value.is(JsonType::string)) add_text(BlockKind::reasoning, value, decoded_of(key, arena_));
    } else if (key.string_is("reasoning_details")) {
      native_ &= in_chat;
      Block block = block_of(BlockKind::reasoning, value, in_chat);
      block.type = "reasoning_details";
      turn_.blocks.push_back(std::move(block));
    } else if (key.string_is("function_call")) {
      native_ &= in_chat;
      if (value.is(JsonType::object)) {
        native_ = 0;  // it has no id, which the engine needs
        read_legacy_call(value);
      }
    } else if (key.string_is("audio")) {
      native_ &= in_chat;
      if (value.is(JsonType::object)) {
        Block block = block_of(BlockKind::media, value, in_chat);
        block.type = "audio";
        block.media = {MediaKind::audio, MediaSource::file_id, body_of(value, "id")};
        turn_.blocks.push_back(std::move(block));
      }
    } else if (key.string_is("annotations")) {
      native_ &= in_chat;
      if (value.is(JsonType::array) && !value.empty()) turn_.has_annotations = true;
    } else if (is_one_of(key, {"id", "timestamp", "metadata", "native"})) {
      native_ = 0;  // the engine's own
    } else {
      native_ = 0;
      turn_.has_unknown = true;
    }
  }

  // A text that stands beside the content; `type` is its member.
  void add_text(BlockKind kind, const JsonValue& value, std::string_view type) {
    Block block;
    block.kind = kind;
    block.text = value.string_raw();
    block.type = type;
    turn_.blocks.push_back(std::move(block));
  }

  void read_call(const JsonValue& call) {
    if (!call.is(JsonType::object)) return;
    Block block = block_of(BlockKind::call, call, 0);
    block.id = decoded_of(call, "id", arena_);
    const std::optional<JsonValue> function = call.find("function"), custom = call.find("custom");
    const bool is_custom = custom && custom->is(JsonType::object);
    const JsonValue& inner = is_custom ? *custom : function && function->is(JsonType::object) ? *function : call;
    block.name = decoded_of(inner, "name", arena_);
    block.is_custom = is_custom;
    for (const std::string_view key : {"arguments", "input", "args"})
      if (const std::optional<JsonValue> arguments = inner.find(key)) block.json = arguments->raw();
    const bool is_chat = string_of(call, "id") && string_of(inner, "name") &&
                         (is_custom || (function && function->is(JsonType::object) && string_of(*function, "arguments")));
    if (is_chat) block.native = in_chat;
    if (!is_chat) native_ &= origin_;
    for (const JsonMember member : call.members())  // such as the signature that Gemini's Chat endpoint puts there
      if (is_chat && !is_one_of(member.key, {"id", "type", "function", "custom", "index"})) block.has_unknown = true;
    calls_.push_back(std::move(block));
  }

  std::string_view id_without_one(bool is_call, std::string_view tool) {
    std::string_view id;
    if (ids_.used < ids_.given.size()) {
      id = ids_.given[ids_.used++];
    } else if (!is_call) {
      for (std::size_t i = ids_.open.size(); i-- > 0 && id.empty();)
        if (ids_.open[i].first == tool) id = ids_.open[i].second;
    }
    if (id.empty()) id = arena_.keep("legacy_fn_" + std::to_string(++ids_.next));
    if (is_call) ids_.open.emplace_back(tool, id);
    return id;
  }

  void read_legacy_call(const JsonValue& call) {
    Block block = block_of(BlockKind::call, call, in_chat);
    block.is_legacy = true;
    block.has_own_id = false;
    block.name = decoded_of(call, "name", arena_);
    block.id = id_without_one(true, block.name);
    if (const std::optional<JsonValue> arguments = call.find("arguments")) block.json = arguments->raw();
    calls_.push_back(std::move(block));
  }

  void read_content(const JsonValue& content) {
    if (content.is(JsonType::string)) {
      turn_.shape = Turn::Shape::string;
      turn_.blocks.push_back(text_block(content.string_raw()));
    } else if (content.is(JsonType::array)) {
      turn_.shape = Turn::Shape::list;
      native_ &= in_chat | in_anthropic;
      for (const JsonValue part : content.elements()) turn_.blocks.push_back(read_part(part, origin_, native_, arena_));
    } else {
      turn_.shape = Turn::Shape::null;
    }
  }

  // The message of role tool: all it holds is the output of one tool.
  void become_result() {
    Block result;
    result.kind = BlockKind::result;
    result.id = result_id_;
    result.is_legacy = is_function_;
    result.name = decoded_name();
    if (is_function_) {
      result.has_own_id = false;
      result.id = id_without_one(false, result.name);
    }
    result.is_list = turn_.shape == Turn::Shape::list;
    if (result.is_list) {
      result.inner = std::move(turn_.blocks);
    } else {
      for (const Block& block : turn_.blocks)
        if (block.kind == BlockKind::text) result.text = block.text;
    }
    turn_.blocks.clear();
    turn_.blocks.push_back(std::move(result));
  }
  std::string_view decoded_name() {
    return turn_.name.find('\\') == std::string_view::npos ? turn_.name : arena_.keep(decoded(turn_.name));
  }

  const DialectSet origin_;
  Arena& arena_;
  ToolIds& ids_;
  Turn turn_;
  DialectSet native_ = 0;
  std::vector<Block> calls_;
  std::string_view result_id_;
  bool is_function_ = false;
};

}  // namespace

Turn read_message(JsonValue message, std::optional<Dialect> origin, Arena& arena, ToolIds& ids) {
  return MessageReader(origin, arena, ids).read(message);
}

}  // namespace undertext
