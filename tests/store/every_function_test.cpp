// Every public function of a stored conversation, with a store that fails at its n-th call, for all
// n: where a Result is promised, the failure is the answer, and where none is, a Failure says the
// same. What is answered in spite of it is what an undisturbed store gives. The conversation is as
// it was before, or, where only an answer was lost, as it was to become. The next call works.
#include <set>
#include <string_view>
#include <type_traits>

#include <gtest/gtest.h>

#include <undertext/client.hpp>
#include <undertext/conversation.hpp>
#include <undertext/dialect.hpp>
#include <undertext/edit_cost.hpp>
#include <undertext/index_store.hpp>
#include <undertext/store_ledger.hpp>
#include <undertext/store_recall.hpp>

#include "failing_store.hpp"
#include "kinds.hpp"

namespace undertext::test {
namespace {

// A value as a text, to be compared: what it says of messages, but for ids and scores.
template <class T>
std::string told(const T& value);

template <class... Parts>
std::string told_of(const Parts&... parts) {
  return ("{" + ... + (told(parts) + " ")) + "}";
}

template <class T>
std::string told_value(const T& value) {
  if constexpr (std::is_same_v<T, Message>) {
    return std::string(value.json());
  } else if constexpr (std::is_same_v<T, History>) {
    return told_of(value.version(), value.view(), value.log().size());
  } else if constexpr (std::is_same_v<T, Conversation>) {
    return told(value.history());
  } else if constexpr (std::is_base_of_v<Applied, T>) {
    return told_of(value.operation, value.version, value.stats);
  } else if constexpr (std::is_same_v<T, Stats>) {
    return told_of(value.total_messages, value.current_batch_messages, value.tokens);
  } else if constexpr (std::is_same_v<T, MessageList>) {
    return told_of(value.ordinals, value.messages);
  } else if constexpr (std::is_same_v<T, MessageCount>) {
    return told_of(value.count, value.tokens);
  } else if constexpr (std::is_same_v<T, Recalled>) {
    return told_of(value.units, value.tokens);
  } else if constexpr (std::is_same_v<T, RecalledUnit>) {
    return told_of(value.ordinals, value.messages, value.hidden_in);
  } else if constexpr (std::is_same_v<T, StoreRecalled>) {
    return told_of(value.found.size(), value.conversations);
  } else if constexpr (std::is_same_v<T, Plan>) {
    return told_of(value.base, value.replacements, value.tokens_after);
  } else if constexpr (std::is_same_v<T, Replacement>) {
    return told_of(value.hidden, value.summary);
  } else if constexpr (std::is_same_v<T, Range>) {
    return told_of(value.start, value.end);
  } else if constexpr (std::is_same_v<T, Fit>) {
    return told_of(value.outcome, value.tokens, value.plan, value.tokens_minimum);
  } else if constexpr (std::is_same_v<T, Diff>) {
    return told_of(value.removed, value.added, value.moved);
  } else if constexpr (std::is_same_v<T, Blame>) {
    return told_of(value.ordinal, value.stored.version, value.stored.operation);
  } else if constexpr (std::is_same_v<T, Rendering>) {
    return told_of(value.json, value.findings.size(), value.losses.size());
  } else if constexpr (std::is_same_v<T, Imported>) {
    return told_of(value.messages, value.rest, value.known);
  } else if constexpr (std::is_same_v<T, CachedPrefixes>) {
    return told_of(value.head, value.ends, value.stable, value.edited);
  } else if constexpr (std::is_same_v<T, EditCost>) {
    return told_of(value.stable, value.reusable, value.invalidated, value.rewritten);
  } else if constexpr (std::is_same_v<T, Redaction>) {
    return told_of(value.messages, value.derived.size(), value.operations.size());
  } else if constexpr (std::is_same_v<T, Reclaimed>) {
    return told_of(value.first_version, value.versions, value.messages);
  } else if constexpr (std::is_same_v<T, Ledger>) {
    return told_of(value.turns.size(), value.days.size(), value.findings.size());
  } else if constexpr (std::is_same_v<T, WhatIf>) {
    return told_of(value.turns, value.policy.sent, value.observe.sent);
  } else if constexpr (std::is_same_v<T, Conversation::Compared>) {
    return told_of(value.against, value.at.kind);
  } else if constexpr (std::is_same_v<T, CheckReport>) {
    return told_of(value.damage.size());
  } else if constexpr (std::is_same_v<T, RequestRecord>) {
    return told_of(value.number, value.version, value.model, value.usage);
  } else if constexpr (std::is_same_v<T, RequestUsage>) {
    return told_of(value.prompt, value.cache_written);
  } else if constexpr (std::is_same_v<T, VersionInfo>) {
    return told_of(value.version, value.operation, value.message_count, value.tokens);
  } else if constexpr (std::is_same_v<T, BatchInfo>) {
    return told_of(value.index, value.boundary, value.message_count);
  } else {
    return "?";
  }
}

template <class T>
std::string told(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<int>(value));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (requires {
                         *value;
                         value.has_value();
                       }) {
    return value ? told(*value) : "-";
  } else if constexpr (std::is_pointer_v<T>) {
    return told(*value);
  } else if constexpr (requires { value.value; }) {
    return told(value.value);
  } else if constexpr (requires { value.begin() != value.end(); }) {
    std::string all = "[";
    for (const auto& one : value) (all += told(one)) += ",";
    return all + "]";
  } else {
    return told_value(value);
  }
}

// The error, or what it answered.
struct Answer {
  std::optional<Error> error = {};
  std::string value = {};

