// Reasoning and signatures.
#include <algorithm>
#include <set>
#include <utility>

#include "dialect/rules.hpp"
#include "dialect/write_parts.hpp"

namespace undertext {
namespace {

// Gemini: behind the last thing that a user said and that is no result.
std::size_t current_turn_begin(const std::vector<Turn>& turns) {
  for (std::size_t i = turns.size(); i-- > 0;) {
    if (turns[i].role != Role::user) continue;
    for (const Block& block : turns[i].blocks)
      if (block.kind != BlockKind::result) return i + 1;
  }
  return 0;
}

// Gemini: whether that block is the turn's first call, and has no signature.
bool is_signature_missing(const Turn& turn, std::size_t block) {
  for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
    if (!is_client(turn.blocks[b], BlockKind::call)) continue;
    return b == block && turn.blocks[b].signature.empty();
  }
  return false;
}

bool needs_reasoning_content(const RequestDraft& draft) {
  return std::any_of(draft.turns.begin(), draft.turns.end(), [](const Turn& turn) {
    return turn.role == Role::assistant &&
           (has_calls(turn) || has_kind(turn, BlockKind::reasoning));
  });
}
bool has_reasoning_content(const Turn& turn) {
  return std::any_of(turn.blocks.begin(), turn.blocks.end(), [](const Block& block) {
    return block.kind == BlockKind::reasoning && block.type == "reasoning_content";
  });
}

bool is_assistant(const std::vector<Turn>& turns, std::size_t i) {
  return i < turns.size() && turns[i].role == Role::assistant;
}
bool ends_in_reasoning(const Turn& turn) {
  return !turn.blocks.empty() && turn.blocks.back().kind == BlockKind::reasoning;
}

// Blocks that nothing follows in what the assistant says: all of them, since the next would be the
// last without them.
std::vector<Fault> reasoning_at_end(const std::vector<Turn>& turns) {
  std::vector<Fault> last;
  bool ends = true;
  for (std::size_t i = turns.size(); i-- > 0;) {
    ends = turns[i].role == Role::assistant && (ends || !is_assistant(turns, i + 1));
    const std::vector<Block>& blocks = turns[i].blocks;
    for (std::size_t b = blocks.size(); ends && b-- > 0;) {
      ends = blocks[b].kind == BlockKind::reasoning;
      if (ends) last.push_back({FindingCode::think_last_block, i, b, {}});
    }
  }
  return last;
}

void find_thinking(const RuleInput& asked, Faults& found) {
  const std::vector<Turn>& turns = asked.draft.turns;
  std::vector<bool> is_at_end(turns.size());
  for (const Fault& fault : reasoning_at_end(turns)) {
    found.add(fault.code, fault.turn, fault.block);
    is_at_end[fault.turn] = true;
  }
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::vector<Block>& blocks = turns[i].blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (blocks[b].kind == BlockKind::reasoning && blocks[b].type == "thinking" &&
          blocks[b].signature.empty())
        found.add(FindingCode::think_unsigned, i, b);
    // The next message goes on with what the assistant says, but this one may not end so.
    if (turns[i].role == Role::assistant && ends_in_reasoning(turns[i]) && !is_at_end[i])
      found.add(FindingCode::think_last_block, i, blocks.size() - 1);
  }
  if (asked.facts.is_thinking_disabled) return;
  std::size_t last = turns.size();
  while (last > 0 && turns[last - 1].role != Role::assistant) --last;
  if (last == 0 || !has_calls(turns[last - 1])) return;
  for (std::size_t i = last; i < turns.size(); ++i)
    if (!has_results(turns[i])) return;
  if (last < turns.size() && turns[last - 1].blocks[0].kind != BlockKind::reasoning)
    found.add(FindingCode::think_missing, last - 1, 0);
}

bool is_reasoning_item(const Turn& turn) {
  return turn.blocks.size() == 1 && turn.blocks[0].kind == BlockKind::reasoning;
}

// Whether the item is sent with the server's id: one that is rewritten has none.
bool is_sent_with_id(const Turn& turn) {
  const bool is_copied =
      turn.is_raw_in(Dialect::openai_responses) ||
      (turn.blocks.size() == 1 && copies(turn.blocks[0], Dialect::openai_responses));
  return !turn.item_id.empty() && is_copied && !has_kind(turn, BlockKind::control);
}

