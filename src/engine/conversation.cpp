#include <undertext/conversation.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "engine/subscribers.hpp"
#include "tokens/estimate.hpp"

namespace undertext {

namespace {

std::int64_t system_clock_ms() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count();
}

using Outcomes = std::unordered_map<std::string, Outcome>;

// What the subscribers hear of one operation, in the order of Event::Type but for context_changed, which comes last.
void append_events(std::vector<Event>& events, const Operation& operation, const Stats& before, const Outcome& outcome) {
  const auto add = [&](Event::Type type, Ordinal ordinal = {}, BatchIndex batch = {}) {
    events.push_back({type, outcome.version, ordinal, batch});
  };
  for (std::uint64_t ordinal = before.total_messages; ordinal < outcome.stats.total_messages; ++ordinal) {
    add(Event::Type::message_added, Ordinal(ordinal));
  }
  if (outcome.opened_batch) add(Event::Type::batch_opened, {}, outcome.affected_batch_index);
  if (std::holds_alternative<op::Rollback>(operation.what) || std::holds_alternative<op::EndBatch>(operation.what)) {
    add(Event::Type::rolled_back, {}, outcome.affected_batch_index);
  }
  events.insert(events.end(), outcome.events.begin(), outcome.events.end());
  add(Event::Type::context_changed);
}

}  // namespace

std::string_view name(Event::Type type) {
  switch (type) {
    case Event::Type::message_added: return "MESSAGE_ADDED";
    case Event::Type::batch_opened: return "BATCH_OPENED";
    case Event::Type::rolled_back: return "ROLLED_BACK";
    case Event::Type::context_changed: return "CONTEXT_CHANGED";
    case Event::Type::token_limit_exceeded: return "TOKEN_LIMIT_EXCEEDED";
  }
  return "";
}

// Locks, in the order in which they are taken: `turn` for the whole of a change and its events; a subscriber's own while it is
// called; `publishing` only while the handle is copied or swapped, so that readers wait for no more than that.
struct Conversation::Rep {
  Rep(Settings given, History start) : settings(std::move(given)), stats(start.stats()), published(std::move(start)) {
    context.count_tokens = estimate_tokens;
    context.pairs = settings.pairs;
    context.limits = settings.limits.message;
  }

  const Settings settings;

  std::mutex turn;
  ApplyContext context;                   // guarded by turn
  Outcomes answered;                      // guarded by turn; by operation_id
  Stats stats;                            // guarded by turn; of what is published
  std::atomic<std::thread::id> changing;  // the thread whose turn it is

  const std::shared_ptr<Subscribers> subscribers = Subscribers::make();

  mutable std::mutex publishing;
  History published;  // guarded by publishing; written only by the one whose turn it is

  History current() const {
    const std::lock_guard lock(publishing);
    return published;
  }

  // The old history goes out in `next`, to be destroyed outside the lock.
  void publish(History& next) noexcept {
    const std::lock_guard lock(publishing);
    std::swap(published, next);
  }

  // A list of operations on its way: everything that is committed when all of it has succeeded.
  struct Work {
    History history;
    Stats stats;
    Outcomes answered = {};  // by operations of this list
    std::vector<Event> events = {};
    bool changed = false;
  };

  Result<Outcome> carry_out(const Operation& operation, Work& work, bool tell) const;
  void make_room(const Work& work) {
    if (!work.answered.empty()) answered.reserve(answered.size() + work.answered.size());
  }
  void commit(Work work, const Subscribers::List& listeners) noexcept;  // after make_room(), nothing here can fail

  // A change made from within a change (by a subscriber, a transforming function, the clock) could only wait for itself.
  std::optional<Error> refuse_nested() const {
    if (changing.load() != std::this_thread::get_id()) return std::nullopt;
    return Error{ErrorCode::invalid_argument, "what is called during a change may read the conversation but must not change it"};
  }

