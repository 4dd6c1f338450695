// What a conversation is made of: the published history, the one writer's work, and its own
// compression.
//
// Locks, in the order in which they are taken: `turn` for the whole of a change and its events; a
// subscriber's own while it is called; `publishing` only while the handle is copied or swapped, so
// that readers wait for no more than that. `background` and `usage_lock` are held for moments, and
// nothing else is taken under them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <undertext/conversation.hpp>

#include "engine/durable.hpp"
#include "engine/hysteresis.hpp"
#include "engine/lock_within.hpp"
#include "engine/recall_cache.hpp"
#include "engine/request_log.hpp"
#include "engine/subscribers.hpp"
#include "tokens/counting.hpp"

namespace undertext {

std::int64_t system_clock_ms();
Event limit_crossed(Event::Type type, Version version, std::uint64_t tokens, std::uint64_t limit);

struct Conversation::Rep {
  using Outcomes = std::unordered_map<std::string, Outcome>;

  Rep(Settings given, Counting counting, History start, std::unique_ptr<Durable> stored = nullptr);
  ~Rep();
  Rep(const Rep&) = delete;
  Rep& operator=(const Rep&) = delete;

  const Settings settings;

  std::timed_mutex turn;
  const std::unique_ptr<Durable> durable;  // guarded by turn; null: the conversation is in memory
  ApplyContext context;                    // guarded by turn
  // Guarded by turn; by operation_id. Of a stored one only those that made no version.
  Outcomes answered;
  Stats stats;            // guarded by turn; of what is published
  std::string tokenizer;  // guarded by turn; its name
  Hysteresis hysteresis;  // guarded by turn
  // guarded by turn; what happened in the background since the last operation
  std::vector<Event> notices;
  std::atomic<std::thread::id> changing;  // the thread whose turn it is

  const std::shared_ptr<Subscribers> subscribers = Subscribers::make();

  mutable std::mutex publishing;
  // guarded by publishing; written only by the one whose turn it is
  History published;
  Counting counting;                 // guarded by publishing; likewise
  std::atomic<bool> recount_is_due;  // set and cleared by the one whose turn it is

  mutable std::mutex usage_lock;
  UsageTracker usage;  // guarded by usage_lock; of a stored one, as it was last read or written
  Result<void> change_usage(const std::function<Result<void>(UsageTracker&)>& change);

  mutable RecallCache recall_cache;  // has a lock of its own
  // Of a history of this conversation, whose first `published` messages are there for good.
  Result<Recalled> recall(const RecallQuery& query, const History& history, std::uint64_t published,
                          const Rerank& rerank) const;
  // Part of a change: `rerank` must not wait for anybody.
  Result<op::Recalled> recall(const op::Recall& asked, const History& history,
                              const Rerank& rerank) const;
  // Asks settings.rerank about a RECALL, on any thread outside a change, and lets the operation
  // use the answers. What fails is left to the change.
  void rerank_before(Operation& operation, const History& frozen,
                     const std::shared_ptr<undertext::Work>& work);

  // What MERGE_FORK and EXPAND take from forks. unsupported: the conversation is in memory.
  Result<op::MergedFork> merge(const op::MergeFork& asked, const History& now) const;
  Result<op::ExpandFork> expand(const op::MergedFork& merged) const;
  // The operation with the function that looks for what it needs; nothing, where it needs none.
  std::optional<Operation> equipped(const Operation& operation) const;

  RequestRows requests;      // any thread reads; written by the one whose turn it is
  RecentTexts recent_texts;  // has a lock of its own
  // on any thread; limited
  History history_for_request(std::uint64_t number, const std::shared_ptr<undertext::Work>& work);

  mutable std::mutex background;
  mutable std::condition_variable background_ended;
  bool is_compressing = false;  // guarded by background
  // guarded by background; said by operations while it is compressing
  bool is_due_again = false;
  std::stop_source stop_compressing;  // guarded by background
  std::jthread compressing;           // guarded by turn; joined before anything above goes

  History current() const {
    const std::lock_guard lock(publishing);
    return published;
  }
  Counting counting_now() const {
    const std::lock_guard lock(publishing);
    return counting;
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
    bool brought_back = false;  // by UNDO and its like: more tokens than before
    bool compress_later = false;
  };

  // One thread's turn to change the conversation.
  class Turn {
   public:
    // Throws Failure: `work` is to end before it is this thread's turn.
    explicit Turn(Rep& rep, std::shared_ptr<undertext::Work> work = {})
        : lock_(lock_within(rep.turn, work.get())), name_(rep), work_(rep) {
      rep.recount_if_due();
      rep.context.now_ms = rep.settings.clock_ms ? rep.settings.clock_ms() : system_clock_ms();
      rep.context.work = std::move(work);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // A member, so that it ends when the clock throws.
    struct Name {
      explicit Name(Rep& rep) : changing(rep.changing) {
        changing.store(std::this_thread::get_id());
      }
      ~Name() { changing.store(std::thread::id()); }
      Name(const Name&) = delete;
      Name& operator=(const Name&) = delete;
      std::atomic<std::thread::id>& changing;
    };
    struct WorkOfTurn {
      explicit WorkOfTurn(Rep& rep) : context(rep.context) {}
      ~WorkOfTurn() { context.work = nullptr; }
      WorkOfTurn(const WorkOfTurn&) = delete;
      WorkOfTurn& operator=(const WorkOfTurn&) = delete;
      ApplyContext& context;
    };

   private:
    const std::unique_lock<std::timed_mutex> lock_;
    const Name name_;
    const WorkOfTurn work_;
  };
  bool is_changing_here() const { return changing.load() == std::this_thread::get_id(); }

