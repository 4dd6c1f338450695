// Which turns may stand where.
#include "base/json_string.hpp"
#include "dialect/check.hpp"
#include "dialect/check_rules.hpp"

namespace undertext {

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
    if (block.kind != BlockKind::text && block.type != "tool_addition" && block.type != "tool_removal") return true;
  return false;
}

bool ends_twice(const std::vector<Turn>& turns, const Profile& profile) {
  const std::size_t size = turns.size();
  return !profile.prefill_twice && !profile.strict_alternation && size > 1 && turns[size - 1].role == Role::assistant &&
         turns[size - 2].role == Role::assistant;
}

// What is written anew has no empty lists.
bool has_empty_calls(const Turn& turn) { return turn.has_empty_calls && turn.is_raw_in(Dialect::openai_chat); }
bool is_empty_content(const Turn& turn) {
  if (!turn.is_raw_in(Dialect::openai_chat) || turn.shape != Turn::Shape::list || turn.content.empty()) return false;
  return turn.content[turn.content.find_first_not_of(" \t\r\n", 1)] == ']';
}

namespace {

class TurnRules {
 public:
  TurnRules(const RequestDraft& draft, const Profile& profile, std::vector<Fault>& found)
      : turns_(draft.turns), has_top_(!draft.top.empty()), profile_(profile), found_(found) {}

  void run() {
    for (std::size_t i = 0; i < turns_.size(); ++i) check_one(i);
    if (profile_.dialect == Dialect::openai_responses) return check_trigger();
    check_first();
    check_neighbours();
    check_last();
    if (profile_.dialect == Dialect::anthropic) check_compaction();
  }

 private:
  void add(FindingCode code, std::size_t turn, std::size_t block = no_block) { found_.push_back({code, turn, block, {}}); }

  void check_one(std::size_t i) {
    const Turn& turn = turns_[i];
    const bool has_role = profile_.system_role && (profile_.developer_role || !turn.is_developer);
    if (turn.role == Role::system && profile_.dialect == Dialect::openai_chat && !has_role) {
      add(FindingCode::system_role_unsupported, i);
    } else if (is_system_misplaced(turns_, i, profile_)) {
      add(FindingCode::system_position, i);
    }
    if (turn.has_bad_role) add(FindingCode::gem_role, i);
    if (profile_.dialect == Dialect::openai_chat && !profile_.content_null) {
      const bool is_null = turn.shape == Turn::Shape::null || turn.shape == Turn::Shape::absent;
      const bool says = has_kind(turn, BlockKind::call) || has_kind(turn, BlockKind::refusal) || has_kind(turn, BlockKind::media);
      if (is_null && !turn.raw.empty() && (turn.role != Role::assistant || !says)) add(FindingCode::content_null, i);
    }
    if (profile_.dialect == Dialect::openai_chat && (has_empty_calls(turn) || is_empty_content(turn)))
      add(FindingCode::empty_list, i);
    if (profile_.dialect != Dialect::gemini) return;
    if (turn.role == Role::assistant && has_calls(turn) && i > 0 && turns_[i - 1].role == Role::assistant)
      add(FindingCode::gem_call_position, i);
  }

  void check_first() {
    if (turns_.empty() && !has_top_) return;  // nothing to send
    if (!profile_.first_user && !turns_.empty()) return;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      if (turns_[i].role == Role::system) continue;
      const bool is_summary =
          profile_.dialect == Dialect::anthropic && !turns_[i].blocks.empty() && turns_[i].blocks[0].kind == BlockKind::compaction;
      if (turns_[i].role != Role::user && !is_summary) {
        const bool calls_first = profile_.dialect == Dialect::gemini && has_calls(turns_[i]);
        add(calls_first ? FindingCode::gem_call_position : FindingCode::first_not_user, i);
      }
      return;
    }
    add(FindingCode::first_not_user, top_turn);
  }

  void check_neighbours() {
    std::size_t last = no_block;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      if (turns_[i].role == Role::system) continue;
      if (last != no_block) {
        const Role before = turns_[last].role, here = turns_[i].role;
        if (profile_.strict_alternation && before == here && here != Role::tool) add(FindingCode::role_alternation, i);
        if (!profile_.user_after_tool && before == Role::tool && here == Role::user) add(FindingCode::user_after_tool, i);
      }
      last = i;
    }
  }

  void check_last() {
    if (turns_.empty() || turns_.back().role != Role::assistant) return;
    const std::size_t last = turns_.size() - 1;
    if (ends_twice(turns_, profile_)) add(FindingCode::role_alternation, last);
    if (!profile_.prefill) return add(FindingCode::trailing_assistant, last);
    if (profile_.dialect != Dialect::anthropic || turns_[last].blocks.empty()) return;
    const Block& block = turns_[last].blocks.back();
    if (block.kind != BlockKind::text || block.text.empty()) return;
    std::size_t at = 0, size = 0;
    for (; at < block.text.size(); at += size) size = json_unit(block.text, at).size;
    const char32_t final_unit = json_unit(block.text, at - size).code_point;
    if (final_unit == ' ' || final_unit == '\n' || final_unit == '\t' || final_unit == '\r')
      add(FindingCode::trailing_ws, last, turns_[last].blocks.size() - 1);
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
          add(has_one ? FindingCode::compaction_multiple : FindingCode::compaction_not_first, i, b);
        }
      }
    }
  }

  void check_trigger() {
    for (std::size_t i = 0; i + 1 < turns_.size(); ++i)
      if (!turns_[i].blocks.empty() && turns_[i].blocks[0].type == "compaction_trigger")
        add(FindingCode::compaction_trigger_not_last, i);
  }

  const std::vector<Turn>& turns_;
  const bool has_top_;
  const Profile& profile_;
  std::vector<Fault>& found_;
};

}  // namespace

void check_turns(const RequestDraft& draft, const Profile& profile, std::vector<Fault>& found) {
  TurnRules(draft, profile, found).run();
}

}  // namespace undertext
