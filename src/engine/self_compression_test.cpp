#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>
#include <undertext/models.hpp>

namespace undertext {
namespace {

Message text(Role role, const std::string& content) { return Message::make(role, content).value(); }
Message words(Role role, std::size_t count) {
  std::string content;
  for (std::size_t i = 0; i < count; ++i) content += "word" + std::to_string(i) + " ";
  return text(role, content);
}

std::vector<std::uint64_t> ordinals(const View& view) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < view.size(); ++i) all.push_back(view.ordinal(i).value);
  return all;
}

const Event* find(const std::vector<Event>& events, Event::Type type) {
  for (const Event& event : events) {
    if (event.type == type) return &event;
  }
  return nullptr;
}

Settings compressing(StrategyPtr strategy, std::uint64_t threshold, std::uint64_t target) {
  Settings settings;
  settings.compression = {.enabled = true,
                          .threshold = threshold,
                          .target_tokens = target,
                          .strategy = std::move(strategy)};
  return settings;
}

// Appends until the first outcome with an event of this type.
Outcome append_until(Conversation& conversation, Event::Type type, std::size_t tries = 500) {
  for (std::size_t i = 0; i < tries; ++i) {
    Outcome outcome =
        conversation.apply({op::Append{{words(i % 2 == 0 ? Role::user : Role::assistant, 20)}}})
            .value();
    if (find(outcome.events, type)) return outcome;
  }
  ADD_FAILURE() << "no " << name(type) << " in " << tries << " appends";
  return {};
}

// A summariser that the test holds in its hand: it waits until it is told what to answer.
class Held final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "held"; }
  bool is_slow() const noexcept override { return true; }
  Result<Summary> summarise(const SummaryRequest& request) const override {
    std::unique_lock lock(mutex_);
    ++asked_;
    given_ = request.messages;
    changed_.notify_all();
    changed_.wait(lock, request.cancel, [&] { return answer_.has_value(); });
    if (!answer_) return Error{ErrorCode::unavailable, "cancelled"};
    Result<Summary> answer = std::move(*answer_);
    answer_.reset();
    return answer;
  }
  void wait_until_asked(std::size_t times) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ >= times; });
  }
  void answer(Result<Summary> answer) const {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
    changed_.notify_all();
  }
  std::vector<Message> given() const {
    const std::lock_guard lock(mutex_);
    return given_;
  }
  std::size_t asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::size_t asked_ = 0;
  mutable std::optional<Result<Summary>> answer_;
  mutable std::vector<Message> given_;
};

TEST(SelfCompression, BringsTheViewDownToTheTargetInABatchOfItsOwnWhenTheThresholdIsCrossed) {
  Conversation conversation = Conversation::open(compressing(sliding_window(), 500, 300)).value();
  const Outcome outcome = append_until(conversation, Event::Type::compressed);
  const Event& compressed = *find(outcome.events, Event::Type::compressed);
  EXPECT_TRUE(find(outcome.events, Event::Type::compression_threshold_exceeded));
  EXPECT_EQ(compressed.strategy, "sliding_window");
  EXPECT_GT(compressed.tokens_used, 500u);
  EXPECT_LE(compressed.tokens_after, 300u);
  EXPECT_EQ(conversation.stats().tokens, compressed.tokens_after);
  EXPECT_EQ(compressed.version.value, outcome.version.value + 1) << "an operation of its own";
  EXPECT_EQ(conversation.stats().current_batch_index, 1u);

  const std::vector<Receipt> receipts = conversation.history().receipts();
  ASSERT_EQ(receipts.size(), 1u);
  EXPECT_EQ(receipts[0].tokens_before, compressed.tokens_used);
  EXPECT_FALSE(receipts[0].hidden.empty());

  conversation.apply({op::Undo{}}).value();
  EXPECT_EQ(ordinals(conversation.view()), ordinals(conversation.history().log()));
}

TEST(SelfCompression, DoesNothingWhenItIsNotEnabledAndTellsNothing) {
  Settings settings = compressing(sliding_window(), 100, 50);
  settings.compression.enabled = false;
  Conversation conversation = Conversation::open(settings).value();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(conversation.apply({op::Append{{words(Role::user, 30)}}}).value().events.empty());
  }
}