  explicit operator bool() const { return error.has_value(); }
  const Error* operator->() const { return &*error; }
};

// What `call` throws, or returns.
template <class Call>
Answer thrown(Call call) {
  try {
    return {{}, told(call())};
  } catch (const Failure& failure) {
    return {failure.error()};
  }
}

template <class T>
Answer failed(const Result<T>& result) {
  if (!result) return {result.error()};
  if constexpr (std::is_void_v<T>) {
    return {{}, "done"};
  } else {
    // Views and histories read their messages when these are asked for.
    return thrown([&]() -> const T& { return *result; });
  }
}

std::uint64_t bytes_of(const View& view) {
  std::uint64_t bytes = 0;
  for (const Message& message : view) bytes += message.json().size();
  return bytes;
}

struct Function {
  std::string name;
  std::function<Answer(Conversation&)> call;
};

Message text(Role role, const std::string& words) { return Message::make(role, words).value(); }
Operation append(const std::string& words) { return {op::Append{{text(Role::user, words)}}}; }

const Profile& profile() {
  // it asks for earlier versions, too
  static const Profile binding = find_profile("anthropic_bound").value();
  return binding;
}

// `ask` of the current view.
template <class Ask>
Answer of_view(const Conversation& c, Ask ask) {
  const Result<View> view = c.history().view_at(c.version());
  return view ? failed(ask(*view)) : Answer{view.error()};
}

// Plans outside of the turn, as one that asks a model does.
class SlowStrategy : public Strategy {
 public:
  std::string_view name() const noexcept override { return "slow"; }
  bool is_slow() const noexcept override { return true; }
  Result<Plan> plan(const History& history, const Aim& aim) const override {
    return keep_recent(3)->plan(history, aim);
  }
};

// Two turns of a session, the second of which should have been read from the cache: its ledger has
// a finding.
const std::vector<RequestRecord>& some_records() {
  static const std::vector<RequestRecord> records = [] {
    std::vector<RequestRecord> made;
    for (std::uint64_t number = 1; number <= 2; ++number) {
      RequestRecord record;
      record.number = number;
      record.version = Version(10 * number);
      record.at_ms = 1'790'000'000'000;
      record.dialect = "anthropic";
      record.model = "claude-sonnet-4-5";
      record.status = 200;
      record.tools_digest = std::to_string(number);
      record.usage = {
          .request_id = "turn " + std::to_string(number), .model = record.model, .prompt = 20'000};
      record.usage.cache_written = 20'000;
      made.push_back(record);
    }
    return made;
  }();
  return records;
}

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"apply", [](Conversation& c) { return failed(c.apply(append("one more"))); }},
      {"apply, a list",
       [](Conversation& c) { return failed(c.apply(std::vector{append("a"), append("b")})); }},
      {"replay",
       [](Conversation& c) {
         return failed(c.replay({{{append("past")}, 5, {text(Role::user, "past")}}}));
       }},
      {"compress", [](Conversation& c) { return failed(c.compress(*keep_recent(3))); }},
      {"compress, slowly", [](Conversation& c) { return failed(c.compress(SlowStrategy())); }},
      {"compress_by",
       [](Conversation& c) {
         const Result<op::CompressBy> by = c.compress_by(keep_recent(3));
         return by ? failed(c.apply(Operation{*by})) : Answer{by.error()};
       }},
      {"fit", [](Conversation& c) { return failed(c.fit({.window = 100}, *sliding_window())); }},
      {"messages", [](Conversation& c) { return failed(c.messages({.contains = "message 7"})); }},
      {"recall",
       [](Conversation& c) {
         return failed(c.recall({.text = "message", .which = {.all = true}}));
       }},
      {"messages of another version",
       [](Conversation& c) { return failed(c.messages({.at_version = Version(20)})); }},
      {"count", [](Conversation& c) { return failed(c.count({.contains = "message"})); }},
      {"fork in memory", [](Conversation& c) { return failed(c.fork(Version(20))); }},
      {"trial", [](Conversation& c) { return failed(c.trial(Version(20))); }},
      {"fork",
       [](Conversation& c) {
         static int made = 0;
         return failed(c.fork(Version(20), c.id() + "-fork-" + std::to_string(++made)));
       }},
      {"catch_up", [](Conversation& c) { return failed(c.catch_up()); }},
      {"checkpoint", [](Conversation& c) { return failed(c.checkpoint()); }},
      {"check", [](Conversation& c) { return failed(c.check()); }},
      {"set_tokenizer", [](Conversation& c) { return failed(c.set_tokenizer("estimate:claude")); }},
      {"redact",
       [](Conversation& c) { return failed(c.redact({Ordinal(3)}, {"ann", 1, "asked for"})); }},
      {"redact, derived",
       [](Conversation& c) {
         return failed(c.redact({Ordinal(3)}, {"ann", 1, "asked for"}, {.derived = true}));
       }},
      {"find_derived", [](Conversation& c) { return failed(c.find_derived({Ordinal(3)})); }},
      {"record_usage",
       [](Conversation& c) {
         static int made = 0;
         return failed(c.record_usage(
             {.request_id = "r" + std::to_string(++made), .model = "m", .prompt = 7}));
       }},
      {"update_usage",
       [](Conversation& c) {
         return failed(c.update_usage({.request_id = "r", .model = "m", .prompt = 7}));
       }},
      {"finish_usage",
       [](Conversation& c) {
         static int made = 0;
         const std::string id = "s" + std::to_string(++made);  // a finished one is not updated
         const Result<void> updated = c.update_usage({.request_id = id, .model = "m", .prompt = 7});
         return updated ? failed(c.finish_usage(id)) : failed(updated);
       }},
      {"set_usage", [](Conversation& c) { return failed(c.set_usage(UsageTracker())); }},
      {"prune_versions", [](Conversation& c) { return failed(c.prune_versions({.versions = 3})); }},
      {"view_at", [](Conversation& c) { return failed(c.history().view_at(Version(20))); }},
      {"view_at a batch",
       [](Conversation& c) { return failed(c.history().view_at(BatchIndex(0))); }},
      {"diff", [](Conversation& c) { return failed(c.history().diff(Version(3), Version(30))); }},
      {"blame", [](Conversation& c) { return failed(c.history().blame(Ordinal(4))); }},
      {"messages of a history",
       [](Conversation& c) { return failed(c.history().messages({.contains = "message 7"})); }},
      {"count of a history",
       [](Conversation& c) { return failed(c.history().count({.contains = "message"})); }},
      {"fork of a history", [](Conversation& c) { return failed(c.history().fork(Version(20))); }},
      {"fit_view",
       [](Conversation& c) {
         return failed(fit_view(c.history(), {.window = 100}, *sliding_window()));
       }},
      {"rebase",
       [](Conversation& c) {
         const Result<Fit> fit = fit_view(c.history(), {.window = 100}, *sliding_window());
         return fit && fit->plan ? failed(rebase(*fit->plan, c.history(), c.history()))
                                 : failed(fit);
       }},
      {"render",
       [](Conversation& c) {
         return of_view(c, [](const View& view) { return render(view, profile()); });
       }},
      {"validate",
       [](Conversation& c) {
         return of_view(c, [](const View& view) { return validate(view, profile()); });
       }},
      {"Renderer",
       [](Conversation& c) {
         // It goes on with the same one after a failure.
         static std::pair<std::string, Renderer> kept{"", Renderer(profile())};
         if (kept.first != c.id()) kept = {c.id(), Renderer(profile())};
         return of_view(c, [&](const View& view) { return kept.second.render(view); });
       }},
      {"import_after",
       [](Conversation& c) {
         const char* request = R"({"messages":[{"role":"user","content":"message 0"}]})";
         return of_view(c,
                        [&](const View& view) { return import_after(view, profile(), request); });
       }},
      {"views_sent",
       [](Conversation& c) { return failed(views_sent(c.history(), c.version(), profile())); }},
      {"cached_prefixes",
       [](Conversation& c) {
         return of_view(c, [&](const View& view) {
           return cached_prefixes(c.history(), {c.version(), true}, view);
         });
       }},
      {"edit_cost",
       [](Conversation& c) {
         return failed(edit_cost(c.history(), Version(20), c.version(), profile().cache));
       }},
      {"edit_cost by a profile",
       [](Conversation& c) {
         return failed(edit_cost(c.history(), Version(20), c.version(), profile()));
       }},
      {"apply, a RECONCILE",
       [](Conversation& c) {
         const ClientProfile client = find_client("anthropic").value();
         return failed(c.apply(Operation{
             client_list(client, {text(Role::user, "message 0"), text(Role::user, "new")})}));
       }},
      {"record_request",
       [](Conversation& c) {
         return failed(c.record_request({}, "the next request", "the next answer"));
       }},
      {"requests", [](Conversation& c) { return failed(c.requests()); }},
      {"raw_request", [](Conversation& c) { return failed(c.raw_request(1)); }},
      {"raw_answer", [](Conversation& c) { return failed(c.raw_answer(1)); }},
      {"cache_break", [](Conversation& c) { return failed(c.cache_break(2)); }},
      {"ledger", [](Conversation& c) { return failed(c.ledger()); }},
      {"what_if", [](Conversation& c) { return failed(c.what_if("compact")); }},
      {"what_if of a history",
       [](Conversation& c) { return failed(what_if(some_records(), c.history(), "compact")); }},
      {"volatile_now", [](Conversation& c) { return failed(c.volatile_now(Dialect::anthropic)); }},
      // These return no Result.
      {"view", [](Conversation& c) { return thrown([&] { return bytes_of(c.view()); }); }},
      {"aim", [](Conversation& c) { return thrown([&] { return c.aim(); }); }},
      {"make_ledger",
       [](Conversation& c) {
         return thrown([&] { return make_ledger(some_records(), c.history()); });
       }},
      {"survival",
       [](Conversation& c) { return thrown([&] { return survival(c.history(), c.history()); }); }},
      {"survival_of",
       [](Conversation& c) {
         return thrown(
             [&] { return survival_of(std::vector<std::string>{"message 7"}, c.history()); });
       }},
      {"stats", [](Conversation& c) { return thrown([&] { return c.stats().tokens; }); }},
      {"log", [](Conversation& c) { return thrown([&] { return bytes_of(c.history().log()); }); }},
      {"uncompressed",
       [](Conversation& c) { return thrown([&] { return c.history().uncompressed(); }); }},
      {"marked",
       [](Conversation& c) { return thrown([&] { return c.history().marked("kept"); }); }},
      {"marks_of",
       [](Conversation& c) { return thrown([&] { return c.history().marks_of(Ordinal(1)); }); }},
      {"mark_map", [](Conversation& c) { return thrown([&] { return c.history().mark_map(); }); }},
      {"batches", [](Conversation& c) { return thrown([&] { return c.history().batches(); }); }},
      {"batch_snapshot",
       [](Conversation& c) {
         return thrown([&] {
           const std::optional<BatchSnapshot> snapshot = c.history().batch_snapshot(BatchIndex(0));
           return snapshot ? bytes_of(snapshot->view) : 0;
         });
       }},
      {"version_info",
       [](Conversation& c) {
         return thrown([&] { return c.history().version_info(Version(20)); });
       }},
      {"versions", [](Conversation& c) { return thrown([&] { return c.history().versions(); }); }},
      {"receipts", [](Conversation& c) { return thrown([&] { return c.history().receipts(); }); }},
      {"receipt",
       [](Conversation& c) { return thrown([&] { return c.history().receipt(Version(22)); }); }},
      {"stands_for",
       [](Conversation& c) { return thrown([&] { return c.history().stands_for(Ordinal(20)); }); }},
      {"client_list",
       [](Conversation& c) { return thrown([&] { return c.history().client_list(); }); }},
      {"recounted",
       [](Conversation& c) {
         return thrown([&] {
           return c.history().recounted([](const Message&) { return std::uint32_t{1}; });
         });
       }},
      {"a plan on the history",
       [](Conversation& c) {
         return failed(c.history().apply({op::Delete{Names::indices({0})}}, {}));
       }},
  };
  return all;
}

