// From any dialect to one: what each block becomes, what is lost, and which turns the blocks stand
// in.
#include <algorithm>
#include <utility>

#include "dialect/media.hpp"
#include "dialect/request_draft.hpp"
#include "dialect/rules.hpp"
#include "dialect/write_parts.hpp"

namespace undertext {

void Adapter::lose(LossCode code) { draft_.lost.push_back({code, source_}); }

void Adapter::add(Turn turn) {
  source_ = turn.source;
  for (Block& block : turn.blocks) block.source = turn.source;
  for (const Block& block : turn.blocks)
    if (block.kind == BlockKind::call && !block.id.empty())
      calls_[std::string(block.id)] = {block.name, block.is_custom};
  // Behind other items or instructions, instructions are an item in their place.
  const bool is_behind = turn.is_top && profile_.dialect == Dialect::openai_responses &&
                         !(draft_.turns.empty() && draft_.top.empty());
  if (is_behind) turn.is_top = false;
  if (turn.is_raw_in(profile_.dialect) && !is_behind) return add_native(std::move(turn));
  convert(std::move(turn));
}

void Adapter::add_native(Turn turn) {
  push_moved_media();
  const bool leads = turn.role == Role::system && profile_.dialect == Dialect::anthropic &&
                     draft_.turns.empty() && !turn.is_top && !turn.is_labelled;
  if (leads) {
    turn.raw = turn.content;  // `system` holds what the message says
    turn.is_top = true;
  }
  (turn.is_top ? draft_.top : draft_.turns).push_back(std::move(turn));
}

void Adapter::convert(Turn turn) {
  const Dialect to = profile_.dialect;
  if (turn.has_unknown) lose(LossCode::unknown_field);
  if (turn.has_annotations) lose(LossCode::annotations);
  if (!turn.name.empty() && to != Dialect::openai_chat && turn.role != Role::tool)
    lose(LossCode::name);
  if (!turn.phase.empty() && to != Dialect::openai_responses) lose(LossCode::phase);
  if (turn.is_developer && (to == Dialect::anthropic || to == Dialect::gemini)) {
    turn.is_developer = false;
    if (!draft_.turns.empty()) lose(LossCode::role_developer);  // before, it is the instructions
  }
  turn.raw = {};
  turn.is_top = turn.is_top && to == Dialect::openai_responses;
  std::vector<Block> kept;
  for (Block& block : turn.blocks) {
    // Instructions call nothing and answer nothing.
    if (turn.role == Role::system &&
        (is_client(block, BlockKind::call) || is_client(block, BlockKind::result))) {
      lose(LossCode::part_dropped);
    } else if (keep_block(block, turn.role)) {
      kept.push_back(std::move(block));
    }
  }
  // An empty text beside a call says nothing, and most dialects refuse it.
  if (kept.size() > 1 && to != Dialect::openai_chat)
    std::erase_if(kept, [](const Block& b) { return b.kind == BlockKind::text && b.text.empty(); });
  const bool lost_all = kept.empty() && !turn.blocks.empty();
  turn.blocks = std::move(kept);
  if (lost_all) return;
  if (turn.role == Role::system) return place_system(std::move(turn));
  switch (to) {
    case Dialect::openai_chat: return place_chat(std::move(turn));
    case Dialect::openai_responses: return place_responses(std::move(turn));
    default: return place_merged(std::move(turn));
  }
}

bool Adapter::keep_block(Block& block, Role role) {
  const Dialect to = profile_.dialect;
  if (copies(block, to)) return true;
  if (block.has_unknown) lose(LossCode::unknown_field);
  if (block.has_citations) lose(LossCode::annotations);
  if (!block.cache.empty()) {
    const bool same_marker =
        (block.native & (bit(Dialect::openai_chat) | bit(Dialect::openai_responses))) != 0 &&
        (to == Dialect::openai_chat || to == Dialect::openai_responses);
    if (!same_marker) {
      lose(LossCode::cache_hint);
      block.cache = {};
    }
  }
  if (!block.signature.empty() && block.kind != BlockKind::reasoning &&
      block.kind != BlockKind::compaction && to != Dialect::gemini) {
    lose(LossCode::signature_dropped);
    block.signature = {};
  }
  switch (block.kind) {
    case BlockKind::text: return true;
    case BlockKind::refusal:
      if (to == Dialect::openai_chat || to == Dialect::openai_responses) return true;
      lose(LossCode::refusal_as_text);
      block.kind = BlockKind::text;
      return true;
    case BlockKind::media: convert_media(block, role); return true;
    case BlockKind::call:
    case BlockKind::result:
      if (block.is_server) {
        if (block.kind == BlockKind::call || calls_.find(std::string(block.id)) == calls_.end())
          lose(LossCode::server_tool_dropped);
        return false;
      }
      if (block.kind == BlockKind::result) {
        convert_result(block);
      } else if (profile_.arguments_object && !arguments_are_object(block)) {
        lose(LossCode::args_wrapped);
      }
      block.has_own_id = true;
      if (to != Dialect::openai_chat || !copies(block, to)) block.is_legacy = false;
      return true;
    case BlockKind::reasoning: return keep_reasoning(block);
    case BlockKind::compaction:
      if (block.text.empty()) {
        lose(LossCode::compaction_opaque);
        return false;
      }
      lose(LossCode::compaction_as_text);
      block.kind = BlockKind::text;
      return true;
    case BlockKind::control:
      lose(block.type == "item_reference" ? LossCode::item_reference : LossCode::control_dropped);
      return false;
    case BlockKind::opaque:
      lose(block.is_server ? LossCode::server_tool_dropped : LossCode::part_dropped);
      return false;
  }
  return true;
}

bool Adapter::keep_reasoning(Block& block) {
  const bool is_open =
      block.raw.empty() && (block.type == "reasoning_content" || block.type == "reasoning");
  if (profile_.dialect == Dialect::openai_chat && is_open) return true;
  // Gemini's thoughts in the engine's form; those of others have a signature of another kind, or
  // none.
  const bool is_gemini = block.type == "thinking" && block.native == 0 && !block.signature.empty();
  if (profile_.dialect == Dialect::gemini && is_gemini) return true;
  lose(LossCode::reasoning_dropped);
  return false;
}

// Where the name or title of a file is not written.
void Adapter::lose_names(const Block& block) {
  const Media& media = block.media;
  if (media.filename.empty()) return;
  const bool is_data = media.source == MediaSource::base64;
  const bool has_place =
      media.kind != MediaKind::image &&
      (profile_.dialect == Dialect::anthropic || (profile_.dialect != Dialect::gemini && is_data));
  if (!has_place) lose(LossCode::file_name);
}

void Adapter::convert_media(Block& block, Role role) {
  const Dialect to = profile_.dialect;
  const Media& media = block.media;
  const bool is_openai =
      (block.native & (bit(Dialect::openai_chat) | bit(Dialect::openai_responses))) != 0;
  if (block.type == "audio" && media.source == MediaSource::file_id) {
    lose(LossCode::audio_ref);
    block = text_block("[audio]");
    return;
  }
  if (media.source == MediaSource::text && to != Dialect::anthropic) {
    lose_names(block);
    block = text_block(media.data);
    return;
  }
  if (media.source == MediaSource::file_id) {
    const bool stays = (to == Dialect::openai_responses && is_openai) ||
                       (to == Dialect::openai_chat && is_openai && media.kind == MediaKind::file);
    if (!stays) {
      lose(LossCode::file_id);
      block = text_block("[file]");
      return;
    }
  }
  if (!media.detail.empty() && to != Dialect::openai_chat && to != Dialect::openai_responses)
    lose(LossCode::image_detail);
  if (const std::optional<LossCode> loss = media_loss(media, role, to)) {
    lose(*loss);
    block = text_block(word_for(media));
    return;
  }
  lose_names(block);
}

void Adapter::convert_result(Block& block) {
  const Dialect to = profile_.dialect;
  if (const auto found = calls_.find(std::string(block.id)); found != calls_.end()) {
    if (block.name.empty()) block.name = found->second.name;
    block.is_custom = found->second.is_custom;
  }
  if (block.name.empty() && to == Dialect::gemini) block.name = "tool";
  std::vector<Block> kept;
  for (Block& inner : block.inner)
    if (keep_block(inner, Role::tool)) kept.push_back(std::move(inner));
  block.inner = std::move(kept);
  for (Block& inner : block.inner) {
    if (inner.kind != BlockKind::media || profile_.images_in_results) continue;
    lose(LossCode::media_moved);
    moved_media_.push_back(inner);
    moved_media_.back().source = source_;
    inner = text_block("[image: see the next user message]");
  }
  if (block.is_list && block.inner.empty()) block.is_list = false;
  if (block.is_error && (to == Dialect::openai_chat || to == Dialect::openai_responses)) {
    lose(LossCode::error_flag_as_text);
    if (block.is_list) {
      block.inner.insert(block.inner.begin(), text_block("[error]"));
    } else {
      block.text = arena_.keep("[error] " + result_body(block));
      block.json = {};
    }
    block.is_error = false;
  }
}

void Adapter::place_system(Turn turn) {
  const Dialect to = profile_.dialect;
  const bool is_first = draft_.turns.empty();
  if (to == Dialect::openai_responses) {
    (turn.is_top ? draft_.top : draft_.turns).push_back(std::move(turn));
    return;
  }
  if (to == Dialect::openai_chat) return push(std::move(turn));
  if (is_first) {
    turn.is_top = true;
    draft_.top.push_back(std::move(turn));
    return;
  }
  push(std::move(turn));  // where it may not stand, the repair sees to it
}

void Adapter::finish() { push_moved_media(); }

void Adapter::push(Turn turn) {
  push_moved_media();
  draft_.turns.push_back(std::move(turn));
}

// Pictures of tool results go behind all results of the set.
void Adapter::push_moved_media() {
  if (moved_media_.empty()) return;
  Turn carrier;
  carrier.source = source_;
  carrier.blocks = std::exchange(moved_media_, {});
  draft_.turns.push_back(std::move(carrier));
}

void Adapter::place_chat(Turn turn) {
  if (turn.role == Role::assistant) {
    bool after_call = false;
    for (const Block& block : turn.blocks) {
      if (block.kind == BlockKind::call) after_call = true;
      if (block.kind == BlockKind::text && after_call) {
        lose(LossCode::order_text_after_call);
        break;
      }
    }
    Turn* const last = draft_.turns.empty() ? nullptr : &draft_.turns.back();
    const bool joins = last != nullptr && last->role == Role::assistant && last->raw.empty() &&
                       turn.is_item && last->is_item && moved_media_.empty();
    if (!joins) return push(std::move(turn));
    return join_turn(*last, std::move(turn));
  }
  std::vector<Block> others;
  bool had_results = false;
  for (Block& block : turn.blocks) {
    if (block.kind != BlockKind::result) {
      others.push_back(std::move(block));
      continue;
    }
    had_results = true;
    Turn tool;
    tool.role = Role::tool;
    tool.source = turn.source;
    tool.blocks.push_back(std::move(block));
    draft_.turns.push_back(std::move(tool));
  }
  if (had_results && others.empty()) return;
  turn.role = Role::user;
  turn.blocks = std::move(others);
  push(std::move(turn));
}

void Adapter::place_responses(Turn turn) {
  std::vector<Block> message;
  const auto flush = [&] {
    if (message.empty()) return;
    Turn item;
    item.role = turn.role == Role::tool ? Role::user : turn.role;
    item.source = turn.source;
    item.phase = turn.phase;
    item.blocks = std::exchange(message, {});
    draft_.turns.push_back(std::move(item));
  };
  for (Block& block : turn.blocks) {
    const bool is_said = block.kind == BlockKind::text || block.kind == BlockKind::media ||
                         block.kind == BlockKind::refusal;
    if (is_said) {
      message.push_back(std::move(block));
      if (turn.role == Role::assistant) flush();
      continue;
    }
    flush();
    Turn item;
    item.role = block.kind == BlockKind::result ? Role::tool : turn.role;
    item.source = turn.source;
    item.shape = Turn::Shape::item;
    item.item_id = block.item_id;
    item.blocks.push_back(std::move(block));
    draft_.turns.push_back(std::move(item));
  }
  flush();
}

// Anthropic and Gemini: results stand in user turns, and what came as items or tool messages joins
// its neighbours.
void Adapter::place_merged(Turn turn) {
  const bool was_tool = turn.role == Role::tool;
  if (was_tool) turn.role = Role::user;
  Turn* const last = draft_.turns.empty() ? nullptr : &draft_.turns.back();
  const bool same =
      last != nullptr && last->role == turn.role && last->raw.empty() && !last->is_made;
  const bool joins_results =
      was_tool && same && has_results(*last) && last->blocks.back().kind == BlockKind::result;
  const bool joins_items = turn.role == Role::assistant && same && turn.is_item && last->is_item;
  if (!joins_results && !joins_items) {
    draft_.turns.push_back(std::move(turn));
    return;
  }
  join_turn(*last, std::move(turn));
}

}  // namespace undertext