TEST(SelfCompression, IsNotTriedAgainWithoutProgress) {
  Conversation conversation =
      Conversation::open(compressing(keep_recent(10'000), 500, 300)).value();
  std::size_t tries = 0, appends = 0;
  while (conversation.stats().tokens < 1500) {
    const Outcome outcome = conversation.apply({op::Append{{text(Role::user, "one")}}}).value();
    ++appends;
    if (const Event* failed = find(outcome.events, Event::Type::compression_failed)) {
      ++tries;
      EXPECT_EQ(failed->error->code, ErrorCode::cannot_fit);
    }
  }
  EXPECT_GE(tries, 2u) << "a view that grows deserves another try";
  EXPECT_LE(tries, 1 + 1000 / (500 / 16)) << "in " << appends << " appends";
}

class Throwing final : public Strategy {
 public:
  explicit Throwing(std::function<void()> fail) : fail_(std::move(fail)) {}
  std::string_view name() const noexcept override { return "throwing"; }
  Result<Plan> plan(const History&, const Aim&) const override {
    fail_();
    return Error{ErrorCode::internal, "it was to throw"};
  }

 private:
  const std::function<void()> fail_;
};

TEST(SelfCompression, LeavesEverythingAsItWasWhenTheStrategyThrows) {
  const auto throwing = std::make_shared<Throwing>([] { throw std::runtime_error("no"); });
  Conversation conversation = Conversation::open(compressing(throwing, 100, 50)).value();
  const Outcome outcome = append_until(conversation, Event::Type::compression_failed);
  const Error& error = *find(outcome.events, Event::Type::compression_failed)->error;
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.field, "strategy");
  EXPECT_EQ(error.message, "the strategy throwing threw: no");
  EXPECT_EQ(conversation.version(), outcome.version);
}

TEST(SelfCompression, BeginsAtThreeQuartersOfTheWindow) {
  Settings settings;
  settings.compression.enabled = true;
  EXPECT_EQ(Conversation::open(settings).error().field, "threshold") << "no window is known";
  settings.model = "claude-opus-4-7";
  const std::uint64_t window = find_model(settings.model).limits.window.value();
  EXPECT_EQ(Conversation::open(settings).value().settings().compression.threshold,
            window - window / 4);
  settings.window = 1000;
  EXPECT_EQ(Conversation::open(settings).value().settings().compression.threshold, 750u);
  settings.token_limit = 600;
  EXPECT_EQ(Conversation::open(settings).value().settings().compression.threshold, 600u);
}

TEST(Compress, WithoutATargetComesDownToWhatAutomaticCompressionDoes) {
  Settings settings;
  settings.compression.threshold = 600;
  const auto tokens_left = [](const Settings& by) {
    Conversation conversation = Conversation::open(by).value();
    for (int i = 0; i < 40; ++i)
      conversation.apply({op::Append{{words(i % 2 == 0 ? Role::user : Role::assistant, 10)}}})
          .value();
    return conversation.compress(*sliding_window()).value().stats.tokens;
  };
  EXPECT_LE(tokens_left(settings), 450u);
  EXPECT_GT(tokens_left(settings), 400u);
  Settings limited;
  limited.token_limit = 600;
  EXPECT_EQ(tokens_left(limited), tokens_left(settings))
      << "the limit is the threshold, by default";
  settings.compression.target_tokens = 300;
  EXPECT_LE(tokens_left(settings), 300u);

  Conversation without;
  without.apply({op::Append{{words(Role::user, 10)}}}).value();
  EXPECT_EQ(without.compress(*sliding_window()).error().code, ErrorCode::invalid_argument);
}

TEST(SelfCompression, FreesWhatItCanWhereTheTargetIsOutOfReachAndSaysSo) {
  Conversation conversation = Conversation::open(compressing(keep_recent(10), 300, 100)).value();
  std::size_t compressions = 0;
  std::uint64_t most = 0;
  for (int i = 0; i < 60; ++i) {
    const Outcome outcome =
        conversation.apply({op::Append{{words(i % 2 == 0 ? Role::user : Role::assistant, 6)}}})
            .value();
    most = std::max(most, conversation.stats().tokens);
    EXPECT_FALSE(find(outcome.events, Event::Type::compression_failed));
    if (const Event* compressed = find(outcome.events, Event::Type::compressed)) {
      ++compressions;
      EXPECT_EQ(compressed->target_reached, false);
      EXPECT_EQ(compressed->tokens_after, conversation.stats().tokens);
      EXPECT_EQ(conversation.view().size(), 10u);
    }
  }
  EXPECT_GE(compressions, 3u);
  EXPECT_LE(most, 300u + 300u / 16);
  for (const Receipt& receipt : conversation.history().receipts()) {
    EXPECT_EQ(receipt.target_tokens, 100u);
    EXPECT_EQ(receipt.target_reached(), false);
    EXPECT_EQ(conversation.history().version_info(Version(receipt.version)).target_reached, false);
  }
}

// What a user pastes may be larger than the threshold.
TEST(SelfCompression, DoesNotHideAnswersToARequestThatIsTooLongByItself) {
  for (const StrategyPtr& strategy : {default_strategy(), sliding_window(), smart_summary()}) {
    Conversation conversation = Conversation::open(compressing(strategy, 300, 200)).value();
    conversation
        .apply({op::Append{
            {words(Role::user, 60), words(Role::assistant, 5), words(Role::user, 300)}}})
        .value();
    const Outcome answer = conversation.apply({op::Append{{words(Role::assistant, 60)}}}).value();
    EXPECT_TRUE(conversation.view().index_of(Ordinal(3))) << strategy->name();
    EXPECT_TRUE(conversation.history().stats().total_messages < 6u) << strategy->name();
    conversation.apply({op::Append{{text(Role::user, "yes, do that")}}}).value();
    append_until(conversation, Event::Type::compressed, 10);
    EXPECT_FALSE(conversation.view().index_of(Ordinal(2))) << "it is no longer the last request";
  }
}

TEST(SelfCompression, ByNoneChangesNothingAndReportsNoFailure) {
  Conversation conversation = Conversation::open(compressing(no_strategy(), 100, 50)).value();
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = conversation.apply({op::Append{{words(Role::user, 30)}}}).value();
    EXPECT_FALSE(find(outcome.events, Event::Type::compression_failed));
    EXPECT_FALSE(find(outcome.events, Event::Type::compressed));
    EXPECT_EQ(conversation.version(), outcome.version);
  }
}

TEST(SelfCompression, KeepsAllPiecesOfTheLastRequest) {
  Conversation conversation = Conversation::open(compressing(sliding_window(), 400, 200)).value();
  conversation
      .apply({op::Append{{words(Role::user, 20), words(Role::assistant, 10),
                          text(Role::user, "first this then that")}}})
      .value();
  conversation.apply({op::Split{2, {10}}}).value();
  conversation.apply({op::Append{{words(Role::assistant, 150), words(Role::assistant, 3)}}})
      .value();
  const View view = conversation.view();
  ASSERT_FALSE(conversation.history().receipts().empty());
  EXPECT_FALSE(view.index_of(Ordinal(0)));
  EXPECT_TRUE(view.index_of(Ordinal(3))) << "the first piece";
  EXPECT_TRUE(view.index_of(Ordinal(4)));
}

TEST(SelfCompression, ThatCanFreeLessThanASixteenthOfTheThresholdChangesNothing) {
  Conversation conversation = Conversation::open(compressing(keep_recent(1), 800, 100)).value();
  conversation.apply({op::Append{{text(Role::user, "a short one"), words(Role::assistant, 5)}}})
      .value();
  const Outcome outcome = conversation.apply({op::Append{{words(Role::user, 400)}}}).value();
  const Event* failed = find(outcome.events, Event::Type::compression_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error->code, ErrorCode::cannot_fit);
  EXPECT_EQ(failed->error->tokens_minimum, conversation.view().tokens(2));
  EXPECT_EQ(conversation.version(), outcome.version);
}

// Hides the first message.
class HidesTheFirst final : public Strategy {
 public:
  std::string_view name() const noexcept override { return "hides_the_first"; }
  Result<Plan> plan(const History& history, const Aim&) const override {
    return Plan{.base = history.version(), .replacements = {{{{0, 1}}}}};
  }
};

TEST(SelfCompression, ThatFellShortIsTriedAgainWhenTheViewHasGrownByASixteenth) {
  Conversation conversation =
      Conversation::open(compressing(std::make_shared<HidesTheFirst>(), 160, 20)).value();
  std::vector<Message> many(20, words(Role::user, 10));
  conversation.apply({op::Append{many}}).value();
  ASSERT_GT(conversation.stats().tokens, 300u);
  ASSERT_EQ(conversation.view().size(), 19u) << "the first try";
  std::size_t tries = 0;
  std::uint64_t left = conversation.stats().tokens;
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = conversation.apply({op::Append{{text(Role::user, "one")}}}).value();
    const Event* compressed = find(outcome.events, Event::Type::compressed);
    EXPECT_EQ(compressed != nullptr, outcome.stats.tokens >= left + 160 / 16);
    if (!compressed) continue;
    ++tries;
    EXPECT_EQ(compressed->target_reached, false);
    left = conversation.stats().tokens;
  }
  EXPECT_GE(tries, 2u);
}