class EveryFunction : public OfEveryStore {};
UNDERTEXT_OF_EVERY_STORE(EveryFunction);

void make_conversation(const std::shared_ptr<Store>& store, const std::string& id) {
  std::vector<Operation> list;
  for (int i = 0; i < 20; ++i) list.push_back(append("message " + std::to_string(i)));
  list.push_back({op::Replace{Names::indices({3}), {text(Role::user, "another")}},
                  {.description = "instead of message 3"}});
  list.push_back({op::Delete{Names::indices({2, 5})}});
  for (int i = 20; i < 35; ++i) list.push_back(append("message " + std::to_string(i)));
  list.push_back({op::Mark{Names::ordinals({1}), "kept"}});
  Conversation made = Conversation::open(store, id, {}, {.checkpoint_versions = 8}).value();
  made.apply(std::move(list)).value();
  for (const RequestRecord& record : some_records())
    made.record_request(record,
                        R"({"messages":[{"role":"user","content":"turn )" +
                            std::to_string(record.number) + R"("}]})",
                        "an answer")
        .value();
}

// What is stored of a conversation, but for its id.
std::string stored_state(const std::shared_ptr<Store>& store, const std::string& id) {
  const Conversation c = Conversation::open(store, id).value();
  const UsageTotals usage = c.usage().totals();
  return told_of(c.history(), c.history().first_version(), c.tokenizer(), usage.requests,
                 usage.prompt, store->last_request(id).value(), store->removals(id).value().size(),
                 store->find(id).value().forks.size());
}

