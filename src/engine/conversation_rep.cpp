#include "engine/conversation_rep.hpp"

#include <chrono>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "history/operation_table.hpp"
#include "history/state.hpp"
#include "recall/search.hpp"

namespace undertext {
namespace {

// What the subscribers hear of one operation, in the order of Event::Type but for context_changed,
// which comes last.
void append_events(std::vector<Event>& events, const Operation& operation, const Stats& before,
                   const Outcome& outcome) {
  const auto add = [&](Event::Type type, Ordinal ordinal = {}, BatchIndex batch = {}) {
    events.push_back({type, outcome.version, ordinal, batch});
  };
  for (std::uint64_t ordinal = before.total_messages; ordinal < outcome.stats.total_messages;
       ++ordinal) {
    add(Event::Type::message_added, Ordinal(ordinal));
  }
  if (outcome.opened_batch) add(Event::Type::batch_opened, {}, outcome.affected_batch_index);
  if (traits_of(operation).rolls_back)
    add(Event::Type::rolled_back, {}, outcome.affected_batch_index);
  events.insert(events.end(), outcome.events.begin(), outcome.events.end());
  add(Event::Type::context_changed);
}

}  // namespace

Event limit_crossed(Event::Type type, Version version, std::uint64_t tokens, std::uint64_t limit) {
  Event event{type, version};
  event.tokens_used = tokens;
  event.token_limit = limit;
  return event;
}

std::int64_t system_clock_ms() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count();
}

Conversation::Rep::Rep(Settings given, Counting counted, History start,
                       std::unique_ptr<Durable> stored)
    : settings(std::move(given)),
      durable(std::move(stored)),
      stats(start.stats()),
      tokenizer(settings.tokenizer),
      hysteresis(settings.compression.threshold),
      published(std::move(start)),
      counting(std::move(counted)),
      recount_is_due(false),
      requests(durable.get()) {
  context.count_tokens = counting.counter();
  context.pairs = settings.pairs;
  context.limits = settings.limits.message;
  if (durable) usage = durable->usage();
}

Result<void> Conversation::Rep::change_usage(
    const std::function<Result<void>(UsageTracker&)>& change) {
  if (!durable) {
    const std::lock_guard lock(usage_lock);
    return change(usage);
  }
  // Without the turn: a subscriber may report in the middle of a change.
  Result<UsageTracker> changed = durable->change_usage(change);
  if (!changed) return changed.error();
  const std::lock_guard lock(usage_lock);
  usage = *std::move(changed);
  return {};
}

Conversation::Rep::~Rep() {
  {
    const std::lock_guard lock(background);
    stop_compressing.request_stop();
  }
  if (compressing.joinable()) compressing.join();
}

std::optional<Error> Conversation::Rep::refuse_nested() const {
  if (!is_changing_here()) return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               "what is called during a change may read the conversation but must not change it"};
}

void Conversation::Rep::recount_if_due() {
  if (!recount_is_due.load()) return;
  History counted = current().recounted(context.count_tokens);
  const std::uint64_t before = stats.tokens;
  stats = counted.stats();
  publish(counted);
  recount_is_due.store(false);
  hysteresis.reset();
  // Limits may have been crossed without an operation; the next one tells.
  const Version version = current().version();
  if (settings.token_limit && before <= *settings.token_limit &&
      stats.tokens > *settings.token_limit) {
    notices.push_back(limit_crossed(Event::Type::token_limit_exceeded, version, stats.tokens,
                                    *settings.token_limit));
  }
  if (settings.compression.enabled && before <= settings.compression.threshold &&
      stats.tokens > settings.compression.threshold) {
    notices.push_back(limit_crossed(Event::Type::compression_threshold_exceeded, version,
                                    stats.tokens, settings.compression.threshold));
  }
}

