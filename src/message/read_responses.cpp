// Items of the Responses API: messages, calls, outputs, reasoning, and many that only the provider
// understands.
#include "message/item_id.hpp"
#include "message/item_types.hpp"
#include "message/read_fields.hpp"
#include "message/read_part.hpp"

namespace undertext {
namespace {

Block block_of(BlockKind kind, const JsonValue& value) {
  return undertext::block_of(kind, value, in_responses);
}

// Whether it says something that only this dialect has a place for.
bool says_more(const JsonValue& object, std::initializer_list<std::string_view> known) {
  if (!object.is(JsonType::object)) return false;
  for (const JsonMember member : object.members()) {
    const bool is_nothing = member.value.is(JsonType::null) ||
                            (member.value.is(JsonType::array) && member.value.empty());
    if (!is_nothing && !is_one_of(member.key, known)) return true;
  }
  return false;
}

Block read_response_part(const JsonValue& part, Arena& arena) {
  Block block = block_of(BlockKind::opaque, part);
  block.type = decoded_of(part, "type", arena);
  block.has_unknown =
      says_more(part, {"type", "text", "refusal", "annotations", "image_url", "file_id",
                       "file_data", "file_url", "filename", "detail", "prompt_cache_breakpoint"});
  if (const std::optional<JsonValue> cache = part.find("prompt_cache_breakpoint");
      cache && cache->is(JsonType::object))
    block.cache = cache->raw();
  read_said(part, block.type, block, arena);
  return block;
}

void read_message(const JsonValue& item, Turn& turn, Arena& arena) {
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
      if (!arena.take_block()) break;
      turn.blocks.push_back(read_response_part(part, arena));
      if (const std::optional<JsonValue> notes = part.find("annotations");
          notes && notes->is(JsonType::array) && !notes->empty())
        turn.has_annotations = true;
    }
  }
}

// The output of a shell: what went to its streams.
void read_streams(const JsonValue& output, Block& block, Arena& arena) {
  block.is_list = true;
  for (const JsonValue run : output.elements())
    for (const std::string_view stream : {"stdout", "stderr"})
      if (const std::string_view text = body_of(run, stream); !text.empty() && arena.take_block())
        block.inner.push_back(text_block(text));
}

// What came of a call that holds its own result: {"output":"text"}, {"outputs":[{"logs":"text"}]},
// {"results":[{"text":"text"}]}, {"error":{"message":"text"}}.
void read_held(const JsonValue& item, const ItemType& type, Block& call, Arena& arena) {
  const auto add = [&](const JsonValue& said) {
    std::string_view text = said.is(JsonType::string) ? said.string_raw() : std::string_view();
    for (const std::string_view key : {"text", "logs", "message"})
      if (text.empty()) text = body_of(said, key);
    if (!text.empty() && arena.take_block()) call.inner.push_back(text_block(text));
  };
  if (const std::optional<JsonValue> held = item.find(type.held);
      held && held->is(JsonType::array)) {
    for (const JsonValue said : held->elements()) add(said);
  } else if (held) {
    add(*held);
  }
  const std::optional<JsonValue> error = item.find("error");
  if (!error || error->is(JsonType::null)) return;
  call.is_error = true;
  add(*error);
}

void read_output(const JsonValue& output, Block& block, Arena& arena) {
  block.content = output.raw();
  if (output.is(JsonType::string)) {
    block.text = output.string_raw();
  } else if (block.type == "shell_call_output" && output.is(JsonType::array)) {
    read_streams(output, block, arena);
  } else if (output.is(JsonType::array)) {
    block.is_list = true;
    for (const JsonValue part : output.elements()) {
      if (!arena.take_block()) break;
      block.inner.push_back(read_response_part(part, arena));
    }
  } else if (output.is(JsonType::object) &&
             string_of(output, "type")) {  // a screenshot, or one part
    block.is_list = true;
    block.inner.push_back(read_response_part(output, arena));
  } else if (!output.is(JsonType::null)) {
    block.json = output.raw();
  }
}

