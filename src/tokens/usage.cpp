#include <undertext/usage.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace undertext {
namespace {

// below, what stands around messages is most of it
constexpr std::uint64_t learnable_estimate_min = 100;
constexpr double learnable_ratio_max = 8;
// of each new report, once there are enough: half of a report is forgotten after 14
constexpr double forgetting_gain = 0.05;
constexpr double spread_at_first = 0.12;  // factor_high is 1.25 then
constexpr double spread_min = 0.005;
constexpr double edge = 3;     // times the spread: how far off an ordinary report may be
constexpr double p95 = 1.645;  // times the spread: above 95 of 100, for a normal distribution

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

std::uint64_t rounded(double tokens) {
  constexpr double limit = 18446744073709549568.0;  // the largest double below 2^64
  return tokens >= limit ? std::numeric_limits<std::uint64_t>::max()
                         : static_cast<std::uint64_t>(tokens);
}

void add(UsageTotals& sum, const UsageTotals& more) {
  sum.requests = add(sum.requests, more.requests);
  sum.prompt = add(sum.prompt, more.prompt);
  sum.completion = add(sum.completion, more.completion);
  sum.cached = add(sum.cached, more.cached);
  sum.total = add(sum.total, more.total);
  sum.cost = std::min(sum.cost + more.cost, std::numeric_limits<double>::max());
}

UsageTotals totals_of_one(const RequestUsage& usage) {
  return {1, usage.prompt, usage.completion, usage.cached, usage.total, usage.cost};
}

std::optional<Error> check(const RequestUsage& usage) {
  const auto refused = [](std::string message, std::string field) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = std::move(message),
                 .field = std::move(field)};
  };
  if (usage.request_id.empty())
    return refused("a request must have an id, so that later reports can take its place",
                   "requestId");
  if (usage.cached > usage.prompt)
    return refused(
        "cached tokens are part of the prompt; a provider that reports them beside it needs both "
        "added",
        "cached");
  if (usage.cache_written > usage.prompt - usage.cached)
    return refused("tokens written to a cache are part of the prompt, and were not read from it",
                   "cacheWritten");
  if (usage.cache_written_hour > usage.cache_written)
    return refused("they are part of all that was written to the cache", "cacheWrittenHour");
  if (!std::isfinite(usage.cost) || usage.cost < 0)
    return refused("a cost is a number and not negative", "cost");
  if (usage.at_ms < 0) return refused("a time is milliseconds since 1970", "atMs");
  return std::nullopt;
}

// With few reports the mean itself is uncertain, and the spread around it so much larger.
double uncertainty(std::uint64_t reports) {
  return std::sqrt(1 + 1 / (static_cast<double>(reports) + 1));
}

auto find_request(const std::deque<RequestUsage>& requests, std::string_view id) {
  return std::find_if(requests.begin(), requests.end(),
                      [id](const RequestUsage& each) { return each.request_id == id; });
}

Error not_open(std::string_view request_id) {
  return {.code = ErrorCode::not_found,
          .message = "no request \"" + std::string(request_id) + "\" is open",
          .field = "requestId"};
}

}  // namespace

UsageTracker::Learned::Learned() : spread(spread_at_first) {}

// A running mean and spread with forgetting. Until there are many reports each counts the same,
// together with one that was never made and says that the estimate is right.
void UsageTracker::Learned::learn(double ratio) {
  if (!(ratio > 1 / learnable_ratio_max && ratio < learnable_ratio_max)) return;
  reports = add(reports, 1);
  const double gain = std::max(forgetting_gain, 1 / (static_cast<double>(reports) + 1));
  const double limit = edge * spread;
  const double off = std::clamp(std::log(ratio) - mean, -limit, limit);
  mean += gain * off;
  // The mean has moved towards the report, so what is left is a little less than the report's own
  // distance.
  spread = std::max(spread_min, std::sqrt((1 - gain) * (spread * spread + gain * off * off)));
}

UsageTracker::UsageTracker(const UsageLimits& limits) : limits_(limits) {}

