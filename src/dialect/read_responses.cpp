// Items of the Responses API: messages, calls, outputs, reasoning, and many that only the provider understands.
#include "dialect/read_fields.hpp"
#include "dialect/turn.hpp"

namespace undertext {
namespace {

Block block_of(BlockKind kind, const JsonValue& value) { return undertext::block_of(kind, value, in_responses); }

// Whether it says something that only this dialect has a place for.
bool says_more(const JsonValue& object, std::initializer_list<std::string_view> known) {
  if (!object.is(JsonType::object)) return false;
  for (const JsonMember member : object.members()) {
    const bool is_nothing = member.value.is(JsonType::null) || (member.value.is(JsonType::array) && member.value.empty());
    if (!is_nothing && !is_one_of(member.key, known)) return true;
  }
  return false;
}

Block read_part(const JsonValue& part) {
  Block block = block_of(BlockKind::opaque, part);
  const std::string_view type = body_of(part, "type");
  block.type = type;
  block.has_unknown = says_more(part, {"type", "text", "refusal", "annotations", "image_url", "file_id", "file_data", "file_url",
                                       "filename", "detail", "prompt_cache_breakpoint"});
  if (const std::optional<JsonValue> cache = part.find("prompt_cache_breakpoint"); cache && cache->is(JsonType::object))
    block.cache = cache->raw();
  if (type == "input_text" || type == "output_text" || type == "text") {
    block.kind = BlockKind::text;
    block.text = body_of(part, "text");
  } else if (type == "refusal") {
    block.kind = BlockKind::refusal;
    block.text = body_of(part, "refusal");
  } else if (type == "input_image" || type == "input_file") {
    block.kind = BlockKind::media;
    block.media.kind = type == "input_image" ? MediaKind::image : MediaKind::file;
    block.media.detail = body_of(part, "detail");
    block.media.filename = body_of(part, "filename");
    if (string_of(part, "file_id")) {
      block.media.source = MediaSource::file_id;
      block.media.data = body_of(part, "file_id");
    } else {
      for (const std::string_view key : {"image_url", "file_data", "file_url"})
        if (string_of(part, key)) read_url(body_of(part, key), block.media);
    }
  }
  return block;
}

void read_message(const JsonValue& item, Turn& turn) {
  const std::string_view role = body_of(item, "role");
  turn.is_developer = role == "developer";
  turn.role = turn.is_developer ? Role::system : role_named(role).value_or(Role::user);
  turn.phase = body_of(item, "phase");
  turn.has_unknown = says_more(item, {"type", "id", "role", "content", "status", "phase"});
  const std::optional<JsonValue> content = item.find("content");
  if (!content) return;
  if (content->is(JsonType::string)) {
    turn.shape = Turn::Shape::string;
    turn.blocks.push_back(text_block(content->string_raw()));
  } else if (content->is(JsonType::array)) {
    turn.shape = Turn::Shape::list;
    for (const JsonValue part : content->elements()) {
      turn.blocks.push_back(read_part(part));
      if (const std::optional<JsonValue> notes = part.find("annotations"); notes && notes->is(JsonType::array) && !notes->empty())
        turn.has_annotations = true;
    }
  }
}

void read_call(const JsonValue& item, bool is_custom, Turn& turn, Arena& arena) {
  turn.role = Role::assistant;
  Block block = block_of(BlockKind::call, item);
  block.id = decoded_of(item, "call_id", arena);
  block.name = decoded_of(item, "name", arena);
  block.is_custom = is_custom;
  block.is_async = is_true(item, "async");
  block.has_unknown = says_more(item, {"type", "id", "call_id", "name", "arguments", "input", "status"});
  if (const std::optional<JsonValue> arguments = item.find(is_custom ? "input" : "arguments")) block.json = arguments->raw();
  turn.blocks.push_back(std::move(block));
}

void read_output(const JsonValue& item, bool is_custom, Turn& turn, Arena& arena) {
  turn.role = Role::tool;
  Block block = block_of(BlockKind::result, item);
  block.id = decoded_of(item, "call_id", arena);
  block.has_unknown = says_more(item, {"type", "id", "call_id", "output", "status"});
  block.is_custom = is_custom;
  if (const std::optional<JsonValue> output = item.find("output")) {
    if (output->is(JsonType::string)) {
      block.text = output->string_raw();
    } else if (output->is(JsonType::array)) {
      block.is_list = true;
      for (const JsonValue part : output->elements()) block.inner.push_back(read_part(part));
    } else {
      block.json = output->raw();
    }
  }
  turn.blocks.push_back(std::move(block));
}

}  // namespace

Turn read_responses(JsonValue item, Arena& arena) {
  Turn turn;
  turn.raw = item.raw();
  turn.native = in_responses;
  turn.shape = Turn::Shape::item;
  turn.is_item = true;
  turn.item_id = decoded_of(item, "id", arena);
  const std::string_view type = body_of(item, "type");
  if (type.empty() || type == "message") {
    read_message(item, turn);
    return turn;
  }
  if (type == "function_call" || type == "custom_tool_call") {
    read_call(item, type == "custom_tool_call", turn, arena);
    return turn;
  }
  if (type == "function_call_output" || type == "custom_tool_call_output") {
    read_output(item, type == "custom_tool_call_output", turn, arena);
    return turn;
  }
  turn.role = Role::assistant;
  Block block = block_of(BlockKind::opaque, item);
  block.type = type;
  if (type == "reasoning") {
    block.kind = BlockKind::reasoning;
    block.signature = body_of(item, "encrypted_content");
  } else if (type == "compaction") {
    block.kind = BlockKind::compaction;
  } else if (type == "item_reference" || type == "compaction_trigger" || type == "configuration_update" ||
             type == "additional_tools") {
    block.kind = BlockKind::control;
    turn.role = type == "item_reference" ? Role::assistant : type == "compaction_trigger" ? Role::user : Role::system;
  } else {
    block.is_server = true;
    block.id = decoded_of(item, "call_id", arena);
    if (type.ends_with("_output")) turn.role = Role::tool;
  }
  block.item_id = turn.item_id;
  turn.blocks.push_back(std::move(block));
  return turn;
}

}  // namespace undertext
