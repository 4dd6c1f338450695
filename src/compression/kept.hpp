// What every strategy keeps, and the plan that follows from what a strategy keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <undertext/compression.hpp>

#include "history/cuts.hpp"
#include "history/stretches.hpp"

namespace undertext {

// Stretches of the head's view with their tokens, made to be asked often.
class Kept {
 public:
  // System and pinned messages, the last request of a user, what the model has not read yet, calls
  // that wait for a result; each with its whole turn.
  static Kept always(const History& history, const View& view, Whole whole = Whole::turns);
  // The same for a strategy that puts nothing in the place of what it hides. A view that has lost
  // all messages in a user's name is of no use to a model: so where none is a request, the last of
  // the others stays, a summary or the result of a tool; without any of those, the last message of
  // all.
  static Kept always_with_user(const History& history, const View& view,
                               Whole whole = Whole::turns);
  // The last message stays too.
  Kept with_last(const View& view) const;
  // `more` stays too, with its whole turns.
  Kept with(const View& view, const Stretches& more) const;

  const Stretches& stretches() const { return stretches_; }
  Whole whole() const { return whole_; }
  std::uint64_t tokens() const { return tokens_before_.back(); }
  // of what is kept at or after `index`
  std::uint64_t tokens_from(const View& view, std::uint64_t index) const;

 private:
  static Kept with_turns(const History& history, const View& view,
                         std::optional<std::uint64_t> user, Whole whole);
  static Kept of(const View& view, Stretches kept, Whole whole);

  Stretches stretches_;
  Whole whole_ = Whole::turns;
  // of the stretches before the k-th; one more for all
  std::vector<std::uint64_t> tokens_before_ = {0};
};

// Where the calls begin after whose results, as far as they are there, no assistant has spoken;
// size() when there are none. A model that is not shown what it asked for asks again.
std::uint64_t unread_from(const View& view);
// The results after the last message of an assistant, wherever their calls stand. Indices, rising.
std::vector<std::uint64_t> unread_results(const View& view);

// Whether it has results of tools, in the form of any dialect. Of a view with links.
bool has_results(const Entry& entry);
// How many messages of the head's view have results of tools that are not cleared.
std::uint64_t whole_results(const History& history);

// Whether it is a summary: it stands for others, and is no result of a tool that was cleared.
bool is_summary(const Log& log, std::uint32_t ordinal);
// The summaries of a view, and whatever belongs to them.
Stretches whole_summaries(const View& view);

// What a message to be put into the view counts: as the aim says, or else by the estimate.
std::uint64_t count_tokens(const Aim& aim, const Message& message);

std::uint64_t tokens_in(const View& view, const Stretches& stretches);
bool has_reasoning(const View& view);

// Of the view: `kept` and everything from `start`, a legal cut, on.
Stretches with_tail(const Stretches& kept, std::uint64_t start, std::uint64_t size);
std::uint64_t tokens_with_tail(const View& view, const Kept& kept, std::uint64_t start);

// The plan that make_plan(whole) makes of whole turns; where that falls short, of whole steps, if
// that frees more.
template <class MakePlan>
Plan plan_by_turns_or_steps(const View& view, const Aim& aim, MakePlan make_plan) {
  Plan plan = make_plan(Whole::turns);
  if (reaches(plan, aim) || !has_reasoning(view)) return plan;
  Plan finer = make_plan(Whole::steps);
  return finer.tokens_after < plan.tokens_after ? finer : plan;
}

// Where the longest tail begins that is within tokens_max together with what is kept always, whose
// tokens are at most that. O(log² n).
std::uint64_t largest_tail(const View& view, const Kept& kept, std::uint64_t tokens_max);

Plan empty_plan(const History& history, std::string_view strategy);
// Hides all but `kept`.
Plan plan_keeping(const History& history, const View& view, const Stretches& kept,
                  std::string_view strategy);

Error cannot_fit(std::string_view strategy, std::uint64_t minimum, std::uint64_t tokens_max);

// there is a token aim, and the view is within it
bool is_within(const View& view, const Aim& aim);

}  // namespace undertext
