// Parts of a message's content, as Chat, Anthropic and the engine's own form have them.
#include "message/read_part.hpp"

#include <array>

#include "message/read_fields.hpp"

namespace undertext {
namespace {

struct PartRule {
  std::string_view type;
  DialectSet native;
  // besides type, and cache markers; the empty ones are none
  std::array<std::string_view, 5> fields;
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

// {"type":"base64","media_type":…,"data":…} and its kin, as Anthropic has them.
void read_source(const JsonValue& source, Block& block) {
  block.kind = BlockKind::media;
  block.media.mime = body_of(source, "media_type");
  const std::string_view kind = body_of(source, "type");
  if (kind == "base64" || kind == "text") {
    block.media.source = kind == "text" ? MediaSource::text : MediaSource::base64;
    block.media.data = body_of(source, "data");
  } else if (kind == "url") {
    block.media.source = MediaSource::url;
    block.media.data = body_of(source, "url");
  } else if (kind == "file") {
    block.media.source = MediaSource::file_id;
    block.media.data = body_of(source, "file_id");
  } else {
    block.kind = BlockKind::opaque;
  }
}

// The engine's own form says of all media of which type they are.
bool is_of_anthropic(const JsonValue& source) {
  const std::optional<JsonValue> type = source.find("media_type");
  if (!source.is(JsonType::object) || !type) return true;
  const std::string_view kind = body_of(source, "type");
  return (kind == "base64" || kind == "text") && body_of(source, "media_type") != "";
}

struct MediaType {
  std::string_view type;
  MediaKind kind;
};
constexpr MediaType media_types[] = {
    {"image", MediaKind::image},       {"image_url", MediaKind::image},
    {"input_image", MediaKind::image}, {"computer_screenshot", MediaKind::image},
    {"audio", MediaKind::audio},       {"input_audio", MediaKind::audio},
    {"video", MediaKind::video},       {"video_url", MediaKind::video},
    {"input_video", MediaKind::video}, {"document", MediaKind::file},
    {"file", MediaKind::file},         {"input_file", MediaKind::file},
    {"media", MediaKind::file},
};

// Where the bytes, the address or the id of media stand: in the part, or in an object inside it.
void read_where(const JsonValue& fields, Block& block) {
  for (const std::string_view key : {"image_url", "video_url", "file_url", "url", "file_data",
                                     "data", "image", "file", "audio", "video"}) {
    const std::optional<JsonValue> value = string_of(fields, key);
    if (!value) continue;
    block.kind = BlockKind::media;
    read_url(value->string_raw(), block.media);
    // Bytes without the head of a data URL.
    if (block.media.source == MediaSource::url && !key.ends_with("url") &&
        block.media.data.find("://") == std::string_view::npos)
      block.media.source = MediaSource::base64;
    break;
  }
  for (const std::string_view key : {"file_id", "fileId"}) {
    if (!string_of(fields, key)) continue;
    block.kind = BlockKind::media;
    block.media.source = MediaSource::file_id;
    block.media.data = body_of(fields, key);
  }
  for (const std::string_view key : {"media_type", "mediaType", "mimeType", "mime_type", "format"})
    if (block.media.mime.empty()) block.media.mime = body_of(fields, key);
  if (block.media.detail.empty()) block.media.detail = body_of(fields, "detail");
  for (const std::string_view key : {"filename", "title"})
    if (block.media.filename.empty()) block.media.filename = body_of(fields, key);
}

void read_media(const JsonValue& part, std::string_view type, Block& block) {
  const MediaType* known = nullptr;
  for (const MediaType& each : media_types)
    if (each.type == type) known = &each;
  if (known == nullptr) return;
  block.media.kind = known->kind;
  if (const std::optional<JsonValue> source = part.find("source");
      source && source->is(JsonType::object)) {
    read_source(*source, block);
    block.media.filename = body_of(part, "title");
    return;
  }
  for (const std::string_view key : {type, std::string_view("image_url"), name(known->kind)}) {
    const std::optional<JsonValue> inner = part.find(key);
    if (block.kind == BlockKind::media || !inner || !inner->is(JsonType::object)) continue;
    read_where(*inner, block);
    if (block.kind == BlockKind::media || !string_of(*inner, "id")) continue;
    block.kind = BlockKind::media;
    block.media.source = MediaSource::file_id;
    block.media.data = body_of(*inner, "id");
  }
  if (block.kind != BlockKind::media) read_where(part, block);
  // SDKs call an image a file of that type.
  if (known->kind == MediaKind::file && block.media.mime.starts_with("image") &&
      (type == "file" || type == "media"))
    block.media.kind = MediaKind::image;
  if (block.kind == BlockKind::media || known->kind == MediaKind::file) return;
  block.kind = BlockKind::media;  // somewhere
  block.media.source = MediaSource::file_id;
}

class PartReader {
 public:
  PartReader(DialectSet origin, DialectSet& native, Arena& arena, ToolIds& ids)
      : origin_(origin), native_(native), arena_(arena), ids_(ids) {}

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
    if (const std::optional<JsonValue> source = part.find("source");
        source && !is_of_anthropic(*source))
      block.native &= origin_;
    read_known(part, type, block);
    // What cannot be read can only be copied. A client's call or result has a place of its own in
    // Chat, where a part would not do.
    const bool has_place = is_client(block, BlockKind::call) || is_client(block, BlockKind::result);
    const bool is_read = has_place || block.kind == BlockKind::text ||
                         block.kind == BlockKind::refusal || block.kind == BlockKind::media;
    if (!is_read || (block.native == 0 && !(has_place && origin_ == in_chat)))
      block.native |= origin_;
    native_ &= block.native;
    return block;
  }