TEST(SelfCompression, DoesNotHideAtOnceWhatExpandBroughtBack) {
  Conversation conversation =
      Conversation::open(compressing(smart_summary({.keep = 4}), 500, 300)).value();
  append_until(conversation, Event::Type::compressed);
  const Receipt receipt = conversation.history().receipts().at(0);
  const std::optional<std::uint64_t> index =
      conversation.view().index_of(Ordinal(receipt.summaries.at(0).summary));
  ASSERT_TRUE(index);
  const Outcome expanded = conversation.apply({op::Expand{*index}}).value();
  ASSERT_GT(conversation.stats().tokens, 500u);
  EXPECT_FALSE(find(expanded.events, Event::Type::compressed));
  const Outcome next = conversation.apply({op::Append{{text(Role::user, "thanks")}}}).value();
  EXPECT_FALSE(find(next.events, Event::Type::compressed));
  EXPECT_TRUE(conversation.view().index_of(Ordinal(receipt.hidden.at(0))));
  // it grows by a sixteenth, and the strategy runs again
  append_until(conversation, Event::Type::compressed, 10);
}

TEST(SelfCompression, DoesNotHideAtOnceWhatShowBroughtBack) {
  Conversation conversation = Conversation::open(compressing(sliding_window(), 500, 300)).value();
  append_until(conversation, Event::Type::compressed);
  const std::vector<std::uint64_t> hidden = conversation.history().receipts().at(0).hidden;
  const Outcome shown = conversation.apply({op::Show{hidden}}).value();
  ASSERT_GT(conversation.stats().tokens, 500u);
  EXPECT_FALSE(find(shown.events, Event::Type::compressed));
  const Outcome next = conversation.apply({op::Append{{text(Role::user, "thanks")}}}).value();
  EXPECT_FALSE(find(next.events, Event::Type::compressed));
  for (const std::uint64_t ordinal : hidden)
    EXPECT_TRUE(conversation.view().index_of(Ordinal(ordinal)));
  append_until(conversation, Event::Type::compressed, 10);
}

TEST(Compress, WithProgressAppliesTheBestPlanAndSaysThatTheTargetWasMissed) {
  Conversation conversation;
  for (int i = 0; i < 20; ++i)
    conversation.apply({op::Append{{words(i % 2 == 0 ? Role::user : Role::assistant, 10)}}})
        .value();
  const History before = conversation.history();
  const Error refused = conversation.compress(*keep_recent(4), {.tokens_max = 10}).error();
  EXPECT_EQ(refused.code, ErrorCode::cannot_fit);
  EXPECT_EQ(conversation.version(), before.version());

  const Outcome outcome =
      conversation.compress(*keep_recent(4), {.tokens_max = 10, .progress = true}).value();
  ASSERT_TRUE(outcome.receipt);
  EXPECT_EQ(outcome.receipt->target_tokens, 10u);
  EXPECT_EQ(outcome.receipt->target_reached(), false);
  EXPECT_EQ(conversation.view().size(), 4u);
  EXPECT_EQ(refused.tokens_minimum, outcome.stats.tokens);

  conversation.apply({op::Undo{}}).value();
  const Operation listed{
      conversation.compress_by(keep_recent(4), {.tokens_max = 10, .progress = true}).value()};
  EXPECT_EQ(
      conversation.apply(std::vector<Operation>{listed}).value().at(0).receipt->target_reached(),
      false);

  const Error nothing_left =
      conversation.compress(*keep_recent(4), {.tokens_max = 10, .progress = true}).error();
  EXPECT_EQ(nothing_left.code, ErrorCode::cannot_fit) << "nothing can be freed";
  EXPECT_EQ(conversation.compress(*sliding_window(), {.tokens_max = 60, .progress = true})
                .value()
                .receipt->target_reached(),
            true);
}

TEST(Compress, OfACustomStrategyIsJudgedByWhatItLeavesAlsoWhereItDoesNotCount) {
  Conversation conversation;
  conversation.apply({op::Append{{words(Role::user, 20), words(Role::user, 20)}}}).value();
  EXPECT_EQ(conversation.compress(HidesTheFirst(), {.tokens_max = 10}).error().tokens_minimum,
            conversation.view().tokens(1));
  EXPECT_EQ(conversation.compress(HidesTheFirst(), {.tokens_max = 10, .progress = true})
                .value()
                .receipt->target_reached(),
            false);
}

