#include "history/order.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "history/ordered.hpp"
#include "history/random_conversation.hpp"
#include "history/shown.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

std::uint64_t seed() {
  static const std::uint64_t seed = from_environment("SEED", std::random_device{}());
  return seed;
}

// Ordinals in order, as a plain list.
class PlainOrder {
 public:
  void append() { list_.push_back(next_++); }
  std::uint32_t put_before(std::uint32_t front) {
    list_.insert(std::find(list_.begin(), list_.end(), front), next_);
    return next_++;
  }
  const std::vector<std::uint32_t>& list() const { return list_; }
  std::uint32_t size() const { return next_; }

 private:
  std::vector<std::uint32_t> list_;
  std::uint32_t next_ = 0;
};

TEST(LogOrder, IsThatOfAPlainList) {
  std::mt19937_64 random(seed());
  for (int run = 0; run < 60; ++run) {
    SCOPED_TRACE("SEED=" + std::to_string(seed()) + " run " + std::to_string(run));
    PlainOrder plain;
    LogOrder order;
    plain.append();
    const bool deep = run % 2 == 0;  // each in front of the last, mostly
    while (plain.size() < 120) {
      if (random() % 8 == 0) {
        plain.append();
        continue;
      }
      const std::uint32_t front = static_cast<std::uint32_t>(
          deep && random() % 4 != 0 ? plain.size() - 1 : random() % plain.size());
      const std::uint32_t ordinal = plain.put_before(front);
      order.put(ordinal, front);
    }
    const std::vector<std::uint32_t>& list = plain.list();
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t k = 0; k < list.size(); ++k)
        ASSERT_EQ(order.before(list[i], list[k]), i < k) << list[i] << " " << list[k];
    }
    std::vector<std::uint32_t> shuffled = list;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    order.sort(shuffled);
    EXPECT_EQ(shuffled, list);
  }
}