void find_items(const RuleInput& asked, Faults& found) {
  const std::vector<Turn>& turns = asked.draft.turns;
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < turns.size(); ++i)
    if (is_sent_with_id(turns[i]) && !ids.insert(turns[i].item_id).second)
      found.add(FindingCode::item_dup_id, i, no_block, turns[i].item_id);
  // Backwards: an item that has to go follows nothing.
  bool has_follower = false, is_reasoning_next = false;
  for (std::size_t i = turns.size(); i-- > 0;) {
    bool goes = false;
    const Block* const only = turns[i].blocks.size() == 1 ? &turns[i].blocks[0] : nullptr;
    const auto add = [&](FindingCode code) {
      found.add(code, i, 0, turns[i].item_id);
      goes = true;
    };
    if (only != nullptr && only->type == "item_reference" && !asked.facts.store)
      add(FindingCode::item_ref_unstored);
    if (is_reasoning_item(turns[i])) {
      if (!asked.facts.store && only->signature.empty()) add(FindingCode::reasoning_not_portable);
      const bool lost_it = is_reasoning_next && asked.facts.followed.count(turns[i].item_id) > 0;
      if (!turns[i].item_id.empty() && (!has_follower || lost_it))
        add(FindingCode::reasoning_no_follower);
    }
    if (goes) continue;
    is_reasoning_next = is_reasoning_item(turns[i]);
    has_follower = turns[i].role == Role::assistant &&
                   (turns[i].blocks.empty() || turns[i].blocks[0].kind != BlockKind::control);
  }
}

}  // namespace

void find_reasoning(const RuleInput& asked, Faults& found) {
  const std::vector<Turn>& turns = asked.draft.turns;
  switch (asked.profile.dialect) {
    case Dialect::anthropic: return find_thinking(asked, found);
    case Dialect::openai_responses: return find_items(asked, found);
    case Dialect::openai_chat:
      if (!needs_reasoning_content(asked.draft)) return;
      for (std::size_t i = 0; i < turns.size(); ++i)
        if (turns[i].role == Role::assistant && !has_reasoning_content(turns[i]))
          found.add(FindingCode::reasoning_content_missing, i);
      return;
    case Dialect::gemini: break;
  }
  for (std::size_t i = current_turn_begin(turns); i < turns.size(); ++i)
    for (std::size_t b = 0; b < turns[i].blocks.size(); ++b)
      if (turns[i].role == Role::assistant && is_signature_missing(turns[i], b))
        found.add(FindingCode::gem_sig_missing, i, b);
}

void note_followers(const RequestDraft& draft, RequestFacts& facts) {
  for (std::size_t i = 0; i + 1 < draft.turns.size(); ++i)
    if (is_reasoning_item(draft.turns[i]) && !is_reasoning_item(draft.turns[i + 1]))
      facts.followed.emplace(draft.turns[i].item_id);
}

void mend_last_thinking(Repair& repair, const std::vector<Fault>&) {
  const std::vector<Fault> last = reasoning_at_end(repair.draft.turns);
  for (const Fault& fault : last) {
    const Turn& turn = repair.draft.turns[fault.turn];
    repair.lose(LossCode::reasoning_dropped, turn, turn.blocks[fault.block]);
  }
  repair.remove_blocks(last);
  // What follows in the next message joins the rest.
  std::vector<Turn> out;
  for (Turn& turn : repair.draft.turns) {
    if (turn.role == Role::assistant && !out.empty() && out.back().role == Role::assistant &&
        ends_in_reasoning(out.back())) {
      join_turn(out.back(), std::move(turn));
      out.back().touch();
    } else {
      out.push_back(std::move(turn));
    }
  }
  repair.draft.turns = std::move(out);
}

namespace {

void sign_call(Repair& repair, Turn& turn, Block& block) {
  constexpr std::string_view sentinel = "skip_thought_signature_validator";
  block.signature = sentinel;
  if (copies(block, repair.profile.dialect))
    block.raw =
        repair.arena.keep(with_member(without_member(block.raw, "thoughtSignature"),
                                      "thoughtSignature", '"' + std::string(sentinel) + '"'));
  turn.touch();
  repair.lose(LossCode::signature_sentinel, turn, block);
}

void add_reasoning_content(Repair& repair, Turn& turn) {
  Block block;
  block.kind = BlockKind::reasoning;
  block.type = "reasoning_content";
  turn.blocks.insert(turn.blocks.begin(), std::move(block));
  if (turn.is_raw_in(repair.profile.dialect))
    turn.raw = repair.arena.keep(
        with_member(without_member(turn.raw, "reasoning_content"), "reasoning_content", "\"\""));
}

}  // namespace

void mend_reasoning(Repair& repair, const std::vector<Fault>& faults) {
  std::vector<Fault> gone;
  std::set<BlockAt> places;
  for (const Fault& fault : faults) {
    Turn& turn = repair.draft.turns[fault.turn];
    switch (fault.code) {
      case FindingCode::think_missing: repair.facts.is_thinking_disabled = true; break;
      case FindingCode::gem_sig_missing: sign_call(repair, turn, turn.blocks[fault.block]); break;
      case FindingCode::reasoning_content_missing: add_reasoning_content(repair, turn); break;
      default: {  // reasoning and references that have to go
        const Block& block = turn.blocks[fault.block];
        if (!places.insert({fault.turn, fault.block}).second) break;  // it breaks two rules
        repair.lose(block.kind == BlockKind::reasoning ? LossCode::reasoning_dropped
                                                       : LossCode::item_reference,
                    turn, block);
        gone.push_back(fault);
      }
    }
  }
  if (!gone.empty()) repair.remove_blocks(gone);
}

}  // namespace undertext
