// Anthropic Messages.
#include "dialect/write_parts.hpp"

namespace undertext {
namespace {

constexpr Dialect anthropic = Dialect::anthropic;

void write_source(std::string& out, const Media& media) {
  out += media.kind == MediaKind::image ? R"({"type":"image","source":{"type":)"
                                        : R"({"type":"document","source":{"type":)";
  switch (media.source) {
    case MediaSource::base64:
      out += R"("base64","media_type":)";
      append_quoted(out, media.mime.empty()
                             ? std::string_view(media.kind == MediaKind::image ? "image/png"
                                                                               : "application/pdf")
                             : media.mime);
      out += R"(,"data":)";
      break;
    case MediaSource::url: out += R"("url","url":)"; break;
    case MediaSource::file_id: out += R"("file","file_id":)"; break;
    case MediaSource::text: out += R"("text","media_type":"text/plain","data":)"; break;
  }
  append_quoted(out, media.data);
  out += '}';
  if (media.kind != MediaKind::image && !media.filename.empty()) {
    out += R"(,"title":)";
    append_quoted(out, media.filename);
  }
}

void write_block(std::string& out, const Block& block) {
  if (copies(block, anthropic)) {
    out += block.raw;
    return;
  }
  switch (block.kind) {
    case BlockKind::media: write_source(out, block.media); break;
    case BlockKind::call:
      out += R"({"type":"tool_use","id":)";
      append_string(out, block.id);
      out += R"(,"name":)";
      append_string(out, block.name);
      out += R"(,"input":)";
      append_arguments_object(out, block);
      break;
    case BlockKind::result:
      out += R"({"type":"tool_result","tool_use_id":)";
      append_string(out, block.id);
      out += R"(,"content":)";
      if (block.is_list && !block.inner.empty()) {
        append_list(out, block.inner, [&out](const Block& inner) { write_block(out, inner); });
      } else {
        append_quoted(out, result_body(block));
      }
      if (block.is_error) out += R"(,"is_error":true)";
      break;
    default: out += R"({"type":"text","text":)"; append_quoted(out, block.text);
  }
  if (!block.cache.empty()) {
    out += R"(,"cache_control":)";
    out += block.cache;
  }
  out += '}';
}

}  // namespace

void write_anthropic(std::string& out, const Turn& turn) {
  if (!turn.is_top) {
    out += R"({"role":)";
    append_string(out, turn.role == Role::tool ? "user" : name(turn.role));
    out += R"(,"content":)";
  }
  if (is_plain_text(turn, anthropic)) {
    append_quoted(out, turn.blocks[0].text);
  } else {
    append_list(out, turn.blocks, [&out](const Block& block) { write_block(out, block); });
  }
  if (!turn.is_top) out += '}';
}

}  // namespace undertext