// Two messages far apart in a chain of copies: by walking, a chain a hundred times as long would
// take a hundred times as many steps.
TEST(LogOrder, ComparesTheEndsOfALongChainInFewSteps) {
  const auto chain_of = [](std::uint32_t length) {
    LogOrder order;
    for (std::uint32_t ordinal = 1; ordinal < length; ++ordinal) order.put(ordinal, ordinal - 1);
    return order;
  };
  constexpr std::uint32_t short_length = 1'000, long_length = 100'000;
  const LogOrder short_chain = chain_of(short_length), long_chain = chain_of(long_length);
  // The least time of the processor in some runs: others may use it meanwhile.
  const auto least_ms = [](const LogOrder& order, std::uint32_t length) {
    double least = 1e9;
    for (int run = 0; run < 10; ++run) {
      const std::clock_t start = std::clock();
      for (std::uint32_t i = 0; i < 1'000; ++i)
        EXPECT_TRUE(order.before(length - 1 - i % (short_length / 2), i % (short_length / 2)));
      least = std::min(least, 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  const double few = least_ms(short_chain, short_length), many = least_ms(long_chain, long_length);
  std::printf("  a thousand comparisons: %.3f ms in a chain of %u, %.3f ms in one of %u\n", few,
              short_length, many, long_length);
  EXPECT_LT(many, 20 * few);
}

// A conversation and the order that its log must have, kept as a plain list from the outside: by
// what was put where.
class Player {
 public:
  explicit Player(std::uint64_t seed)
      : random_(seed), conversation_(seed, {.turns_max = 6, .edits_max = 0}) {
    history_ = conversation_.make();
    for (std::uint64_t o = 0; o < history_.stats().total_messages; ++o) plain_.append();
  }

  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }

  void hide_or_change() {
    const std::uint64_t n = history_.view().size();
    if (n == 0) return play(op::Append{{message()}});
    const Names some = Names::indices(stretch(n));
    switch (below(14)) {
      case 0: return play(op::Append{{message(), message()}});
      case 1: return play(op::Insert{below(n + 1), {message(), message()}});
      case 2: return play(op::Replace{some, {message(), message()}});
      case 3: return play(op::Truncate{.keep_last = n - below(n / 3 + 1)});
      case 4: return play(op::Truncate{.range = Range{below(n / 2 + 1), n}});
      case 5: return play(op::Filter{.roles = {Role::user, Role::assistant, Role::system}});
      case 6: return play(op::Delete{some});
      case 7: return play(op::Compress{some, message()});
      case 8: return play(op::Compress{some});
      case 9: return play(op::Merge{some.numbers});
      case 10: return play(op::Split{below(n), {1}});
      case 11: return play(op::Transform{some, SetMetadata{R"({"k":1})"}});
      case 12: return play(op::Undo{});
      default:
        return below(6) == 0 ? play(op::Clear{below(2) == 0})
                             : play(op::Restore{below(history_.version().value + 1)});
    }
  }

  // Whether there was something to bring back.
  bool bring_back() {
    const View view = history_.view();
    std::vector<std::uint64_t> expandable, hidden;
    for (std::uint64_t i = 0; i < view.size(); ++i) {
      if (can_expand(view.ordinal(i).value)) expandable.push_back(i);
    }
    for (std::uint64_t o = 0; o < plain_.size(); ++o) {
      if (can_show(o)) hidden.push_back(o);
    }
    if (expandable.empty() && hidden.empty()) return false;
    const bool expands = hidden.empty() || (!expandable.empty() && below(2) == 0);
    const std::uint64_t version = history_.version().value;
    if (expands) {
      play(op::Expand{expandable[below(expandable.size())]});
    } else {
      play(op::Show{{hidden[below(hidden.size())]}});
    }
    EXPECT_EQ(history_.version().value, version + 1) << "it was refused";
    return history_.version().value > version;
  }

  void check() const {
    const View view = history_.view();
    std::vector<std::uint32_t> shown;
    for (std::uint64_t i = 0; i < view.size(); ++i)
      shown.push_back(static_cast<std::uint32_t>(view.ordinal(i).value));
    const std::set<std::uint32_t> visible(shown.begin(), shown.end());
    std::vector<std::uint32_t> expected;
    for (const std::uint32_t o : plain_.list()) {
      if (visible.contains(o)) expected.push_back(o);
    }
    ASSERT_EQ(shown, expected);
  }

  // Nothing visible stands for something else that is: no text is there twice. Operations by hand
  // never make it so, nor does bringing back.
  void check_said_once() const {
    const View view = history_.view();
    for (std::uint64_t i = 0; i < view.size(); ++i)
      ASSERT_FALSE(shows_any(behind(view.ordinal(i).value))) << i;
  }

  const History& history() const { return history_; }
  const PlainOrder& plain() const { return plain_; }

 private:
  // What a message stands for, directly or through others.
  std::set<std::uint64_t> behind(std::uint64_t ordinal) const {
    std::set<std::uint64_t> all;
    for (const Ordinal o : history_.stands_for(Ordinal(ordinal))) {
      all.insert(o.value);
      all.merge(behind(o.value));
    }
    return all;
  }
  bool shows_any(const std::set<std::uint64_t>& ordinals) const {
    return std::any_of(ordinals.begin(), ordinals.end(), [&](std::uint64_t o) {
      return history_.view().index_of(Ordinal(o)).has_value();
    });
  }
  // Whether a visible message stands for one of these, other than `maker` and what was made
  // together with it.
  bool others_stand_for(const std::set<std::uint64_t>& ordinals,
                        std::optional<std::uint64_t> maker) const {
    const View view = history_.view();
    for (std::uint64_t i = 0; i < view.size(); ++i) {
      const std::uint64_t other = view.ordinal(i).value;
      if (maker && history_.stands_for(Ordinal(other)) == history_.stands_for(Ordinal(*maker)) &&
          history_.rep().version_that_stored(other) == history_.rep().version_that_stored(*maker))
        continue;
      for (const std::uint64_t o : behind(other))
        if (ordinals.contains(o)) return true;
    }
    return false;
  }
  bool can_expand(std::uint64_t maker) const {
    std::set<std::uint64_t> originals;
    for (const Ordinal o : history_.stands_for(Ordinal(maker))) originals.insert(o.value);
    return !originals.empty() && !shows_any(behind(maker)) && !others_stand_for(originals, maker);
  }
  bool can_show(std::uint64_t ordinal) const {
    return !shows_any({ordinal}) && !shows_any(behind(ordinal)) && !others_stand_for({ordinal}, {});
  }

  Message message() {
    return Message::make(below(2) == 0 ? Role::user : Role::assistant,
                         "m" + std::to_string(next_++))
        .value();
  }
  std::vector<std::uint64_t> stretch(std::uint64_t n) {
    std::set<std::uint64_t> some;
    for (std::uint64_t k = 1 + below(4); k > 0; --k) some.insert(below(n));
    return {some.begin(), some.end()};
  }

  void play(Operation::What what) {
    const View before = history_.view();
    const History after = RandomConversation::applied(history_, what);
    if (after.version() == history_.version()) return;
    const View now = after.view();
    // What is new stands where it was put: right before what stood there.
    const bool one_by_one = std::holds_alternative<op::Transform>(what);
    for (std::uint32_t o = plain_.size(); o < after.stats().total_messages; ++o) {
      std::uint64_t index = *now.index_of(Ordinal(o));
      while (!one_by_one && index > 0 && !before.index_of(now.ordinal(index - 1))) --index;
      const std::uint64_t at = one_by_one   ? index
                               : index == 0 ? 0
                                            : *before.index_of(now.ordinal(index - 1)) + 1;
      if (at < before.size()) {
        plain_.put_before(static_cast<std::uint32_t>(before.ordinal(at).value));
      } else {
        plain_.append();
      }
    }
    history_ = after;
  }

  std::mt19937_64 random_;
  RandomConversation conversation_;
  History history_;
  PlainOrder plain_;
  int next_ = 0;
};

TEST(LogOrder, WhateverIsHiddenReturnsToItsPlace) {
  const std::uint64_t runs = from_environment("UNDERTEXT_ORDER_RUNS", 300);
  for (std::uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("SEED=" + std::to_string(seed()) + " run " + std::to_string(run));
    Player player(seed() + run);
    for (std::uint64_t steps = 2 + player.below(12); steps > 0; --steps) {
      player.hide_or_change();
      ASSERT_NO_FATAL_FAILURE(player.check());
    }
    for (int steps = 0; steps < 30 && player.bring_back(); ++steps) {
      ASSERT_NO_FATAL_FAILURE(player.check());
      ASSERT_NO_FATAL_FAILURE(player.check_said_once());
    }
    if (testing::Test::HasFailure()) return;
    if (runs > 10'000 && run % 10'000 == 9'999) std::cout << run + 1 << " runs\n" << std::flush;
  }
}

// The texts of the view, joined.
std::string texts(const History& history) {
  std::string all;
  for (const Message& m : history.view()) all += m.text() + "|";
  return all;
}

TEST(LogOrder, APieceOfASplitMessageIsNotExpandedBesideAnEditedOne) {
  const auto apply = [](const History& history, Operation::What what) {
    return history.apply({std::move(what)}, RandomConversation::context());
  };
  History history = apply(History(), op::Append{{Message::make(Role::user, "left right").value()}})
                        .value()
                        .history;
  history = apply(history, op::Split{0, {5}}).value().history;
  history =
      apply(history, op::Replace{Names::indices({1}), {Message::make(Role::user, "wrong").value()}})
          .value()
          .history;
  const Result<Step> refused = apply(history, op::Expand{0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().message.find("ordinal 3 at index 1"), std::string::npos)
      << refused.error().message;
  history = apply(history, op::Expand{1}).value().history;
  EXPECT_EQ(texts(history), "left |right|");
  EXPECT_EQ(texts(apply(history, op::Expand{0}).value().history), "left right|");
}

TEST(LogOrder, ASummaryDoesNotReturnBesideWhatItStandsFor) {
  const auto apply = [](const History& history, Operation::What what) {
    return history.apply({std::move(what)}, RandomConversation::context());
  };
  const auto text = [](const char* words) { return Message::make(Role::user, words).value(); };
  History history = apply(History(), op::Append{{text("one"), text("two")}}).value().history;
  history = apply(history, op::Compress{Names::indices({0, 1}), text("both")}).value().history;
  history = apply(history, op::Expand{0}).value().history;
  history = apply(history, op::Delete{Names::indices({0})}).value().history;
  const Result<Step> refused = apply(history, op::Show{{2}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().message.find("ordinal 1 at index 0"), std::string::npos)
      << refused.error().message;
  history = apply(history, op::Delete{Names::indices({0})}).value().history;
  EXPECT_EQ(texts(apply(history, op::Show{{2}}).value().history), "both|");
}

// What a release without an order left: the log's messages and the versions.
TEST(LogOrder, IsTheSameWhenItIsMadeFromTheVersions) {
  for (std::uint64_t run = 0; run < 200; ++run) {
    SCOPED_TRACE("SEED=" + std::to_string(seed()) + " run " + std::to_string(run));
    Player player(seed() + run);
    for (std::uint64_t steps = 2 + player.below(16); steps > 0; --steps) player.hide_or_change();
    auto old = std::make_shared<History::Rep>(player.history().rep());
    old->log.order = {};
    old->log.copies = {};
    old->log.spans = {};
    old->log.order_known = false;
    const History made = with_order(History(std::move(old)));
    ASSERT_TRUE(made.rep().log.order_known);
    ASSERT_TRUE(made.rep().log.order.is_in_order(player.plain().list()));
    for (std::uint64_t o = 0; o < made.stats().total_messages; ++o) {
      ASSERT_EQ(made.stands_for(Ordinal(o)), player.history().stands_for(Ordinal(o))) << o;
      std::vector<std::uint32_t> makers =
          made.rep().log.stand_ins_of(static_cast<std::uint32_t>(o));
      std::vector<std::uint32_t> expected =
          player.history().rep().log.stand_ins_of(static_cast<std::uint32_t>(o));
      std::sort(makers.begin(), makers.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(makers, expected) << o;
    }
  }
}

}  // namespace
}  // namespace undertext
