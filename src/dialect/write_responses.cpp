// Items of the Responses API; a turn here is one item.
#include "dialect/write_parts.hpp"

namespace undertext {
namespace {

constexpr Dialect responses = Dialect::openai_responses;

void write_response_part(std::string& out, const Block& block, Role role) {
  if (copies(block, responses)) {
    out += block.raw;
    return;
  }
  const Media& media = block.media;
  if (block.kind == BlockKind::refusal) {
    out += R"({"type":"refusal","refusal":)";
    append_quoted(out, block.text);
  } else if (block.kind != BlockKind::media) {
    out += role == Role::assistant ? R"({"type":"output_text","text":)"
                                   : R"({"type":"input_text","text":)";
    append_quoted(out, block.text);
    if (role == Role::assistant) out += R"(,"annotations":[])";
  } else if (media.kind == MediaKind::image) {
    out += R"({"type":"input_image",)";
    out += media.source == MediaSource::file_id ? R"("file_id":)" : R"("image_url":)";
    append_data_url(out, media);
    out += R"(,"detail":)";
    append_quoted(out, media.detail.empty() ? std::string_view("auto") : media.detail);
  } else {
    out += R"({"type":"input_file",)";
    if (media.source == MediaSource::base64) {
      out += R"("filename":)";
      append_quoted(out, media.filename.empty() ? std::string_view("file") : media.filename);
      out += R"(,"file_data":)";
    } else {
      out += media.source == MediaSource::file_id ? R"("file_id":)" : R"("file_url":)";
    }
    append_data_url(out, media);
  }
  if (!block.cache.empty() && role != Role::assistant) {
    out += R"(,"prompt_cache_breakpoint":)";
    out += block.cache;
  }
  out += '}';
}

void write_response_call(std::string& out, const Block& call) {
  out += call.is_custom ? R"({"type":"custom_tool_call","call_id":)"
                        : R"({"type":"function_call","call_id":)";
  append_string(out, call.id);
  out += R"(,"name":)";
  append_string(out, call.name);
  out += call.is_custom ? R"(,"input":)" : R"(,"arguments":)";
  append_arguments_text(out, call);
  if (call.is_async) out += R"(,"async":true)";
  out += '}';
}

void write_result(std::string& out, const Block& result) {
  out += result.is_custom ? R"({"type":"custom_tool_call_output","call_id":)"
                          : R"({"type":"function_call_output","call_id":)";
  append_string(out, result.id);
  out += R"(,"output":)";
  if (result.is_list && !result.inner.empty()) {
    append_list(out, result.inner,
                [&out](const Block& inner) { write_response_part(out, inner, Role::user); });
  } else {
    append_quoted(out, result_body(result));
  }
  out += '}';
}

}  // namespace

void write_responses(std::string& out, const Turn& turn) {
  if (turn.is_top) {  // instructions
    std::string body;
    for (const Block& block : turn.blocks) {
      if (!body.empty()) body += "\\n\\n";
      body += block.text;
    }
    return append_quoted(out, body);
  }
  if (turn.blocks.size() == 1) {
    const Block& only = turn.blocks[0];
    if (copies(only, responses) && only.kind != BlockKind::text &&
        only.kind != BlockKind::refusal && only.kind != BlockKind::media) {
      out += only.raw;
      return;
    }
    if (only.kind == BlockKind::call) return write_response_call(out, only);
    if (only.kind == BlockKind::result) return write_result(out, only);
  }
  out += R"({"role":)";
  append_string(out, turn.is_developer ? "developer" : name(turn.role));
  if (!turn.phase.empty()) {
    out += R"(,"phase":)";
    append_quoted(out, turn.phase);
  }
  out += R"(,"content":)";
  if (turn.blocks.empty()) {
    out += R"("")";
  } else if (is_plain_text(turn, responses)) {
    append_quoted(out, turn.blocks[0].text);
  } else {
    append_list(out, turn.blocks,
                [&](const Block& block) { write_response_part(out, block, turn.role); });
  }
  out += '}';
}

}  // namespace undertext