class Walk {
 public:
  explicit Walk(std::shared_ptr<Store> inner)
      : inner_(std::move(inner)), store_(std::make_shared<FailingStore>(inner_)) {}

  void of(const Function& function, FailingStore::When when) {
    std::string before, after;
    const Answer undisturbed = run(function, 0, when, before, after);
    ASSERT_FALSE(undisturbed) << function.name << ": " << undisturbed->message;
    for (std::uint64_t n = 1;; ++n) {
      SCOPED_TRACE(function.name + ", call " + std::to_string(n) +
                   (when == FailingStore::When::after ? ", after it" : ""));
      std::string now_before, now;
      const Answer answer = run(function, n, when, now_before, now);
      if (HasFatalFailure()) return;
      EXPECT_EQ(now_before, before);
      if (answer) {
        ASSERT_TRUE(has_failed_) << answer->message;
        EXPECT_EQ(answer->code, ErrorCode::unavailable) << answer->message;
        const bool may_be_done = when == FailingStore::When::after || reads_again(function);
        EXPECT_TRUE(now == before || (may_be_done && now == after) || takes_several_steps(function))
            << now << " before: " << before << " after: " << after;
      } else {
        EXPECT_EQ(answer.value, undisturbed.value);
        EXPECT_EQ(now, after);
      }
      if (!has_failed_) return;
    }
  }