  class Turn {
   public:
    explicit Turn(Rep& rep) : rep_(rep), lock_(rep.turn) { rep_.changing.store(std::this_thread::get_id()); }
    ~Turn() { rep_.changing.store(std::thread::id()); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Rep& rep_;
    const std::lock_guard<std::mutex> lock_;
  };

  void read_clock() { context.now_ms = settings.clock_ms ? settings.clock_ms() : system_clock_ms(); }
};

Result<Outcome> Conversation::Rep::carry_out(const Operation& operation, Work& work, bool tell) const {
  const std::string& id = operation.options.operation_id;
  if (!id.empty()) {
    if (const auto found = answered.find(id); found != answered.end()) return found->second;
    if (const auto found = work.answered.find(id); found != work.answered.end()) return found->second;
  }
  Result<Step> step = work.history.apply(operation, context);
  if (!step) return std::move(step.error());
  Outcome outcome{std::move(step->applied), {}};
  if (settings.token_limit && work.stats.tokens <= *settings.token_limit && outcome.stats.tokens > *settings.token_limit) {
    Event exceeded{Event::Type::token_limit_exceeded, outcome.version};
    exceeded.tokens_used = outcome.stats.tokens;
    exceeded.token_limit = *settings.token_limit;
    outcome.events.push_back(exceeded);
  }
  if (!id.empty()) work.answered.emplace(id, outcome);
  if (tell) append_events(work.events, operation, work.stats, outcome);
  work.history = std::move(step->history);
  work.stats = outcome.stats;
  work.changed = true;
  return outcome;
}

void Conversation::Rep::commit(Work work, const Subscribers::List& listeners) noexcept {
  if (!work.changed) return;
  answered.merge(work.answered);
  stats = work.stats;
  publish(work.history);
  Subscribers::deliver(listeners, work.events);
}

Conversation::Conversation() : rep_(std::make_unique<Rep>(Settings{}, History(system_clock_ms()))) {}
Conversation::Conversation(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation& Conversation::operator=(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

Result<Conversation> Conversation::open(Settings settings) {
  if (settings.tokenizer != "estimate") {
    return Error{ErrorCode::unsupported, "the only tokenizer of this version is \"estimate\"", "tokenizer"};
  }
  const std::int64_t now_ms = settings.clock_ms ? settings.clock_ms() : system_clock_ms();
  return Conversation(std::make_unique<Rep>(std::move(settings), History(now_ms)));
}

Result<Outcome> Conversation::apply(Operation operation) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  const Rep::Turn turn(*rep_);
  rep_->read_clock();
  const Subscribers::List listeners = rep_->subscribers->list();
  Rep::Work work{rep_->current(), rep_->stats};
  Result<Outcome> outcome = rep_->carry_out(operation, work, !listeners.empty());
  if (!outcome) return outcome;
  rep_->make_room(work);
  rep_->commit(std::move(work), listeners);
  return outcome;
}

Result<std::vector<Outcome>> Conversation::apply(std::vector<Operation> operations) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  if (operations.empty()) return Error{ErrorCode::invalid_argument, "a list of operations must not be empty"};
  const Rep::Turn turn(*rep_);
  rep_->read_clock();
  const Subscribers::List listeners = rep_->subscribers->list();
  Rep::Work work{rep_->current(), rep_->stats};
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
  rep_->make_room(work);
  rep_->commit(std::move(work), listeners);
  return outcomes;
}

History Conversation::history() const { return rep_->current(); }

const Settings& Conversation::settings() const { return rep_->settings; }

Result<Conversation> Conversation::fork(Version version) const {
  Result<History> start = history().fork(version);
  if (!start) return std::move(start.error());
  return Conversation(std::make_unique<Rep>(rep_->settings, std::move(*start)));
}

Subscription Conversation::subscribe(std::function<void(const Event&)> receive) {
  return rep_->subscribers->add(std::move(receive));
}

}  // namespace undertext
