// Every public function of a stored conversation, with a store that fails at its n-th call, for all n: where a Result is promised, the
// failure is the answer, and where none is, a Failure says the same. The next call works.
#include <gtest/gtest.h>

#include <undertext/conversation.hpp>
#include <undertext/dialect.hpp>

#include "failing_store.hpp"
#include "kinds.hpp"

namespace undertext::test {
namespace {

using Answer = std::optional<Error>;

template <class T>
Answer failed(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

struct Function {
  std::string name;
  std::function<Answer(Conversation&)> call;
};

Message text(Role role, const std::string& words) { return Message::make(role, words).value(); }
Operation append(const std::string& words) { return {op::Append{{text(Role::user, words)}}}; }

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"apply", [](Conversation& c) { return failed(c.apply(append("one more"))); }},
      {"apply, a list", [](Conversation& c) { return failed(c.apply(std::vector{append("a"), append("b")})); }},
      {"replay", [](Conversation& c) { return failed(c.replay({{{append("past")}, 5, {text(Role::user, "past")}}})); }},
      {"compress", [](Conversation& c) { return failed(c.compress(*keep_recent(3))); }},
      {"fit", [](Conversation& c) { return failed(c.fit({.window = 100}, *sliding_window())); }},
      {"messages", [](Conversation& c) { return failed(c.messages({.contains = "message 7"})); }},
      {"messages of another version", [](Conversation& c) { return failed(c.messages({.at_version = Version(20)})); }},
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
      {"redact", [](Conversation& c) { return failed(c.redact({Ordinal(3)}, {"ann", 1, "asked for"})); }},
      {"redact, derived",
       [](Conversation& c) { return failed(c.redact({Ordinal(3)}, {"ann", 1, "asked for"}, {.derived = true})); }},
      {"find_derived", [](Conversation& c) { return failed(c.find_derived({Ordinal(3)})); }},
      {"record_usage",
       [](Conversation& c) {
         static int made = 0;
         return failed(c.record_usage({.request_id = "r" + std::to_string(++made), .model = "m", .prompt = 7}));
       }},
      {"set_usage", [](Conversation& c) { return failed(c.set_usage(UsageTracker())); }},
      {"give_up_versions", [](Conversation& c) { return failed(c.give_up_versions({.versions = 3})); }},
      {"view_at", [](Conversation& c) { return failed(c.history().view_at(Version(20))); }},
      {"view_at a batch", [](Conversation& c) { return failed(c.history().view_at(BatchIndex(0))); }},
      {"diff", [](Conversation& c) { return failed(c.history().diff(Version(3), Version(30))); }},
      {"blame", [](Conversation& c) { return failed(c.history().blame(Ordinal(4))); }},
      {"a plan on the history", [](Conversation& c) { return failed(c.history().apply({op::Delete{Names::indices({0})}}, {})); }},
  };
  return all;
}

class EveryFunction : public OfEveryStore {};
UNDERTEXT_OF_EVERY_STORE(EveryFunction);

void make_conversation(const std::shared_ptr<Store>& store, const std::string& id) {
  std::vector<Operation> list;
  for (int i = 0; i < 20; ++i) list.push_back(append("message " + std::to_string(i)));
  list.push_back({op::Replace{Names::indices({3}), {text(Role::user, "another")}}, {.description = "instead of message 3"}});
  list.push_back({op::Delete{Names::indices({2, 5})}});
  for (int i = 20; i < 35; ++i) list.push_back(append("message " + std::to_string(i)));
  Conversation::open(store, id, {}, {.checkpoint_versions = 8}).value().apply(std::move(list)).value();
}

TEST_P(EveryFunction, AnswersWhatItsStoreFailsWithAndWorksTheNextTime) {
  const std::shared_ptr<Store> inner = shared();
  const auto store = std::make_shared<FailingStore>(inner);
  for (std::size_t i = 0; i < functions().size(); ++i) {
    const Function& function = functions()[i];
    for (std::uint64_t n = 1;; ++n) {
      const std::string id = "f" + std::to_string(i) + "-" + std::to_string(n);
      make_conversation(inner, id);
      Conversation c = Conversation::open(store, id, {}, {.cache_bytes = 10, .checkpoint_versions = 8}).value();
      store->fail_at(n);
      Answer answer;
      ASSERT_NO_THROW(answer = function.call(c)) << function.name << ", call " << n;
      const bool has_failed = store->calls() >= n;
      store->fail_at(0);
      if (answer) {
        ASSERT_TRUE(has_failed) << function.name << ", call " << n << ": " << answer->message;
        EXPECT_EQ(answer->code, ErrorCode::unavailable) << function.name << ", call " << n << ": " << answer->message;
        EXPECT_EQ(failed(Conversation::open(inner, id).value().check()), std::nullopt) << function.name << ", call " << n;
        answer = function.call(c);
        EXPECT_FALSE(answer) << function.name << " after its call " << n << " failed: " << answer->message;
      }
      if (!has_failed) break;
    }
  }
}

// Subscribers hear of what others did when this one changes something or catches up: never on the thread of a reader.
TEST_P(EveryFunction, ThatOnlyReadsCallsNoSubscriber) {
  const std::shared_ptr<Store> store = shared();
  make_conversation(store, "c");
  Conversation c = Conversation::open(store, "c", {}, {.cache_bytes = 10, .checkpoint_versions = 8}).value();
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
