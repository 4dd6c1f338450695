// Making a view smaller without losing anything: budgets, strategies that only propose, and what they proposed.
//
//     Budget budget{.window = 128'000, .reserve = 8'000, .overhead = 2'500};
//     Fit fit = fit_view(history, budget, *sliding_window());
//     if (fit.outcome == Fit::Outcome::fits_after) conversation.apply({op::ApplyPlan{*fit.plan}});
//
// A Strategy is a pure planner: a history and an aim in, a plan out. What it hides stays in the log; applying its plan is one ordinary
// operation, COMPRESS, in a batch of its own, that can be undone, rolled back, and expanded summary by summary.
//
// Every shipped strategy keeps: system messages; pinned messages; the last request of a user; calls that wait for a result, wherever they stand;
// results after which no assistant has spoken; and with each of these whatever belongs to it, so that no unit (calls, results, the reasoning
// before them) is ever split. A turn of thinking with tools is split only where the aim cannot be reached otherwise, before a step with reasoning of its own.
// A summary stands for one unbroken stretch, in its place. Planning twice is planning once. A plan never makes the view larger, and never empties it.
//
// All of this may be used from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/edit_cost.hpp>
#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/summariser.hpp>

namespace undertext {

// How much room a model has, in tokens.
struct Budget {
  std::uint64_t window = 0;    // all it takes
  std::uint64_t reserve = 0;   // kept free for its answer
  std::uint64_t overhead = 0;  // tools, and instructions that are not in the view
  std::uint64_t safety = 0;    // for what a count may be wrong by

  UNDERTEXT_API std::uint64_t tokens_max() const;  // what is left for the messages; 0 when nothing is
};

// How far a compression is.
struct CompressionProgress {
  enum class Stage : std::uint8_t { planning, summarising, applying };
  Stage stage = Stage::planning;
  std::uint64_t messages = 0;       // that are being summarised
  std::uint64_t summary_bytes = 0;  // of the summary so far, where the summariser can tell
};
UNDERTEXT_API std::string_view name(CompressionProgress::Stage stage);  // such as "summarising"
using OnCompressionProgress = std::function<void(const CompressionProgress&)>;

// Kinds of facts that the digest finds in messages (docs/digest.md).
enum class FactKind : std::uint8_t {
  constraints,  // and decisions and approvals, in the user's words
  request,      // the current one
  plan,
  changed_files,
  results,   // the last of each test and build
  errors,    // not fixed
  attempts,  // that failed
  next_step,
  paths,
  commands,
  urls,
};
inline constexpr std::size_t fact_kind_count = 11;
UNDERTEXT_API std::string_view name(FactKind kind);  // such as "changedFiles"

// The part of the facts of each kind that a plan must keep, from 0 to 1. 0: whatever it keeps.
struct SurvivalPolicy {
  std::array<double, fact_kind_count> least = {};

  double& operator[](FactKind kind) { return least[static_cast<std::size_t>(kind)]; }
  double operator[](FactKind kind) const { return least[static_cast<std::size_t>(kind)]; }
  UNDERTEXT_API bool asks_for_something() const;
};

// What a plan is to reach.
struct Aim {
  std::optional<std::uint64_t> tokens_max = {};                         // unset: whatever the strategy does by itself
  std::function<std::uint32_t(const Message&)> count_tokens = {};       // of a message to be put into the view
  std::function<std::uint64_t(std::string_view text)> count_text = {};  // of plain text, for summaries
  MessageLimits limits = {};
  // A summariser that fails, whatever with, is followed by the next one and the digest. Automatic compression asks for it, because nobody is there
  // to fix something, and so does a pipeline for its steps.
  bool digest_last = false;
  // Automatic compression: with so many tokens the view is small enough. Reaching tokens_max is then no reason to drop a summary. Where tokens_max is out of
  // reach, the last message stays, which is often an answer that nobody has read.
  std::optional<std::uint64_t> tokens_enough = {};
  bool context_tools = false;  // the model has them (context_tools.hpp): what is put into the view names them
  // What must survive. Summaries that lack some of it are completed from the digest; a plan that keeps less all the same is refused with
  // cannot_fit and the field "survival".
  SurvivalPolicy survival = {};
  std::stop_token cancel = {};             // asks a slow summariser to give up
  OnCompressionProgress on_progress = {};  // told of summaries, on the thread that plans
};

class UNDERTEXT_API Strategy {
 public:
  virtual ~Strategy();
  virtual std::string_view name() const noexcept = 0;
  virtual bool is_slow() const noexcept { return false; }           // true: it may wait for a network
  virtual bool needs_tokens_max() const noexcept { return false; }  // true: invalid_argument without one in the aim
  // true: a COMPRESS that names no target gives it the conversation's, if there is one. false: then it does what it does without.
  virtual bool uses_default_target() const noexcept { return needs_tokens_max(); }