 private:
  static bool HasFatalFailure() { return testing::Test::HasFatalFailure(); }
  // Reads what it has removed, and only then answers.
  static bool reads_again(const Function& function) {
    return function.name == "redact" || function.name == "prune_versions";
  }
  // Each of them is done or not.
  static bool takes_several_steps(const Function& function) {
    static const std::set<std::string> several = {"finish_usage", "redact, derived", "fork"};
    return several.contains(function.name);
  }

  // n 0: nothing fails.
  Answer run(const Function& function, std::uint64_t n, FailingStore::When when,
             std::string& before, std::string& after) {
    const std::string id = "f" + std::to_string(++made_);
    make_conversation(inner_, id);
    before = stored_state(inner_, id);
    Conversation c =
        Conversation::open(store_, id, {}, {.cache_bytes = 10, .checkpoint_versions = 8}).value();
    store_->fail_at(n, when);
    Answer answer;
    EXPECT_NO_THROW(answer = function.call(c));
    has_failed_ = n != 0 && store_->calls() >= n;
    store_->fail_at(0);
    after = stored_state(inner_, id);
    if (!answer || n == 0) return answer;
    EXPECT_FALSE(failed(Conversation::open(inner_, id).value().check()));
    const Answer again = function.call(c);
    EXPECT_FALSE(again) << "the next time: " << again->message;
    return answer;
  }

