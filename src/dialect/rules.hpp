// What providers refuse, rule by rule. A rule is a row of rules(): its code, the provider's words,
// the profiles for which it holds, the function that finds a request breaking it, and the function
// that repairs the request.
//
//     check(draft, profile, facts);                  // what the provider would refuse of the request as it would be sent
//     Repair{draft, profile, facts, arena}.run();    // the repairs of the broken rules, until no rule is broken
//
// Rules are asked of a draft in the target's dialect, never of a message: what an edit or a
// conversion made of a message is what is sent.
//
// A new rule needs a FindingCode, a row in rules.cpp, a case in rules_test.cpp and a line in
// docs/dialects.md; tests compare these.
#pragma once

#include <bitset>
#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/request_draft.hpp"

namespace undertext {

inline constexpr std::size_t no_block = ~std::size_t{0};
// what stands outside of the list; its blocks are counted through
inline constexpr std::size_t top_turn = ~std::size_t{0};

struct BlockAt {
  std::size_t turn = 0, block = 0;
  friend auto operator<=>(const BlockAt&, const BlockAt&) = default;
};

// One place that breaks a rule.
struct Fault {
  FindingCode code;
  std::size_t turn = top_turn;
  std::size_t block = no_block;
  std::string about = {};
};

using RuleSet = std::bitset<finding_code_count>;

// A request in the target's dialect, as the rules see it.
struct RuleInput {
  const RequestDraft& draft;
  const Profile& profile;
  const RequestFacts& facts;
};

// Where finders report; what the caller did not ask for is ignored.
class Faults {
 public:
  explicit Faults(const RuleSet& wanted) : wanted_(wanted) {}
  bool wants(FindingCode code) const { return wanted_[static_cast<std::size_t>(code)]; }
  void add(FindingCode code, std::size_t turn, std::size_t block = no_block,
           std::string_view about = {}) {
    if (wants(code)) faults_.push_back({code, turn, block, std::string(about)});
  }
  std::vector<Fault> take() { return std::move(faults_); }

 private:
  RuleSet wanted_;
  std::vector<Fault> faults_;
};

struct Repair;
using Find = void (*)(const RuleInput& asked, Faults& found);
using Mend = void (*)(Repair& repair, const std::vector<Fault>& faults);

struct Rule {
  FindingCode code;
  std::string_view name;                     // "PAIR_ORPHAN_RESULT"
  std::string_view error;                    // what the provider says, abridged
  std::string_view repair;                   // what mend does
  DialectSet dialects;                       // where it can hold
  bool Profile::* flag = nullptr;            // and only for profiles that have this
  bool wants = true;                         // … or do not
  std::uint64_t Profile::* limit = nullptr;  // and set this
  Find find = nullptr;                       // null: check_against() finds it
  Mend mend = nullptr;                       // null: the caller has to change the request
  std::string_view anthropic = {};           // its words, where they are others
  std::string_view responses = {};
  std::string_view gemini = {};

  std::string_view error_in(Dialect dialect) const;
  bool holds(const Profile& profile) const;
};
std::span<const Rule> rules();  // in the order of FindingCode
const Rule& rule_of(FindingCode code);
RuleSet rules_of(const Profile& profile);  // those that hold

std::string_view member_name(bool Profile::* flag);  // as a profile's JSON spells it

// Every place that breaks a rule, rule by rule.
std::vector<Fault> check(const RequestDraft& draft, const Profile& profile,
                         const RequestFacts& facts);

// The same for rules that depend on what was sent before: bound and modified thinking, reasoning
// that an item needs.
// A block is compared with the first of `sent` that has it: to what stood before it then it is
// bound.
std::vector<Fault> check_against(const std::vector<RequestDraft>& sent, const RequestDraft& draft,
                                 const Profile& profile);

// Makes a draft acceptable. The same draft gives the same result, and an acceptable one stays as it
// is.
struct Repair {
  RequestDraft& draft;
  const Profile& profile;
  RequestFacts& facts;  // thinking may have to be disabled
  Arena& arena;

  void run();
  // Repairs what check_against() found, but for bound thinking that `keeps_bound`.
  void run_against(const std::vector<Fault>& faults, bool keeps_bound);