  virtual bool has_target() const noexcept { return true; }  // false: it never falls short of one, whatever it leaves

  // The best plan for the head of `history`: one that reaches the aim; where none does, the one that leaves the fewest tokens. Empty when the view is
  // within the aim already, or when nothing can be freed. The caller decides with reaches() whether a plan that falls short is of use.
  // A custom strategy may return cannot_fit instead of a plan. Whatever a summariser fails with is passed on. May throw: a Failure keeps
  // its code; a conversation reports any other exception as invalid_argument, with the field "strategy".
  virtual Result<Plan> plan(const History& history, const Aim& aim) const = 0;
};
using StrategyPtr = std::shared_ptr<const Strategy>;

UNDERTEXT_API bool reaches(const Plan& plan, const Aim& aim);  // tokens_after is within the aim, or there is no token aim

UNDERTEXT_API StrategyPtr no_strategy();
UNDERTEXT_API StrategyPtr keep_recent(std::uint64_t messages);             // the last n messages of the view
UNDERTEXT_API StrategyPtr keep_system_and_recent(std::uint64_t messages);  // the last n that are not system messages
UNDERTEXT_API StrategyPtr sliding_window();                                // the largest tail that fits; needs tokens_max

// Old results of tools become stubs that tell the tool's name and how large the result was.
struct ClearToolResults {
  std::uint64_t keep = 3;                 // the newest ones, which stay
  std::vector<std::string> exclude = {};  // names of tools whose results stay
  std::uint64_t tokens_gain_min = 0;      // with less to gain, nothing is done
  bool late = false;  // the newest of them first, and no more than the aim needs: what a prompt cache holds stays longer
};
UNDERTEXT_API StrategyPtr clear_tool_results(ClearToolResults options = {});

// Results of tools that a later call made worthless become stubs of one line, without a model and without a loss: the later call says it.
// supersede: a read of a file that was read again or changed later; a call that failed and was repeated with success.
// dedupe: a call that was repeated with the same arguments.
struct StubOlderResults {
  std::vector<std::string> exclude = {};  // names of tools whose results stay
  bool late = false;                      // as ClearToolResults::late
};
UNDERTEXT_API StrategyPtr supersede(StubOlderResults options = {});
UNDERTEXT_API StrategyPtr dedupe(StubOlderResults options = {});

// Everything but a tail is hidden, and summaries made from the originals take its place: one for each unbroken stretch between messages that stay, where it
// stood. Stretches too short for that stay. Summaries that are hidden in turn are read through to what they stand for.
struct SmartSummary {
  // unset: the digest. A slow one is asked for the four largest stretches at most; the others have digests.
  std::shared_ptr<const Summariser> summariser = {};
  // Tried in this order when it fails, and the digest last: when it returns an error, nothing, what was cut off, or more than it was to replace. Plan::reason
  // says so. A cancelled summary is not tried again. Without fallbacks, and without Aim::digest_last, what the caller has to fix (invalid_argument, such as a key that is refused or an
  // exception that it threw) is passed on, but for messages that it refuses.
  std::vector<std::shared_ptr<const Summariser>> fallbacks = {};
  std::optional<std::uint64_t> keep = {};  // at most so many messages at the end; unset: as many as fit, or 10
  // Of the summaries' texts together; with a token aim at most a third of it. Unset: a quarter of the aim, from 512 to 8,192; 1,024 without one.
  std::optional<std::uint64_t> summary_tokens_max = {};
};
UNDERTEXT_API StrategyPtr smart_summary(SmartSummary options = {});

// One after another, cheapest first, until the aim is reached; without a token aim, all of them. One plan comes out. A step that fails is passed over, and
// Plan::reason says so; where no other step finds anything, its error is the answer. A step drops a summary only where the aim is reached by that.
UNDERTEXT_API StrategyPtr pipeline(std::vector<StrategyPtr> steps);

// "default", where no strategy is named: supersede, dedupe, clear_tool_results, of each no more than the aim needs, the newest first; then a
// summary, then the largest tail that fits; needs tokens_max. So of the plans that reach the aim it takes the one that hides least, and of
// those the one that leaves the longest beginning of the view as it is.
UNDERTEXT_API StrategyPtr default_strategy(SmartSummary summary = {});

// Of several strategies, one that reaches the aim, keeps much of the conversation, and costs a prompt cache that holds the view little. Plans that
// keep less than `keep_percent` of the tokens that the fullest of them keeps are out; of the others the cheapest is chosen: what is billed
// again, less what being shorter saves in the turns to come. Of equal ones the first. Where none reaches the aim, the one that leaves the fewest tokens.
struct PreferCache {
  CacheRules rules = {};       // such as a Profile's
  std::uint64_t overhead = 0;  // tokens of tools and instructions before the view
  double turns = 10;           // that are expected to follow
  double keep_percent = 90;    // 0: money alone decides
  CacheMarkers markers = CacheMarkers::given;
};
UNDERTEXT_API StrategyPtr prefer_cache(std::vector<StrategyPtr> strategies, PreferCache options);

// What of the facts in a view is still in a later one: those of every message that `before` shows and `after` does not, and everything that
// `after` shows in their place.
struct Survival {
  struct Count {
    std::uint64_t facts = 0;
    std::uint64_t kept = 0;
    std::vector<std::string> lost = {};  // in the order in which they were met
    double part() const { return facts == 0 ? 1.0 : static_cast<double>(kept) / static_cast<double>(facts); }
  };
  std::array<Count, fact_kind_count> kinds = {};

