// Ids, names and arguments of calls, and what the rest of the request says of tools.
#include <algorithm>
#include <map>

#include "dialect/rules.hpp"
#include "dialect/tool_names.hpp"
#include "dialect/write_parts.hpp"

namespace undertext {
namespace {

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

bool is_good_call_id(std::string_view id, const Profile& profile) {
  if (id.empty()) return false;
  if (profile.call_id_max == 0) return true;
  if (id.size() > profile.call_id_max) return false;
  return profile.dialect != Dialect::anthropic || is_word(id);
}
bool has_bad_id(const Block& block, const Profile& profile) {
  return block.has_own_id && !block.is_legacy && !is_good_call_id(block.id, profile);
}
bool has_bad_arguments(const Block& call, const Profile& profile) {
  return copies(call, profile.dialect) && !call.json.empty() && call.json.front() != '{';
}

}  // namespace

bool may_name_tool(char c, Dialect dialect) {
  return is_word({&c, 1}) || (dialect == Dialect::gemini && (c == '.' || c == ':'));
}

bool is_good_tool_name(std::string_view name, const Profile& profile) {
  if (name.empty()) return false;
  if (profile.tool_name_max == 0) return true;
  if (name.size() > profile.tool_name_max) return false;
  // Gemini's begin as names of variables do.
  const bool is_number =
      (name[0] >= '0' && name[0] <= '9') || name[0] == '-' || name[0] == '.' || name[0] == ':';
  if (profile.dialect == Dialect::gemini && is_number) return false;
  return std::all_of(name.begin(), name.end(),
                     [&profile](char c) { return may_name_tool(c, profile.dialect); });
}

void find_calls(const RuleInput& asked, Faults& found) {
  const Profile& profile = asked.profile;
  if (asked.facts.has_state_conflict) found.add(FindingCode::state_conflict, top_turn);
  for (std::size_t i = 0; i < asked.draft.turns.size(); ++i) {
    for (std::size_t b = 0; b < asked.draft.turns[i].blocks.size(); ++b) {
      const Block& block = asked.draft.turns[i].blocks[b];
      const bool is_call = is_client(block, BlockKind::call);
      if (!is_call && !is_client(block, BlockKind::result)) continue;
      if (has_bad_id(block, profile)) found.add(FindingCode::call_id_format, i, b, block.id);
      if (!is_call || (block.has_own_form && copies(block, profile.dialect))) continue;
      if (!is_good_tool_name(block.name, profile))
        found.add(FindingCode::tool_name_format, i, b, block.name);
      if (has_bad_arguments(block, profile))
        found.add(FindingCode::args_not_object, i, b, block.id);
      if (asked.facts.has_tools && asked.facts.tools.count(block.name) == 0)
        found.add(FindingCode::tool_undefined, i, b, block.name);
    }
  }
}

// All of the exchange get their ids: a call without one beside others would be taken for one of
// them.
void mend_call_ids(Repair& repair, const std::vector<Fault>& faults) {
  std::vector<Turn>& turns = repair.draft.turns;
  for (const Fault& fault : faults) {
    const Exchange exchange = exchange_at(turns, fault.turn, repair.profile.dialect);
    for (std::size_t i = exchange.calls_begin; i < exchange.results_end; ++i) {
      for (Block& block : turns[i].blocks) {
        if (block.has_own_id ||
            (!is_client(block, BlockKind::call) && !is_client(block, BlockKind::result)))
          continue;
        block.has_own_id = true;
        block.raw = {};
        turns[i].touch();
      }
    }
  }
}

namespace {

// With the new name in its bytes, where these can be kept.
void rename_tool(Turn& turn, Block& block, std::string_view name, Repair& repair) {
  block.name = name;
  std::string bytes =
      copies(block, repair.profile.dialect) ? with_tool_name(block, name) : std::string();
  block.raw = bytes.empty() ? std::string_view() : repair.arena.keep(std::move(bytes));
  turn.touch();
}

}  // namespace

void mend_calls(Repair& repair, const std::vector<Fault>&) {
  const Profile& profile = repair.profile;
  std::map<std::string_view, std::string_view> renamed;  // tools, by call id
  for (Turn& turn : repair.draft.turns) {
    for (Block& block : turn.blocks) {
      const bool is_call = is_client(block, BlockKind::call);
      if (!is_call && !is_client(block, BlockKind::result)) continue;
      if (has_bad_id(block, profile) && (is_call || !block.id.empty())) {
        rename_call(turn, block, repair.arena.keep(made_id(block.id, 0)), repair.arena);
        if (is_call) repair.lose(LossCode::call_id_rewritten, turn, block);
      }
      if (is_call) renamed.erase(block.id);  // an id may be used again
      if (is_call && !block.has_own_form && !is_good_tool_name(block.name, profile)) {
        repair.lose(LossCode::tool_name_rewritten, turn, block);
        rename_tool(turn, block,
                    repair.arena.keep(sendable_tool_name(block.name, profile, repair.facts.tools,
                                                         repair.draft.tool_names)),
                    repair);
        renamed[block.id] = block.name;
      }
      // Where a result names its tool, it is by that name that it is matched.
      const auto found = is_call ? renamed.end() : renamed.find(block.id);
      if (found != renamed.end() && (profile.dialect == Dialect::gemini || block.is_legacy) &&
          block.name != found->second)
        rename_tool(turn, block, found->second, repair);
      if (is_call && profile.arguments_object && has_bad_arguments(block, profile)) {
        block.raw = {};
        turn.touch();
        repair.lose(LossCode::args_wrapped, turn, block);
      }
    }
  }
}

}  // namespace undertext
