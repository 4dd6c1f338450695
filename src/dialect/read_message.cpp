// Messages of Chat Completions, of Anthropic, and of the engine's own form, which is both and more. What a message may stand as without change
// is found on the way: each member, part and field takes away the dialects that do not know it.
#include <array>

#include "dialect/read_fields.hpp"
#include "dialect/turn.hpp"

namespace undertext {
namespace {

constexpr DialectSet none = 0;
constexpr DialectSet chat = bit(Dialect::openai_chat);
constexpr DialectSet anthropic = bit(Dialect::anthropic);
constexpr DialectSet responses = bit(Dialect::openai_responses);

struct PartRule {
  std::string_view type;
  DialectSet native;
  std::array<std::string_view, 5> fields;  // besides type, and cache markers; the empty ones are none
};

const PartRule* rule_of(std::string_view type) {
  static constexpr PartRule rules[] = {
      {"text", chat | anthropic, {"text"}},
      {"image_url", chat, {"image_url"}},
      {"input_audio", chat, {"input_audio"}},
      {"file", chat, {"file"}},
      {"refusal", chat, {"refusal"}},
      {"image", anthropic, {"source"}},
      {"document", anthropic, {"source", "title", "context", "citations"}},
      {"tool_use", anthropic, {"id", "name", "input", "caller", "toolset_name"}},
      {"tool_result", anthropic, {"tool_use_id", "content", "is_error"}},
      {"thinking", anthropic, {"thinking", "signature"}},
      {"redacted_thinking", anthropic, {"data"}},
      {"compaction", anthropic, {"content", "signature", "encrypted_content"}},
      {"search_result", anthropic, {"source", "title", "content", "citations"}},
      {"server_tool_use", anthropic, {"id", "name", "input", "caller"}},
      {"mcp_tool_use", anthropic, {"id", "name", "input", "server_name"}},
      {"mcp_tool_result", anthropic, {"tool_use_id", "content", "is_error"}},
      {"container_upload", anthropic, {"file_id"}},
      {"tool_addition", anthropic, {"tool"}},
      {"tool_removal", anthropic, {"tool"}},
  };
  for (const PartRule& rule : rules)
    if (rule.type == type) return &rule;
  return nullptr;
}

class MessageReader {
 public:
  MessageReader(std::optional<Dialect> origin, Arena& arena, ToolIds& ids)
      : origin_(origin ? bit(*origin) : DialectSet{0}), arena_(arena), ids_(ids) {}

  Turn read(JsonValue message) {
    turn_.raw = message.raw();
    turn_.shape = Turn::Shape::absent;
    native_ = chat | anthropic | responses;
    for (const JsonMember member : message.members()) read_role(member);
    std::optional<JsonValue> content;
    for (const JsonMember member : message.members()) read_member(member, content);
    if (content) read_content(*content);
    for (Block& call : calls_) turn_.blocks.push_back(std::move(call));
    if (turn_.role == Role::tool) become_result();
    if (turn_.shape == Turn::Shape::absent || turn_.shape == Turn::Shape::null) native_ &= chat;
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
      native_ &= chat | responses;
    } else if (role.string_is("function")) {
      turn_.role = Role::tool;
      is_function_ = true;
      native_ &= chat;
    } else {
      turn_.role = role_named(role.string()).value_or(Role::user);
      if (turn_.role == Role::tool) native_ &= chat;
    }
  }

  // Anthropic has nothing beside the content, and a tool calls and thinks nothing.
  bool may_have(const JsonValue& key) const {
    if (origin_ == anthropic) return false;
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
      native_ &= is_chat ? chat : none;
      if (value.is(JsonType::array)) {
        turn_.has_empty_calls = turn_.has_empty_calls || (is_chat && value.empty());
        for (const JsonValue call : value.elements()) read_call(call);
      }
    } else if (key.string_is("tool_call_id") || key.string_is("toolCallId")) {
      native_ &= key.string_is("tool_call_id") ? chat : none;
      if (value.is(JsonType::string)) result_id_ = decoded_of(value, arena_);
    } else if (key.string_is("name")) {
      native_ &= chat;
      if (value.is(JsonType::string)) turn_.name = value.string_raw();
    } else if (key.string_is("refusal")) {
      native_ &= chat;
      if (value.is(JsonType::string)) add_text(BlockKind::refusal, value, "refusal");
    } else if (key.string_is("reasoning_content") || key.string_is("reasoning")) {
      native_ &= chat;
      if (value.is(JsonType::string)) add_text(BlockKind::reasoning, value, decoded_of(key, arena_));
    } else if (key.string_is("reasoning_details")) {
      native_ &= chat;
      Block block = block_of(BlockKind::reasoning, value, chat);
      block.type = "reasoning_details";
      turn_.blocks.push_back(std::move(block));
    } else if (key.string_is("function_call")) {
      native_ &= chat;
      if (value.is(JsonType::object)) {
        native_ = 0;  // it has no id, which the engine needs
        read_legacy_call(value);
      }
    } else if (key.string_is("audio")) {
      native_ &= chat;
      if (value.is(JsonType::object)) {
        Block block = block_of(BlockKind::media, value, chat);
        block.type = "audio";
        block.media = {MediaKind::audio, MediaSource::file_id, body_of(value, "id")};
        turn_.blocks.push_back(std::move(block));
      }
    } else if (key.string_is("annotations")) {
      native_ &= chat;
      if (value.is(JsonType::array) && !value.empty()) turn_.has_annotations = true;
    } else if (is_one_of(key, {"id", "timestamp", "metadata", "native"})) {
      native_ = 0;  // the engine's own
    } else {
      native_ = 0;
      turn_.has_unknown = true;
    }
  }

