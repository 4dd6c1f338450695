// What providers say a request used, kept beside what was estimated.
//
//     UsageTracker usage;
//     usage.update({.request_id = "r1", .model = "claude-sonnet-4", .prompt = 1180, .estimated_prompt = 1050});   // while it streams
//     usage.update({.request_id = "r1", .model = "claude-sonnet-4", .prompt = 1180, .completion = 312, .estimated_prompt = 1050});
//     usage.finish("r1");
//     usage.totals().total;                            // 1492
//     usage.correct("claude-sonnet-4", 2100);          // 2100 tokens of the next estimate, as this model is likely to count them
//     usage.upper_bound("claude-sonnet-4", 2100);      // what it will not exceed in 19 requests of 20
//
// Usage never takes the place of a count: it comes after a request, of the request as a whole. What it teaches is how far the estimate is off,
// for each model by itself.
//
// A UsageTracker is a plain value: it knows no clock, and copies are independent. It is not for several threads at once. It keeps a bounded
// number of requests; totals go on counting those it no longer has. Sums stop at their largest value instead of beginning again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>

namespace undertext {

struct RequestUsage {
  std::string request_id;
  std::string model;
  std::uint64_t prompt = 0;      // tokens of the whole input, those from a cache included (providers that leave them out: add them)
  std::uint64_t completion = 0;  // tokens of the answer, thinking included
  std::uint64_t cached = 0;      // of the prompt, those read from a cache
  std::uint64_t total = 0;       // 0: prompt and completion together
  double cost = 0;               // in one currency, whichever it is
  std::int64_t at_ms = 0;        // milliseconds since 1970
  std::uint64_t estimated_prompt = 0;    // what the prompt was estimated at before it was sent; 0: it was not
  std::uint64_t cache_written = 0;       // of the prompt, those written to a cache
  std::uint64_t cache_written_hour = 0;  // of these, the ones that it keeps for an hour
  friend bool operator==(const RequestUsage&, const RequestUsage&) = default;
};

struct UsageTotals {
  std::uint64_t requests = 0;
  std::uint64_t prompt = 0;
  std::uint64_t completion = 0;
  std::uint64_t cached = 0;
  std::uint64_t total = 0;
  double cost = 0;
  friend bool operator==(const UsageTotals&, const UsageTotals&) = default;
};

struct UsageStatistics {
  UsageTotals totals;
  double prompt_mean = 0;  // a request; 0 when there is none
  double completion_mean = 0;
  std::uint64_t prompt_max = 0;
  std::uint64_t completion_max = 0;
  double cached_share = 0;  // of all prompt tokens, 0 to 1
  struct OfModel {
    std::string model;
    UsageTotals totals;
    friend bool operator==(const OfModel&, const OfModel&) = default;
  };
  std::vector<OfModel> by_model;  // in the order in which they were first used
  friend bool operator==(const UsageStatistics&, const UsageStatistics&) = default;
};

// How a model's own count compares with the estimate.
struct UsageCorrection {
  double factor = 1;       // the model's tokens for one estimated token
  double factor_high = 1;  // the same, high enough for 19 requests of 20
  std::uint64_t learned_from = 0;
};

// All that a tracker knows, to be kept elsewhere.
struct UsageState {
  struct OfModel {
    std::string model;
    UsageTotals totals;  // of finished requests
    std::uint64_t prompt_max = 0;
    std::uint64_t completion_max = 0;
    UsageCorrection learned;
  };
  std::vector<OfModel> models;
  std::vector<RequestUsage> open;     // oldest first
  std::vector<RequestUsage> history;  // likewise
};

struct UsageLimits {
  std::size_t history = 1000;  // finished requests kept; the oldest go first
  std::size_t open = 64;       // requests that may stream at once; one more finishes the oldest as it was last reported
  std::size_t models = 64;     // models told apart; any further one is counted, and corrected, as the model ""
};

class UNDERTEXT_API UsageTracker {
 public:
  explicit UsageTracker(const UsageLimits& limits = {});

  // The history holds at most `history_max` requests, the newest.
  UsageState state(std::size_t history_max = 1000) const;
  // A tracker in this state. invalid_argument: a request that update() would refuse, one that is there twice, a model that is, or a factor
  // that is no positive number.
  static Result<UsageTracker> restored(const UsageState& state, const UsageLimits& limits = {});

  // What is known of a request so far: takes the place of what was reported for it before. It counts at once, and is final with finish().
  // invalid_argument: no request_id, more tokens read from a cache and written to it than prompt tokens, a negative time, or a cost that is negative or no number.
  // conflict: the request is finished.
  Result<void> update(RequestUsage usage);

  // The last update is final. not_found: no request of this name is open.
  Result<void> finish(std::string_view request_id);

  // update() and finish() in one: for requests that are reported once.
  Result<void> record(RequestUsage usage);

  // Forgets an open request, as if it had never been reported. not_found: no request of this name is open.
  Result<void> drop(std::string_view request_id);

  UsageTotals totals() const;  // of all requests ever, open ones included
  UsageTotals totals_of(std::string_view model) const;
  UsageStatistics statistics() const;                                   // the same requests
  std::optional<RequestUsage> find(std::string_view request_id) const;  // open or in the history
  const std::deque<RequestUsage>& history() const { return history_; }  // finished requests, oldest first
  const std::deque<RequestUsage>& open() const { return open_; }        // those that stream, oldest first

  // What finished requests with an estimate of at least 100 tokens have taught. Newer ones count more: the weight of one has halved after about
  // 14 others. One that is far off moves the factor no further than an ordinary one at the edge would, and one that is off
  // eight times or more is taken for a mistake in the report. Before anything is learned the factor is 1, and factor_high 1.25.
  UsageCorrection correction(std::string_view model) const;
  std::uint64_t correct(std::string_view model, std::uint64_t estimate) const;      // rounded to the nearest
  std::uint64_t upper_bound(std::string_view model, std::uint64_t estimate) const;  // rounded up

 private:
  struct Learned {
    double mean = 0;  // of the logarithm of reported by estimated
    double spread;    // its standard deviation
    std::uint64_t reports = 0;
    Learned();
    void learn(double ratio);
  };
  struct Model {
    std::string name;
    UsageTotals totals;  // of finished requests
    std::uint64_t prompt_max = 0;
    std::uint64_t completion_max = 0;
    Learned learned;
  };

  const Model* find_model(std::string_view name) const;
  Model& model_for(std::string name);
  void close(std::size_t open_index);

  UsageLimits limits_;
  std::deque<RequestUsage> open_;
  std::deque<RequestUsage> history_;
  std::vector<Model> models_;
};

}  // namespace undertext
