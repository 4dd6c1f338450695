// Asking the rules, and repairing what they find.
#include "dialect/rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/json_string.hpp"
#include "base/json_text.hpp"

namespace undertext {

RuleSet rules_of(const Profile& profile) {
  RuleSet set;
  for (const Rule& rule : rules()) {
    const bool is_off = std::find(profile.without.begin(), profile.without.end(), rule.name) !=
                        profile.without.end();
    set[static_cast<std::size_t>(rule.code)] = rule.holds(profile) && !is_off;
  }
  return set;
}

namespace {

std::vector<Fault> faults_of(const RuleInput& asked, const RuleSet& wanted) {
  Faults found(wanted);
  std::vector<Find> asked_already;  // one finder may serve several rules
  for (const Rule& rule : rules()) {
    if (rule.find == nullptr || !found.wants(rule.code)) continue;
    if (std::find(asked_already.begin(), asked_already.end(), rule.find) != asked_already.end())
      continue;
    asked_already.push_back(rule.find);
    rule.find(asked, found);
  }
  return found.take();
}

// A repair may need what an earlier one of this list made: pairs before the texts of their results,
// blocks before the turns that they leave empty, turns before what the first and the last of them
// must be.
constexpr Mend order_of_repairs[] = {
    mend_parts,          mend_pairs,      mend_results_first, mend_media_in_results, mend_media,
    mend_failed_results, mend_texts,      mend_systems,       mend_shapes,           mend_removed,
    mend_last_thinking,  mend_neighbours, mend_first,         mend_user_after_tool,  mend_last,
    mend_reasoning,      mend_call_ids,   mend_calls,         mend_item_ids,         mend_cache,
};

bool is_mendable(const Fault& fault) { return rule_of(fault.code).mend != nullptr; }

}  // namespace

std::vector<Fault> check(const RequestDraft& draft, const Profile& profile,
                         const RequestFacts& facts) {
  return faults_of({draft, profile, facts}, rules_of(profile));
}

void Repair::run() {
  // A repair may break the rule of another, but none takes back what another did: a few rounds are
  // enough, and the tests hold that they are.
  constexpr int rounds_max = 12;
  const RuleSet all = rules_of(profile);
  note_followers(draft, facts);
  for (int round = 0; round < rounds_max; ++round) {
    const std::vector<Fault> found = faults_of({draft, profile, facts}, all);
    if (std::none_of(found.begin(), found.end(), is_mendable)) return;
    for (const Mend mend : order_of_repairs) {
      RuleSet mended;
      for (const Rule& rule : rules())
        mended[static_cast<std::size_t>(rule.code)] =
            rule.mend == mend && all[static_cast<std::size_t>(rule.code)];
      if (const std::vector<Fault> faults = faults_of({draft, profile, facts}, mended);
          !faults.empty())
        mend(*this, faults);
    }
  }
}

void Repair::remove_blocks(const std::vector<Fault>& faults) {
  std::set<BlockAt> gone;
  for (const Fault& fault : faults) gone.insert({fault.turn, fault.block});
  const auto sweep = [&gone](std::vector<Turn>& list, auto place_of) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::vector<Block> kept;
      for (std::size_t b = 0; b < list[i].blocks.size(); ++b)
        if (gone.count(place_of(i, b)) == 0) kept.push_back(std::move(list[i].blocks[b]));
      if (kept.size() != list[i].blocks.size()) list[i].touch();
      list[i].blocks = std::move(kept);
    }
    std::erase_if(list, [](const Turn& turn) { return turn.blocks.empty() && turn.raw.empty(); });
  };
  std::size_t at_top = 0;
  sweep(draft.turns, [](std::size_t i, std::size_t b) { return BlockAt{i, b}; });
  sweep(draft.top, [&at_top](std::size_t, std::size_t) { return BlockAt{top_turn, at_top++}; });
}

void Repair::remove_turns(const std::vector<Fault>& faults) {
  std::set<std::size_t> gone;
  for (const Fault& fault : faults) gone.insert(fault.turn);
  std::vector<Turn> kept;
  for (std::size_t i = 0; i < draft.turns.size(); ++i)
    if (gone.count(i) == 0) kept.push_back(std::move(draft.turns[i]));
  draft.turns = std::move(kept);
}

Turn made_turn(Role role, std::string_view text) {
  Turn turn;
  turn.role = role;
  turn.shape = Turn::Shape::string;
  turn.is_made = true;
  turn.blocks.push_back(text_block(text));
  return turn;
}

void join_turn(Turn& to, Turn from) {
  for (Block& block : to.blocks)
    if (block.source == no_source) block.source = to.source;
  for (Block& block : from.blocks) {
    if (block.source == no_source) block.source = from.source;
    to.blocks.push_back(std::move(block));
  }
  to.shape = Turn::Shape::list;
}

std::string without_member(std::string_view object, std::string_view key) {
  const Result<JsonText> text = JsonText::parse(object, {.depth = 4096});
  if (!text || !text->root().is(JsonType::object)) return std::string(object);
  std::string out = "{";
  const char* separator = "";
  for (const JsonMember member : text->root().members()) {
    if (member.key.string_is(key)) continue;
    out += separator;
    out += member.key.raw();
    out += ':';
    out += member.value.raw();
    separator = ",";
  }
  return out + '}';
}

std::string with_member(std::string_view object, std::string_view key, std::string_view value) {
  std::string out(object.substr(0, object.rfind('}')));
  const bool is_empty = out.find_last_not_of(" \t\r\n{") == std::string::npos;
  if (!is_empty) out += ',';
  append_json_string(out, key);
  out += ':';
  out += value;
  return out + '}';
}

}  // namespace undertext