TEST(Compress, TheTargetIsStoredWithTheOperationAndItsAnswer) {
  const std::shared_ptr<Store> store = memory_store();
  const auto opened = [&] {
    return Conversation::open(store, "a", compressing(keep_recent(2), 200, 20)).value();
  };
  Outcome first;
  {
    Conversation conversation = opened();
    for (int i = 0; !find(first.events, Event::Type::compressed); ++i) {
      first = conversation
                  .apply({op::Append{{words(Role::user, 10)}},
                          {.operation_id = "a" + std::to_string(i)}})
                  .value();
    }
    conversation
        .compress(*keep_recent(1),
                  {.tokens_max = 1, .progress = true, .operation = {.operation_id = "by hand"}})
        .value();
  }
  Conversation conversation = opened();
  const std::vector<Receipt> receipts = conversation.history().receipts();
  ASSERT_EQ(receipts.size(), 2u);
  EXPECT_EQ(receipts[0].target_tokens, 20u);
  EXPECT_EQ(receipts[1].target_tokens, 1u);
  const std::string id = "a" + std::to_string(first.version.value - 1);
  const Outcome again =
      conversation.apply({op::Append{{words(Role::user, 10)}}, {.operation_id = id}}).value();
  ASSERT_TRUE(find(again.events, Event::Type::compressed));
  EXPECT_EQ(find(again.events, Event::Type::compressed)->target_reached, false);
  const Outcome by_hand =
      conversation.compress(*keep_recent(1), {.operation = {.operation_id = "by hand"}}).value();
  EXPECT_EQ(by_hand.receipt->target_tokens, 1u);
}

class ThrowingSummariser final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "mine"; }
  bool is_slow() const noexcept override { return true; }
  Result<Summary> summarise(const SummaryRequest&) const override {
    throw std::out_of_range("no such key");
  }
};

TEST(Compress, WhatUserCodeThrowsIsTheCallersToFixUnlessItIsAFailure) {
  Conversation conversation;
  for (int i = 0; i < 10; ++i) conversation.apply({op::Append{{words(Role::user, 30)}}}).value();
  const auto error_of = [&](const StrategyPtr& strategy) {
    Error error = conversation.compress(*strategy).error();
    if (!strategy->is_slow()) {
      const Operation listed{conversation.compress_by(strategy).value()};
      const Error in_list = conversation.apply(std::vector<Operation>{listed}).error();
      EXPECT_EQ(in_list.code, error.code);
      EXPECT_EQ(in_list.message, error.message);
      const Result<Fit> fit = conversation.fit({.window = 10}, *strategy);
      EXPECT_EQ(fit ? std::string("cannot_fit") : std::string(name(fit.error().code)),
                name(error.code));
    }
    return error;
  };
  const Error thrown = error_of(std::make_shared<Throwing>([] { throw std::runtime_error("no"); }));
  EXPECT_EQ(thrown.code, ErrorCode::invalid_argument);
  EXPECT_EQ(thrown.field, "strategy");
  EXPECT_EQ(thrown.message, "the strategy throwing threw: no");
  EXPECT_EQ(error_of(std::make_shared<Throwing>([] { throw 7; })).code,
            ErrorCode::invalid_argument);
  for (std::size_t code = 0; code < error_code_count; ++code) {
    const Error error{static_cast<ErrorCode>(code), "as it was"};
    const Error kept = error_of(std::make_shared<Throwing>([&] { throw Failure(error); }));
    EXPECT_EQ(kept.code, error.code);
    EXPECT_EQ(kept.message, "as it was");
  }
  const Error summarising =
      error_of(smart_summary({.summariser = std::make_shared<ThrowingSummariser>(), .keep = 1}));
  EXPECT_EQ(summarising.code, ErrorCode::invalid_argument);
  EXPECT_EQ(summarising.field, "summariser");
  EXPECT_EQ(summarising.message, "the summariser mine threw: no such key");
  EXPECT_EQ(conversation.version(), Version(10));
  const StrategyPtr with_fallback =
      smart_summary({.summariser = std::make_shared<ThrowingSummariser>(),
                     .fallbacks = {digest_summariser()},
                     .keep = 1});
  const Outcome outcome = conversation.compress(*with_fallback).value();
  EXPECT_EQ(outcome.receipt->summariser, "digest");
  EXPECT_NE(outcome.receipt->reason.find(
                "summariser mine failed: the summariser mine threw: no such key; digest instead"),
            std::string::npos);
}

TEST(SelfCompression, WritesADigestWhereItsSummariserCannotBeUsed) {
  const StrategyPtr strategy =
      smart_summary({.summariser = std::make_shared<ThrowingSummariser>(), .keep = 1});
  Conversation conversation = Conversation::open(compressing(strategy, 400, 300)).value();
  for (int i = 0; i < 20; ++i) conversation.apply({op::Append{{words(Role::user, 30)}}}).value();
  conversation.wait_for_compression();
  const std::vector<Receipt> receipts = conversation.history().receipts();
  ASSERT_FALSE(receipts.empty());
  EXPECT_EQ(receipts.front().summariser, "digest");
  EXPECT_NE(receipts.front().reason.find("the summariser mine threw: no such key"),
            std::string::npos);
}

TEST(Compress, ByNoneSucceedsWhateverTheTargetAndAPlanThatFallsShortChangesNothing) {
  Conversation conversation;
  for (int i = 0; i < 10; ++i) conversation.apply({op::Append{{words(Role::user, 30)}}}).value();
  const Outcome outcome = conversation.compress(*no_strategy(), {.tokens_max = 10}).value();
  EXPECT_FALSE(outcome.receipt);
  EXPECT_EQ(conversation.view().size(), 10u);
  const Version before = conversation.version();
  const Result<Outcome> refused = conversation.compress(*keep_recent(2), {.tokens_max = 10});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::cannot_fit);
  EXPECT_EQ(refused.error().tokens_minimum, conversation.view().sums(8, 10).tokens());
  EXPECT_EQ(conversation.version(), before);
}

TEST(Compress, ASlowStrategyIsNoPartOfAList) {
  const Conversation conversation;
  const StrategyPtr slow = smart_summary({.summariser = std::make_shared<ThrowingSummariser>()});
  EXPECT_EQ(conversation.compress_by(slow).error().code, ErrorCode::unsupported);
}

