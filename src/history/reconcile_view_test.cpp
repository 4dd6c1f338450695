// Clients that are given the view and save a list in its place: frameworks. Cases, and random
// clients against plain lists.
//
//     SEED=n   the first run          RUNS=n   how many
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/history.hpp>

namespace undertext {
namespace {

using Texts = std::vector<std::string>;
using Ordinals = std::vector<std::uint64_t>;

Message message(const std::string& text) { return Message::make(Role::user, text).value(); }

const VolatileParts& to_the_byte() {
  static const VolatileParts parts = [] {
    VolatileParts all = VolatileParts::common();
    all.nothing = true;
    return all;
  }();
  return parts;
}

op::Reconcile saved(const std::vector<Message>& list) {
  op::Reconcile request;
  request.takes_view = true;
  request.volatile_parts = to_the_byte();
  for (const Message& each : list) request.list.push_back({each, identity(each, to_the_byte())});
  return request;
}

op::Reconcile saved(const Texts& list) {
  std::vector<Message> messages;
  for (const std::string& text : list) messages.push_back(message(text));
  return saved(messages);
}

Texts view_of(const History& history) {
  Texts texts;
  for (const Message& each : history.view()) texts.push_back(each.text());
  return texts;
}

struct Chat {
  History history;
  Reconciliation last;

