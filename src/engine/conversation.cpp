#include <undertext/conversation.hpp>

#include <utility>

#include "engine/conversation_rep.hpp"

namespace undertext {
namespace {

std::optional<Error> check(const CompressionConfig& config) {
  if (!config.enabled) return {};
  const auto bad = [](const char* field, const char* problem) {
    return Error{ErrorCode::invalid_argument, problem, field, std::string("compressionConfig.") + field};
  };
  if (config.threshold == 0)
    return bad("threshold", "threshold must be given, and more than 0, for a conversation that compresses itself");
  if (config.target_tokens.value_or(0) > config.threshold) return bad("targetTokens", "targetTokens must not be above threshold");
  return {};
}

}  // namespace

std::string_view name(Event::Type type) {
  switch (type) {
    case Event::Type::message_added: return "MESSAGE_ADDED";
    case Event::Type::batch_opened: return "BATCH_OPENED";
    case Event::Type::rolled_back: return "ROLLED_BACK";
    case Event::Type::context_changed: return "CONTEXT_CHANGED";
    case Event::Type::token_limit_exceeded: return "TOKEN_LIMIT_EXCEEDED";
    case Event::Type::compression_threshold_exceeded: return "COMPRESSION_THRESHOLD_EXCEEDED";
    case Event::Type::compressed: return "COMPRESSED";
    case Event::Type::compression_failed: return "COMPRESSION_FAILED";
    case Event::Type::compression_discarded: return "COMPRESSION_DISCARDED";
  }
  return "";
}

Conversation::Conversation() : Conversation(open(Settings()).value()) {}
Conversation::Conversation(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation& Conversation::operator=(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

Result<Conversation> Conversation::open(Settings settings) {
  if (settings.compression.threshold == 0) settings.compression.threshold = settings.token_limit.value_or(0);
  if (std::optional<Error> error = check(settings.compression)) return std::move(*error);
  if (!settings.compression.strategy) settings.compression.strategy = sliding_window();
  Result<Counting> counting = counting_by(settings.tokenizer);
  if (!counting) return counting.error();
  const std::int64_t now_ms = settings.clock_ms ? settings.clock_ms() : system_clock_ms();
  return Conversation(std::make_unique<Rep>(std::move(settings), std::move(*counting), History(now_ms)));
}

Result<Outcome> Conversation::apply(Operation operation) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  const Rep::Turn turn(*rep_);
  const Subscribers::List listeners = rep_->subscribers->list();
  Rep::Work work = rep_->begin();
  const std::uint64_t tokens_before = work.stats.tokens;
  Result<Outcome> outcome = rep_->carry_out(operation, work, !listeners.empty());
  if (!outcome) return outcome;
  rep_->compress_if_due(operation, tokens_before, work, *outcome, !listeners.empty());
  rep_->make_room(work);
  rep_->commit(std::move(work), listeners);
  return outcome;
}

Result<std::vector<Outcome>> Conversation::apply(std::vector<Operation> operations) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  if (operations.empty()) return Error{ErrorCode::invalid_argument, "a list of operations must not be empty"};
  const Rep::Turn turn(*rep_);
  const Subscribers::List listeners = rep_->subscribers->list();
  Rep::Work work = rep_->begin();
  const std::uint64_t tokens_before = work.stats.tokens;
  std::vector<Outcome> outcomes;
  outcomes.reserve(operations.size());
  for (const Operation& operation : operations) {
    Result<Outcome> outcome = rep_->carry_out(operation, work, !listeners.empty());
    if (!outcome) {
      outcome.error().operation_index = outcomes.size();
      return std::move(outcome.error());
    }
    outcomes.push_back(std::move(*outcome));
  }
  rep_->compress_if_due(operations.back(), tokens_before, work, outcomes.back(), !listeners.empty());
  rep_->make_room(work);
  rep_->commit(std::move(work), listeners);
  return outcomes;
}

Result<Outcome> Conversation::compress(const Strategy& strategy, const CompressOptions& options) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  const History frozen = history();
  const bool repeated = [&] {
    const std::lock_guard lock(rep_->turn);
    return rep_->answered.contains(options.operation.operation_id);
  }();
  // A repeated operation is answered from memory: nothing is to be summarised for it.
  if (repeated) return apply({op::CompressBy{}, options.operation});

