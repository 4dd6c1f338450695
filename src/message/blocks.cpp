// The blocks of a message as its users see them.
#include <undertext/blocks.hpp>

#include <utility>

#include "base/json_size.hpp"
#include "message/reading.hpp"
#include "message/turn.hpp"
#include "message/visit_blocks.hpp"

namespace undertext {
namespace {

ContentBlock::Kind kind_of(const Block& block) {
  switch (block.kind) {
    case BlockKind::text:
    case BlockKind::refusal: return ContentBlock::Kind::text;
    case BlockKind::media: return ContentBlock::Kind::media;
    case BlockKind::call: return ContentBlock::Kind::call;
    case BlockKind::result: return ContentBlock::Kind::result;
    case BlockKind::reasoning: return ContentBlock::Kind::reasoning;
    case BlockKind::compaction:
    case BlockKind::control:
    case BlockKind::opaque: break;
  }
  return ContentBlock::Kind::opaque;
}

MediaBlock media_of(const Media& media) {
  return {media.kind,          media.source,          decoded(media.data),
          decoded(media.mime), decoded(media.detail), decoded(media.filename)};
}

std::vector<ContentBlock> said_by(const Block& result);

ContentBlock content_block(const Block& block) {
  ContentBlock made;
  made.kind = kind_of(block);
  const bool has_own_word = block.has_own_form || block.is_server ||
                            block.kind == BlockKind::refusal || block.type == "redacted_thinking" ||
                            made.kind == ContentBlock::Kind::opaque;
  if (has_own_word) made.type = block.type;
  switch (made.kind) {
    case ContentBlock::Kind::text:
    case ContentBlock::Kind::reasoning: made.text = decoded(block.text); break;
    case ContentBlock::Kind::media: made.media = media_of(block.media); break;
    case ContentBlock::Kind::call:
      made.arguments_json = block.json.empty() ? std::string_view("{}") : block.json;
      made.is_error = block.is_error;
      for (const Block& said : block.inner) made.blocks.push_back(content_block(said));
      break;
    case ContentBlock::Kind::result:
      made.is_error = block.is_error;
      made.blocks = said_by(block);
      break;
    case ContentBlock::Kind::opaque: made.json = block.raw; break;
  }
  if (made.kind == ContentBlock::Kind::call || made.kind == ContentBlock::Kind::result) {
    made.call_id = block.id;
    made.name = block.name;
    made.by_provider = block.is_server;
  }
  return made;
}

std::vector<ContentBlock> said_by(const Block& result) {
  std::vector<ContentBlock> said;
  for (const Block& inner : result.inner) said.push_back(content_block(inner));
  if (result.is_list) return said;
  ContentBlock only;
  if (!result.json.empty()) {
    only.kind = ContentBlock::Kind::opaque;
    only.json = result.json;
  } else {
    only.text = decoded(result.text);
    if (only.text.empty()) return said;
  }
  said.push_back(std::move(only));
  return said;
}

}  // namespace

void visit_blocks(const Message& message, const std::function<void(ContentBlock)>& visit) {
  const MessageReading reading(message);
  for (const Block& block : reading.turn().blocks) {
    if (block.kind == BlockKind::reasoning && !is_reasoning(block)) continue;
    // An empty text beside something else says nothing.
    if (block.kind == BlockKind::text && block.text.empty() && reading.turn().blocks.size() > 1)
      continue;
    visit(content_block(block));
  }
}

std::uint64_t visit_blocks_bytes(const Message& message) {
  constexpr std::size_t little = 64u << 10;
  const std::string_view json = message.json();
  return json.size() <= little
             ? 0
             : json_reading_bytes(json) + count_json_objects(json) * sizeof(Block);
}

std::vector<ContentBlock> read_blocks(const Message& message) {
  std::vector<ContentBlock> made;
  visit_blocks(message, [&made](ContentBlock block) { made.push_back(std::move(block)); });
  return made;
}

std::string_view name(ContentBlock::Kind kind) {
  switch (kind) {
    case ContentBlock::Kind::text: return "text";
    case ContentBlock::Kind::call: return "call";
    case ContentBlock::Kind::result: return "result";
    case ContentBlock::Kind::reasoning: return "reasoning";
    case ContentBlock::Kind::media: return "media";
    case ContentBlock::Kind::opaque: return "opaque";
  }
  return "";
}

std::string_view name(MediaBlock::Kind kind) {
  switch (kind) {
    case MediaBlock::Kind::image: return "image";
    case MediaBlock::Kind::audio: return "audio";
    case MediaBlock::Kind::video: return "video";
    case MediaBlock::Kind::file: return "file";
  }
  return "";
}

std::string_view name(MediaBlock::Source source) {
  switch (source) {
    case MediaBlock::Source::base64: return "base64";
    case MediaBlock::Source::url: return "url";
    case MediaBlock::Source::file_id: return "file_id";
    case MediaBlock::Source::text: return "text";
  }
  return "";
}

}  // namespace undertext