 private:
  static bool is_nested(const JsonValue& key, const Block& block) {
    return (block.type == "tool_use" || block.type == "tool_result") && key.string_is(block.type);
  }
  static bool is_address(const JsonValue& key, const Block& block) {
    return block.type == "image" && key.string_is("image_url");
  }

  void check_fields(const JsonValue& part, const PartRule* rule, Block& block) const {
    for (const JsonMember member : part.members()) {
      if (member.key.string_is("type")) continue;
      // Document 000 puts what a part holds into an object under its type's name, and the address
      // of an image beside its type.
      if (member.value.is(JsonType::object) &&
          (is_nested(member.key, block) || is_address(member.key, block))) {
        block.native = 0;
        continue;
      }
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
      } else if (is_one_of(member.key, {"context", "caller", "toolset_name"}) &&
                 !member.value.is(JsonType::null) && rule != nullptr &&
                 is_one_of(member.key, std::span<const std::string_view>(rule->fields))) {
        block.has_unknown = true;  // Anthropic's alone
      } else if (rule != nullptr &&
                 !is_one_of(member.key, std::span<const std::string_view>(rule->fields))) {
        block.native = 0;
        block.has_unknown = block.has_unknown || !member.key.string_is("thoughtSignature");
      }
    }
  }

  void read_known(const JsonValue& part, std::string_view type, Block& block) {
    if (const std::optional<JsonValue> signature = string_of(part, "thoughtSignature"))
      block.signature = signature->string_raw();
    if (type == "tool_use" || type == "server_tool_use" || type == "mcp_tool_use" ||
        type == "tool-call") {
      read_use(part, type, block);
    } else if (type == "tool_result" || type.ends_with("_tool_result") || type == "tool-result") {
      read_result(part, type, block);
    } else if (type == "thinking" || type == "redacted_thinking") {
      block.kind = BlockKind::reasoning;
      block.text = body_of(part, "thinking");
      for (const std::string_view key : {"signature", "data"})
        if (const std::string_view own = body_of(part, key); !own.empty()) block.signature = own;
    } else if (type == "compaction" && string_of(part, "content")) {
      block.kind = BlockKind::compaction;
      block.text = body_of(part, "content");
      block.signature = body_of(part, "signature");
    } else if (origin_ == 0 &&
               (type == "reasoning" || type == name(Dialect::openai_responses) ||
                type == name(Dialect::gemini)) &&
               part.find("item")) {
      read_wrapped(part, type, block);
    } else if (type == "reasoning" || type == "reasoning_text" || type == "summary_text") {
      block.kind = BlockKind::reasoning;
      block.text = reasoning_text(part, arena_);
      block.signature = body_of(part, "encrypted_content");
      if (is_reasoning_item(part, type)) {
        block.native |= in_responses;
        block.item_id = decoded_of(part, "id", arena_);
      }
    } else if (type != "refusal" || origin_ != in_anthropic) {
      read_said(part, type, block, arena_);
      if (block.kind == BlockKind::opaque) read_part_item(part, block);
    }
  }

  // Reasoning of the Responses API that stands as a part, as read_part_item() reads calls. Its
  // summary may be empty, and is always there; what others call reasoning has a text instead.
  static bool is_reasoning_item(const JsonValue& part, std::string_view type) {
    const std::optional<JsonValue> summary = part.find("summary");
    return type == "reasoning" && summary && summary->is(JsonType::array) && !part.find("text");
  }

  // An item of the Responses API that stands as a part.
  void read_part_item(const JsonValue& part, Block& block) {
    std::optional<Block> item = read_item(part, arena_);
    if (!item) return;
    item->native |= block.native;
    block = std::move(*item);
  }

  // What a part says of a call or result: itself, or, in no provider's form, an object under its
  // type's name.
  static JsonValue fields_of(const JsonValue& part, std::string_view type, Block& block) {
    const std::optional<JsonValue> inner = part.find(type);
    if (!inner || !inner->is(JsonType::object)) return part;
    block.native = 0;
    return *inner;
  }

  void read_use(const JsonValue& part, std::string_view type, Block& block) {
    const JsonValue fields = fields_of(part, type, block);
    block.kind = BlockKind::call;
    block.is_server =
        type == "server_tool_use" || type == "mcp_tool_use" || is_true(fields, "providerExecuted");
    block.id = decoded_of(fields, type == "tool-call" ? "toolCallId" : "id", arena_);
    read_name(fields, type == "tool-call" ? "toolName" : "name", block, arena_);
    block.is_custom = is_true(fields, "custom");
    block.json = arguments_of(fields);
    if (block.json.empty() || block.json.front() != '{') block.native &= origin_;
  }

