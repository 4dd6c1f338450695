// Contents of Gemini: {"role":"model","parts":[…]}. Both spellings that its API takes are read,
// camelCase and snake_case.
#include "message/read_fields.hpp"
#include "message/turn.hpp"

namespace undertext {
namespace {

std::optional<JsonValue> either(const JsonValue& object, std::string_view camel,
                                std::string_view snake) {
  if (std::optional<JsonValue> value = object.find(camel)) return value;
  return object.find(snake);
}

class GeminiReader {
 public:
  GeminiReader(Arena& arena, ToolIds& ids) : arena_(arena), ids_(ids) {}

  Turn read(JsonValue content) {
    Turn turn;
    turn.raw = content.raw();
    turn.native = bit(Dialect::gemini);
    const std::string_view role = body_of(content, "role");
    turn.role = role == "model" ? Role::assistant : role == "system" ? Role::system : Role::user;
    // Responses answer the calls directly before them, so those of earlier turns are over.
    if (turn.role == Role::assistant && !ids_.in_model) ids_.open.clear();
    ids_.in_model = turn.role == Role::assistant;
    turn.has_bad_role = !role.empty() && role != "user" && role != "model";
    if (const std::optional<JsonValue> parts = content.find("parts"))
      for_each_listed(*parts, [&](const JsonValue& part) {
        if (arena_.take_block()) turn.blocks.push_back(read_part(part));
      });
    return turn;
  }

  // A response holds media: a call or another response in it is nobody's.
  Block read_part(const JsonValue& part, bool is_in_response = false) {
    Block block;
    block.kind = BlockKind::opaque;
    block.raw = part.raw();
    block.native = bit(Dialect::gemini);
    if (!part.is(JsonType::object)) return block;
    block.payloads = 0;
    for (const JsonMember member : part.members()) {
      if (is_one_of(member.key, gemini_payloads)) {
        ++block.payloads;
      } else if (!is_one_of(member.key, {"thought", "thoughtSignature", "thought_signature"})) {
        block.has_unknown = true;  // videoMetadata, mediaResolution, …
      }
    }
    if (block.payloads != 1) return block;
    const auto object_of = [&part](std::string_view camel, std::string_view snake) {
      const std::optional<JsonValue> value = either(part, camel, snake);
      return value && value->is(JsonType::object) ? value : std::nullopt;
    };
    if (const std::optional<JsonValue> signature =
            either(part, "thoughtSignature", "thought_signature");
        signature && signature->is(JsonType::string))
      block.signature = signature->string_raw();
    const std::optional<JsonValue> call = object_of("functionCall", "function_call"),
                                   response = object_of("functionResponse", "function_response");
    if (is_in_response && (call || response)) return block;
    if (call) {
      read_call(*call, block);
    } else if (response) {
      read_response(*response, block);
    } else if (const std::optional<JsonValue> text = string_of(part, "text")) {
      block.kind = is_true(part, "thought") ? BlockKind::reasoning : BlockKind::text;
      block.text = text->string_raw();
    } else if (const std::optional<JsonValue> data = object_of("inlineData", "inline_data")) {
      read_data(*data, MediaSource::base64, "data", "data", block);
    } else if (const std::optional<JsonValue> file = object_of("fileData", "file_data")) {
      read_data(*file, MediaSource::url, "fileUri", "file_uri", block);
    } else {
      read_server(part, block);
    }
    return block;
  }

 private:
  std::string_view id_of(const JsonValue& fields, Block& block) {
    if (const std::string_view id = decoded_of(fields, "id", arena_); !id.empty()) {
      if (block.kind == BlockKind::call) {
        if (ids_.in_model) ids_.open.emplace_back(block.name, id);
      } else {
        std::erase_if(ids_.open, [id](const auto& open) { return open.second == id; });
      }
      return id;
    }
    block.has_own_id = false;
    std::string_view id;
    if (ids_.used < ids_.given.size()) {
      id = ids_.given[ids_.used++];
    } else if (block.kind == BlockKind::result) {
      // Without ids the first open call of that name is meant.
      for (std::size_t i = 0; i < ids_.open.size(); ++i) {
        if (ids_.open[i].first != block.name) continue;
        id = ids_.open[i].second;
        ids_.open.erase(ids_.open.begin() + static_cast<std::ptrdiff_t>(i));
        return id;
      }
    }
    if (id.empty()) id = arena_.keep(std::string(gemini_id_begin) + std::to_string(++ids_.next));
    if (block.kind == BlockKind::call && ids_.in_model) ids_.open.emplace_back(block.name, id);
    return id;
  }

