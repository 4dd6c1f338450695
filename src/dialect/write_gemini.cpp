// Gemini generateContent.
#include "dialect/write_parts.hpp"

namespace undertext {
namespace {

constexpr Dialect gemini = Dialect::gemini;

void write_media(std::string& out, const Media& media) {
  const std::string_view mime = !media.mime.empty()              ? media.mime
                                : media.kind == MediaKind::image ? std::string_view("image/png")
                                : media.kind == MediaKind::audio ? std::string_view("audio/wav")
                                : media.kind == MediaKind::video
                                    ? std::string_view("video/mp4")
                                    : std::string_view("application/octet-stream");
  const bool is_data = media.source == MediaSource::base64;
  out += is_data ? R"({"inlineData":{"mimeType":)" : R"({"fileData":{"mimeType":)";
  // Chat names formats where others name media types.
  if (mime == "wav" || mime == "mp3") {
    out += mime == "wav" ? R"("audio/wav")" : R"("audio/mp3")";
  } else {
    append_quoted(out, mime);
  }
  out += is_data ? R"(,"data":)" : R"(,"fileUri":)";
  append_quoted(out, media.data);
  out += '}';
}

void write_response(std::string& out, const Block& result) {
  out += R"({"functionResponse":{)";
  if (!result.id.empty() && result.has_own_id) {
    out += R"("id":)";
    append_string(out, result.id);
    out += ',';
  }
  out += R"("name":)";
  append_string(out, result.name);
  out += R"(,"response":)";
  if (!result.is_list && !result.json.empty() && result.json.front() == '{' &&
      (result.native & bit(gemini)) != 0) {
    out += result.json;
  } else {
    out += result.is_error ? R"({"error":)" : R"({"output":)";
    append_quoted(out, result_body(result));
    out += '}';
  }
  std::vector<Block> media;
  for (const Block& inner : result.inner)
    if (inner.kind == BlockKind::media) media.push_back(inner);
  if (!media.empty()) {
    out += R"(,"parts":)";
    append_list(out, media, [&out](const Block& inner) {
      write_media(out, inner.media);
      out += '}';
    });
  }
  out += '}';
}

void write_gemini_part(std::string& out, const Block& block) {
  if (copies(block, gemini)) {
    out += block.raw;
    return;
  }
  switch (block.kind) {
    case BlockKind::media: write_media(out, block.media); break;
    case BlockKind::call:
      out += R"({"functionCall":{)";
      if (!block.id.empty() && block.has_own_id) {
        out += R"("id":)";
        append_string(out, block.id);
        out += ',';
      }
      out += R"("name":)";
      append_string(out, block.name);
      out += R"(,"args":)";
      append_arguments_object(out, block);
      out += '}';
      break;
    case BlockKind::result: write_response(out, block); break;
    case BlockKind::reasoning:
      out += R"({"text":)";
      append_quoted(out, block.text);
      out += R"(,"thought":true)";
      break;
    default: out += R"({"text":)"; append_quoted(out, block.text);
  }
  if (!block.signature.empty()) {
    out += R"(,"thoughtSignature":)";
    append_quoted(out, block.signature);
  }
  out += '}';
}

}  // namespace

void write_gemini(std::string& out, const Turn& turn) {
  out += turn.is_top                    ? R"({"parts":)"
         : turn.role == Role::assistant ? R"({"role":"model","parts":)"
                                        : R"({"role":"user","parts":)";
  append_list(out, turn.blocks, [&out](const Block& block) { write_gemini_part(out, block); });
  out += '}';
}

}  // namespace undertext
