// Images, audio, video and files: what each dialect takes, and where.
#include <algorithm>
#include <utility>

#include "dialect/media.hpp"
#include "dialect/rules.hpp"

namespace undertext {
namespace {

bool ends_with_one_of(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [text](std::string_view end) { return text.ends_with(end); });
}
// Images that all of them read. What a URL leads to is not known; bytes of no type could only be
// sent under one that is refused.
bool has_common_form(const Media& media) {
  return media.source != MediaSource::base64 ||
         ends_with_one_of(media.mime, {"png", "jpeg", "jpg", "gif", "webp"});
}
// Chat takes two formats of audio.
bool is_spoken(const Media& media) {
  return media.kind == MediaKind::audio && media.source == MediaSource::base64 &&
         ends_with_one_of(media.mime, {"wav", "wave", "mp3", "mpeg"});
}

bool is_taken(const Media& media, Dialect dialect) {
  const bool is_image = media.kind == MediaKind::image && has_common_form(media),
             is_file = media.kind == MediaKind::file;
  switch (dialect) {
    case Dialect::openai_chat:
      return is_image || is_spoken(media) || (is_file && media.source != MediaSource::url);
    case Dialect::openai_responses: return is_image || is_file;
    case Dialect::anthropic:
      return is_image ||
             (is_file && (media.source != MediaSource::base64 || media.mime.ends_with("pdf")));
    case Dialect::gemini: break;
  }
  return true;
}

// Whether the provider can fetch it: not what only Google's own services can read.
bool is_reachable(const Media& media, Dialect dialect) {
  if (media.source != MediaSource::url || dialect == Dialect::gemini) return true;
  std::string url = decoded(media.data);
  std::transform(url.begin(), url.end(), url.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (url.starts_with("https://generativelanguage.googleapis.com/")) return false;
  return url.starts_with("https://") ||
         (dialect != Dialect::anthropic && url.starts_with("http://"));
}

}  // namespace

std::optional<LossCode> media_loss(const Media& media, Role role, Dialect dialect) {
  const bool has_place = role == Role::user || role == Role::tool || dialect == Dialect::gemini;
  if (!has_place || !is_taken(media, dialect)) return LossCode::media_unsupported;
  if (!is_reachable(media, dialect)) return LossCode::media_url;
  return std::nullopt;
}

std::string_view word_for(const Media& media) {
  switch (media.kind) {
    case MediaKind::image: return "[image]";
    case MediaKind::audio: return "[audio]";
    case MediaKind::video: return "[video]";
    case MediaKind::file: break;
  }
  return "[file]";
}

namespace {

// Chat's spoken answers are known by an id, beside the content.
bool is_beside_content(const Block& block) {
  return block.kind == BlockKind::media && block.type == "audio";
}

std::optional<LossCode> media_fault(const Block& block, Role role, Dialect dialect) {
  if (block.kind != BlockKind::media || is_beside_content(block)) return std::nullopt;
  return media_loss(block.media, role, dialect);
}

FindingCode finding_for(LossCode loss) {
  return loss == LossCode::media_url ? FindingCode::media_url : FindingCode::media_unsupported;
}

// Chat has images in user messages only.
bool is_media_elsewhere(const Turn& turn, const Block& block) {
  return std::any_of(block.inner.begin(), block.inner.end(),
                     [](const Block& x) { return x.kind == BlockKind::media; }) ||
         (block.kind == BlockKind::media && !is_beside_content(block) && turn.role != Role::user);
}

}  // namespace

void find_media(const RuleInput& asked, Faults& found) {
  const Dialect dialect = asked.profile.dialect;
  for (std::size_t i = 0; i < asked.draft.turns.size(); ++i) {
    const Turn& turn = asked.draft.turns[i];
    // What stands elsewhere is moved first.
    const Role role = dialect == Dialect::openai_chat ? Role::user : turn.role;
    for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
      const Block& block = turn.blocks[b];
      if (is_media_elsewhere(turn, block))
        found.add(FindingCode::media_in_tool_result, i, b, block.id);
      // SYSTEM_POSITION
      if (turn.role == Role::system && dialect != Dialect::openai_chat) continue;
      if (const std::optional<LossCode> loss = media_fault(block, role, dialect))
        found.add(finding_for(*loss), i, b);
      if (!is_client(block, BlockKind::result)) continue;
      for (const Block& inner : block.inner)
        if (const std::optional<LossCode> loss = media_fault(inner, Role::tool, dialect))
          found.add(finding_for(*loss), i, b, block.id);
    }
  }
}

void mend_media(Repair& repair, const std::vector<Fault>& faults) {
  const Dialect dialect = repair.profile.dialect;
  for (const Fault& fault : faults) {
    Turn& turn = repair.draft.turns[fault.turn];
    const auto take_out = [&](Block& block, Role role) {
      const std::optional<LossCode> loss = media_fault(block, role, dialect);
      if (!loss) return false;
      repair.lose(*loss, turn, turn.blocks[fault.block]);
      Block word = text_block(word_for(block.media));
      word.source = block.source;
      block = std::move(word);
      return true;
    };
    Block& block = turn.blocks[fault.block];
    bool is_changed = take_out(block, dialect == Dialect::openai_chat ? Role::user : turn.role);
    for (Block& inner : block.inner) is_changed = take_out(inner, Role::tool) || is_changed;
    if (!is_changed) continue;  // by an earlier fault of the same block
    if (block.kind == BlockKind::result) {
      block.raw = {};
      if (block.has_own_form) {  // such as a screenshot: without it, it is the result of a function
        block.has_own_form = false;
        rewrite_parts(block);
      }
    }
    turn.touch();
  }
}

void mend_media_in_results(Repair& repair, const std::vector<Fault>&) {
  std::vector<Turn> out;
  std::vector<Block> moved;
  std::uint64_t source = no_source;
  const auto flush = [&] {
    if (moved.empty()) return;
    Turn carrier;
    carrier.is_made = true;
    carrier.source = source;
    carrier.blocks = std::exchange(moved, {});
    out.push_back(std::move(carrier));
  };
  for (Turn& turn : repair.draft.turns) {
    if (turn.role != Role::tool) flush();
    const auto take = [&](Block& block) {
      source = source_of(turn, block);
      moved.push_back(block);
      moved.back().source = source;
      block = text_block("[image: see the next user message]");
      turn.touch();
    };
    for (Block& block : turn.blocks) {
      if (!is_media_elsewhere(turn, block)) continue;
      repair.lose(LossCode::media_moved, turn, block);
      for (Block& inner : block.inner)
        if (inner.kind == BlockKind::media) take(inner);
      if (block.kind == BlockKind::media) take(block);
      if (block.kind == BlockKind::result) block.raw = {};
    }
    out.push_back(std::move(turn));
  }
  flush();
  repair.draft.turns = std::move(out);
}

}  // namespace undertext