Result<Outcome> Conversation::Rep::carry_out(const Operation& operation, Work& work,
                                             bool tell) const {
  const std::string& id = operation.options.operation_id;
  if (!id.empty()) {
    if (std::optional<Outcome> first = first_answer(id)) return std::move(*first);
    if (const auto found = work.answered.find(id); found != work.answered.end())
      return found->second;
  }
  const std::optional<Operation> with = equipped(operation);
  Result<Step> step = work.history.apply(with ? *with : operation, context);
  if (!step) return std::move(step.error());
  Outcome outcome{std::move(step->applied), {}};
  if (outcome.version == work.history.version()) {  // a RECONCILE that found nothing new
    if (!id.empty()) work.answered.emplace(id, outcome);
    return outcome;
  }
  if (traits_of(operation).by_strategy) {
    outcome.by_strategy = true;
    outcome.receipt = step->history.receipt(outcome.version);
  }
  if (settings.token_limit && work.stats.tokens <= *settings.token_limit &&
      outcome.stats.tokens > *settings.token_limit) {
    outcome.events.push_back(limit_crossed(Event::Type::token_limit_exceeded, outcome.version,
                                           outcome.stats.tokens, *settings.token_limit));
  }
  if (!id.empty()) work.answered.emplace(id, outcome);
  if (tell) append_events(work.events, operation, work.stats, outcome);
  if (traits_of(operation).brings_back && outcome.stats.tokens > work.stats.tokens)
    work.brought_back = true;
  work.history = std::move(step->history);
  work.stats = outcome.stats;
  work.changed = true;
  return outcome;
}

std::optional<Operation> Conversation::Rep::equipped(const Operation& operation) const {
  if (const auto* asked = std::get_if<op::Recall>(&operation.what); asked && !asked->find) {
    op::Recall with = *asked;
    with.find = [this, asked](const History& now) { return recall(*asked, now, {}); };
    return Operation{std::move(with), operation.options};
  }
  if (!durable) return {};
  if (const auto* asked = std::get_if<op::MergeFork>(&operation.what); asked && !asked->find) {
    op::MergeFork with = *asked;
    with.find = [this, asked](const History& now) { return merge(*asked, now); };
    return Operation{std::move(with), operation.options};
  }
  if (const auto* asked = std::get_if<op::Expand>(&operation.what); asked && !asked->find) {
    op::Expand with = *asked;
    with.find = [this](const op::MergedFork& merged) { return expand(merged); };
    return Operation{std::move(with), operation.options};
  }
  return {};
}

std::optional<Outcome> Conversation::Rep::first_answer(const std::string& operation_id) const {
  if (operation_id.empty()) return {};
  if (const auto found = answered.find(operation_id); found != answered.end()) return found->second;
  return durable ? durable->answered(operation_id) : std::nullopt;
}

std::optional<Error> Conversation::Rep::catch_up(const Subscribers::List& listeners) {
  if (!durable) return {};
  return answering_failure([&]() -> std::optional<Error> {
    History newest = current();
    const Version before = newest.version();
    const Durable::News news = durable->catch_up(newest);
    if (std::optional<UsageTracker> reported = durable->news_of_usage()) {
      const std::lock_guard lock(usage_lock);
      usage = *std::move(reported);
    }
    if (durable->tokenizer() != tokenizer) {
      Result<Counting> theirs = counting_by(durable->tokenizer());
      if (!theirs)
        return Error{ErrorCode::conflict,
                     "this conversation is counted by " + durable->tokenizer() +
                         " now, which is not there: " + theirs.error().message};
      count_by(std::move(*theirs), durable->tokenizer());
      hysteresis.reset();
    }
    if (news == Durable::News::none) return {};
    stats = newest.stats();
    publish(newest);
    if (news == Durable::News::rewritten) tell_rewritten(listeners);
    if (current().version() != before) {
      const Event changed[] = {{Event::Type::context_changed, current().version()}};
      Subscribers::deliver(listeners, changed);
    }
    return {};
  });
}

void Conversation::Rep::count_by(Counting counted, std::string_view name) {
  context.count_tokens = counted.counter();
  tokenizer = name;
  const std::lock_guard lock(publishing);
  counting = std::move(counted);
}

Result<Recalled> Conversation::Rep::recall(const RecallQuery& query, const History& history,
                                           std::uint64_t published_length,
                                           const Rerank& rerank) const {
  return answering_failure([&]() -> Result<Recalled> {
    const ReadWords read = durable ? ReadWords([&] { return durable->words(); }) : ReadWords();
    return search(history, recall_cache.index_of(history, published_length, read), query, rerank);
  });
}

namespace {

// What a model answered, by text.
struct KeptFits {
  std::unordered_map<std::string, double> fits = {};

