// Token usage as providers report it, beside the estimates.
//
//     UsageTracker usage;
//     usage.update({.request_id = "r1", .model = "claude-sonnet-4", .prompt = 1180, .estimated_prompt = 1050});   // while it streams
//     usage.update({.request_id = "r1", .model = "claude-sonnet-4", .prompt = 1180, .completion = 312, .estimated_prompt = 1050});
//     usage.finish("r1");
//     usage.totals().total;                            // 1492
//     usage.correct("claude-sonnet-4", 2100);          // the model's likely count for an estimate of 2100 tokens
//     usage.upper_bound("claude-sonnet-4", 2100);      // not exceeded in 19 requests of 20
//
// Usage never replaces a count: it is known only after a request, for the request as a whole. The
// tracker learns from it the error of the estimate, for each model.
//
// A UsageTracker is a plain value without a clock; copies are independent. It is not thread-safe.
// It keeps a bounded number of requests; totals include the dropped ones. Sums saturate.
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
  // tokens of the whole input, those from a cache included (providers that leave them out: add
  // them)
  std::uint64_t prompt = 0;
  std::uint64_t completion = 0;          // tokens of the answer, thinking included
  std::uint64_t cached = 0;              // of the prompt, those read from a cache
  std::uint64_t total = 0;               // 0: prompt and completion together
  double cost = 0;                       // in any one currency
  std::int64_t at_ms = 0;                // milliseconds since 1970
  std::uint64_t estimated_prompt = 0;    // the estimate of the prompt before it was sent; 0: none
  std::uint64_t cache_written = 0;       // of the prompt: written to a cache
  std::uint64_t cache_written_hour = 0;  // of these: kept for an hour
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

// The complete state of a tracker, for saving.
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
  // concurrently streaming requests; one more finishes the oldest with its last report
  std::size_t open = 64;
  // distinct models; further ones are counted, and corrected, as the model ""
  std::size_t models = 64;
};

class UNDERTEXT_API UsageTracker {
 public:
  explicit UsageTracker(const UsageLimits& limits = {});

  // The history holds at most `history_max` requests, the newest.
  UsageState state(std::size_t history_max = 1000) const;
  // A tracker in this state. invalid_argument: a request that update() would refuse, a duplicate
  // request or model, or a factor that is no positive number.
  static Result<UsageTracker> restored(const UsageState& state, const UsageLimits& limits = {});

  // Reports the usage of a request so far; replaces earlier reports of it. It counts at once, and
  // is final with finish().
  // invalid_argument: no request_id, more tokens read from and written to a cache than prompt
  // tokens, a negative time, or a cost that is negative or no number. conflict: the request is
  // finished.
  Result<void> update(RequestUsage usage);

  // The last update is final. not_found: no request with this id is open.
  Result<void> finish(std::string_view request_id);

  // update() and finish() in one: for requests that are reported once.
  Result<void> record(RequestUsage usage);

  // Drops an open request, as if it had never been reported. not_found: no request with this id is
  // open.
  Result<void> drop(std::string_view request_id);

  UsageTotals totals() const;  // of all requests ever, open ones included
  UsageTotals totals_of(std::string_view model) const;
  UsageStatistics statistics() const;                                   // the same requests
  std::optional<RequestUsage> find(std::string_view request_id) const;  // open or in the history
  // finished requests, oldest first
  const std::deque<RequestUsage>& history() const { return history_; }
  // those that stream, oldest first
  const std::deque<RequestUsage>& open() const { return open_; }

  // Learned from finished requests with an estimate of at least 100 tokens. Newer requests weigh
  // more: a weight halves after about 14 others. Outliers are clipped, and a ratio of eight or more
  // is treated as an error in the report. Initially the factor is 1, and factor_high 1.25.
  UsageCorrection correction(std::string_view model) const;
  // rounded to the nearest
  std::uint64_t correct(std::string_view model, std::uint64_t estimate) const;
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
