#include <undertext/conversation.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "compression/plan_by.hpp"
#include "engine/conversation_rep.hpp"
#include "engine/index_conversation.hpp"
#include "engine/window.hpp"
#include "history/expected_version.hpp"
#include "history/operation_table.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

std::optional<Error> check(const CompressionConfig& config) {
  if (!config.enabled) return {};
  const auto bad = [](const char* field, const char* problem) {
    return Error{ErrorCode::invalid_argument, problem, field,
                 std::string("compressionConfig.") + field};
  };
  if (config.threshold == 0)
    return bad("threshold",
               "threshold must be more than 0 for a conversation that compresses itself: give it, "
               "a tokenLimit, or a model "
               "whose window is known");
  if (config.target_tokens.value_or(0) > config.threshold)
    return bad("targetTokens", "targetTokens must not be above threshold");
  return {};
}

std::int64_t now_ms(const Settings& settings) {
  return settings.clock_ms ? settings.clock_ms() : system_clock_ms();
}

// Checks the settings, fills in what is left out, and finds the tokenizer.
Result<Counting> prepare(Settings& settings) {
  CompressionConfig& compression = settings.compression;
  if (compression.threshold == 0) compression.threshold = settings.token_limit.value_or(0);
  // What the window leaves beside tools, instructions and the answer. Not for an explicit COMPRESS,
  // which has its own target.
  if (compression.threshold == 0 && compression.enabled)
    if (const std::optional<std::uint64_t> window = settled_window(settings))
      compression.threshold = *window - *window / 4;
  if (std::optional<Error> error = check(settings.compression)) return std::move(*error);
  if (!settings.compression.strategy) settings.compression.strategy = default_strategy();
  if (!settings.costs.empty() && find_cost_profile(settings.costs) == nullptr)
    return Error{ErrorCode::not_found, "no costs are called \"" + settings.costs + "\"", "costs"};
  settings.tokenizer = counting_name(settings.model, settings.tokenizer, settings.costs);
  return counting_by(settings.tokenizer);
}

// Whether the operation means the same on whatever another writer has made of the conversation.
bool may_rebase(const Operation& operation) {
  return traits_of(operation).may_rebase && !operation.options.expected_version;
}

// The oldest version that may be younger than `since`. Clocks go wrong: a version whose time is
// before that of an earlier one says nothing of its age, so only one whose time is in order shows
// that it, and all before it, are older.
std::uint64_t first_since(const History& history, std::int64_t since_ms) {
  std::uint64_t first = history.first_version().value;
  std::int64_t latest_ms = std::numeric_limits<std::int64_t>::min();
  for (std::uint64_t v = first; v <= history.version().value; ++v) {
    const std::int64_t at_ms = history.version_info(Version(v)).timestamp_ms;
    if (at_ms >= latest_ms && at_ms < since_ms) first = v + 1;
    latest_ms = std::max(latest_ms, at_ms);
  }
  return std::min(first, history.version().value);
}

// The oldest version that a retention asks for.
std::uint32_t first_kept(const History& history, const Retention& retention, std::int64_t now) {
  constexpr std::int64_t day_ms = 24ll * 60 * 60 * 1000;
  const std::uint64_t head = history.version().value;
  std::uint64_t first = head;
  if (retention.versions)
    first =
        std::min(first, head - std::min(head, std::max<std::uint64_t>(*retention.versions, 1) - 1));
  if (retention.batches) {
    const std::vector<BatchInfo> batches = history.batches();
    const std::uint64_t kept =
        std::min<std::uint64_t>(std::max<std::uint64_t>(*retention.batches, 1), batches.size());
    first = std::min(first, batches[batches.size() - kept].opened_in);
  }
  if (retention.days) {
    const std::int64_t since =
        now -
        static_cast<std::int64_t>(std::min<std::uint64_t>(*retention.days, 1u << 20)) * day_ms;
    first = std::min(first, first_since(history, since));
  }
  return static_cast<std::uint32_t>(std::max(first, history.first_version().value));
}

IfShort if_short(const CompressOptions& options) {
  return options.progress ? IfShort::accept : IfShort::refuse;
}

Error not_stored() {
  return {ErrorCode::unsupported, "this conversation is in memory; open it from a store"};
}

// The prompt of a request that nobody estimated is the view as it was when it was first reported.
RequestUsage with_estimate(RequestUsage usage, const UsageTracker& tracker, std::uint64_t tokens) {
  if (usage.estimated_prompt != 0) return usage;
  const std::optional<RequestUsage> known = tracker.find(usage.request_id);
  usage.estimated_prompt = known ? known->estimated_prompt : tokens;
  return usage;
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
    case Event::Type::rewritten: return "REWRITTEN";
  }
  return "";
}