  void read_result(const JsonValue& part, std::string_view type, Block& block) {
    const JsonValue fields = fields_of(part, type, block);
    block.kind = BlockKind::result;
    block.is_server = type.ends_with("_tool_result") || is_true(fields, "providerExecuted");
    block.id = decoded_of(fields, type == "tool-result" ? "toolCallId" : "tool_use_id", arena_);
    read_name(fields, type == "tool-result" ? "toolName" : "name", block, arena_);
    block.is_error = is_true(fields, "is_error") || is_true(fields, "isError");
    std::optional<JsonValue> content = fields.find("content");
    if (type == "tool-result") content = result_of_sdk(fields, block);
    if (content) read_content(*content, block);
  }

  // The Vercel AI SDK: `result`, or an `output` that says what it is, {"type":"text","value":…}.
  static std::optional<JsonValue> result_of_sdk(const JsonValue& fields, Block& block) {
    std::optional<JsonValue> output = fields.find("output");
    if (!output) return fields.find("result");
    const std::string_view kind = body_of(*output, "type");
    if (kind.starts_with("error") || kind == "execution-denied") block.is_error = true;
    const std::optional<JsonValue> value =
        output->find(kind == "execution-denied" ? "reason" : "value");
    return value ? value : kind == "execution-denied" ? std::nullopt : output;
  }

  void read_content(const JsonValue& content, Block& block) {
    block.content = content.raw();
    if (content.is(JsonType::string)) {
      block.text = content.string_raw();
    } else if (content.is(JsonType::array)) {
      block.is_list = true;
      const DialectSet outside = native_;
      for (const JsonValue element : content.elements()) {
        if (!arena_.take_block()) break;
        block.inner.push_back(read(element));
      }
      // What a tool of the provider found is the provider's own, whatever it is.
      if ((native_ & in_anthropic) == 0 && !block.is_server) block.native &= origin_;
      native_ = outside;
    } else if (!content.is(JsonType::null)) {
      block.json = content.raw();
    }
  }

  // What only one dialect understands, kept whole in the engine's form.
  void read_wrapped(const JsonValue& part, std::string_view type, Block& block) {
    const std::optional<JsonValue> item = part.find("item");
    if (!item || !item->is(JsonType::object)) return;
    const std::string_view dialect = type == "reasoning" ? name(Dialect::openai_responses) : type;
    block.raw = item->raw();
    block.native = dialect == name(Dialect::gemini) ? bit(Dialect::gemini) : in_responses;
    std::vector<Block> read;
    if (block.native == in_responses) {
      read = read_responses(*item, arena_).blocks;
    } else {
      read.push_back(read_gemini_part(*item, arena_, ids_));
    }
    // A message among items stays whole: what it says cannot stand as a part of another message.
    const bool is_said =
        !read.empty() && (read[0].kind == BlockKind::text || read[0].kind == BlockKind::refusal ||
                          read[0].kind == BlockKind::media);
    if (read.size() == 1 && (!is_said || block.native != in_responses)) {
      const std::string_view raw = block.raw;
      const DialectSet native = block.native;
      const DialectSet may_stand = native & read.front().native;
      block = std::move(read.front());
      block.raw = raw;
      block.native = may_stand;
    }
    native_ = 0;
  }

  const DialectSet origin_;
  DialectSet& native_;
  Arena& arena_;
  ToolIds& ids_;
};

}  // namespace

void read_said(const JsonValue& part, std::string_view type, Block& block, Arena&) {
  if (type == "text" || type == "input_text" || type == "output_text") {
    if (!string_of(part, "text")) return;
    block.kind = BlockKind::text;
    block.text = body_of(part, "text");
  } else if (type == "refusal") {
    block.kind = BlockKind::refusal;
    block.text = body_of(part, "refusal");
  } else {
    read_media(part, type, block);
  }
}

std::string_view reasoning_text(const JsonValue& reasoning, Arena& arena) {
  if (string_of(reasoning, "text")) return body_of(reasoning, "text");
  std::string joined;
  for (const std::string_view key : {"summary", "content", "rawContent"}) {
    const std::optional<JsonValue> parts = reasoning.find(key);
    if (!parts || !parts->is(JsonType::array)) continue;
    for (const JsonValue part : parts->elements()) {
      const std::string_view text = body_of(part, "text");
      if (!joined.empty() && !text.empty()) joined += "\\n";
      joined += text;
    }
  }
  return joined.empty() ? std::string_view() : arena.keep(std::move(joined));
}

Block read_part(const JsonValue& part, DialectSet origin, DialectSet& native, Arena& arena,
                ToolIds& ids) {
  return PartReader(origin, native, arena, ids).read(part);
}

}  // namespace undertext