TEST(SelfCompression, RefusesATargetAboveTheThresholdAndAThresholdOfNothing) {
  EXPECT_EQ(Conversation::open(compressing(sliding_window(), 100, 101)).error().field,
            "targetTokens");
  EXPECT_EQ(Conversation::open(compressing(sliding_window(), 0, 0)).error().field, "threshold");
}

TEST(SelfCompression, AnOperationRepeatedByItsIdTellsOfTheCompressionAgainAndDoesNothing) {
  Conversation conversation = Conversation::open(compressing(sliding_window(), 100, 60)).value();
  Outcome last;
  std::string id;
  for (int i = 0; !find(last.events, Event::Type::compressed); ++i) {
    id = "a" + std::to_string(i);
    last = conversation.apply({op::Append{{words(Role::user, 10)}}, {.operation_id = id}}).value();
  }
  const Version head = conversation.version();
  const Outcome again =
      conversation.apply({op::Append{{words(Role::user, 10)}}, {.operation_id = id}}).value();
  EXPECT_TRUE(find(again.events, Event::Type::compressed));
  EXPECT_EQ(again.version, last.version);
  EXPECT_EQ(conversation.version(), head);
}

class SlowSummary : public testing::Test {
 protected:
  std::shared_ptr<Held> held = std::make_shared<Held>();
  StrategyPtr strategy = smart_summary({.summariser = held});

  // A conversation that waits for its summary.
  Conversation waiting() {
    Conversation conversation = Conversation::open(compressing(strategy, 500, 300)).value();
    append_until(conversation, Event::Type::compression_threshold_exceeded);
    held->wait_until_asked(1);
    return conversation;
  }
  static const Event* told(Conversation& conversation, Event::Type type, Outcome& outcome) {
    outcome = conversation.apply({op::Append{{text(Role::user, "next")}}}).value();
    return find(outcome.events, type);
  }
  // The summary comes too late for what was done meanwhile: nothing changes, and the next operation
  // reports it.
  void expect_discarded(Conversation& conversation) {
    const View before = conversation.view();
    held->answer(Summary{"Too late."});
    conversation.wait_for_compression();
    EXPECT_EQ(ordinals(conversation.view()), ordinals(before));
    Outcome outcome;
    const Event* discarded = told(conversation, Event::Type::compression_discarded, outcome);
    ASSERT_TRUE(discarded);
    EXPECT_EQ(discarded->error->code, ErrorCode::conflict);
  }
};

TEST_F(SlowSummary, NeverBlocksAndKeepsWhatWasAppendedMeanwhile) {
  Conversation conversation = waiting();
  const std::uint64_t before = conversation.stats().total_messages;
  conversation.apply({op::Append{{text(Role::user, "meanwhile")}}}).value();
  held->answer(Summary{"They counted words.", "model-1", 900, 20});
  conversation.wait_for_compression();

  const View view = conversation.view();
  EXPECT_EQ(view[view.size() - 1].text(), "meanwhile");
  EXPECT_EQ(view.ordinal(view.size() - 1).value, before);
  EXPECT_NE(view[0].text().find("They counted words."), std::string::npos);
  const Receipt receipt = conversation.history().receipts().at(0);
  EXPECT_EQ(receipt.summariser, "held");
  EXPECT_EQ(receipt.model, "model-1");
  EXPECT_EQ(receipt.prompt_tokens, 900u);
  EXPECT_EQ(receipt.completion_tokens, 20u);

  Outcome outcome;
  EXPECT_TRUE(told(conversation, Event::Type::compressed, outcome))
      << "the next operation tells what happened meanwhile";

  conversation.apply({op::Expand{0}}).value();
  std::vector<std::uint64_t> all = ordinals(conversation.view());
  std::erase(all, receipt.summaries.at(0).summary);
  EXPECT_EQ(all.size(), conversation.stats().total_messages - 1)
      << "everything but the summary is back";
}

TEST_F(SlowSummary, IsFollowedByAnotherWhenWhatCameMeanwhileIsTooMuchAgain) {
  Conversation conversation = waiting();
  while (conversation.stats().tokens < 1500)
    conversation.apply({op::Append{{words(Role::user, 20)}}}).value();
  held->answer(Summary{"The first part."});
  held->wait_until_asked(2);
  held->answer(Summary{"The second part."});
  conversation.wait_for_compression();
  EXPECT_LE(conversation.stats().tokens, 500u);
  EXPECT_EQ(conversation.history().receipts().size(), 2u);
  EXPECT_EQ(held->asked(), 2u) << "and no more, once it fits";
}

TEST_F(SlowSummary, IsNotFollowedByAnotherWhenItWasCancelled) {
  Conversation conversation = waiting();
  while (conversation.stats().tokens < 1500)
    conversation.apply({op::Append{{words(Role::user, 20)}}}).value();
  conversation.cancel_compression();
  conversation.wait_for_compression();
  EXPECT_GT(conversation.stats().tokens, 1000u);
  EXPECT_EQ(held->asked(), 1u);
}

TEST_F(SlowSummary, IsNotAskedForByATrial) {
  const Conversation conversation = Conversation::open(compressing(strategy, 500, 300)).value();
  Conversation trial = conversation.trial(Version(0)).value();
  for (int i = 0; i < 40; ++i) trial.apply({op::Append{{words(Role::user, 20)}}}).value();
  trial.wait_for_compression();
  EXPECT_GT(trial.stats().tokens, 500u);
  EXPECT_EQ(held->asked(), 0u);
  EXPECT_EQ(conversation.version(), Version(0));
}

TEST_F(SlowSummary, IsDiscardedAndToldOfWhenWhatItStandsForHasChanged) {
  Conversation conversation = waiting();
  conversation.apply({op::Delete{Names::indices({0})}}).value();
  expect_discarded(conversation);
}

TEST_F(SlowSummary, ThatWasDiscardedIsTriedAgainByTheNextOperation) {
  Conversation conversation = waiting();
  conversation.apply({op::Insert{1, {text(Role::user, "in between")}}}).value();
  expect_discarded(conversation);
  held->wait_until_asked(2);  // by the operation that reported it
  held->answer(Summary{"short"});
  conversation.wait_for_compression();
  EXPECT_EQ(conversation.history().receipts().size(), 1u);
}