  void remove_blocks(const std::vector<Fault>& faults);
  void remove_turns(const std::vector<Fault>& faults);
  // Responses: takes the server's ids off these items; an item that must have one goes itself.
  void remove_item_ids(const std::vector<Fault>& faults);
  void lose(LossCode code, const Turn& turn) { draft.lost.push_back({code, turn.source}); }
  void lose(LossCode code, const Turn& turn, const Block& block) {
    draft.lost.push_back({code, source_of(turn, block)});
  }
};

// The finders and repairs of the rows.
void find_pairs(const RuleInput& asked, Faults& found);
void find_turns(const RuleInput& asked, Faults& found);
void find_blocks(const RuleInput& asked, Faults& found);
void find_media(const RuleInput& asked, Faults& found);
void find_calls(const RuleInput& asked, Faults& found);
void find_reasoning(const RuleInput& asked, Faults& found);
void find_cache(const RuleInput& asked, Faults& found);

void mend_parts(Repair& repair, const std::vector<Fault>& faults);
void mend_pairs(Repair& repair, const std::vector<Fault>& faults);
void mend_responses_pairs(Repair& repair);
void mend_results_first(Repair& repair, const std::vector<Fault>& faults);
void mend_media_in_results(Repair& repair, const std::vector<Fault>& faults);
void mend_media(Repair& repair, const std::vector<Fault>& faults);
void mend_failed_results(Repair& repair, const std::vector<Fault>& faults);
void mend_texts(Repair& repair, const std::vector<Fault>& faults);
void mend_systems(Repair& repair, const std::vector<Fault>& faults);
void mend_shapes(Repair& repair, const std::vector<Fault>& faults);
void mend_removed(Repair& repair, const std::vector<Fault>& faults);
void mend_neighbours(Repair& repair, const std::vector<Fault>& faults);
void mend_first(Repair& repair, const std::vector<Fault>& faults);
void mend_user_after_tool(Repair& repair, const std::vector<Fault>& faults);
void mend_last(Repair& repair, const std::vector<Fault>& faults);
void mend_last_thinking(Repair& repair, const std::vector<Fault>& faults);
void mend_reasoning(Repair& repair, const std::vector<Fault>& faults);
void mend_call_ids(Repair& repair, const std::vector<Fault>& faults);
void mend_calls(Repair& repair, const std::vector<Fault>& faults);
void mend_item_ids(Repair& repair, const std::vector<Fault>& faults);
void mend_cache(Repair& repair, const std::vector<Fault>& faults);

// What finders and repairs share.

// Where the calls of turns [calls_begin, calls_end) must be answered.
struct Exchange {
  std::size_t calls_begin = 0, calls_end = 0;      // turns that make the calls
  std::size_t results_begin = 0, results_end = 0;  // turns that must hold the results
};
// The exchange that begins at `turn`, which is an assistant's. Not for Responses, where a result
// may stand anywhere later.
Exchange exchange_at(const std::vector<Turn>& turns, std::size_t turn, Dialect dialect);

// Responses: notes which reasoning items something else follows. Models also make several of them
// in a row.
void note_followers(const RequestDraft& draft, RequestFacts& facts);

bool is_good_tool_name(std::string_view name, const Profile& profile);
bool is_long_lived(std::string_view cache_marker);  // "ttl":"1h"
// with an assistant's turns, where one may
bool ends_twice(const std::vector<Turn>& turns, const Profile& profile);

// An id made from another, or from nothing: the same every time.
std::string made_id(std::string_view from, std::uint64_t number);
Turn made_turn(Role role, std::string_view text);
Block made_result(const Block& call, const Profile& profile);
// Joins the blocks of `from` to those of `to`.
void join_turn(Turn& to, Turn from);

// Gives a call or result another id. What it was written as stands no more, but for an item with a
// form of its own, which is kept with the new id.
void rename_call(Turn& turn, Block& block, std::string_view id, Arena& arena);

// The object without that member; itself when it has none.
std::string without_member(std::string_view object, std::string_view key);
// The object with one more member, whose value is JSON.
std::string with_member(std::string_view object, std::string_view key, std::string_view value);

}  // namespace undertext