  const std::optional<Version>& expected = options.operation.expected_version;
  if (expected && *expected != frozen.version()) {
    return Error{
        ErrorCode::conflict,
        "expected version " + std::to_string(expected->value) + ", but the head is " + std::to_string(frozen.version().value),
        "expectedVersion"};
  }
  Aim to = aim(options.tokens_max);
  to.cancel = options.cancel;
  Result<Plan> plan = plan_by(strategy, frozen, to);
  if (!plan) return plan.error();
  bool moved_on = false;
  Result<Outcome> outcome = apply({op::CompressBy{[&](const History& now) -> Result<Plan> {
                                     moved_on = now.version() != frozen.version();
                                     return moved_on ? rebase(*plan, frozen, now) : *plan;
                                   }},
                                   options.operation});
  if (!outcome && moved_on && is_refused_plan(outcome.error())) return as_conflict(outcome.error());
  return outcome;
}

Result<Fit> Conversation::fit(const Budget& budget, const Strategy& strategy) const {
  return fit_view(history(), budget, strategy, aim());
}

Aim Conversation::aim(std::optional<std::uint64_t> tokens_max) const { return rep_->aim(tokens_max); }

void Conversation::wait_for_compression() const {
  if (rep_->is_changing_here()) return;  // it would wait for itself
  std::unique_lock lock(rep_->background);
  rep_->background_ended.wait(lock, [&] { return !rep_->is_compressing; });
}

void Conversation::cancel_compression() {
  const std::lock_guard lock(rep_->background);
  rep_->stop_compressing.request_stop();
}

std::optional<Error> Conversation::set_tokenizer(std::string_view name) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return refused;
  Result<Counting> counting = counting_by(name);
  if (!counting) return counting.error();
  const std::lock_guard lock(rep_->turn);
  rep_->context.count_tokens = counting->count_message;
  {
    const std::lock_guard publishing(rep_->publishing);
    rep_->counting = std::move(*counting);
  }
  rep_->recount_is_due.store(true);
  return {};
}

std::shared_ptr<const Tokenizer> Conversation::tokenizer() const { return rep_->counting_now().tokenizer; }

std::optional<Error> Conversation::update_usage(RequestUsage usage) {
  const std::uint64_t tokens = stats().tokens;
  const std::lock_guard lock(rep_->usage_lock);
  if (usage.estimated_prompt == 0) {
    const std::optional<RequestUsage> known = rep_->usage.find(usage.request_id);
    usage.estimated_prompt = known ? known->estimated_prompt : tokens;
  }
  return rep_->usage.update(std::move(usage));
}

std::optional<Error> Conversation::finish_usage(std::string_view request_id) {
  const std::lock_guard lock(rep_->usage_lock);
  return rep_->usage.finish(request_id);
}

UsageTracker Conversation::usage() const {
  const std::lock_guard lock(rep_->usage_lock);
  return rep_->usage;
}

History Conversation::history() const {
  // During a change of this thread's own nothing is due: its turn began with the recount.
  if (rep_->recount_is_due.load()) {
    const std::lock_guard lock(rep_->turn);
    rep_->recount_if_due();
  }
  return rep_->current();
}

const Settings& Conversation::settings() const { return rep_->settings; }

Result<Conversation> Conversation::fork(Version version) const {
  Result<History> start = history().fork(version);
  if (!start) return std::move(start.error());
  return Conversation(std::make_unique<Rep>(rep_->settings, rep_->counting_now(), std::move(*start)));
}

Subscription Conversation::subscribe(std::function<void(const Event&)> receive) {
  return rep_->subscribers->add(std::move(receive));
}

}  // namespace undertext