TEST_F(SlowSummary, IsDiscardedAndReportedWhenSomethingWasPutInsideItsStretch) {
  Conversation conversation = waiting();
  conversation.apply({op::Insert{1, {text(Role::user, "in between")}}}).value();
  expect_discarded(conversation);
  EXPECT_TRUE(conversation.history().receipts().empty());
}

// A model that is down.
class Down final : public Summariser {
 public:
  explicit Down(std::string name) : name_(std::move(name)) {}
  std::string_view name() const noexcept override { return name_; }
  bool is_slow() const noexcept override { return true; }
  Result<Summary> summarise(const SummaryRequest&) const override {
    return Error{ErrorCode::unavailable, "nobody answers"};
  }

 private:
  const std::string name_;
};

TEST_F(SlowSummary, ComesFromTheNextSummariserWhenOneFails) {
  strategy = smart_summary({.summariser = std::make_shared<Down>("first"), .fallbacks = {held}});
  Conversation conversation = waiting();
  held->answer(Summary{"By the second.", "model-2"});
  conversation.wait_for_compression();
  const Receipt receipt = conversation.history().receipts().at(0);
  EXPECT_EQ(receipt.summariser, "held");
  EXPECT_EQ(receipt.model, "model-2");
  EXPECT_NE(receipt.reason.find("first"), std::string::npos) << receipt.reason;
}

TEST(SelfCompression, KeepsTheViewSmallWhenEveryModelIsDown) {
  const SmartSummary models{.summariser = std::make_shared<Down>("first"),
                            .fallbacks = {std::make_shared<Down>("second")}};
  for (const StrategyPtr& strategy : {smart_summary(models), default_strategy(models)}) {
    Conversation conversation = Conversation::open(compressing(strategy, 500, 300)).value();
    for (int i = 0; i < 60; ++i) {
      conversation.apply({op::Append{{words(i % 2 == 0 ? Role::user : Role::assistant, 10)}}})
          .value();
      conversation.wait_for_compression();
      ASSERT_LE(conversation.stats().tokens, 500u + 500u / 16);
    }
    const Receipt receipt = conversation.history().receipts().at(0);
    EXPECT_EQ(receipt.summariser, "digest");
    EXPECT_NE(receipt.reason.find("second"), std::string::npos) << receipt.reason;
  }
}

TEST_F(SlowSummary, ThatFailsOrSaysNothingOrTooMuchIsReplacedByADigest) {
  const Result<Summary> bad[] = {Error{ErrorCode::unavailable, "the network is gone"}, Summary{""},
                                 Summary{" \n"}, Summary{std::string(20'000, 'x')},
                                 Summary{std::string("\xff\xfe no text")}};
  for (const Result<Summary>& answer : bad) {
    held = std::make_shared<Held>();
    strategy = smart_summary({.summariser = held});
    Conversation conversation = waiting();
    held->answer(answer);
    conversation.wait_for_compression();
    ASSERT_EQ(conversation.history().receipts().size(), 1u);
    const Receipt receipt = conversation.history().receipts()[0];
    EXPECT_EQ(receipt.summariser, "digest");
    EXPECT_NE(receipt.reason.find("; summariser held failed: "), std::string::npos)
        << receipt.reason;
  }
}

TEST_F(SlowSummary, EndsWhenItIsCancelledAndWhenTheConversationGoes) {
  Conversation conversation = waiting();
  conversation.cancel_compression();
  conversation.wait_for_compression();
  Outcome outcome;
  EXPECT_TRUE(told(conversation, Event::Type::compression_failed, outcome));
  held = std::make_shared<Held>();
  strategy = smart_summary({.summariser = held});
  waiting();  // destroyed while it waits
}

TEST_F(SlowSummary, OfAnExplicitCompressWorksBesideOtherWriters) {
  Conversation conversation;
  for (int i = 0; i < 30; ++i) conversation.apply({op::Append{{words(Role::user, 20)}}}).value();
  std::jthread other([&] {
    held->wait_until_asked(1);
    conversation.apply({op::Append{{text(Role::user, "meanwhile")}}}).value();
    held->answer(Summary{"Thirty lists of words."});
  });
  const Outcome outcome =
      conversation.compress(*strategy, {.operation = {.description = "tidy up"}}).value();
  EXPECT_TRUE(outcome.by_strategy);
  ASSERT_TRUE(outcome.receipt);
  EXPECT_EQ(held->given().size(), outcome.receipt->hidden.size());
  EXPECT_EQ(conversation.view()[conversation.view().size() - 1].text(), "meanwhile");
  EXPECT_EQ(conversation.history().version_info(outcome.version).description, "tidy up");
}

TEST(Compress, WithinTheAimAlreadyMakesAVersionLikeTheLastAndNoBatch) {
  Conversation conversation;
  conversation.apply({op::Append{{text(Role::user, "hello")}}}).value();
  const Outcome outcome = conversation.compress(*sliding_window(), {.tokens_max = 1000}).value();
  EXPECT_TRUE(outcome.by_strategy);
  EXPECT_FALSE(outcome.receipt);
  EXPECT_EQ(outcome.version.value, 2u);
  EXPECT_EQ(outcome.stats.current_batch_index, 0u);
  EXPECT_TRUE(conversation.history().receipts().empty());
}

TEST(Compress, ThatCannotFitSaysTheLeastAndChangesNothing) {
  Conversation conversation;
  conversation.apply({op::Append{{text(Role::system, "be brief"), words(Role::user, 50)}}}).value();
  const Result<Outcome> outcome = conversation.compress(*sliding_window(), {.tokens_max = 10});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::cannot_fit);
  EXPECT_EQ(outcome.error().tokens_minimum, conversation.stats().tokens);
  EXPECT_EQ(conversation.version().value, 1u);
}

TEST(Compress, ExpectingAnotherVersionIsAConflictBeforeAnythingIsSummarised) {
  const auto held = std::make_shared<Held>();
  Conversation conversation;
  conversation.apply({op::Append{{words(Role::user, 50)}}}).value();
  const Result<Outcome> outcome = conversation.compress(
      *smart_summary({.summariser = held}), {.operation = {.expected_version = Version(7)}});
  EXPECT_EQ(outcome.error().code, ErrorCode::conflict);
  EXPECT_EQ(held->asked(), 0u);
}

TEST(Fit, AnswersForAnyBudgetAndChangesNothing) {
  Conversation conversation;
  for (int i = 0; i < 50; ++i)
    conversation.apply({op::Append{{words(i % 2 ? Role::assistant : Role::user, 20)}}}).value();
  const std::uint64_t tokens = conversation.stats().tokens;
  const StrategyPtr strategy = sliding_window();
  EXPECT_EQ(conversation.fit({.window = tokens}, *strategy).value().outcome, Fit::Outcome::fits);
  const Fit after =
      conversation.fit({.window = tokens, .reserve = 100, .overhead = 50, .safety = 1}, *strategy)
          .value();
  EXPECT_EQ(after.outcome, Fit::Outcome::fits_after);
  EXPECT_EQ(after.tokens_max, tokens - 151);
  EXPECT_LE(after.plan->tokens_after, after.tokens_max);
  const Fit never = conversation.fit({.window = 100, .reserve = 200}, *strategy).value();
  EXPECT_EQ(never.outcome, Fit::Outcome::cannot_fit);
  EXPECT_EQ(never.tokens_max, 0u);
  EXPECT_GT(never.tokens_minimum, 0u);
  EXPECT_EQ(conversation.version().value, 50u);
}

TEST(Tokenizer, ChangedInAConversationMakesEverySumRightAtOnce) {
  Conversation conversation;
  for (int i = 0; i < 40; ++i) conversation.apply({op::Append{{words(Role::user, 50)}}}).value();
  conversation.apply({op::Truncate{.keep_last = 30}}).value();
  const History before = conversation.history();
  ASSERT_TRUE(conversation.set_tokenizer("claude-sonnet-4"));
  EXPECT_NE(conversation.stats().tokens, before.stats().tokens);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < conversation.view().size(); ++i)
    sum += conversation.view().tokens(i);
  EXPECT_EQ(conversation.stats().tokens, sum);
  EXPECT_EQ(before.stats().tokens, before.view().sums().tokens())
      << "a value handed out earlier stays as it was";

  const std::uint64_t at_40 = conversation.history().version_info(Version(40)).tokens;
  conversation.apply({op::Undo{}}).value();
  EXPECT_EQ(conversation.stats().tokens, at_40);
  ASSERT_TRUE(conversation.set_tokenizer("estimate"));
  EXPECT_EQ(conversation.stats().tokens, before.version_info(Version(40)).tokens);
  EXPECT_EQ(conversation.set_tokenizer("no such tokenizer").error().field, "tokenizer");
}

