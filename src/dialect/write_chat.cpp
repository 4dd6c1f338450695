// Chat Completions.
#include "dialect/write_parts.hpp"

namespace undertext {
namespace {

constexpr Dialect chat = Dialect::openai_chat;

void write_cache(std::string& out, const Block& block) {
  if (block.cache.empty()) return;
  out += R"(,"prompt_cache_breakpoint":)";
  out += block.cache;
}

void write_chat_part(std::string& out, const Block& block) {
  if (copies(block, chat)) {
    out += block.raw;
    return;
  }
  const Media& media = block.media;
  if (block.kind == BlockKind::refusal) {
    out += R"({"type":"refusal","refusal":)";
    append_quoted(out, block.text);
  } else if (block.kind != BlockKind::media) {
    out += R"({"type":"text","text":)";
    append_quoted(out, block.text);
  } else if (media.kind == MediaKind::image) {
    out += R"({"type":"image_url","image_url":{"url":)";
    append_data_url(out, media);
    if (!media.detail.empty()) {
      out += R"(,"detail":)";
      append_quoted(out, media.detail);
    }
    out += '}';
  } else if (media.kind == MediaKind::audio) {
    out += R"({"type":"input_audio","input_audio":{"data":)";
    append_quoted(out, media.data);
    out += media.mime.find("mp") != std::string_view::npos ? R"(,"format":"mp3"})"
                                                           : R"(,"format":"wav"})";
  } else if (media.source == MediaSource::file_id) {
    out += R"({"type":"file","file":{"file_id":)";
    append_quoted(out, media.data);
    out += '}';
  } else {
    out += R"({"type":"file","file":{"filename":)";
    append_quoted(out, media.filename.empty() ? std::string_view("file") : media.filename);
    out += R"(,"file_data":)";
    append_data_url(out, media);
    out += '}';
  }
  write_cache(out, block);
  out += '}';
}

// The value of `function_call`, or an element of `tool_calls`.
void write_chat_call(std::string& out, const Block& call) {
  if (copies(call, chat)) {
    out += call.raw;
    return;
  }
  if (call.is_legacy) {
    out += R"({"name":)";
    append_string(out, call.name);
    out += R"(,"arguments":)";
    append_arguments_text(out, call);
    out += '}';
    return;
  }
  out += R"({"id":)";
  append_string(out, call.id);
  out += call.is_custom ? R"(,"type":"custom","custom":{"name":)"
                        : R"(,"type":"function","function":{"name":)";
  append_string(out, call.name);
  out += call.is_custom ? R"(,"input":)" : R"(,"arguments":)";
  append_arguments_text(out, call);
  out += "}}";
}

void write_tool(std::string& out, const Block& result) {
  if (result.is_legacy) {
    out += R"({"role":"function","name":)";
    append_string(out, result.name);
  } else {
    out += R"({"role":"tool","tool_call_id":)";
    append_string(out, result.id);
  }
  out += R"(,"content":)";
  if (result.is_list && !result.inner.empty()) {
    append_list(out, result.inner, [&out](const Block& inner) { write_chat_part(out, inner); });
  } else {
    append_quoted(out, result_body(result));
  }
  out += '}';
}

bool is_beside(const Block& block) {
  const bool is_reasoning = block.type == "reasoning_content" || block.type == "reasoning" ||
                            block.type == "reasoning_details";
  return (block.kind == BlockKind::reasoning && is_reasoning) ||
         (block.kind == BlockKind::refusal && block.type == "refusal" && block.raw.empty()) ||
         (block.kind == BlockKind::media && block.type == "audio");
}

// Members of their own. Of a merged turn that has one twice, texts are joined, and of the others
// the last counts.
void write_beside(std::string& out, const Turn& turn) {
  for (std::size_t i = 0; i < turn.blocks.size(); ++i) {
    const Block& block = turn.blocks[i];
    if (!is_beside(block)) continue;
    std::string text;
    std::string_view raw;
    bool is_first = true;
    for (std::size_t k = 0; k < turn.blocks.size(); ++k) {
      const Block& other = turn.blocks[k];
      if (!is_beside(other) || other.type != block.type) continue;
      if (k < i) is_first = false;
      if (!other.raw.empty()) raw = other.raw;
      if (!text.empty() && !other.text.empty()) text += "\\n\\n";
      text += other.text;
    }
    if (!is_first) continue;
    out += ",\"";
    out += block.type;
    out += "\":";
    if (raw.empty()) {
      append_quoted(out, text);
    } else {
      out += raw;
    }
  }
}

bool is_content(const Block& block) {
  switch (block.kind) {
    case BlockKind::text: return true;
    case BlockKind::refusal: return !(block.type == "refusal" && block.raw.empty());
    case BlockKind::media: return block.type != "audio";
    case BlockKind::opaque: return true;
    case BlockKind::call:
    case BlockKind::result: return block.is_server && copies(block, chat);
    default: return !is_beside(block) && copies(block, chat);
  }
}

void write_content(std::string& out, const Turn& turn) {
  Turn said;
  said.shape = turn.shape;
  for (const Block& block : turn.blocks)
    if (is_content(block)) said.blocks.push_back(block);
  if (said.blocks.empty()) {
    const bool is_null = has_kind(turn, BlockKind::call) || has_kind(turn, BlockKind::refusal) ||
                         has_kind(turn, BlockKind::media);
    out += turn.role == Role::assistant && is_null ? "null" : R"("")";
  } else if (is_plain_text(said, chat)) {
    append_quoted(out, said.blocks[0].text);
  } else {
    append_list(out, said.blocks, [&out](const Block& block) { write_chat_part(out, block); });
  }
}

}  // namespace

void write_chat(std::string& out, const Turn& turn) {
  if (turn.role == Role::tool && !turn.blocks.empty() && turn.blocks[0].kind == BlockKind::result)
    return write_tool(out, turn.blocks[0]);
  out += R"({"role":)";
  append_string(out, turn.is_developer ? "developer" : name(turn.role));
  if (!turn.name.empty()) {
    out += R"(,"name":)";
    append_quoted(out, turn.name);
  }
  write_beside(out, turn);
  out += R"(,"content":)";
  write_content(out, turn);
  std::vector<Block> calls;
  for (const Block& block : turn.blocks) {
    if (!is_client(block, BlockKind::call)) continue;
    if (block.is_legacy) {
      out += R"(,"function_call":)";
      write_chat_call(out, block);
    } else {
      calls.push_back(block);
    }
  }
  if (!calls.empty()) {
    out += R"(,"tool_calls":)";
    append_list(out, calls, [&out](const Block& call) { write_chat_call(out, call); });
  }
  out += '}';
}

}  // namespace undertext