UsageState UsageTracker::state(std::size_t history_max) const {
  UsageState state;
  for (const Model& model : models_) {
    state.models.push_back(
        {model.name, model.totals, model.prompt_max, model.completion_max, correction(model.name)});
  }
  state.open.assign(open_.begin(), open_.end());
  state.history.assign(
      history_.end() - static_cast<std::ptrdiff_t>(std::min(history_.size(), history_max)),
      history_.end());
  return state;
}

Result<UsageTracker> UsageTracker::restored(const UsageState& state, const UsageLimits& limits) {
  const auto refused = [](std::string message, std::string field) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = std::move(message),
                 .field = std::move(field)};
  };
  UsageTracker tracker(limits);
  for (const UsageState::OfModel& given : state.models) {
    if (tracker.find_model(given.model) != nullptr)
      return refused("the model \"" + given.model + "\" is there twice", "models");
    const UsageCorrection& learned = given.learned;
    if (!std::isfinite(learned.factor) || !std::isfinite(learned.factor_high) ||
        learned.factor <= 0 || learned.factor_high < learned.factor)
      return refused("a factor is a positive number, and not above factorHigh", "factor");
    Model& model = tracker.model_for(given.model);
    add(model.totals, given.totals);
    model.prompt_max = given.prompt_max;
    model.completion_max = given.completion_max;
    if (learned.learned_from == 0) continue;
    model.learned.reports = learned.learned_from;
    model.learned.mean = std::log(learned.factor);
    const double mean_spread = (std::log(learned.factor_high) - model.learned.mean) / p95;
    model.learned.spread = std::max(spread_min, mean_spread / uncertainty(learned.learned_from));
  }
  for (const RequestUsage& usage : state.history) {
    if (std::optional<Error> error = check(usage)) return std::move(*error);
    if (tracker.find(usage.request_id))
      return refused("request \"" + usage.request_id + "\" is there twice", "requestId");
    tracker.history_.push_back(usage);
  }
  while (tracker.history_.size() > limits.history) tracker.history_.pop_front();
  for (const RequestUsage& usage : state.open)
    if (Result<void> updated = tracker.update(usage); !updated) return std::move(updated.error());
  return tracker;
}

Result<void> UsageTracker::update(RequestUsage usage) {
  if (std::optional<Error> error = check(usage)) return error;
  if (find_request(history_, usage.request_id) != history_.end())
    return Error{.code = ErrorCode::conflict,
                 .message = "request \"" + usage.request_id + "\" is finished",
                 .field = "requestId"};
  if (usage.total == 0) usage.total = add(usage.prompt, usage.completion);
  const auto found = find_request(open_, usage.request_id);
  if (found != open_.end()) {
    open_[static_cast<std::size_t>(found - open_.begin())] = std::move(usage);
    return {};
  }
  open_.push_back(std::move(usage));
  if (open_.size() > std::max<std::size_t>(limits_.open, 1)) close(0);
  return {};
}

Result<void> UsageTracker::finish(std::string_view request_id) {
  const auto found = find_request(open_, request_id);
  if (found == open_.end()) return not_open(request_id);
  close(static_cast<std::size_t>(found - open_.begin()));
  return {};
}

Result<void> UsageTracker::record(RequestUsage usage) {
  const std::string id = usage.request_id;
  if (Result<void> updated = update(std::move(usage)); !updated) return updated;
  return finish(id);
}

Result<void> UsageTracker::drop(std::string_view request_id) {
  const auto found = find_request(open_, request_id);
  if (found == open_.end()) return not_open(request_id);
  open_.erase(found);
  return {};
}

void UsageTracker::close(std::size_t open_index) {
  const RequestUsage& usage = open_[open_index];
  models_.reserve(models_.size() + 1);
  std::string name = usage.model;
  history_.push_back(usage);
  Model& model = model_for(std::move(name));  // cannot fail any more
  add(model.totals, totals_of_one(usage));
  model.prompt_max = std::max(model.prompt_max, usage.prompt);
  model.completion_max = std::max(model.completion_max, usage.completion);
  if (usage.estimated_prompt >= learnable_estimate_min)
    model.learned.learn(static_cast<double>(usage.prompt) /
                        static_cast<double>(usage.estimated_prompt));
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(open_index));
  while (history_.size() > limits_.history) history_.pop_front();
}