  Rerank listening_to(const Rerank& model) {
    return [this, &model](const std::string& text, const std::vector<std::string>& texts) {
      Result<std::vector<double>> answer = model(text, texts);
      if (answer && answer->size() == texts.size())
        for (std::size_t i = 0; i < texts.size(); ++i) fits[texts[i]] = (*answer)[i];
      return answer;
    };
  }
  // A message that was stored meanwhile comes last. Without any answer the words alone decide.
  Result<std::vector<double>> answer(const std::vector<std::string>& texts) const {
    if (fits.empty()) return Error{ErrorCode::unavailable, "the model did not answer"};
    std::vector<double> all;
    for (const std::string& text : texts) {
      const auto found = fits.find(text);
      all.push_back(found == fits.end() ? std::numeric_limits<double>::lowest() : found->second);
    }
    return all;
  }
};

}  // namespace

// The model may take seconds, and other writers must not wait for it meanwhile. So it is asked
// about the candidates of a frozen version, and the change searches again with what it answered.
void Conversation::Rep::rerank_before(Operation& operation, const History& frozen,
                                      const std::shared_ptr<undertext::Work>& work) {
  auto* const asked = std::get_if<op::Recall>(&operation.what);
  if (asked == nullptr || asked->find || !settings.rerank) return;
  const OperationOptions& options = operation.options;
  if (options.expected_version && *options.expected_version != frozen.version()) return;
  const auto kept = std::make_shared<KeptFits>();
  static_cast<void>(recall({asked->text, asked->budget_tokens, asked->which}, frozen.limited(work),
                           frozen.rep().log.size(), kept->listening_to(settings.rerank)));
  asked->find = [this, kept, query = *asked](const History& now) {
    return recall(query, now, [&](const std::string&, const std::vector<std::string>& texts) {
      return kept->answer(texts);
    });
  };
}

Result<op::Recalled> Conversation::Rep::recall(const op::Recall& asked, const History& history,
                                               const Rerank& rerank) const {
  const Result<Recalled> found = recall({asked.text, asked.budget_tokens, asked.which}, history,
                                        current().rep().log.size(), rerank);
  if (!found) return found.error();
  Result<Message> message = quote(*found, asked.text, context.limits);
  if (!message) return message.error();
  op::Recalled recalled{asked.text, asked.budget_tokens, {}, {std::move(*message)}};
  for (const RecalledUnit& unit : found->units)
    for (const Ordinal ordinal : unit.ordinals) recalled.quoted.push_back(ordinal.value);
  return recalled;
}

void Conversation::Rep::tell_rewritten(const Subscribers::List& listeners) const {
  recall_cache.clear();
  const Event rewritten[] = {{Event::Type::rewritten, current().version()}};
  Subscribers::deliver(listeners, rewritten);
}

std::optional<Error> Conversation::Rep::change_stored(
    const std::function<std::optional<Error>(History&)>& make, Tell tell) {
  if (!durable)
    return Error{ErrorCode::unsupported, "this conversation is in memory; open it from a store"};
  if (std::optional<Error> refused = refuse_nested()) return refused;
  const Turn whose(*this);
  return answering_failure([&]() -> std::optional<Error> {
    if (std::optional<Error> error = catch_up(subscribers->list())) return error;
    History history = current();
    if (std::optional<Error> error = make(history)) return error;
    stats = history.stats();
    publish(history);
    if (tell == Tell::rewritten) tell_rewritten(subscribers->list());
    return {};
  });
}

std::optional<Error> Conversation::Rep::recount_stored(
    const std::function<std::uint32_t(const Message&)>& count, std::string_view name) {
  return answering_failure([&]() -> std::optional<Error> {
    if (std::optional<Error> error = catch_up(subscribers->list())) return error;
    History counted = current().recounted(count);
    if (std::optional<Error> error = durable->recounted(counted, name)) return error;
    stats = counted.stats();
    publish(counted);
    hysteresis.reset();
    tell_rewritten(subscribers->list());
    return {};
  });
}

// A store has the answers of operations that made a version, and no others.
void Conversation::Rep::remember(Outcomes& answers) noexcept {
  constexpr std::size_t unstored_max = 4096;
  if (durable) {
    std::erase_if(answers, [](const auto& each) {
      const std::optional<Reconciliation>& made = each.second.reconciliation;
      return !made || made->outcome != ReconcileOutcome::same;
    });
    if (answered.size() + answers.size() > unstored_max) answered.clear();
  }
  answered.merge(answers);
}

void Conversation::Rep::publish_work(Work work, const Subscribers::List& listeners) noexcept {
  remember(work.answered);
  if (!work.changed) return;
  stats = work.stats;
  publish(work.history);
  Subscribers::deliver(listeners, work.events);
  if (work.compress_later) start_compressing(current());
}

}  // namespace undertext