  // A change made from within a change (by a subscriber, a transforming function, the clock) could
  // only wait for itself.
  std::optional<Error> refuse_nested() const;

  // All of the following belong to whose turn it is.
  void recount_if_due();
  Work begin() const { return {current(), stats}; }
  Result<Outcome> carry_out(const Operation& operation, Work& work, bool tell) const;
  // After the last operation of a list, whose outcome is `last`.
  void compress_if_due(const Operation& operation, std::uint64_t tokens_before, Work& work,
                       Outcome& last, bool tell);
  // Makes a change: `make` turns the work into the next history, and what it answers is answered
  // once that is stored and published. Where another writer came first and `may_rebase`, it is made
  // again on what that one wrote.
  template <class Make>
  auto change(bool may_rebase, Make make) -> decltype(make(std::declval<Work&>(), true));
  // The same in a turn of its own, within `limits`, which may be null.
  template <class Make>
  auto change_within(std::shared_ptr<undertext::Work> limits, bool may_rebase, Make make) {
    return answering_failure([&]() -> decltype(make(std::declval<Work&>(), true)) {
      const Turn in_turn(*this, std::move(limits));
      return change(may_rebase, std::move(make));
    });
  }
  // Changes what is stored without making a version. `make` may swap the history for an equal one.
  enum class Tell : std::uint8_t { nothing, rewritten };
  std::optional<Error> change_stored(const std::function<std::optional<Error>(History&)>& make,
                                     Tell tell = Tell::nothing);
  void tell_rewritten(const Subscribers::List& listeners) const;
  void count_by(Counting counted, std::string_view name);
  std::optional<Error> recount_stored(const std::function<std::uint32_t(const Message&)>& count,
                                      std::string_view name);
  // With what others have stored. Nothing to do for a conversation in memory. conflict: they count
  // by a tokenizer that is not there.
  std::optional<Error> catch_up(const Subscribers::List& listeners);
  // What was answered to this operation id before.
  std::optional<Outcome> first_answer(const std::string& operation_id) const;

  // The same, in a turn of its own: for what is worth preparing before the change.
  Result<bool> is_repeated(const OperationOptions& options) {
    return answering_failure([&]() -> Result<bool> {
      const std::lock_guard lock(turn);
      return first_answer(options.operation_id).has_value();
    });
  }

  // Before publish_work(), after which nothing can fail.
  std::optional<Error> store_work(Work& work) {
    if (!work.answered.empty()) answered.reserve(answered.size() + work.answered.size());
    return durable && work.changed ? durable->commit(work.history, work.answered) : std::nullopt;
  }
  void publish_work(Work work, const Subscribers::List& listeners) noexcept;
  void remember(Outcomes& answers) noexcept;

  Aim aim(std::optional<std::uint64_t> tokens_max) const;
  // Of an explicit COMPRESS. Without `tokens_max`, a strategy that uses the default target gets
  // that.
  Aim aim_of(const Strategy& strategy, const CompressOptions& options,
             const History& history) const {
    Aim of = aim(options.tokens_max || !strategy.uses_default_target() ? options.tokens_max
                                                                       : target_tokens(history));
    if (options.survival) of.survival = *options.survival;
    return of;
  }
  // The conversation's default, with the headroom that its growth asks for: see CompressionConfig.
  std::optional<std::uint64_t> target_tokens(const History& history) const;
  void start_compressing(History frozen) noexcept;
  void compress_in_background(const History& frozen, const std::stop_token& cancel);
  bool goes_on_compressing(History& frozen, const std::stop_token& cancel);
  void try_again_later();
  struct Proposal {
    Result<Plan> plan;
    bool reaches_target = false;  // on the version it was made for
  };
  Proposal propose(const History& history, const std::stop_token& cancel) const;
  Result<Outcome> commit_plan(Result<Plan> plan, bool reaches_target, Work& work, bool tell);
  Event told_of(const Result<Outcome>& outcome, Version version, bool stale) const;
};

template <class Make>
auto Conversation::Rep::change(bool may_rebase, Make make)
    -> decltype(make(std::declval<Work&>(), true)) {
  const Subscribers::List listeners = subscribers->list();
  return answering_failure([&]() -> decltype(make(std::declval<Work&>(), true)) {
    for (Tries tries;;) {
      if (std::optional<Error> error = catch_up(listeners)) return std::move(*error);
      Work work = begin();
      std::vector<Event> notices_before;
      if (durable) notices_before = notices;
      const Hysteresis hysteresis_before = hysteresis;
      auto answer = make(work, !listeners.empty());
      if (!answer) return answer;
      if (std::optional<Error> error = store_work(work)) {
        notices = std::move(notices_before);
        hysteresis = hysteresis_before;
        if (error->code != ErrorCode::conflict) return std::move(*error);
        if (may_rebase && durable->rebases_appends() && tries.may_retry(*error)) continue;
        catch_up(listeners);
        return std::move(*error);
      }
      publish_work(std::move(work), listeners);
      return answer;
    }
  });
}

Error as_conflict(Error error);
bool is_refused_plan(const Error& error);

}  // namespace undertext
