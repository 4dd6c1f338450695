// Lossless compression of a view: token budgets, strategies, and the plans that strategies propose.
//
//     Budget budget{.window = 128'000, .reserve = 8'000, .overhead = 2'500};
//     Fit fit = fit_view(history, budget, *sliding_window());
//     if (fit.outcome == Fit::Outcome::fits_after) conversation.apply({op::ApplyPlan{*fit.plan}});
//
// A Strategy is a pure planner: it takes a history and a target, and returns a plan. Hidden
// messages stay in the log. Applying a plan is one ordinary operation, COMPRESS, in its own batch:
// it can be undone, rolled back, and expanded summary by summary.
//
// Every shipped strategy keeps system messages, pinned messages, the last request of a user, calls
// that wait for a result, and results that no assistant has answered yet. It keeps these with their
// units: a unit (calls, their results, the reasoning before them) is never split. A turn of
// thinking with tools is split only where the target cannot be reached otherwise, before a step
// with its own reasoning. A summary replaces one contiguous range of messages. Planning is
// idempotent. A plan never makes the view larger, and never empties it.
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

// A token budget.
struct Budget {
  std::uint64_t window = 0;    // the model's context window
  std::uint64_t reserve = 0;   // reserved for the answer
  std::uint64_t overhead = 0;  // tools, and instructions that are not in the view
  std::uint64_t safety = 0;    // margin for counting errors

  // what is left for the messages; 0 when nothing is
  UNDERTEXT_API std::uint64_t tokens_max() const;
};

// Progress of a compression.
struct CompressionProgress {
  enum class Stage : std::uint8_t { planning, summarising, applying };
  Stage stage = Stage::planning;
  std::uint64_t messages = 0;       // that are being summarised
  std::uint64_t summary_bytes = 0;  // of the summary so far, where the summariser reports it
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

// The share of the facts of each kind that a plan must keep, from 0 to 1. 0: no requirement.
struct SurvivalPolicy {
  std::array<double, fact_kind_count> least = {};

  double& operator[](FactKind kind) { return least[static_cast<std::size_t>(kind)]; }
  double operator[](FactKind kind) const { return least[static_cast<std::size_t>(kind)]; }
  UNDERTEXT_API bool asks_for_something() const;
};

// The target of a plan, and how it counts.
struct Aim {
  // target tokens; unset: the strategy's default behaviour
  std::optional<std::uint64_t> tokens_max = {};
  // of a message to be put into the view
  std::function<std::uint32_t(const Message&)> count_tokens = {};
  // of plain text, for summaries
  std::function<std::uint64_t(std::string_view text)> count_text = {};
  MessageLimits limits = {};
  // After any error of a summariser, the next one is tried, and the digest last. Set by automatic
  // compression, which has no caller to fix the error, and by a pipeline for its steps.
  bool digest_last = false;
  // Automatic compression: a view with at most this many tokens is acceptable. No summary is then
  // dropped to reach tokens_max. If tokens_max cannot be reached, the last message stays: it is
  // often an answer that has not been read yet.
  std::optional<std::uint64_t> tokens_enough = {};
  // the model has the tools of context_tools.hpp: summaries and stubs name them
  bool context_tools = false;
  // Facts that must survive. Incomplete summaries are completed from the digest. A plan that still
  // keeps too few fails with cannot_fit and the field "survival".
  SurvivalPolicy survival = {};
  std::stop_token cancel = {};             // cancels a slow summariser
  OnCompressionProgress on_progress = {};  // called for summaries, on the planning thread
};

class UNDERTEXT_API Strategy {
 public:
  virtual ~Strategy();
  virtual std::string_view name() const noexcept = 0;
  // true: it may wait for a network
  virtual bool is_slow() const noexcept { return false; }
  // true: invalid_argument without a target
  virtual bool needs_tokens_max() const noexcept { return false; }
  // true: a COMPRESS without a target uses the conversation's, if there is one. false: it plans
  // without a target.
  virtual bool uses_default_target() const noexcept { return needs_tokens_max(); }

  // false: a plan of it never counts as missing the target
  virtual bool has_target() const noexcept { return true; }