std::string_view id_of(const JsonValue& item, const ItemType& type, Arena& arena) {
  for (const std::string_view key : {type.id, std::string_view("callId"), std::string_view("id")}) {
    // The item's own id is another thing, but for the output of a local shell.
    if (key == "id" && type.id != "id" && type.type != "local_shell_call_output") continue;
    if (const std::string_view id = decoded_of(item, key, arena); !id.empty()) return id;
  }
  return {};
}

}  // namespace

void rewrite_parts(Block& result) {
  for (Block& part : result.inner) {
    if (part.kind == BlockKind::text || part.kind == BlockKind::media) {
      part.raw = {};
    } else {
      part.native = 0;
    }
  }
}

std::optional<Block> read_item(JsonValue item, Arena& arena) {
  const std::string_view type = decoded_of(item, "type", arena);
  const std::optional<ItemType> row = item_type(type);
  if (!row || !item.is(JsonType::object)) return std::nullopt;
  Block block = block_of(row->kind, item);
  block.type = type;
  block.id = id_of(item, *row, arena);
  block.item_id = decoded_of(item, "id", arena);
  block.is_server = row->by_provider && body_of(item, "execution") != "client";
  block.is_complete = row->is_complete;
  block.is_custom = type.starts_with("custom_tool_call");
  block.has_own_form = !block.is_custom && !type.starts_with("function_call");
  // The Agents SDK spells its items otherwise than the API that they are for.
  if (item.find("callId") || type.ends_with("_call_result") || type == "hosted_tool_call")
    block.native = 0;
  read_name(item, "name", block, arena);
  if (block.name.empty()) block.name = row->tool;
  std::optional<JsonValue> said = item.find(row->said);
  if (!said && type == "computer_call") said = item.find("actions");
  if (row->kind == BlockKind::call) {
    block.is_async = is_true(item, "async");
    block.has_unknown =
        says_more(item, {"type", "id", "call_id", "callId", "name", "status", row->said});
    const bool is_nothing =
        said && (said->is(JsonType::null) || (said->raw() == R"("")" && !block.is_custom));
    if (said && !is_nothing) block.json = said->raw();
    if (!row->held.empty()) read_held(item, *row, block, arena);
  } else {
    block.has_unknown =
        says_more(item, {"type", "id", "call_id", "callId", "name", "status", row->said});
    block.is_error = body_of(item, "status") == "failed";
    if (said) read_output(*said, block, arena);
    if (block.native == 0) rewrite_parts(block);
  }
  return block;
}

Turn read_responses(JsonValue item, Arena& arena) {
  Turn turn;
  turn.raw = item.raw();
  turn.native = in_responses;
  turn.shape = Turn::Shape::item;
  turn.is_item = true;
  turn.item_id = decoded_of(item, "id", arena);
  const std::string_view type =
      is_item_reference(item) ? "item_reference" : decoded_of(item, "type", arena);
  if (type.empty() || type == "message") {
    read_message(item, turn, arena);
    return turn;
  }
  if (std::optional<Block> block = read_item(item, arena)) {
    turn.role = block->kind == BlockKind::call ? Role::assistant : Role::tool;
    turn.blocks.push_back(std::move(*block));
    return turn;
  }
  turn.role = Role::assistant;
  Block block = block_of(BlockKind::opaque, item);
  block.type = type;
  block.item_id = turn.item_id;
  if (type == "reasoning") {
    block.kind = BlockKind::reasoning;
    block.text = reasoning_text(item, arena);
    block.signature = body_of(item, "encrypted_content");
  } else if (type == "compaction") {
    block.kind = BlockKind::compaction;
  } else if (type == "item_reference" || type == "compaction_trigger" ||
             type == "configuration_update" || type == "additional_tools") {
    block.kind = BlockKind::control;
    turn.role = type == "item_reference"       ? Role::assistant
                : type == "compaction_trigger" ? Role::user
                                               : Role::system;
  } else {
    block.is_server = true;
    block.id = decoded_of(item, "call_id", arena);
    if (type.ends_with("_output")) turn.role = Role::tool;
  }
  turn.blocks.push_back(std::move(block));
  return turn;
}

}  // namespace undertext