const UsageTracker::Model* UsageTracker::find_model(std::string_view name) const {
  for (const Model& model : models_)
    if (model.name == name) return &model;
  return nullptr;
}

UsageTracker::Model& UsageTracker::model_for(std::string name) {
  const auto find = [this](std::string_view wanted) {
    return std::find_if(models_.begin(), models_.end(),
                        [wanted](const Model& model) { return model.name == wanted; });
  };
  if (const auto found = find(name); found != models_.end()) return *found;
  const bool has_room = models_.size() < limits_.models;
  if (!has_room)
    if (const auto rest = find(""); rest != models_.end()) return *rest;
  models_.push_back({});
  if (has_room) models_.back().name = std::move(name);
  return models_.back();
}

UsageTotals UsageTracker::totals() const {
  UsageTotals sum;
  for (const Model& model : models_) add(sum, model.totals);
  for (const RequestUsage& usage : open_) add(sum, totals_of_one(usage));
  return sum;
}

UsageTotals UsageTracker::totals_of(std::string_view model) const {
  UsageTotals sum;
  if (const Model* const found = find_model(model)) sum = found->totals;
  for (const RequestUsage& usage : open_)
    if (usage.model == model) add(sum, totals_of_one(usage));
  return sum;
}

UsageStatistics UsageTracker::statistics() const {
  UsageStatistics all;
  const auto of_model = [&all](const std::string& name) -> UsageTotals& {
    for (UsageStatistics::OfModel& each : all.by_model)
      if (each.model == name) return each.totals;
    all.by_model.push_back({name, {}});
    return all.by_model.back().totals;
  };
  for (const Model& model : models_) {
    add(of_model(model.name), model.totals);
    all.prompt_max = std::max(all.prompt_max, model.prompt_max);
    all.completion_max = std::max(all.completion_max, model.completion_max);
  }
  for (const RequestUsage& usage : open_) {
    add(of_model(usage.model), totals_of_one(usage));
    all.prompt_max = std::max(all.prompt_max, usage.prompt);
    all.completion_max = std::max(all.completion_max, usage.completion);
  }
  for (const UsageStatistics::OfModel& each : all.by_model) add(all.totals, each.totals);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  all.prompt_mean = share(all.totals.prompt, all.totals.requests);
  all.completion_mean = share(all.totals.completion, all.totals.requests);
  all.cached_share = share(all.totals.cached, all.totals.prompt);
  return all;
}

std::optional<RequestUsage> UsageTracker::find(std::string_view request_id) const {
  if (const auto found = find_request(open_, request_id); found != open_.end()) return *found;
  if (const auto found = find_request(history_, request_id); found != history_.end()) return *found;
  return std::nullopt;
}

UsageCorrection UsageTracker::correction(std::string_view model) const {
  const Model* found = find_model(model);
  // where the further ones are
  if (found == nullptr && models_.size() >= limits_.models) found = find_model("");
  const Learned learned = found == nullptr ? Learned() : found->learned;
  const double mean_spread = learned.spread * uncertainty(learned.reports);
  const double high = learned.reports == 0 ? p95 * spread_at_first : p95 * mean_spread;
  return {std::exp(learned.mean), std::exp(learned.mean + high), learned.reports};
}

std::uint64_t UsageTracker::correct(std::string_view model, std::uint64_t estimate) const {
  return rounded(static_cast<double>(estimate) * correction(model).factor + 0.5);
}

std::uint64_t UsageTracker::upper_bound(std::string_view model, std::uint64_t estimate) const {
  return rounded(std::ceil(static_cast<double>(estimate) * correction(model).factor_high));
}

}  // namespace undertext