  // What the provider runs itself: code, and tools of its own.
  void read_server(const JsonValue& part, Block& block) {
    block.is_server = true;
    block.has_own_form = true;
    for (const JsonMember member : part.members()) {
      const bool is_call =
          is_one_of(member.key, {"executableCode", "executable_code", "toolCall", "tool_call"});
      const bool is_result = is_one_of(member.key, {"codeExecutionResult", "code_execution_result",
                                                    "toolResponse", "tool_response"});
      if ((!is_call && !is_result) || !member.value.is(JsonType::object)) continue;
      block.kind = is_call ? BlockKind::call : BlockKind::result;
      block.type = decoded_of(member.key, arena_);
      block.id = decoded_of(member.value, "id", arena_);
      block.name = decoded_of(member.value, "name", arena_);
      if (block.name.empty() &&
          (block.type.starts_with("executable") || block.type.starts_with("code")))
        block.name = "code_execution";
      block.content = member.value.raw();
      if (is_result && string_of(member.value, "output")) {
        block.text = body_of(member.value, "output");
      } else {
        block.json = member.value.raw();
      }
    }
  }

  void read_call(const JsonValue& call, Block& block) {
    block.kind = BlockKind::call;
    read_name(call, "name", block, arena_);
    block.id = id_of(call, block);
    const std::optional<JsonValue> args = call.find("args");
    block.json = args && args->is(JsonType::object) ? args->raw() : std::string_view("{}");
  }

  void read_response(const JsonValue& result, Block& block) {
    block.kind = BlockKind::result;
    read_name(result, "name", block, arena_);
    block.id = id_of(result, block);
    for (const JsonMember member : result.members())
      // scheduling, willContinue
      if (!is_one_of(member.key, {"id", "name", "response", "parts"})) block.has_unknown = true;
    if (const std::optional<JsonValue> response = result.find("response");
        response && response->is(JsonType::object)) {
      const std::optional<JsonValue> output = response->find("output"),
                                     error = response->find("error");
      block.is_error = error && !output;
      const std::optional<JsonValue>& said = output ? output : error;
      if (said && said->is(JsonType::string) && response->count() == 1) {
        block.text = said->string_raw();
      } else {
        block.json = response->raw();
      }
    }
    if (const std::optional<JsonValue> parts = result.find("parts");
        parts && (parts->is(JsonType::array) || parts->is(JsonType::object)) && !parts->empty()) {
      block.is_list = true;
      if (!block.text.empty()) block.inner.push_back(text_block(block.text));
      for_each_listed(*parts, [&](const JsonValue& part) {
        if (arena_.take_block()) block.inner.push_back(read_part(part, true));
      });
      for (Block& inner : block.inner)
        if (inner.kind != BlockKind::opaque) inner.raw = {};
    }
  }

  static void read_data(const JsonValue& data, MediaSource source, std::string_view camel,
                        std::string_view snake, Block& block) {
    block.kind = BlockKind::media;
    std::optional<JsonValue> mime = either(data, "mimeType", "mime_type");
    const std::string_view type =
        mime && mime->is(JsonType::string) ? mime->string_raw() : std::string_view();
    const std::optional<JsonValue> bytes = either(data, camel, snake);
    const auto is = [type](std::string_view family) {
      return type.starts_with(family) && type.size() > family.size() &&
             (type[family.size()] == '/' || type[family.size()] == '\\');
    };
    block.media.kind = is("image")   ? MediaKind::image
                       : is("audio") ? MediaKind::audio
                       : is("video") ? MediaKind::video
                                     : MediaKind::file;
    block.media.source = source;
    block.media.mime = type;
    if (bytes && bytes->is(JsonType::string)) block.media.data = bytes->string_raw();
  }

  Arena& arena_;
  ToolIds& ids_;
};

}  // namespace

Turn read_gemini(JsonValue content, Arena& arena, ToolIds& ids) {
  return GeminiReader(arena, ids).read(content);
}

Block read_gemini_part(JsonValue part, Arena& arena, ToolIds& ids) {
  return GeminiReader(arena, ids).read_part(part);
}

}  // namespace undertext