  const std::shared_ptr<Store> inner_;
  const std::shared_ptr<FailingStore> store_;
  int made_ = 0;
  bool has_failed_ = false;
};

TEST_P(EveryFunction, AnswersWhatItsStoreFailsWithAndWorksTheNextTime) {
  Walk walk(shared());
  for (const Function& function : functions()) walk.of(function, FailingStore::When::before);
}

// Of one kind of store: what a lost answer does is the same for all of them.
TEST(EveryFunctionWhoseAnswerIsLost, HasChangedNothingOrAllAndWorksTheNextTime) {
  Walk walk(memory_store());
  for (const Function& function : functions()) walk.of(function, FailingStore::When::after);
}

// What a failure leaves out would be taken for what is not there.
TEST_P(EveryFunction, ThatReturnsALedgerReturnsAllOfIt) {
  const std::shared_ptr<Store> inner = shared();
  make_conversation(inner, "c");
  const auto store = std::make_shared<FailingStore>(inner);
  bool has_failed = true;
  for (std::uint64_t n = 1; has_failed; ++n) {
    const Conversation c = Conversation::open(store, "c", {}, {.cache_bytes = 10}).value();
    store->fail_at(n);
    const Result<Ledger> ledger = c.ledger();
    has_failed = store->calls() >= n;
    store->fail_at(0);
    ASSERT_EQ(static_cast<bool>(ledger), !has_failed) << "call " << n;
    if (!ledger) continue;
    ASSERT_EQ(ledger->findings.size(), 1u);
    EXPECT_EQ(ledger->findings[0].at.kind, CacheBreak::Kind::broken);
  }
}

// What takes a store, or opens one's conversation.
TEST_P(EveryFunction, OfAStoreAnswersWhatItFailsWithAndWorksTheNextTime) {
  using Call = std::function<Answer(const std::shared_ptr<Store>&)>;
  const std::vector<std::pair<std::string, Call>> calls = {
      {"open", [](const auto& store) { return failed(Conversation::open(store, "c")); }},
      {"open with a note",
       [](const auto& store) {
         return failed(Conversation::open(store, "c", {}, {.note = "noted"}));
       }},
      {"open with another tokenizer",
       [](const auto& store) {
         return failed(Conversation::open(store, "c", {.tokenizer = "estimate:claude"}));
       }},
      {"stored_note",
       [](const auto& store) { return failed(Conversation::stored_note(*store, "c")); }},
      {"stored_tokenizer",
       [](const auto& store) { return failed(Conversation::stored_tokenizer(*store, "c")); }},
      {"stored_maker",
       [](const auto& store) { return failed(Conversation::stored_maker(*store, "c")); }},
      {"check_store", [](const auto& store) { return failed(check_store(*store)); }},
      {"check_store of one", [](const auto& store) { return failed(check_store(*store, "c")); }},
      {"check_store of a fork",
       [](const auto& store) { return failed(check_store(*store, "forked")); }},
      {"size_bytes", [](const auto& store) { return failed(store->size_bytes("c")); }},
      {"store_ledger", [](const auto& store) { return failed(store_ledger(store)); }},
      {"index_store", [](const auto& store) { return failed(index_store(*store)); }},
      {"StoreRecall",
       [](const auto& store) {
         // It goes on with the same one after a failure.
         static std::optional<std::pair<std::shared_ptr<Store>, StoreRecall>> kept;
         if (!kept || kept->first != store)
           kept.emplace(store, StoreRecall(store, {.fresh_ms = 0}));
         const Result<StoreRecalled> recalled = kept->second.search({.text = "message"});
         if (recalled) kept.reset();
         return failed(recalled);
       }},
  };
  const std::shared_ptr<Store> inner = shared();
  make_conversation(inner, "c");
  ASSERT_TRUE(Conversation::open(inner, "c").value().fork(Version(20), "forked"));
  const auto store = std::make_shared<FailingStore>(inner);
  for (const auto& [name, call] : calls) {
    const Answer undisturbed = call(store);
    ASSERT_FALSE(undisturbed) << name;
    for (std::uint64_t n = 1;; ++n) {
      store->fail_at(n);
      Answer answer;
      ASSERT_NO_THROW(answer = call(store)) << name << ", call " << n;
      const bool has_failed = store->calls() >= n;
      store->fail_at(0);
      if (answer) {
        ASSERT_TRUE(has_failed) << name << ", call " << n << ": " << answer->message;
        EXPECT_EQ(answer->code, ErrorCode::unavailable)
            << name << ", call " << n << ": " << answer->message;
        EXPECT_FALSE(call(store)) << name << " after its call " << n << " failed";
      } else {
        EXPECT_EQ(answer.value, undisturbed.value) << name << ", call " << n;
      }
      if (!has_failed) break;
    }
  }
}

