// Which turns may stand where, and in which shape.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/json_string.hpp"
#include "dialect/rules.hpp"

namespace undertext {

bool ends_twice(const std::vector<Turn>& turns, const Profile& profile) {
  const std::size_t size = turns.size();
  return !profile.prefill_twice && !profile.strict_alternation && size > 1 &&
         turns[size - 1].role == Role::assistant && turns[size - 2].role == Role::assistant;
}

namespace {

// For Anthropic's system messages in mid-conversation, and for all where none may stand.
bool is_system_misplaced(const std::vector<Turn>& turns, std::size_t turn, const Profile& profile) {
  if (turns[turn].role != Role::system) return false;
  if (profile.dialect == Dialect::openai_responses) return false;
  if (profile.dialect == Dialect::gemini) return true;
  if (profile.dialect == Dialect::openai_chat) {
    if (profile.system_anywhere) return false;
    for (std::size_t i = 0; i < turn; ++i)
      if (turns[i].role != Role::system) return true;
    return false;
  }
  if (!profile.system_anywhere || turn == 0 || turns[turn - 1].role != Role::user) return true;
  if (turn + 1 < turns.size() && turns[turn + 1].role != Role::assistant) return true;
  for (const Block& block : turns[turn].blocks)
    if (block.kind != BlockKind::text && block.type != "tool_addition" &&
        block.type != "tool_removal")
      return true;
  return false;
}

// Chat. What is rewritten has no empty lists.
bool has_empty_calls(const Turn& turn) {
  return turn.has_empty_calls && turn.is_raw_in(Dialect::openai_chat);
}
bool is_empty_content(const Turn& turn) {
  if (!turn.is_raw_in(Dialect::openai_chat) || turn.shape != Turn::Shape::list ||
      turn.content.empty())
    return false;
  return turn.content[turn.content.find_first_not_of(" \t\r\n", 1)] == ']';
}
bool is_null_content(const Turn& turn) {
  const bool is_null = turn.shape == Turn::Shape::null || turn.shape == Turn::Shape::absent;
  const bool says = has_kind(turn, BlockKind::call) || has_kind(turn, BlockKind::refusal) ||
                    has_kind(turn, BlockKind::media);
  return is_null && !turn.raw.empty() && (turn.role != Role::assistant || !says);
}

bool begins_with_summary(const Turn& turn, Dialect dialect) {
  return dialect == Dialect::anthropic && !turn.blocks.empty() &&
         turn.blocks[0].kind == BlockKind::compaction;
}
std::size_t first_spoken(const std::vector<Turn>& turns) {
  std::size_t first = 0;
  while (first < turns.size() && turns[first].role == Role::system) ++first;
  return first;
}

bool is_space(char32_t unit) { return unit == ' ' || unit == '\n' || unit == '\t' || unit == '\r'; }
std::string_view without_trailing_space(std::string_view body) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < body.size();) {
    const JsonUnit unit = json_unit(body, at);
    at += unit.size;
    if (!is_space(unit.code_point)) end = at;
  }
  return body.substr(0, end);
}

class TurnRules {
 public:
  TurnRules(const RuleInput& asked, Faults& found)
      : turns_(asked.draft.turns), profile_(asked.profile), facts_(asked.facts), found_(found) {}

  void run() {
    if (turns_.empty()) {
      if (!facts_.has_stored_input) found_.add(FindingCode::no_messages, top_turn);
      return;
    }
    for (std::size_t i = 0; i < turns_.size(); ++i) check_one(i);
    check_trigger();
    check_compaction();
    check_first();
    check_neighbours();
    check_last();
  }

 private:
  void check_one(std::size_t i) {
    const Turn& turn = turns_[i];
    const bool has_role = profile_.system_role && (profile_.developer_role || !turn.is_developer);
    if (turn.role == Role::system && profile_.dialect == Dialect::openai_chat && !has_role) {
      found_.add(FindingCode::system_role_unsupported, i);
    } else if (is_system_misplaced(turns_, i, profile_)) {
      found_.add(FindingCode::system_position, i);
    }
    if (turn.has_bad_role) found_.add(FindingCode::gem_role, i);
    if (is_null_content(turn)) found_.add(FindingCode::content_null, i);
    if (has_empty_calls(turn) || is_empty_content(turn)) found_.add(FindingCode::empty_list, i);
    if (turn.role == Role::assistant && has_calls(turn) && i > 0 &&
        turns_[i - 1].role == Role::assistant)
      found_.add(FindingCode::gem_call_position, i);
  }

