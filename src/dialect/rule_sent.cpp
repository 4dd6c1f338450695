// What an edit did to reasoning that is bound to what stood before it.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "dialect/rules.hpp"
#include "dialect/write_parts.hpp"
#include "message/item_types.hpp"

namespace undertext {
namespace {

// Cache markers do not count as a change, and a text alone is the same as a block of it.
std::string plain_block(const Block& block, Dialect dialect) {
  if (block.kind == BlockKind::text && block.raw.find("citations") == std::string_view::npos)
    return '"' + std::string(block.text) + '"';
  if (copies(block, dialect))
    return block.cache.empty() ? std::string(block.raw)
                               : without_member(block.raw, "cache_control");
  Turn turn;
  turn.is_top = true;
  turn.blocks.push_back(block);
  turn.blocks[0].cache = {};
  std::string out;
  write_in(dialect, out, turn);
  return out.substr(1, out.size() - 2);  // without the brackets of the list
}

// The first difference between two lists of turns, as a turn and a block of the second.
std::pair<std::size_t, std::size_t> first_difference(const std::vector<Turn>& a,
                                                     const std::vector<Turn>& b, Dialect dialect) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (i >= a.size()) return {i, no_block};  // the end of what was sent: nothing after it was
    if (a[i].role != b[i].role) return {i, 0};
    if (!a[i].raw.empty() && a[i].raw == b[i].raw) continue;
    for (std::size_t k = 0; k < b[i].blocks.size(); ++k)
      if (k >= a[i].blocks.size() ||
          plain_block(a[i].blocks[k], dialect) != plain_block(b[i].blocks[k], dialect))
        return {i, k};
    if (a[i].blocks.size() > b[i].blocks.size()) return {i, b[i].blocks.size()};
  }
  return {b.size(), no_block};
}

using Signed = std::map<std::string_view, std::string_view>;  // signature: block

Signed signed_blocks(const RequestDraft& draft) {
  Signed blocks;
  for (const Turn& turn : draft.turns)
    for (const Block& block : turn.blocks)
      if (block.kind == BlockKind::reasoning && !block.signature.empty())
        blocks[block.signature] = block.raw;
  return blocks;
}

// The blocks of `was`, which were seen in `sent` first.
void check_bound(const Signed& was, const RequestDraft& sent, const RequestDraft& draft,
                 const Profile& profile, std::vector<Fault>& found) {
  std::pair<std::size_t, std::size_t> cut =
      first_difference(sent.turns, draft.turns, profile.dialect);
  std::string cause;
  if (first_difference(sent.top, draft.top, profile.dialect).first != draft.top.size() ||
      sent.top.size() != draft.top.size()) {
    cut = {0, 0};
    cause = "the instructions changed";
  } else if (cut.first < draft.turns.size()) {
    const std::uint64_t source = draft.turns[cut.first].source;
    cause = "something changed at message " +
            (source == no_source ? std::string("made by a repair") : std::to_string(source)) +
            " of the view";
  }
  for (std::size_t i = 0; i < draft.turns.size(); ++i) {
    for (std::size_t b = 0; b < draft.turns[i].blocks.size(); ++b) {
      const Block& block = draft.turns[i].blocks[b];
      if (block.kind != BlockKind::reasoning || block.signature.empty()) continue;
      const auto before = was.find(block.signature);
      if (before == was.end()) continue;
      if (without_member(before->second, "cache_control") !=
          without_member(block.raw, "cache_control")) {
        found.push_back({FindingCode::think_modified, i, b, {}});
      } else if (profile.thinking_bound && (i > cut.first || (i == cut.first && b >= cut.second))) {
        found.push_back({FindingCode::think_prefix_changed, i, b, cause});
      }
    }
  }
}

// What a model said or called after reasoning, up to the next turn of another role, needs that
// reasoning: visit(turn, id of the reasoning).
template <class Visit>
void visit_after_reasoning(const std::vector<Turn>& turns, Visit visit) {
  std::string_view reasoning;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].role == Role::system) continue;
    if (turns[i].role != Role::assistant) {
      reasoning = {};
    } else if (turns[i].blocks.size() == 1 && turns[i].blocks[0].kind == BlockKind::reasoning) {
      reasoning = turns[i].item_id;
    } else {
      visit(i, reasoning);
    }
  }
}