Conversation::Conversation() : Conversation(open(Settings()).value()) {}
Conversation::Conversation(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation& Conversation::operator=(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

Result<Conversation> Conversation::open(Settings settings) {
  Result<Counting> counting = prepare(settings);
  if (!counting) return counting.error();
  const std::int64_t now = now_ms(settings);
  return Conversation(
      std::make_unique<Rep>(std::move(settings), std::move(*counting), History(now)));
}

Result<Conversation> Conversation::open(std::shared_ptr<Store> store, std::string_view id,
                                        Settings settings, const OpenOptions& options) {
  const bool as_stored =
      settings.tokenizer.empty() && settings.model.empty() && settings.costs.empty();
  Result<Counting> counting = prepare(settings);
  if (!counting) return counting.error();
  Result<std::unique_ptr<Durable>> durable =
      Durable::open(std::move(store), id, settings.tokenizer, options, now_ms(settings));
  if (!durable) return durable.error();
  return answering_failure([&]() -> Result<Conversation> {
    History history = (*durable)->load();
    if (as_stored && settings.tokenizer != (*durable)->tokenizer()) {
      settings.tokenizer = (*durable)->tokenizer();
      counting = counting_by(settings.tokenizer);
      if (!counting) return counting.error();
    }
    for (Tries tries; (*durable)->tokenizer() != settings.tokenizer; history = (*durable)->load()) {
      history = history.recounted(counting->counter());
      const std::optional<Error> error = (*durable)->recounted(history, settings.tokenizer);
      if (error && !tries.may_retry(*error)) return *error;
    }
    return Conversation(std::make_unique<Rep>(std::move(settings), std::move(*counting),
                                              std::move(history), std::move(*durable)));
  });
}

namespace {

Result<std::string> read_stored(Store& store, std::string_view id,
                                std::string (*member_of)(const ConversationRecord&)) {
  const Result<ConversationRecord> record = store.find(id);
  if (!record) return record.error();
  return answering_failure([&]() -> Result<std::string> { return member_of(*record); });
}

}  // namespace

Result<std::string> Conversation::stored_note(Store& store, std::string_view id) {
  return read_stored(store, id, Durable::note_of);
}

Result<std::string> Conversation::stored_tokenizer(Store& store, std::string_view id) {
  return read_stored(store, id, Durable::tokenizer_of);
}

Result<std::string> Conversation::stored_maker(Store& store, std::string_view id) {
  return read_stored(store, id, Durable::maker_of);
}

Result<Outcome> Conversation::apply(Operation operation, std::shared_ptr<Work> work_limits) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  if (std::holds_alternative<op::Recall>(operation.what) && rep_->settings.rerank) {
    if (Result<void> done = catch_up(); !done) return std::move(done.error());
    const Result<bool> repeated = rep_->is_repeated(operation.options);
    if (!repeated) return repeated.error();
    if (!*repeated) rep_->rerank_before(operation, history(), work_limits);
  }
  return rep_->change_within(
      std::move(work_limits), may_rebase(operation), [&](Rep::Work& work, bool tell) {
        const std::uint64_t tokens_before = work.stats.tokens;
        Result<Outcome> outcome = rep_->carry_out(operation, work, tell);
        if (outcome) rep_->compress_if_due(operation, tokens_before, work, *outcome, tell);
        return outcome;
      });
}

Result<std::vector<Outcome>> Conversation::apply(std::vector<Operation> operations,
                                                 std::shared_ptr<Work> work_limits) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  if (operations.empty())
    return Error{ErrorCode::invalid_argument, "a list of operations must not be empty"};
  const bool all_may = std::all_of(operations.begin(), operations.end(), may_rebase);
  return rep_->change_within(
      std::move(work_limits), all_may,
      [&](Rep::Work& work, bool tell) -> Result<std::vector<Outcome>> {
        const std::uint64_t tokens_before = work.stats.tokens;
        std::vector<Outcome> outcomes;
        outcomes.reserve(operations.size());
        for (const Operation& operation : operations) {
          Result<Outcome> outcome =
              answering_failure([&] { return rep_->carry_out(operation, work, tell); });
          if (!outcome) {
            outcome.error().operation_index = outcomes.size();
            return std::move(outcome.error());
          }
          outcomes.push_back(std::move(*outcome));
        }
        // What follows belongs to the last operation that did something; a repeated one answers as
        // the first time.
        for (std::size_t k = outcomes.size(); work.changed && k-- > 0;) {
          if (outcomes[k].version != work.history.version()) continue;
          rep_->compress_if_due(operations[k], tokens_before, work, outcomes[k], tell);
          break;
        }
        return outcomes;
      });
}

