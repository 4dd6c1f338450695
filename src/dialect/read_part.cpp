// Parts of a message's content, as Chat, Anthropic and the engine's own form have them.
#include "dialect/read_part.hpp"

#include <array>

#include "dialect/read_fields.hpp"

namespace undertext {
namespace {

struct PartRule {
  std::string_view type;
  DialectSet native;
  std::array<std::string_view, 5> fields;  // besides type, and cache markers; the empty ones are none
};

const PartRule* rule_of(std::string_view type) {
  static constexpr PartRule rules[] = {
      {"text", in_chat | in_anthropic, {"text"}},
      {"image_url", in_chat, {"image_url"}},
      {"input_audio", in_chat, {"input_audio"}},
      {"file", in_chat, {"file"}},
      {"refusal", in_chat, {"refusal"}},
      {"image", in_anthropic, {"source"}},
      {"document", in_anthropic, {"source", "title", "context", "citations"}},
      {"tool_use", in_anthropic, {"id", "name", "input", "caller", "toolset_name"}},
      {"tool_result", in_anthropic, {"tool_use_id", "content", "is_error"}},
      {"thinking", in_anthropic, {"thinking", "signature"}},
      {"redacted_thinking", in_anthropic, {"data"}},
      {"compaction", in_anthropic, {"content", "signature", "encrypted_content"}},
      {"search_result", in_anthropic, {"source", "title", "content", "citations"}},
      {"server_tool_use", in_anthropic, {"id", "name", "input", "caller"}},
      {"mcp_tool_use", in_anthropic, {"id", "name", "input", "server_name"}},
      {"mcp_tool_result", in_anthropic, {"tool_use_id", "content", "is_error"}},
      {"container_upload", in_anthropic, {"file_id"}},
      {"tool_addition", in_anthropic, {"tool"}},
      {"tool_removal", in_anthropic, {"tool"}},
  };
  for (const PartRule& rule : rules)
    if (rule.type == type) return &rule;
  return nullptr;
}

class PartReader {
 public:
  PartReader(DialectSet origin, DialectSet& native, Arena& arena) : origin_(origin), native_(native), arena_(arena) {}

  Block read(const JsonValue& part) {
    const std::optional<JsonValue> given = string_of(part, "type");
    const std::string_view type = given ? decoded_of(*given, arena_) : std::string_view();
    Block block = block_of(BlockKind::opaque, part, 0);
    block.type = type;
    const PartRule* rule = rule_of(type);
    if (rule != nullptr) {
      block.native = rule->native;
    } else if (type.ends_with("_tool_result")) {
      block.native = in_anthropic;
    }
    if (part.is(JsonType::object)) check_fields(part, rule, block);
    read_known(part, type, block);
    // What cannot be read can only be copied. A client's call or result has a place of its own in Chat, where a part would not do.
    const bool has_place = is_client(block, BlockKind::call) || is_client(block, BlockKind::result);
    const bool is_read =
        has_place || block.kind == BlockKind::text || block.kind == BlockKind::refusal || block.kind == BlockKind::media;
    if (!is_read || (block.native == 0 && !(has_place && origin_ == in_chat))) block.native |= origin_;
    native_ &= block.native;
    return block;
  }

 private:
  void check_fields(const JsonValue& part, const PartRule* rule, Block& block) const {
    for (const JsonMember member : part.members()) {
      if (member.key.string_is("type")) continue;
      if (member.key.string_is("cache_control")) {
        block.native &= in_anthropic;
        if (!member.value.is(JsonType::null)) block.cache = member.value.raw();
      } else if (member.key.string_is("prompt_cache_breakpoint")) {
        block.native &= in_chat;
        if (origin_ == in_anthropic) {
          block.has_unknown = true;
        } else if (!member.value.is(JsonType::null)) {
          block.cache = member.value.raw();
        }
      } else if (member.key.string_is("citations")) {
        block.native &= in_anthropic;
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
    } else if (type == "refusal" && origin_ != in_anthropic) {
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

  // What a part says of a call or result: itself, or, in no provider's form, an object under its type's name.
  static JsonValue fields_of(const JsonValue& part, std::string_view type, Block& block) {
    const std::optional<JsonValue> inner = part.find(type);
    if (!inner || !inner->is(JsonType::object)) return part;
    block.native = 0;
    return *inner;
  }

  void read_use(const JsonValue& part, std::string_view type, Block& block) {
    const JsonValue fields = fields_of(part, type, block);
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
    const JsonValue fields = fields_of(part, type, block);
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
      for (const JsonValue element : content->elements()) block.inner.push_back(read(element));
      if ((native_ & in_anthropic) == 0) block.native &= origin_;
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
    block.native = dialect == name(Dialect::gemini) ? bit(Dialect::gemini) : in_responses;
    JsonText text;
    const std::string_view as_content =
        block.native == in_responses ? std::string_view() : arena_.keep(R"({"parts":[)" + std::string(block.raw) + "]}");
    if (block.native == in_responses || !text.read(as_content, {.depth = 4096})) {
      ToolIds ids;
      Turn read = block.native == in_responses ? read_responses(*item, arena_) : read_gemini(text.root(), arena_, ids);
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
  DialectSet& native_;
  Arena& arena_;
};

}  // namespace

Block read_part(const JsonValue& part, DialectSet origin, DialectSet& native, Arena& arena) {
  return PartReader(origin, native, arena).read(part);
}

}  // namespace undertext