  Chat& save(const op::Reconcile& request) {
    Result<Step> step = history.apply({request}, {});
    EXPECT_TRUE(step) << (step ? "" : step.error().message);
    history = step->history;
    last = *step->applied.reconciliation;
    return *this;
  }
  Chat& save(const Texts& list) { return save(saved(list)); }
  Chat& apply(Operation::What what) {
    Result<Step> step = history.apply({std::move(what)}, {});
    EXPECT_TRUE(step) << (step ? "" : step.error().message);
    if (step) history = step->history;
    return *this;
  }
  Chat& compress(const Ordinals& indices, const std::string& summary) {
    return apply(op::Compress{Names::indices(indices), message(summary)});
  }
  Texts view() const { return view_of(history); }
  std::uint64_t stored() const { return history.stats().total_messages; }
  std::uint64_t version() const { return history.version().value; }
};

constexpr auto same = ReconcileOutcome::same;
constexpr auto appended = ReconcileOutcome::appended;
constexpr auto edited = ReconcileOutcome::edited;

TEST(ReconcileView, AListThatGrowsAppends) {
  Chat chat;
  chat.save({"1", "2"}).save({"1", "2", "3"});
  EXPECT_EQ(chat.last, (Reconciliation{appended, 2, 1, 0}));
  chat.save({"1", "2", "3"});
  EXPECT_EQ(chat.last, (Reconciliation{same, 3, 0, 0}));
  EXPECT_EQ(chat.version(), 2u);
}

TEST(ReconcileView, ASummaryThatWasLoadedIsKept) {
  Chat chat;
  chat.save({"1", "2", "3", "4"}).compress({0, 1, 2}, "S").save({"S", "4", "5"});
  EXPECT_EQ(chat.last, (Reconciliation{appended, 2, 1, 0}));
  EXPECT_EQ(chat.view(), (Texts{"S", "4", "5"}));
  EXPECT_EQ(chat.stored(), 6u);
  chat.apply(op::Expand{0});
  EXPECT_EQ(chat.view(), (Texts{"1", "2", "3", "4", "5"}));
}

TEST(ReconcileView, ASummaryStaysForAClientThatStillHasTheOriginals) {
  Chat chat;
  chat.save({"1", "2", "3", "4"}).compress({0, 1, 2}, "S").save({"1", "2", "3", "4", "5"});
  EXPECT_EQ(chat.last.outcome, appended);
  EXPECT_EQ(chat.view(), (Texts{"S", "4", "5"}));
  // Another one has loaded it meanwhile.
  chat.save({"S", "4", "5", "6"}).save({"1", "2", "3", "4", "5", "6", "7"});
  EXPECT_EQ(chat.view(), (Texts{"S", "4", "5", "6", "7"}));
  EXPECT_EQ(chat.stored(), 8u);
}

TEST(ReconcileView, ASummaryThatIsNotSavedGoes) {
  Chat chat;
  chat.save({"1", "2", "3", "4"}).compress({0, 1, 2}, "S").save({"4", "5"});
  EXPECT_EQ(chat.view(), (Texts{"4", "5"}));
  EXPECT_EQ(chat.last.outcome, edited);
}

TEST(ReconcileView, ASummaryIsExpandedToWhatAClientStillHas) {
  Chat chat;
  chat.save({"1", "2", "3", "4"}).compress({0, 1, 2}, "S").save({"1", "3", "4"});
  EXPECT_EQ(chat.view(), (Texts{"1", "3", "4"}));
  EXPECT_EQ(chat.stored(), 5u);
}

TEST(ReconcileView, TextLikeThatUnderASummaryIsNewBesideIt) {
  Chat chat;
  chat.save({"1", "ok", "3"}).compress({0, 1}, "S").save({"S", "ok", "3"});
  EXPECT_EQ(chat.view(), (Texts{"S", "ok", "3"}));
  EXPECT_EQ(chat.stored(), 5u);
}

TEST(ReconcileView, WhatOthersAppendedIsKeptWhenItIsSavedAndGoesWhenItIsNot) {
  Chat chat;
  chat.save({"1"}).apply(op::Append{{message("X")}}).save({"1", "X", "2"});
  EXPECT_EQ(chat.stored(), 3u);
  chat.apply(op::Append{{message("Y")}}).save({"1", "X", "2"});
  EXPECT_EQ(chat.view(), (Texts{"1", "X", "2"}));
}

TEST(ReconcileView, AConversationThatWasThereBeforeIsTheSameAsItIsLoaded) {
  Chat chat;
  chat.apply(op::Append{{message("1"), message("2")}}).save({"1", "2"});
  EXPECT_EQ(chat.last, (Reconciliation{same, 2, 0, 0}));
  EXPECT_EQ(chat.version(), 1u);
}

TEST(ReconcileView, OfAnEditedCopyAndItsOriginalTheOneThatIsSavedIsThere) {
  for (const std::string first : {"A1", "a1"}) {
    Chat chat;
    chat.save({"a1", "2"})
        .apply(op::Transform{Names::indices({0}), op::ReplaceText{"a", "A"}})
        .save({first, "2", "3"});
    EXPECT_EQ(chat.view(), (Texts{first, "2", "3"}));
    EXPECT_EQ(chat.stored(), 4u);
  }
}

TEST(ReconcileView, WhatTheClientReplacedIsThereAgainWhereAVersionBroughtTheOtherBack) {
  Chat chat;
  chat.save({"a"}).save({"b"}).save(Texts{}).save({"a"}).apply(op::Restore{2}).save({"a"});
  EXPECT_EQ(chat.view(), (Texts{"a"}));
  EXPECT_EQ(chat.stored(), 2u);
}

TEST(ReconcileView, AMessageThatTheClientChangedAndChangesBackReturns) {
  Chat chat;
  chat.save({"1", "2"}).save({"1", "2b"}).save({"1", "2"});
  EXPECT_EQ(chat.view(), (Texts{"1", "2"}));
  EXPECT_EQ(chat.stored(), 3u);
}

TEST(ReconcileView, WhatARestoredVersionHidReturnsWhenItIsSaved) {
  Chat chat;
  chat.save({"1", "2"}).save({"1", "2", "3"}).apply(op::Restore{1}).save({"1", "2", "3", "4"});
  EXPECT_EQ(chat.view(), (Texts{"1", "2", "3", "4"}));
  EXPECT_EQ(chat.stored(), 4u);
}

TEST(ReconcileView, AListMayShrinkToNothingAndComeBack) {
  Chat chat;
  chat.save(Texts{}).save({"1", "2"}).save(Texts{});
  EXPECT_TRUE(chat.view().empty());
  chat.save({"1", "2"});
  EXPECT_EQ(chat.view(), (Texts{"1", "2"}));
  EXPECT_EQ(chat.stored(), 2u);
}

TEST(ReconcileView, MessagesOfTheConversationMayBeNamed) {
  Chat chat;
  chat.apply(op::Append{{message("1"), message("2")}});
  op::Reconcile request = saved({"?", "3", "?", "?"});
  request.list[0].ordinal = 0, request.list[2].ordinal = 1, request.list[3].ordinal = 1;
  chat.save(request);
  EXPECT_EQ(chat.view(), (Texts{"1", "3", "2", "2"}));
  EXPECT_EQ(chat.stored(), 4u);
  request.list[2].ordinal = 9;
  const Result<Step> refused = chat.history.apply({request}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().path, "messages[2].ordinal");
}

// Random clients.

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

class Story {
 public:
  explicit Story(std::uint64_t seed) : random_(seed) {}