TEST(SelfCompression, IsNotStoppedByTurnsThatAreTakenBack) {
  Conversation conversation = Conversation::open(compressing(sliding_window(), 1000, 600)).value();
  bool compressed = false;
  for (int turn = 0; turn < 200 && !compressed; ++turn) {
    const std::uint64_t batch = conversation.stats().current_batch_index;
    conversation.apply({op::StartBatch{}}).value();
    conversation.apply({op::Append{{text(Role::user, "a hint")}}}).value();
    conversation.apply({op::Append{{words(Role::assistant, 8)}}}).value();
    const Outcome end = conversation.apply({op::EndBatch{batch, {Role::assistant}}}).value();
    compressed =
        find(end.events, Event::Type::compressed) || conversation.history().receipts().size() > 0;
  }
  EXPECT_TRUE(compressed);
}

TEST(SelfCompression, DoesNotUndoAnUndoWithinAList) {
  Conversation conversation = Conversation::open(compressing(sliding_window(), 500, 300)).value();
  append_until(conversation, Event::Type::compressed);
  const std::vector<Outcome> outcomes =
      conversation
          .apply(std::vector<Operation>{{op::Undo{}}, {op::Append{{text(Role::user, "more")}}}})
          .value();
  EXPECT_FALSE(find(outcomes.back().events, Event::Type::compressed));
  EXPECT_GT(conversation.stats().tokens, 500u);
}

TEST(SelfCompression, ComesDownToThreeQuartersUnlessToldOtherwise) {
  Settings settings = compressing(sliding_window(), 1000, 0);
  settings.compression.target_tokens.reset();
  Conversation conversation = Conversation::open(settings).value();
  EXPECT_LE(
      find(append_until(conversation, Event::Type::compressed).events, Event::Type::compressed)
          ->tokens_after,
      750u);
}

// How many messages fit between two compressions.
std::uint64_t appends_until_next(Conversation& conversation) {
  append_until(conversation, Event::Type::compressed);
  const std::uint64_t before = conversation.stats().total_messages;
  append_until(conversation, Event::Type::compressed);
  return conversation.stats().total_messages - before;
}

TEST(SelfCompression, WithHeadroomSoManyMoreTurnsFitBeforeTheNextOne) {
  // A turn of append_until() is a question and an answer of 20 words each.
  const auto appends = [](std::uint64_t turns) {
    Settings settings = compressing(sliding_window(), 4000, 3900);
    settings.compression.headroom_turns = turns;
    Conversation conversation = Conversation::open(settings).value();
    return appends_until_next(conversation);
  };
  EXPECT_LT(appends(0), 10u);
  for (const std::uint64_t turns : {5u, 10u, 20u}) {
    EXPECT_GE(appends(turns), 2 * turns) << turns;
    EXPECT_LE(appends(turns), 2 * turns + 8) << turns << ": no more than is asked for is given up";
  }
}

TEST(SelfCompression, HeadroomIsMeasuredByWhatWasSaidAndNotByWhatACompressionPutThere) {
  Settings settings = compressing(smart_summary(), 4000, 3900);
  settings.compression.headroom_turns = 8;
  Conversation conversation = Conversation::open(settings).value();
  const std::uint64_t first = appends_until_next(conversation),
                      second = appends_until_next(conversation);
  EXPECT_GE(first, 16u);
  EXPECT_LE(second, first + 8) << "a summary is no growth";
}