Result<op::CompressBy> Conversation::compress_by(StrategyPtr strategy,
                                                 const CompressOptions& options) const {
  if (strategy->is_slow())
    return Error{ErrorCode::unsupported,
                 "a strategy that asks a model cannot be part of a list: others would wait for it",
                 "strategy"};
  Aim aim = rep_->aim_of(*strategy, options, history());
  return op::CompressBy{[strategy = std::move(strategy), aim = std::move(aim),
                         if_short = if_short(options)](const History& history) {
    return plan_reaching(*strategy, history, aim, if_short);
  }};
}

Result<Outcome> Conversation::compress(const Strategy& strategy, const CompressOptions& options) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  Aim aim = rep_->aim_of(strategy, options, history());
  aim.cancel = options.cancel;
  aim.on_progress = options.on_progress;
  const auto tell = [&](CompressionProgress::Stage stage) {
    if (options.on_progress) options.on_progress({.stage = stage});
  };
  const auto make_plan = [&](const History& history) -> Result<Plan> {
    tell(CompressionProgress::Stage::planning);
    Result<Plan> plan = plan_reaching(strategy, history, aim, if_short(options));
    if (plan && options.cancel.stop_requested())
      return Error{ErrorCode::unavailable, "it was cancelled"};
    if (plan) tell(CompressionProgress::Stage::applying);
    return plan;
  };
  if (!strategy.is_slow())
    return apply({op::CompressBy{make_plan}, options.operation}, options.work);

  if (Result<void> done = catch_up(); !done) return std::move(done.error());
  const History frozen = history().limited(options.work);
  const Result<bool> repeated = rep_->is_repeated(options.operation);
  if (!repeated) return repeated.error();
  // Nothing is to be summarised for an operation that is repeated.
  if (*repeated) return apply({op::CompressBy{}, options.operation}, options.work);
  if (std::optional<Error> error = check_expected_version(options.operation, frozen.version()))
    return std::move(*error);
  const Result<Plan> plan = answering_failure([&] { return make_plan(frozen); });
  if (!plan) return plan.error();
  bool moved_on = false;
  Result<Outcome> outcome = apply({op::CompressBy{[&](const History& now) -> Result<Plan> {
                                     moved_on = now.version() != frozen.version();
                                     return moved_on ? rebase(*plan, frozen, now) : *plan;
                                   }},
                                   options.operation},
                                  options.work);
  if (!outcome && moved_on && is_refused_plan(outcome.error())) return as_conflict(outcome.error());
  return outcome;
}

Result<Fit> Conversation::fit(const Budget& budget, const Strategy& strategy) const {
  return fit_view(history(), budget, strategy, aim());
}

Result<MessageList> Conversation::messages(const MessageQuery& query) const {
  return history().messages(query);
}

Result<MessageCount> Conversation::count(const MessageQuery& query) const {
  return history().count(query);
}

Result<Recalled> Conversation::recall(const RecallQuery& query) const {
  return recall(query, history());
}

Result<Recalled> Conversation::recall(const RecallQuery& query, const History& at) const {
  return rep_->recall(query, at, rep_->current().rep().log.size(), rep_->settings.rerank);
}

Aim Conversation::aim(std::optional<std::uint64_t> tokens_max) const {
  return rep_->aim(tokens_max);
}

void Conversation::wait_for_compression() const {
  if (rep_->is_changing_here()) return;  // it would wait for itself
  std::unique_lock lock(rep_->background);
  rep_->background_ended.wait(lock, [&] { return !rep_->is_compressing; });
}

void Conversation::cancel_compression() {
  const std::lock_guard lock(rep_->background);
  rep_->stop_compressing.request_stop();
}

Result<void> Conversation::set_tokenizer(std::string_view tokenizer) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return refused;
  const std::string name = counting_name(rep_->settings.model, tokenizer, rep_->settings.costs);
  Result<Counting> counting = counting_by(name);
  if (!counting) return counting.error();
  const Rep::Turn turn(*rep_);  // with its name: catching up calls subscribers
  if (rep_->durable) {
    if (std::optional<Error> error = rep_->recount_stored(counting->counter(), name)) return error;
  }
  rep_->count_by(std::move(*counting), name);
  if (!rep_->durable) rep_->recount_is_due.store(true);
  return {};
}