  void run() {
    for (std::uint64_t steps = 3 + below(20); steps > 0 && !::testing::Test::HasFatalFailure();
         --steps) {
      for (std::uint64_t edits = below(3); edits > 0; --edits) edit();
      const bool is_loaded = sent_.empty() || !one_in(3);
      Texts list = is_loaded ? view_of(history_) : sent_[below(sent_.size())];
      change(list);
      save(list, is_loaded);
    }
  }

 private:
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::string fresh() { return "t" + std::to_string(next_++); }

  void change(Texts& list) {
    const auto at = [&] { return list.begin() + static_cast<std::ptrdiff_t>(below(list.size())); };
    for (std::uint64_t changes = below(3); changes > 0; --changes) {
      switch (below(5)) {
        case 0:
          if (!list.empty()) *at() = fresh();
          break;
        case 1:
          if (!list.empty()) list.erase(at());
          break;
        case 2: list.insert(list.empty() ? list.begin() : at(), fresh()); break;
        case 3: list.resize(below(list.size() + 1)); break;
        default: list.push_back(fresh());
      }
    }
  }

  void edit() {
    const std::uint64_t n = history_.view().size(), stored = history_.stats().total_messages;
    const std::uint64_t from = below(n);
    Ordinals stretch;
    for (std::uint64_t i = from; i < std::min(n, from + 1 + below(4)); ++i) stretch.push_back(i);
    switch (below(8)) {
      case 0:
      case 1:
      case 2: return apply(op::Compress{Names::indices(stretch), message("S" + fresh())});
      case 3: return apply(op::Delete{Names::indices(stretch)});
      case 4:
        return apply(op::Transform{Names::indices({from}),
                                   op::ReplaceText{"t", "T" + std::to_string(next_++) + "_"}});
      case 5: return apply(op::Undo{});
      case 6: return apply(op::Show{{below(stored)}});
      default: return apply(op::Append{{message(fresh())}});
    }
  }
  void apply(Operation::What what) {
    if (Result<Step> step = history_.apply({std::move(what)}, {})) history_ = step->history;
  }

  void save(const Texts& list, bool is_loaded) {
    const History before = history_;
    Texts stored;
    for (const Message& each : before.log()) stored.push_back(each.text());
    Result<Step> step = before.apply({saved(list)}, {});
    ASSERT_TRUE(step) << step.error().message;
    history_ = step->history;
    const bool is_same = step->applied.reconciliation->outcome == same;
    ASSERT_EQ(history_.version().value, before.version().value + (is_same ? 0 : 1));
    // Nothing is stored twice.
    std::uint64_t fresh = 0;
    for (const std::string& text : list)
      fresh += std::find(stored.begin(), stored.end(), text) == stored.end();
    const std::uint64_t more = history_.stats().total_messages - before.stats().total_messages;
    ASSERT_TRUE(more == fresh || says_twice(before, list))
        << described(before) << ::testing::PrintToString(list);
    if (is_loaded) {
      ASSERT_EQ(view_of(history_), list) << described(before) << described(history_);
    } else {
      check_told(list);
      check_summaries(before, list);
    }
    const Result<Step> again = history_.apply({saved(list)}, {});
    ASSERT_TRUE(again);
    ASSERT_EQ(again->applied.reconciliation->outcome, same)
        << described(before) << described(history_) << described(again->history)
        << ::testing::PrintToString(list);
    if (!is_same) sent_.push_back(list);  // what was loaded and never changed is noted nowhere
  }