// The bodies of a stored view may be evicted from the cache while others are read.
TEST_P(EveryFunction, RendersAViewThatIsLargerThanTheCache) {
  const std::shared_ptr<Store> store = shared();
  make_conversation(store, "c");
  const Conversation small = Conversation::open(store, "c", {}, {.cache_bytes = 10}).value();
  std::string expected = R"({"messages":[)";
  for (const Message& message : small.view()) {
    if (expected.back() == '}') expected += ',';
    expected += message.json();
  }
  expected += "]}";
  const Profile chat = find_profile("openai_chat").value();
  EXPECT_EQ(render(small.view(), chat).value().json, expected);
  Renderer renderer(chat);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(renderer.render(small.view()).value()->json, expected);
}

// After a conflict a change is made again on what is stored by then. A store that answers nothing
// else ends that.
TEST(EveryFunctionThatRetries, EndsWithConflictWhereTheStoreAnswersNothingElse) {
  const auto store = std::make_shared<FailingStore>(memory_store());
  make_conversation(store, "c");
  ASSERT_TRUE(Conversation::open(store, "c").value().fork(Version(20), "forked"));
  Conversation c = Conversation::open(store, "c", {}, {.checkpoint_versions = 8}).value();
  store->refuse_changes(ErrorCode::conflict);
  const std::set<std::string> retrying = {
      "apply",           "compress",     "compress, slowly", "set_tokenizer", "redact",
      "redact, derived", "record_usage", "set_usage",        "update_usage",  "finish_usage"};
  for (const Function& function : functions()) {
    if (!retrying.contains(function.name)) continue;
    const Answer answer = function.call(c);
    ASSERT_TRUE(answer) << function.name;
    EXPECT_EQ(answer->code, ErrorCode::conflict) << function.name << ": " << answer->message;
  }
  EXPECT_EQ(Conversation::open(store, "c", {}, {.note = "noted"}).error().code,
            ErrorCode::conflict);
  EXPECT_EQ(Conversation::open(store, "c", {.tokenizer = "estimate:claude"}).error().code,
            ErrorCode::conflict);
}

// Subscribers hear of what others did when this one changes something or catches up: never on the
// thread of a reader.
TEST_P(EveryFunction, ThatOnlyReadsCallsNoSubscriber) {
  const std::shared_ptr<Store> store = shared();
  make_conversation(store, "c");
  Conversation c =
      Conversation::open(store, "c", {}, {.cache_bytes = 10, .checkpoint_versions = 8}).value();
  int events = 0;
  const Subscription heard = c.subscribe([&](const Event&) { ++events; });
  for (const Message& message : c.view()) EXPECT_FALSE(message.json().empty());
  Conversation::open(store, "c").value().apply(append("from elsewhere")).value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(c.view().size(), 33u);
    EXPECT_EQ(c.messages().value().messages.size(), 33u);
  }
  EXPECT_EQ(events, 0);
  EXPECT_TRUE(c.catch_up());
  EXPECT_GT(events, 0);
}

}  // namespace
}  // namespace undertext::test