std::shared_ptr<const Tokenizer> Conversation::tokenizer() const {
  return rep_->counting_now().tokenizer;
}
std::string Conversation::counting() const { return rep_->counting_now().name; }

Result<void> Conversation::update_usage(const RequestUsage& usage) {
  const std::uint64_t tokens = stats().tokens;
  return rep_->change_usage(
      [&](UsageTracker& tracker) { return tracker.update(with_estimate(usage, tracker, tokens)); });
}

Result<void> Conversation::record_usage(const RequestUsage& usage) {
  const std::uint64_t tokens = stats().tokens;
  return rep_->change_usage(
      [&](UsageTracker& tracker) { return tracker.record(with_estimate(usage, tracker, tokens)); });
}

Result<void> Conversation::finish_usage(std::string_view request_id) {
  return rep_->change_usage([&](UsageTracker& tracker) { return tracker.finish(request_id); });
}

Result<void> Conversation::set_usage(const UsageTracker& usage) {
  return rep_->change_usage([&](UsageTracker& tracker) -> Result<void> {
    tracker = usage;
    return {};
  });
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

Result<Conversation> Conversation::fork_with(Settings settings, Version version) const {
  Result<History> start = history().fork(version);
  if (!start) return std::move(start.error());
  return answering_failure([&]() -> Result<Conversation> {
    return Conversation(
        std::make_unique<Rep>(std::move(settings), rep_->counting_now(), std::move(*start)));
  });
}

Result<Conversation> Conversation::fork(Version version) const {
  return fork_with(rep_->settings, version);
}

Result<Conversation> Conversation::trial(Version version) const {
  Settings settings = rep_->settings;
  if (settings.compression.strategy->is_slow()) settings.compression.enabled = false;
  return fork_with(std::move(settings), version);
}

const std::string& Conversation::id() const {
  static const std::string none;
  return rep_->durable ? rep_->durable->id() : none;
}

Result<void> Conversation::catch_up() {
  if (!rep_->durable) return {};
  if (std::optional<Error> refused = rep_->refuse_nested()) return refused;
  const Rep::Turn turn(*rep_);
  return rep_->catch_up(rep_->subscribers->list());
}

Result<Conversation> Conversation::fork(Version version, std::string_view id,
                                        std::string_view made_by) {
  if (!rep_->durable) return not_stored();
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  const Rep::Turn turn(*rep_);
  return answering_failure([&]() -> Result<Conversation> {
    if (std::optional<Error> error = rep_->catch_up(rep_->subscribers->list()))
      return std::move(*error);
    const Result<History> start = rep_->current().fork(version);
    if (!start) return start.error();
    if (std::optional<Error> error = rep_->durable->fork(*start, id, made_by))
      return std::move(*error);
    return rep_->durable->open_another(id, rep_->settings);
  });
}

Result<void> Conversation::checkpoint() {
  return rep_->change_stored([&](History& history) { return rep_->durable->checkpoint(history); });
}

Result<void> Conversation::check() {
  return rep_->change_stored([&](History& history) -> std::optional<Error> {
    if (std::optional<Error> error = rep_->durable->check(history)) return error;
    RequestTexts(rep_->requests, history, rep_->recent_texts).check();
    return {};
  });
}

Result<void> Conversation::recount() {
  return rep_->change_stored(
      [&](History& history) {
        history = history.recounted_where_replaced(rep_->context.count_tokens);
        return rep_->durable->recounted(history, rep_->tokenizer);
      },
      Rep::Tell::rewritten);
}

Result<Reclaimed> Conversation::prune_versions(const Retention& retention) {
  if (!retention.versions && !retention.batches && !retention.days) {
    return Error{ErrorCode::invalid_argument, "say what to keep: versions, batches or days"};
  }
  Reclaimed reclaimed;
  const std::int64_t now = now_ms(rep_->settings);
  const std::optional<Error> error = rep_->change_stored(
      [&](History& history) -> std::optional<Error> {
        const std::uint32_t first = first_kept(history, retention, now);
        reclaimed.first_version = Version(first);
        Result<Reclaimed> done = rep_->durable->prune(history, first, now);
        if (!done) return done.error();
        reclaimed = *done;
        return {};
      },
      Rep::Tell::rewritten);
  if (error) return *error;
  if (reclaimed.messages > 0) index_again(*rep_->durable->store(), id());
  return reclaimed;
}

Subscription Conversation::subscribe(std::function<void(const Event&)> receive) {
  return rep_->subscribers->add(std::move(receive));
}

}  // namespace undertext
