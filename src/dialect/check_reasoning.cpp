// Reasoning, signatures, and the cache.
#include <algorithm>

#include "dialect/check.hpp"
#include "dialect/check_rules.hpp"

namespace undertext {

std::size_t current_turn_begin(const std::vector<Turn>& turns) {
  for (std::size_t i = turns.size(); i-- > 0;) {
    if (turns[i].role != Role::user) continue;
    for (const Block& block : turns[i].blocks)
      if (block.kind != BlockKind::result) return i + 1;
  }
  return 0;
}

bool is_long_lived(std::string_view cache_marker) { return cache_marker.find("\"1h\"") != std::string_view::npos; }

bool is_signature_missing(const Turn& turn, std::size_t block) {
  for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
    if (!is_client(turn.blocks[b], BlockKind::call)) continue;
    return b == block && turn.blocks[b].signature.empty();
  }
  return false;
}

bool needs_reasoning_content(const RequestDraft& draft, const Profile& profile) {
  if (!profile.requires_reasoning_content) return false;
  return std::any_of(draft.turns.begin(), draft.turns.end(), [](const Turn& turn) {
    return turn.role == Role::assistant && (has_calls(turn) || has_kind(turn, BlockKind::reasoning));
  });
}

namespace {

bool has_reasoning_content(const Turn& turn) {
  return std::any_of(turn.blocks.begin(), turn.blocks.end(),
                     [](const Block& block) { return block.kind == BlockKind::reasoning && block.type == "reasoning_content"; });
}

// The blocks with which what the assistant says ends, though it may not: all of them, since the next would be the last without them. Turns of one
// role in a row are one to the provider.
void check_last_blocks(const std::vector<Turn>& turns, std::vector<Fault>& found) {
  bool ends = true;
  for (std::size_t i = turns.size(); i-- > 0;) {
    ends = ends || turns[i + 1].role != turns[i].role;
    const std::vector<Block>& blocks = turns[i].blocks;
    for (std::size_t b = blocks.size(); ends && b-- > 0;) {
      ends = blocks[b].kind == BlockKind::reasoning;
      if (ends) found.push_back({FindingCode::think_last_block, i, b, {}});
    }
  }
}

void check_thinking(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Fault>& found) {
  const std::vector<Turn>& turns = draft.turns;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::vector<Block>& blocks = turns[i].blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (blocks[b].kind == BlockKind::reasoning && blocks[b].type == "thinking" && blocks[b].signature.empty())
        found.push_back({FindingCode::think_unsigned, i, b, {}});
  }
  check_last_blocks(turns, found);
  if (!profile.thinking_required || facts.is_thinking_disabled) return;
  std::size_t last = turns.size();
  while (last > 0 && turns[last - 1].role != Role::assistant) --last;
  if (last == 0 || !has_calls(turns[last - 1])) return;
  for (std::size_t i = last; i < turns.size(); ++i)
    if (!has_results(turns[i])) return;
  if (last < turns.size() && turns[last - 1].blocks[0].kind != BlockKind::reasoning)
    found.push_back({FindingCode::think_missing, last - 1, 0, {}});
}

void check_items(const RequestDraft& draft, const RequestFacts& facts, std::vector<Fault>& found) {
  const std::vector<Turn>& turns = draft.turns;
  // Backwards: an item that has to go follows nothing.
  bool has_follower = false;
  for (std::size_t i = turns.size(); i-- > 0;) {
    const std::size_t found_before = found.size();
    const Block* const only = turns[i].blocks.size() == 1 ? &turns[i].blocks[0] : nullptr;
    const auto add = [&](FindingCode code) { found.push_back({code, i, no_block, std::string(turns[i].item_id)}); };
    if (only != nullptr && only->type == "item_reference" && !facts.store) add(FindingCode::item_ref_unstored);
    if (only != nullptr && only->kind == BlockKind::reasoning) {
      if (!facts.store && only->signature.empty()) add(FindingCode::reasoning_not_portable);
      if (!turns[i].item_id.empty() && !has_follower) add(FindingCode::reasoning_no_follower);
    }
    if (found.size() == found_before)
      has_follower = turns[i].role == Role::assistant && (turns[i].blocks.empty() || turns[i].blocks[0].kind != BlockKind::control);
  }
}

}  // namespace

void check_reasoning(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Fault>& found) {
  if (profile.dialect == Dialect::anthropic) check_thinking(draft, profile, facts, found);
  if (profile.dialect == Dialect::openai_responses) check_items(draft, facts, found);
  if (profile.dialect == Dialect::openai_chat && needs_reasoning_content(draft, profile)) {
    for (std::size_t i = 0; i < draft.turns.size(); ++i)
      if (draft.turns[i].role == Role::assistant && !has_reasoning_content(draft.turns[i]))
        found.push_back({FindingCode::reasoning_content_missing, i, no_block, {}});
  }
  if (profile.dialect == Dialect::gemini && profile.gemini3) {
    for (std::size_t i = current_turn_begin(draft.turns); i < draft.turns.size(); ++i) {
      const Turn& turn = draft.turns[i];
      for (std::size_t b = 0; b < turn.blocks.size(); ++b)
        if (turn.role == Role::assistant && is_signature_missing(turn, b))
          found.push_back({FindingCode::gem_sig_missing, i, b, {}});
    }
  }
}

void check_cache(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Fault>& found) {
  if (profile.cache_markers_max == 0) return;
  std::uint64_t markers = facts.cache_markers;
  bool short_lived = false;
  const auto visit = [&](const Turn& turn, std::size_t i) {
    for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
      const Block& block = turn.blocks[b];
      if (block.cache.empty()) continue;
      ++markers;
      if (block.kind == BlockKind::reasoning) found.push_back({FindingCode::cache_on_thinking, i, b, {}});
      if (is_long_lived(block.cache) && short_lived) found.push_back({FindingCode::cache_ttl_order, i, b, {}});
      if (!is_long_lived(block.cache)) short_lived = true;
    }
  };
  for (const Turn& top : draft.top) visit(top, top_turn);
  for (std::size_t i = 0; i < draft.turns.size(); ++i) visit(draft.turns[i], i);
  if (markers > profile.cache_markers_max)
    found.push_back({FindingCode::cache_too_many, top_turn, no_block, std::to_string(markers)});
}

std::vector<Fault> check(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts) {
  std::vector<Fault> found;
  check_pairs(draft, profile, found);
  check_turns(draft, profile, found);
  check_blocks(draft, profile, facts, found);
  check_reasoning(draft, profile, facts, found);
  check_cache(draft, profile, facts, found);
  return found;
}

}  // namespace undertext
