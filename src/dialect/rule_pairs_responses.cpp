// Pairs of the Responses API, where a result may stand anywhere behind its call.
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "dialect/rules.hpp"
#include "message/item_types.hpp"

namespace undertext {

void mend_responses_pairs(Repair& repair) {
  std::vector<Turn>& list = repair.draft.turns;
  Arena& arena = repair.arena;
  const auto only = [&list](std::size_t i, BlockKind kind) {
    return list[i].blocks.size() == 1 && is_client(list[i].blocks[0], kind);
  };
  // Calls that share an id get one of their own each. Their results stand in the order of the
  // calls, as long as nothing else was said between these: a call of an earlier set that was never
  // answered is over.
  struct OpenCalls {
    std::deque<std::string_view> ids;  // not answered yet
    std::string_view last;
    std::size_t set = 0;
  };
  std::map<std::string_view, OpenCalls> open;  // by the id as given
  std::set<std::string_view> seen;
  std::map<std::string_view, std::uint64_t> numbers;  // of the ids made from each
  std::size_t set = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].role != Role::assistant) ++set;
    if (list[i].blocks.size() != 1) continue;
    Block& block = list[i].blocks[0];
    const std::string_view given = block.id;
    if (only(i, BlockKind::call)) {
      if (given.empty() || !seen.insert(given).second) {
        std::string id;
        do id = made_id(given, ++numbers[given]);
        while (seen.count(id) > 0);
        rename_call(list[i], block, *seen.insert(arena.keep(std::move(id))).first, arena);
      }
      OpenCalls& calls = open[given];
      if (calls.set != set) calls.ids.clear();
      calls.set = set;
      calls.ids.push_back(block.id);
      calls.last = block.id;
    } else if (const auto calls = open.find(given);
               only(i, BlockKind::result) && !given.empty() && calls != open.end()) {
      std::string_view answered = calls->second.last;  // once more
      if (!calls->second.ids.empty()) {
        answered = calls->second.ids.front();
        calls->second.ids.pop_front();
      }
      if (answered != given) rename_call(list[i], block, answered, arena);
    }
  }
  // A call and a result of different kinds, as an edit may leave them: both become a function's,
  // but for a custom tool, which any text answers.
  std::map<std::string_view, std::size_t> called;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (only(i, BlockKind::call)) called[list[i].blocks[0].id] = i;
    if (!only(i, BlockKind::result)) continue;
    const auto call = called.find(list[i].blocks[0].id);
    if (call == called.end() || answers_in_kind(list[call->second].blocks[0], list[i].blocks[0]))
      continue;
    const bool is_custom = list[call->second].blocks[0].is_custom;
    for (const std::size_t at : {call->second, i}) {
      Block& block = list[at].blocks[0];
      if (!block.has_own_form && block.is_custom == is_custom) continue;
      block.has_own_form = false;
      block.is_custom = is_custom;
      block.raw = {};
      rewrite_parts(block);
      list[at].item_id = {};
      list[at].touch();
    }
  }
  std::map<std::string_view, std::size_t> call_at, result_at;  // of results, the last
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (only(i, BlockKind::call)) call_at[list[i].blocks[0].id] = i;
    if (only(i, BlockKind::result)) result_at[list[i].blocks[0].id] = i;
  }
  std::vector<Turn> out;
  std::vector<Turn> due;  // results to put behind the calls that stand together
  bool changed = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool is_call = only(i, BlockKind::call);
    if (!is_call && list[i].role != Role::assistant)
      for (Turn& turn : std::exchange(due, {})) out.push_back(std::move(turn));
    if (only(i, BlockKind::result)) {
      const std::string_view id = list[i].blocks[0].id;
      const auto call = call_at.find(id);
      const bool stays = call != call_at.end() && call->second < i && result_at[id] == i;
      const bool is_moved = call != call_at.end() && result_at[id] == i;  // before its call
      changed = changed || !stays;
      if (stays) out.push_back(list[i]);
      if (!stays && !is_moved) repair.lose(LossCode::result_dropped, list[i]);
      continue;
    }
    if (is_call) {
      const auto result = result_at.find(list[i].blocks[0].id);
      // nobody but its tool can make up its result
      if (result == result_at.end() && list[i].blocks[0].has_own_form) {
        repair.lose(LossCode::call_dropped, list[i]);
        changed = true;
        continue;
      }
      if (result == result_at.end() && !list[i].blocks[0].is_async) {
        Turn turn;
        turn.role = Role::tool;
        turn.is_made = true;
        turn.blocks.push_back(made_result(list[i].blocks[0], repair.profile));
        due.push_back(std::move(turn));
        changed = true;
      } else if (result != result_at.end() && result->second < i) {
        due.push_back(list[result->second]);
        changed = true;
      }
    }
    out.push_back(list[i]);
  }
  for (Turn& turn : due) out.push_back(std::move(turn));
  if (changed) list = std::move(out);
}

}  // namespace undertext