  Count& operator[](FactKind kind) { return kinds[static_cast<std::size_t>(kind)]; }
  const Count& operator[](FactKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};
// Of the heads of two histories of one conversation. Reads all messages of both views.
UNDERTEXT_API Survival survival(const History& before, const History& after);
// Of texts: whether each of some facts is in what a view says, white space aside.
UNDERTEXT_API Survival::Count survival_of(std::span<const std::string> facts, const History& after);

// Whether the head's view is within a budget, and what would make it so. Changes nothing; ask for any budget at any time. For an earlier
// version: fit_view(*history.fork(version), …).
struct Fit {
  enum class Outcome : std::uint8_t { fits, fits_after, cannot_fit };
  Outcome outcome = Outcome::fits;
  std::uint64_t tokens = 0;          // of the view
  std::uint64_t tokens_max = 0;      // of the budget
  std::optional<Plan> plan = {};     // for fits_after
  std::uint64_t tokens_minimum = 0;  // for cannot_fit: the least that the strategy can reach
};
UNDERTEXT_API std::string_view name(Fit::Outcome outcome);
UNDERTEXT_API Result<Fit> fit_view(const History& history, const Budget& budget, const Strategy& strategy, Aim aim = {});

// The plan for another, later state of the same conversation: what was appended meanwhile stays. conflict: something that the plan hides is not in
// that view any more, or something new stands inside the stretch of a summary.
UNDERTEXT_API Result<Plan> rebase(const Plan& plan, const History& planned_for, const History& now);

}  // namespace undertext