  static Block block_of(BlockKind kind, const JsonValue& value, DialectSet native) {
    Block block;
    block.kind = kind;
    block.raw = value.raw();
    block.native = native;
    return block;
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
    if (is_chat) block.native = chat;
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
    Block block = block_of(BlockKind::call, call, chat);
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
      native_ &= chat | anthropic;
      for (const JsonValue part : content.elements()) turn_.blocks.push_back(read_part(part));
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

  Block read_part(const JsonValue& part) {
    const std::optional<JsonValue> given = string_of(part, "type");
    const std::string_view type = given ? decoded_of(*given, arena_) : std::string_view();
    Block block = block_of(BlockKind::opaque, part, 0);
    block.type = type;
    const PartRule* rule = rule_of(type);
    if (rule != nullptr) {
      block.native = rule->native;
    } else if (type.ends_with("_tool_result")) {
      block.native = anthropic;
    }
    if (part.is(JsonType::object)) check_fields(part, rule, block);
    read_known(part, type, block);
    // What cannot be read can only be copied. A client's call or result has a place of its own in Chat, where a part would not do.
    const bool has_place = is_client(block, BlockKind::call) || is_client(block, BlockKind::result);
    const bool is_read =
        has_place || block.kind == BlockKind::text || block.kind == BlockKind::refusal || block.kind == BlockKind::media;
    if (!is_read || (block.native == 0 && !(has_place && origin_ == chat))) block.native |= origin_;
    native_ &= block.native;
    return block;
  }

  void check_fields(const JsonValue& part, const PartRule* rule, Block& block) const {
    for (const JsonMember member : part.members()) {
      if (member.key.string_is("type")) continue;
      if (member.key.string_is("cache_control")) {
        block.native &= anthropic;
        if (!member.value.is(JsonType::null)) block.cache = member.value.raw();
      } else if (member.key.string_is("prompt_cache_breakpoint")) {
        block.native &= chat;
        if (origin_ == anthropic) {
          block.has_unknown = true;
        } else if (!member.value.is(JsonType::null)) {
          block.cache = member.value.raw();
        }
      } else if (member.key.string_is("citations")) {
        block.native &= anthropic;
        if (member.value.is(JsonType::array) && !member.value.empty()) block.has_citations = true;
        if (member.value.is(JsonType::object)) block.has_unknown = true;
      } else if (is_one_of(member.key, {"context", "caller", "toolset_name"}) && !member.value.is(JsonType::null) &&
                 rule != nullptr && is_one_of(member.key, std::span<const std::string_view>(rule->fields))) {
        block.has_unknown = true;  // Anthropic's alone
      } else if (rule != nullptr && !is_one_of(member.key, std::span<const std::string_view>(rule->fields))) {
        block.native = 0;
        block.has_unknown = block.has_unknown || !member.key.string_is("thoughtSignature");
      }
    }
  }

  void read_known(const JsonValue& part, std::string_view type, Block& block) {
    if (const std::optional<JsonValue> signature = string_of(part, "thoughtSignature")) block.signature = signature->string_raw();
    if (type == "text" || type == "input_text" || type == "output_text") {
      if (!string_of(part, "text")) return;
      block.kind = BlockKind::text;
      block.text = body_of(part, "text");
    } else if (type == "refusal" && origin_ != anthropic) {
      block.kind = BlockKind::refusal;
      block.text = body_of(part, "refusal");
    } else if (type == "tool_use" || type == "server_tool_use" || type == "mcp_tool_use") {
      read_use(part, type, block);
    } else if (type == "tool_result" || type.ends_with("_tool_result")) {
      read_result(part, type, block);
    } else if (type == "thinking" || type == "redacted_thinking") {
      block.kind = BlockKind::reasoning;
      block.text = body_of(part, "thinking");
      if (const std::string_view own = body_of(part, "signature"); !own.empty()) block.signature = own;
    } else if (type == "compaction") {
      block.kind = BlockKind::compaction;
      block.text = body_of(part, "content");
      block.signature = body_of(part, "signature");
    } else if (origin_ == 0 && (type == "reasoning" || type == name(Dialect::openai_responses) || type == name(Dialect::gemini))) {
      read_wrapped(part, type, block);
    } else {
      read_media(part, type, block);
    }
  }

  void read_use(const JsonValue& part, std::string_view type, Block& block) {
    const std::optional<JsonValue> inner = part.find(type);
    const bool is_nested = inner && inner->is(JsonType::object);
    const JsonValue& fields = is_nested ? *inner : part;
    if (is_nested) block.native = 0;
    block.kind = BlockKind::call;
    block.is_server = type != "tool_use";
    block.id = decoded_of(fields, "id", arena_);
    block.name = decoded_of(fields, "name", arena_);
    block.is_custom = is_true(fields, "custom");
    for (const std::string_view key : {"input", "arguments"})
      if (const std::optional<JsonValue> arguments = fields.find(key)) block.json = arguments->raw();
    if (block.json.empty() || block.json.front() != '{') block.native &= origin_;
  }

  void read_result(const JsonValue& part, std::string_view type, Block& block) {
    const std::optional<JsonValue> inner = part.find(type);
    const bool is_nested = inner && inner->is(JsonType::object);
    const JsonValue& fields = is_nested ? *inner : part;
    if (is_nested) block.native = 0;
    block.kind = BlockKind::result;
    block.is_server = type != "tool_result";
    block.id = decoded_of(fields, "tool_use_id", arena_);
    block.name = decoded_of(fields, "name", arena_);
    block.is_error = is_true(fields, "is_error");
    const std::optional<JsonValue> content = fields.find("content");
    if (!content) return;
    if (content->is(JsonType::string)) {
      block.text = content->string_raw();
    } else if (content->is(JsonType::array) && !block.is_server) {
      block.is_list = true;
      const DialectSet outside = native_;
      for (const JsonValue element : content->elements()) block.inner.push_back(read_part(element));
      if ((native_ & anthropic) == 0) block.native &= origin_;
      native_ = outside;
    } else {
      block.json = content->raw();
    }
  }

  // What only one dialect understands, kept whole in the engine's form.
  void read_wrapped(const JsonValue& part, std::string_view type, Block& block) {
    const std::optional<JsonValue> item = part.find("item");
    if (!item || !item->is(JsonType::object)) return;
    const std::string_view dialect = type == "reasoning" ? name(Dialect::openai_responses) : type;
    block.raw = item->raw();
    block.native = dialect == name(Dialect::gemini) ? bit(Dialect::gemini) : responses;
    JsonText text;
    const std::string_view as_content =
        block.native == responses ? std::string_view() : arena_.keep(R"({"parts":[)" + std::string(block.raw) + "]}");
    if (block.native == responses || !text.read(as_content, {.depth = 4096})) {
      ToolIds ids;
      Turn read = block.native == responses ? read_responses(*item, arena_) : read_gemini(text.root(), arena_, ids);
      if (read.blocks.size() == 1) {
        const std::string_view raw = block.raw;
        const DialectSet native = block.native;
        block = std::move(read.blocks.front());
        block.raw = raw;
        block.native = native;
      }
    }
    native_ = 0;
  }

  static void read_source(const JsonValue& part, Block& block) {
    const std::optional<JsonValue> source = part.find("source");
    if (!source || !source->is(JsonType::object)) return;
    block.kind = BlockKind::media;
    block.media.mime = body_of(*source, "media_type");
    const std::string_view kind = body_of(*source, "type");
    if (kind == "base64" || kind == "text") {
      block.media.source = kind == "text" ? MediaSource::text : MediaSource::base64;
      block.media.data = body_of(*source, "data");
    } else if (kind == "url") {
      block.media.source = MediaSource::url;
      block.media.data = body_of(*source, "url");
    } else if (kind == "file") {
      block.media.source = MediaSource::file_id;
      block.media.data = body_of(*source, "file_id");
    } else {
      block.kind = BlockKind::opaque;
    }
  }

  static void read_media(const JsonValue& part, std::string_view type, Block& block) {
    if (type == "image_url" || type == "input_audio" || (type == "file" && part.find("file"))) {
      const std::optional<JsonValue> inner = part.find(type);
      if (!inner || !inner->is(JsonType::object)) return;
      block.kind = BlockKind::media;
      if (type == "image_url") {
        read_url(body_of(*inner, "url"), block.media);
        block.media.detail = body_of(*inner, "detail");
      } else if (type == "input_audio") {
        block.media = {MediaKind::audio, MediaSource::base64, body_of(*inner, "data"), body_of(*inner, "format")};
      } else {
        block.media.kind = MediaKind::file;
        block.media.filename = body_of(*inner, "filename");
        if (string_of(*inner, "file_id")) {
          block.media.source = MediaSource::file_id;
          block.media.data = body_of(*inner, "file_id");
        } else {
          read_url(body_of(*inner, "file_data"), block.media);
        }
      }
    } else if (type == "image" || type == "document" || type == "audio" || type == "video" || type == "file") {
      block.media.kind = type == "image"   ? MediaKind::image
                         : type == "audio" ? MediaKind::audio
                         : type == "video" ? MediaKind::video
                                           : MediaKind::file;
      read_source(part, block);
      block.media.filename = body_of(part, "title");
    }
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