  // Returns the best plan for the head of `history`: one that reaches the target; else the one that
  // leaves the fewest tokens. An empty plan: the view is within the target already, or nothing can
  // be freed. The caller checks with reaches() whether to use a plan that misses the target.
  // A custom strategy may return cannot_fit
  // instead of a plan. Errors of a summariser are passed on. May throw: a Failure keeps its code; a
  // conversation reports any other exception as invalid_argument, with the field "strategy".
  virtual Result<Plan> plan(const History& history, const Aim& aim) const = 0;
};
using StrategyPtr = std::shared_ptr<const Strategy>;

// tokens_after is within the target, or there is none
UNDERTEXT_API bool reaches(const Plan& plan, const Aim& aim);

UNDERTEXT_API StrategyPtr no_strategy();
// the last n messages of the view
UNDERTEXT_API StrategyPtr keep_recent(std::uint64_t messages);
// the last n that are not system messages
UNDERTEXT_API StrategyPtr keep_system_and_recent(std::uint64_t messages);
// the largest tail that fits; needs tokens_max
UNDERTEXT_API StrategyPtr sliding_window();

// Replaces old results of tools by stubs with the tool's name and the size of the result.
struct ClearToolResults {
  std::uint64_t keep = 3;                 // the newest ones, which stay
  std::vector<std::string> exclude = {};  // names of tools whose results stay
  std::uint64_t tokens_gain_min = 0;      // with less to gain, nothing is done
  // the newest of them first, and no more than the target needs: keeps a longer prefix of the
  // prompt cache
  bool late = false;
};
UNDERTEXT_API StrategyPtr clear_tool_results(ClearToolResults options = {});

// Replaces results of tools that a later call made obsolete by stubs of one line, without a model.
// supersede: a read of a file that was read again or changed later; a call that failed and was
// repeated with success.
// dedupe: a call that was repeated with the same arguments.
struct StubOlderResults {
  std::vector<std::string> exclude = {};  // names of tools whose results stay
  bool late = false;                      // as ClearToolResults::late
};
UNDERTEXT_API StrategyPtr supersede(StubOlderResults options = {});
UNDERTEXT_API StrategyPtr dedupe(StubOlderResults options = {});

// Hides everything but a tail, and puts one summary in place of each contiguous range between
// messages that stay. Ranges that are too short for a summary stay. Summaries are made from
// originals: a summary that is hidden in turn is replaced by what it stands for.
struct SmartSummary {
  // default: the digest. A slow summariser gets at most the four largest ranges; the others get
  // digests.
  std::shared_ptr<const Summariser> summariser = {};
  // Tried in this order when the summariser fails, and the digest last. To fail is to return an
  // error, an empty or truncated text, or more tokens than it replaces. Plan::reason says so. A
  // cancelled summary is not retried. Without fallbacks and without Aim::digest_last, errors that
  // the caller has to fix are passed on: invalid_argument, such as a rejected key or an exception.
  // Messages that the summariser refuses are not among these.
  std::vector<std::shared_ptr<const Summariser>> fallbacks = {};
  // at most so many messages at the end; default: as many as fit, or 10
  std::optional<std::uint64_t> keep = {};
  // Of all summaries together, at most a third of the target. Default: a quarter of the target,
  // from 512 to 8,192; 1,024 without one; digests may have up to a quarter more of what the tail
  // leaves of the target, which nothing else could use.
  std::optional<std::uint64_t> summary_tokens_max = {};
};
UNDERTEXT_API StrategyPtr smart_summary(SmartSummary options = {});

// Runs the steps in order until the target is reached; without a target, all of them. Returns one
// plan. A failed step is skipped, and Plan::reason says so; if no other step frees anything, its
// error is returned. A step drops a summary only if that reaches the target.
UNDERTEXT_API StrategyPtr pipeline(std::vector<StrategyPtr> steps);

// "default", the strategy where none is named; needs tokens_max. Runs supersede, dedupe and
// clear_tool_results, of each the newest results first and no more than the target needs. Then a
// summary, then the largest tail that fits. So it hides as little as reaches the target, and keeps
// the longest prefix of the view unchanged.
UNDERTEXT_API StrategyPtr default_strategy(SmartSummary summary = {});

// Chooses among the plans of several strategies by what they cost in a prompt cache that holds the
// view. Of the plans that reach the target, those that keep less than `keep_percent` of the tokens
// that the largest one keeps are dropped. Of the rest it returns the cheapest: tokens billed again,
// minus the tokens saved in later turns; of equal ones the first. If no plan reaches the target, it
// returns the one that leaves the fewest tokens.
struct PreferCache {
  CacheRules rules = {};       // such as a Profile's
  std::uint64_t overhead = 0;  // tokens of tools and instructions before the view
  double turns = 10;           // expected later turns
  double keep_percent = 90;    // 0: the cost alone decides
  CacheMarkers markers = CacheMarkers::given;
};
UNDERTEXT_API StrategyPtr prefer_cache(std::vector<StrategyPtr> strategies, PreferCache options);

// What of the facts in a view is still in a later one: those of every message that `before` shows
// and `after` does not, and everything that `after` shows in their place.
struct Survival {
  struct Count {
    std::uint64_t facts = 0;
    std::uint64_t kept = 0;
    std::vector<std::string> lost = {};  // in the order in which they were met
    double part() const {
      return facts == 0 ? 1.0 : static_cast<double>(kept) / static_cast<double>(facts);
    }
  };
  std::array<Count, fact_kind_count> kinds = {};

  Count& operator[](FactKind kind) { return kinds[static_cast<std::size_t>(kind)]; }
  const Count& operator[](FactKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};
// Of the heads of two histories of one conversation. Reads all messages of both views.
UNDERTEXT_API Survival survival(const History& before, const History& after);
// Of texts: whether each of some facts is in what a view says, white space aside.
UNDERTEXT_API Survival::Count survival_of(std::span<const std::string> facts, const History& after);

// Whether the head's view is within a budget, and the plan that would bring it there. Changes
// nothing. For an earlier version:
// fit_view(*history.fork(version), …).
struct Fit {
  enum class Outcome : std::uint8_t { fits, fits_after, cannot_fit };
  Outcome outcome = Outcome::fits;
  std::uint64_t tokens = 0;          // of the view
  std::uint64_t tokens_max = 0;      // of the budget
  std::optional<Plan> plan = {};     // for fits_after
  std::uint64_t tokens_minimum = 0;  // for cannot_fit: the least that the strategy can reach
};
UNDERTEXT_API std::string_view name(Fit::Outcome outcome);
UNDERTEXT_API Result<Fit> fit_view(const History& history, const Budget& budget,
                                   const Strategy& strategy, Aim aim = {});

// The plan for a later state of the same conversation; messages appended meanwhile stay. conflict:
// a message that the plan hides has left the view, or a new message is inside the range of a
// summary.
UNDERTEXT_API Result<Plan> rebase(const Plan& plan, const History& planned_for, const History& now);

}  // namespace undertext