void check_stored_reasoning(const std::vector<RequestDraft>& sent, const RequestDraft& draft,
                            std::vector<Fault>& found) {
  std::map<std::string_view, std::string_view> needs;  // item id: the reasoning before it
  for (const RequestDraft& then : sent) {
    visit_after_reasoning(then.turns, [&](std::size_t i, std::string_view reasoning) {
      if (!reasoning.empty() && !then.turns[i].item_id.empty())
        needs.emplace(then.turns[i].item_id, reasoning);
    });
  }
  visit_after_reasoning(draft.turns, [&](std::size_t i, std::string_view reasoning) {
    const auto need = needs.find(draft.turns[i].item_id);
    if (need == needs.end() || need->second == reasoning) return;
    found.push_back({FindingCode::reasoning_missing, i, no_block, std::string(need->second)});
  });
}

}  // namespace

std::vector<Fault> check_against(const std::vector<RequestDraft>& sent, const RequestDraft& draft,
                                 const Profile& profile) {
  std::vector<Fault> found;
  std::set<std::string_view> seen;
  for (const RequestDraft& then : sent) {
    if (profile.dialect != Dialect::anthropic) break;
    Signed first_here = signed_blocks(then);
    std::erase_if(first_here,
                  [&seen](const auto& block) { return !seen.insert(block.first).second; });
    if (!first_here.empty()) check_bound(first_here, then, draft, profile, found);
  }
  std::sort(found.begin(), found.end(), [](const Fault& a, const Fault& b) {
    return std::pair(a.turn, a.block) < std::pair(b.turn, b.block);
  });
  if (profile.dialect == Dialect::openai_responses) check_stored_reasoning(sent, draft, found);
  const RuleSet holds = rules_of(profile);
  std::erase_if(
      found, [&holds](const Fault& fault) { return !holds[static_cast<std::size_t>(fault.code)]; });
  return found;
}

namespace {

// An item without the reasoning that it needs goes without its id, by which the provider would
// know; where it must have one, it goes itself.
bool can_do_without_id(const Turn& turn) {
  if (turn.blocks.size() != 1) return true;
  if (turn.blocks[0].kind == BlockKind::reasoning) return false;
  const std::optional<ItemType> row = item_type(turn.blocks[0].type);
  return !row || !row->needs_id;
}

void take_off_id(Turn& turn, Arena& arena) {
  if (turn.blocks.size() == 1 && !turn.blocks[0].raw.empty()) {
    Block& block = turn.blocks[0];
    const bool is_turn = block.raw.data() == turn.raw.data();
    // what a repair rewrites is copied from there
    block.raw = arena.keep(without_member(block.raw, "id"));
    if (is_turn) turn.raw = block.raw;
  }
  if (!turn.raw.empty()) turn.raw = arena.keep(without_member(turn.raw, "id"));
  turn.item_id = {};
}

}  // namespace

void Repair::remove_item_ids(const std::vector<Fault>& faults) {
  std::vector<Fault> gone;
  for (const Fault& fault : faults) {
    Turn& turn = draft.turns[fault.turn];
    if (can_do_without_id(turn)) {
      take_off_id(turn, arena);
    } else {
      lose(has_kind(turn, BlockKind::reasoning) ? LossCode::reasoning_dropped
                                                : LossCode::server_tool_dropped,
           turn);
      gone.push_back(fault);
    }
  }
  if (!gone.empty()) remove_turns(gone);
}

void mend_item_ids(Repair& repair, const std::vector<Fault>& faults) {
  repair.remove_item_ids(faults);
}

void Repair::run_against(const std::vector<Fault>& faults, bool keeps_bound) {
  std::vector<Fault> blocks, items;
  for (const Fault& fault : faults) {
    if (fault.code == FindingCode::reasoning_missing) {
      items.push_back(fault);
    } else if (fault.code != FindingCode::think_prefix_changed || !keeps_bound) {
      const Turn& turn = draft.turns[fault.turn];
      lose(LossCode::reasoning_dropped, turn, turn.blocks[fault.block]);
      blocks.push_back(fault);
    }
  }
  if (!blocks.empty()) remove_blocks(blocks);
  remove_item_ids(items);
}

}  // namespace undertext