TEST(SelfCompression, HeadroomLeavesAtLeastAQuarterOfTheThreshold) {
  Settings settings = compressing(sliding_window(), 4000, 3900);
  settings.compression.headroom_turns = ~std::uint64_t{0};
  Conversation conversation = Conversation::open(settings).value();
  const Outcome outcome = append_until(conversation, Event::Type::compressed);
  const std::uint64_t left = find(outcome.events, Event::Type::compressed)->tokens_after;
  EXPECT_LE(left, 1000u);
  EXPECT_GT(left, 850u);
}

TEST(SelfCompression, WithoutAThresholdTheTokenLimitIsOne) {
  Settings settings = compressing(sliding_window(), 0, 200);
  settings.token_limit = 400;
  Conversation conversation = Conversation::open(settings).value();
  const Outcome outcome = append_until(conversation, Event::Type::compressed);
  EXPECT_TRUE(find(outcome.events, Event::Type::token_limit_exceeded));
}

TEST(SelfCompression, OfAStrategyThatGainsNothingIsNotRepeated) {
  // Puts a message of the same size in the place of the first.
  class Pointless final : public Strategy {
   public:
    std::string_view name() const noexcept override { return "pointless"; }
    Result<Plan> plan(const History& history, const Aim&) const override {
      Plan plan;
      plan.base = history.version();
      plan.replacements.push_back({{{0, 1}}, history.view()[0]});
      return plan;
    }
  };
  Conversation conversation =
      Conversation::open(compressing(std::make_shared<Pointless>(), 500, 300)).value();
  std::size_t compressions = 0;
  for (int i = 0; i < 200; ++i) {
    const Outcome outcome = conversation.apply({op::Append{{text(Role::user, "one")}}}).value();
    if (find(outcome.events, Event::Type::compressed)) ++compressions;
  }
  EXPECT_LE(compressions, 200 * 6 / (500 / 16) + 1u);
}

TEST_F(SlowSummary, IsDiscardedWhenSomethingItHidesWasPinnedMeanwhile) {
  Conversation conversation = waiting();
  conversation.apply({op::Mark{Names::indices({0}), std::string(pinned_mark)}}).value();
  held->answer(Summary{"Too late."});
  conversation.wait_for_compression();
  Outcome outcome;
  EXPECT_TRUE(told(conversation, Event::Type::compression_discarded, outcome));
}

TEST_F(SlowSummary, IsToldOfOnceAndNotByARepeatedOperation) {
  Conversation conversation = waiting();
  const Operation again{op::Append{{text(Role::user, "x")}}, {.operation_id = "x"}};
  const Outcome first = conversation.apply(again).value();
  held->answer(Summary{"Short."});
  conversation.wait_for_compression();
  EXPECT_EQ(conversation.apply(again).value().events.size(), first.events.size());
  Outcome outcome;
  EXPECT_TRUE(told(conversation, Event::Type::compressed, outcome));
}

TEST_F(SlowSummary, MayBeCancelledBySomebodyWhoIsToldOfAChange) {
  Conversation conversation = Conversation::open(compressing(strategy, 500, 300)).value();
  const Subscription subscription = conversation.subscribe([&](const Event& event) {
    if (event.type != Event::Type::context_changed) return;
    conversation.cancel_compression();
    conversation.wait_for_compression();
  });
  append_until(conversation, Event::Type::compression_threshold_exceeded);
  held->wait_until_asked(1);
  conversation.apply({op::Append{{text(Role::user, "stop")}}}).value();
  conversation.wait_for_compression();
  EXPECT_TRUE(conversation.history().receipts().empty());
}

TEST(Conversations, GoOnAfterAClockThatThrew) {
  Settings settings;
  bool broken = false;
  settings.clock_ms = [&]() -> std::int64_t {
    if (broken) throw std::runtime_error("no clock");
    return 1;
  };
  Conversation conversation = Conversation::open(settings).value();
  broken = true;
  EXPECT_THROW((void)conversation.apply({op::Append{{text(Role::user, "a")}}}), std::runtime_error);
  broken = false;
  EXPECT_TRUE(conversation.apply({op::Append{{text(Role::user, "a")}}}));
}

TEST(Tokenizer, ChangedSoThatALimitIsCrossedIsToldByTheNextOperation) {
  Settings settings;
  Conversation counted = Conversation::open(settings).value();
  for (int i = 0; i < 20; ++i) counted.apply({op::Append{{words(Role::user, 50)}}}).value();
  settings.token_limit = counted.stats().tokens + 10;
  Conversation conversation = Conversation::open(settings).value();
  for (int i = 0; i < 20; ++i) conversation.apply({op::Append{{words(Role::user, 50)}}}).value();
  ASSERT_TRUE(conversation.set_tokenizer("claude-opus-4-7"));
  ASSERT_GT(conversation.stats().tokens, *settings.token_limit);
  EXPECT_TRUE(find(conversation.apply({op::Mark{Names::indices({0}), "m"}}).value().events,
                   Event::Type::token_limit_exceeded));
}

TEST(Usage, TeachesHowFarTheEstimateIsOff) {
  Conversation conversation;
  conversation.apply({op::Append{{words(Role::user, 400)}}}).value();
  const std::uint64_t tokens = conversation.stats().tokens;
  for (int i = 0; i < 30; ++i) {
    const std::string id = "r" + std::to_string(i);
    // while it streams
    ASSERT_TRUE(conversation.update_usage({.request_id = id, .model = "m", .prompt = tokens}));
    ASSERT_TRUE(conversation.update_usage(
        {.request_id = id, .model = "m", .prompt = tokens * 6 / 5, .completion = 7}));
    ASSERT_TRUE(conversation.finish_usage(id));
  }
  EXPECT_EQ(conversation.usage().totals().requests, 30u);
  EXPECT_NEAR(static_cast<double>(conversation.usage().correct("m", 1000)), 1200.0, 60.0);
  EXPECT_EQ(conversation.finish_usage("r0").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace undertext