  void check_first() {
    const std::size_t first = first_spoken(turns_);
    if (first == turns_.size()) return found_.add(FindingCode::first_not_user, top_turn);
    if (turns_[first].role == Role::user || begins_with_summary(turns_[first], profile_.dialect))
      return;
    const bool calls_first = profile_.dialect == Dialect::gemini && has_calls(turns_[first]);
    found_.add(calls_first ? FindingCode::gem_call_position : FindingCode::first_not_user, first);
  }

  void check_neighbours() {
    std::size_t last = no_block;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      if (turns_[i].role == Role::system) continue;
      if (last != no_block) {
        const Role before = turns_[last].role, here = turns_[i].role;
        if (profile_.strict_alternation && before == here && here != Role::tool)
          found_.add(FindingCode::role_alternation, i);
        if (before == Role::tool && here == Role::user) found_.add(FindingCode::user_after_tool, i);
      }
      last = i;
    }
    if (ends_twice(turns_, profile_)) found_.add(FindingCode::role_alternation, turns_.size() - 1);
  }

  void check_last() {
    const std::size_t last = turns_.size() - 1;
    if (turns_[last].role != Role::assistant) return;
    found_.add(FindingCode::trailing_assistant, last);
    if (turns_[last].blocks.empty()) return;
    const Block& block = turns_[last].blocks.back();
    if (block.kind == BlockKind::text &&
        without_trailing_space(block.text).size() != block.text.size())
      found_.add(FindingCode::trailing_ws, last, turns_[last].blocks.size() - 1);
  }

  void check_compaction() {
    bool has_one = false;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      for (std::size_t b = 0; b < turns_[i].blocks.size(); ++b) {
        const Block& block = turns_[i].blocks[b];
        if (block.kind != BlockKind::compaction || block.signature.empty()) continue;
        if (i == 0 && b == 0) {
          has_one = true;
        } else {
          found_.add(has_one ? FindingCode::compaction_multiple : FindingCode::compaction_not_first,
                     i, b);
        }
      }
    }
  }

  void check_trigger() {
    for (std::size_t i = 0; i + 1 < turns_.size(); ++i)
      if (!turns_[i].blocks.empty() && turns_[i].blocks[0].type == "compaction_trigger")
        found_.add(FindingCode::compaction_trigger_not_last, i, 0);
  }

  const std::vector<Turn>& turns_;
  const Profile& profile_;
  const RequestFacts& facts_;
  Faults& found_;
};

}  // namespace

void find_turns(const RuleInput& asked, Faults& found) { TurnRules(asked, found).run(); }

void mend_systems(Repair& repair, const std::vector<Fault>& faults) {
  std::vector<Turn>& list = repair.draft.turns;
  for (const Fault& fault : faults) {
    Turn& turn = list[fault.turn];
    if (fault.code == FindingCode::system_role_unsupported && repair.profile.system_role) {
      repair.lose(LossCode::role_developer, turn);
      turn.is_developer = false;
      turn.touch();
      continue;
    }
    // One that became a user's turn may have made room for the next.
    if (fault.code == FindingCode::system_position &&
        !is_system_misplaced(list, fault.turn, repair.profile))
      continue;
    repair.lose(LossCode::system_as_user, turn);
    std::string body;
    for (const Block& block : turn.blocks) {
      if (block.text.empty()) continue;
      if (!body.empty()) body += "\\n";
      body += block.text;
    }
    Turn user =
        made_turn(Role::user, repair.arena.keep("<system-reminder>" + body + "</system-reminder>"));
    user.source = turn.source;
    for (Block& block : turn.blocks)
      if (block.kind == BlockKind::media) user.blocks.push_back(std::move(block));
    turn = std::move(user);
  }
}

void mend_shapes(Repair& repair, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    Turn& turn = repair.draft.turns[fault.turn];
    if (has_empty_calls(turn)) {
      turn.has_empty_calls = false;
      turn.raw = repair.arena.keep(without_member(turn.raw, "tool_calls"));
      if (fault.code == FindingCode::empty_list && !is_empty_content(turn)) continue;
    }
    if (fault.code == FindingCode::gem_role) {
      turn.has_bad_role = false;
      turn.role = Role::user;
    } else {
      if (fault.code == FindingCode::content_null) turn.shape = Turn::Shape::string;
      if (turn.blocks.empty()) turn.blocks.push_back(text_block({}));
    }
    turn.touch();
  }
}