  // Each message that was saved is visible, or something visible stands for it; and nothing else is
  // there.
  void check_told(const Texts& list) {
    std::set<std::string> told;
    const View log = history_.log();
    const auto tell = [&](auto&& self, Ordinal ordinal) -> void {
      told.insert(log[ordinal.value].text());
      for (const Ordinal original : history_.stands_for(ordinal)) self(self, original);
    };
    const View view = history_.view();
    for (std::uint64_t i = 0; i < view.size(); ++i) tell(tell, view.ordinal(i));
    for (const std::string& text : list) ASSERT_TRUE(told.contains(text)) << text;
  }

  // A message, and one that stands for it.
  static bool says_twice(const History& history, const Texts& list) {
    const View log = history.log();
    const auto has = [&](std::uint64_t ordinal) {
      return std::find(list.begin(), list.end(), log[ordinal].text()) != list.end();
    };
    const auto reaches = [&](auto&& self, Ordinal maker) -> bool {
      for (const Ordinal original : history.stands_for(maker))
        if (has(original.value) || self(self, original)) return true;
      return false;
    };
    for (std::uint64_t o = 0; o < log.size(); ++o)
      if (has(o) && reaches(reaches, Ordinal(o))) return true;
    return false;
  }

  static std::string described(const History& history) {
    std::string text = "\nlog";
    for (std::uint64_t o = 0; o < history.stats().total_messages; ++o) {
      (text += " " + std::to_string(o) + "=") += history.log()[o].text();
      for (const Ordinal original : history.stands_for(Ordinal(o)))
        text += "<" + std::to_string(original.value);
    }
    text += "\nview";
    for (const std::string& each : view_of(history)) text += " " + each;
    text += "\nlist";
    for (const Ordinal ordinal : history.client_list()) text += " " + std::to_string(ordinal.value);
    return text + "\n";
  }

  // A summary whose originals were all saved stays in force, unless something else that was saved
  // tells them too.
  void check_summaries(const History& before, const Texts& list) {
    if (says_twice(before, list)) return;
    const std::set<std::string> saved(list.begin(), list.end());
    const View view = before.view(), log = before.log();
    for (std::uint64_t i = 0; i < view.size(); ++i) {
      const std::vector<Ordinal> originals = before.stands_for(view.ordinal(i));
      const bool is_summary = view[i].text().starts_with("St");
      const bool is_saved = std::all_of(originals.begin(), originals.end(), [&](Ordinal each) {
        return saved.contains(log[each.value].text());
      });
      if (!is_summary || originals.empty() || !is_saved) continue;
      ASSERT_TRUE(history_.view().index_of(view.ordinal(i)))
          << view[i].text() << described(before) << ::testing::PrintToString(list);
    }
  }

  std::mt19937_64 random_;
  History history_;
  std::vector<Texts> sent_;
  std::uint64_t next_ = 0;
};

// As a graph's saver does it: any list in the place of any version's, with messages that stand
// there twice and return in another order.
TEST(ReconcileView, AnyListTakesThePlaceOfAnyVersion) {
  const std::uint64_t seed = from_environment("SEED", std::random_device{}()),
                      runs = from_environment("RUNS", 300);
  std::printf("SEED=%llu RUNS=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(runs));
  for (std::uint64_t run = 0; run < runs; ++run) {
    std::mt19937_64 random(seed + run);
    Chat chat;
    std::string story = "SEED=" + std::to_string(seed + run);
    for (std::uint64_t steps = 1 + random() % 8; steps > 0; --steps) {
      if (chat.version() > 0 && random() % 2 == 0) {
        const std::uint64_t version = random() % (chat.version() + 1);
        story += " restore " + std::to_string(version);
        chat.apply(op::Restore{version});
      }
      Texts list;
      for (std::uint64_t n = random() % 6; n > 0; --n)
        list.emplace_back(1, static_cast<char>('a' + random() % 4));
      story += " save";
      for (const std::string& each : list) story += " " + each;
      chat.save(list);
      ASSERT_EQ(chat.view(), list) << story;
      const std::uint64_t version = chat.version();
      ASSERT_EQ(chat.save(list).version(), version) << story;
    }
  }
}

TEST(ReconcileView, EveryLawHoldsForRandomClients) {
  const std::uint64_t seed = from_environment("SEED", std::random_device{}()),
                      runs = from_environment("RUNS", 300);
  std::printf("SEED=%llu RUNS=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(runs));
  for (std::uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("SEED=" + std::to_string(seed + run));
    Story(seed + run).run();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace undertext
