// The engine's own form, for what the engine cannot keep as it came: parts as Anthropic names them,
// since those are the ones that it knows how to search, count and pair.
#include "dialect/write_parts.hpp"

namespace undertext {
namespace {

void write_source(std::string& out, const Block& block) {
  const Media& media = block.media;
  out += R"({"type":)";
  append_string(out, media.kind == MediaKind::image   ? "image"
                     : media.kind == MediaKind::audio ? "audio"
                     : media.kind == MediaKind::video ? "video"
                                                      : "document");
  out += R"(,"source":{"type":)";
  switch (media.source) {
    case MediaSource::base64: out += R"("base64","media_type":)"; break;
    case MediaSource::url: out += R"("url","media_type":)"; break;
    case MediaSource::file_id: out += R"("file","media_type":)"; break;
    case MediaSource::text: out += R"("text","media_type":)"; break;
  }
  append_quoted(out, media.mime);
  out += media.source == MediaSource::url       ? R"(,"url":)"
         : media.source == MediaSource::file_id ? R"(,"file_id":)"
                                                : R"(,"data":)";
  append_quoted(out, media.data);
  out += '}';
  if (!media.filename.empty()) {
    out += R"(,"title":)";
    append_quoted(out, media.filename);
  }
}

void write_signature(std::string& out, const Block& block) {
  if (block.signature.empty() || (block.native & bit(Dialect::gemini)) == 0) return;
  out += R"(,"thoughtSignature":)";
  append_quoted(out, block.signature);
}

void write_neutral_part(std::string& out, const Block& block);

void write_output(std::string& out, const Block& result) {
  if (result.is_list) {
    append_list(out, result.inner, [&out](const Block& inner) { write_neutral_part(out, inner); });
  } else {
    append_quoted(out, result_body(result));
  }
}

void write_wrapped(std::string& out, const Block& block) {
  const bool is_gemini = (block.native & bit(Dialect::gemini)) != 0;
  if (!is_gemini && (block.native & bit(Dialect::openai_responses)) == 0 && !block.type.empty()) {
    out += block.raw;  // a part of Chat or Anthropic, which has a type of its own
    return;
  }
  out += R"({"type":)";
  append_string(out, block.kind == BlockKind::reasoning
                         ? "reasoning"
                         : name(is_gemini ? Dialect::gemini : Dialect::openai_responses));
  out += R"(,"item":)";
  out += block.raw;
  out += '}';
}

void write_neutral_part(std::string& out, const Block& block) {
  switch (block.kind) {
    case BlockKind::text:
      out += R"({"type":"text","text":)";
      append_quoted(out, block.text);
      break;
    case BlockKind::refusal:
      out += R"({"type":"refusal","refusal":)";
      append_quoted(out, block.text);
      break;
    case BlockKind::media: write_source(out, block); break;
    case BlockKind::call:
      if (block.is_server || block.has_own_form) return write_wrapped(out, block);
      out += R"({"type":"tool_use","id":)";
      append_string(out, block.id);
      out += R"(,"name":)";
      append_string(out, block.name);
      out += !block.json.empty() && block.json.front() == '"' ? R"(,"arguments":)" : R"(,"input":)";
      out += block.json.empty() ? std::string_view("{}") : block.json;
      if (block.is_custom) out += R"(,"custom":true)";
      break;
    case BlockKind::result:
      if (block.is_server || block.has_own_form) return write_wrapped(out, block);
      out += R"({"type":"tool_result","tool_use_id":)";
      append_string(out, block.id);
      if (!block.name.empty()) {
        out += R"(,"name":)";
        append_string(out, block.name);
      }
      out += R"(,"content":)";
      write_output(out, block);
      if (block.is_error) out += R"(,"is_error":true)";
      break;
    case BlockKind::reasoning:
      if ((block.native & bit(Dialect::gemini)) == 0) return write_wrapped(out, block);
      out += R"({"type":"thinking","thinking":)";
      append_quoted(out, block.text);
      break;
    default: return write_wrapped(out, block);
  }
  write_signature(out, block);
  out += '}';
}

// Reasoning that Chat's vendors put beside the content.
bool stands_beside(const Block& block) {
  return block.type == "reasoning_content" || block.type == "reasoning_details" ||
         block.type == "reasoning";
}

}  // namespace

void write_neutral(std::string& out, const Turn& turn) {
  out += R"({"role":)";
  append_string(out, turn.is_developer ? "developer" : name(turn.role));
  const Block* const only = turn.blocks.size() == 1 ? &turn.blocks[0] : nullptr;
  if (turn.role == Role::tool && only != nullptr && is_client(*only, BlockKind::result) &&
      !only->has_own_form) {
    out += R"(,"toolCallId":)";
    append_string(out, only->id);
    out += R"(,"content":)";
    return write_output(out, *only);
  }
  std::vector<Block> parts;
  for (const Block& block : turn.blocks) {
    if (block.kind == BlockKind::reasoning && stands_beside(block) &&
        (block.native & bit(Dialect::openai_responses)) == 0) {
      out += ",\"";
      out += block.type;
      out += "\":";
      if (block.raw.empty()) {
        append_quoted(out, block.text);
      } else {
        out += block.raw;
      }
    } else {
      parts.push_back(block);
    }
  }
  out += R"(,"content":)";
  if (parts.size() == 1 && parts[0].kind == BlockKind::text && parts[0].signature.empty() &&
      !parts[0].text.empty() && turn.shape != Turn::Shape::list) {
    return append_quoted(out, parts[0].text);
  }
  if (parts.empty()) parts.push_back(text_block({}));
  append_list(out, parts, [&out](const Block& block) { write_neutral_part(out, block); });
}

}  // namespace undertext