void mend_removed(Repair& repair, const std::vector<Fault>& faults) {
  std::vector<Fault> gone;
  for (const Fault& fault : faults) {
    Turn& turn = repair.draft.turns[fault.turn];
    Block& block = turn.blocks[fault.block];
    if (block.kind == BlockKind::compaction && !block.text.empty()) {
      repair.lose(LossCode::compaction_as_text, turn, block);
      Block text = text_block(block.text);
      text.source = block.source;
      block = std::move(text);
      turn.touch();
      continue;
    }
    const LossCode lost = block.kind == BlockKind::compaction ? LossCode::compaction_opaque
                          : block.kind == BlockKind::control  ? LossCode::control_dropped
                                                              : LossCode::server_tool_dropped;
    repair.lose(lost, turn, block);
    gone.push_back(fault);
  }
  repair.remove_blocks(gone);
}

namespace {

// For each turn, whether it is the assistant's and calls something, or goes on in such a one.
std::vector<bool> turns_up_to_calls(const std::vector<Turn>& turns) {
  std::vector<bool> leads(turns.size());
  bool goes_on = false;
  for (std::size_t i = turns.size(); i-- > 0;) {
    goes_on = turns[i].role == Role::assistant && (goes_on || has_calls(turns[i]));
    leads[i] = goes_on;
  }
  return leads;
}

bool is_one_text(const Turn& turn) {
  return turn.blocks.size() == 1 && turn.blocks[0].kind == BlockKind::text &&
         turn.blocks[0].cache.empty();
}

void merge(Turn& to, Turn from, Repair& repair) {
  if (repair.profile.dialect == Dialect::openai_chat && is_one_text(to) && is_one_text(from)) {
    to.blocks[0] = text_block(repair.arena.keep(std::string(to.blocks[0].text) + "\\n\\n" +
                                                std::string(from.blocks[0].text)));
    to.shape = Turn::Shape::string;
  } else {
    join_turn(to, std::move(from));
  }
  to.touch();
}

void merge_neighbours(Repair& repair) {
  RequestDraft& draft = repair.draft;
  const Profile& profile = repair.profile;
  const bool is_gemini = profile.dialect == Dialect::gemini,
             at_end = ends_twice(draft.turns, profile);
  if (!profile.strict_alternation && !is_gemini && !at_end) return;
  std::size_t end_begin = draft.turns.size();
  while (at_end && end_begin > 0 && draft.turns[end_begin - 1].role == Role::assistant) --end_begin;
  const std::vector<bool> leads_to_calls =
      is_gemini ? turns_up_to_calls(draft.turns) : std::vector<bool>(draft.turns.size());
  std::vector<Turn> out;
  std::size_t last = no_block;
  for (std::size_t at = 0; at < draft.turns.size(); ++at) {
    Turn& turn = draft.turns[at];
    const bool same = turn.role != Role::system && last != no_block &&
                      out[last].role == turn.role && turn.role != Role::tool;
    const bool is_end = at_end && at > end_begin;
    if (same && (profile.strict_alternation || is_end || leads_to_calls[at])) {
      merge(out[last], std::move(turn), repair);
      continue;
    }
    if (turn.role != Role::system) last = out.size();
    out.push_back(std::move(turn));
  }
  draft.turns = std::move(out);
}

}  // namespace

void mend_first(Repair& repair, const std::vector<Fault>&) {
  std::vector<Turn>& list = repair.draft.turns;
  const std::size_t first = first_spoken(list);
  if (first == list.size()) {
    list.push_back(made_turn(Role::user, "Continue."));
  } else if (list[first].role != Role::user &&
             !begins_with_summary(list[first], repair.profile.dialect)) {
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(first),
                made_turn(Role::user, "[Earlier messages were removed.]"));
  }
}

void mend_neighbours(Repair& repair, const std::vector<Fault>& faults) {
  merge_neighbours(repair);
  if (repair.profile.dialect == Dialect::gemini) mend_first(repair, faults);
}

void mend_user_after_tool(Repair& repair, const std::vector<Fault>&) {
  std::vector<Turn> out;
  std::optional<Role> last;
  for (Turn& turn : repair.draft.turns) {
    if (last == Role::tool && turn.role == Role::user)
      out.push_back(made_turn(Role::assistant, "Understood."));
    if (turn.role != Role::system) last = turn.role;
    out.push_back(std::move(turn));
  }
  repair.draft.turns = std::move(out);
}

void mend_last(Repair& repair, const std::vector<Fault>& faults) {
  Turn& last = repair.draft.turns.back();
  if (faults[0].code == FindingCode::trailing_ws) {
    Block& block = last.blocks.back();
    block.text = without_trailing_space(block.text);
    block.raw = {};
    last.touch();
  } else if (!has_calls(last)) {
    repair.draft.turns.push_back(made_turn(Role::user, "Continue."));
  }
}

}  // namespace undertext
