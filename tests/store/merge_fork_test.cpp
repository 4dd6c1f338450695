// MERGE_FORK, asked of every store: what it appends, what it costs, and what purging and redacting
// leave.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <undertext/conversation.hpp>

#include "kinds.hpp"

namespace undertext {
namespace {

class MergeFork : public test::OfEveryStore {
 protected:
  static Message says(Role role, const std::string& text) {
    return Message::make(role, text).value();
  }
  static Operation append(Role role, const std::string& text) {
    return {op::Append{{says(role, text)}}};
  }
  static Operation user(const std::string& text) { return append(Role::user, text); }
  static Operation answer(const std::string& text) { return append(Role::assistant, text); }
  Conversation open(const std::string& id) { return Conversation::open(shared(), id).value(); }

  static std::vector<std::string> texts(const View& view) {
    std::vector<std::string> all;
    for (std::uint64_t i = 0; i < view.size(); ++i) all.push_back(view[i].text());
    return all;
  }
  static std::vector<std::string> texts(const Conversation& conversation) {
    return texts(conversation.view());
  }

  void expect_whole() {
    const CheckReport report = check_store(store()).value();
    for (const Damage& damage : report.damage)
      ADD_FAILURE() << damage.conversation << ": " << damage.what;
  }
  bool is_anywhere(const std::string& text) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(file), {});
      if (bytes.find(text) != std::string::npos) return true;
    }
    return false;
  }
  bool has_files() const { return GetParam() == "sqlite" || GetParam() == "tenant"; }
  std::uint64_t size_of(const std::string& id) { return store().size_bytes(id).value(); }
};

TEST_P(MergeFork, ASummaryQuotesTheLastAnswerAndLeavesTheViewAsItWas) {
  Conversation parent = open("p");
  parent.apply(user("find the bug")).value();
  Conversation fork = parent.fork(Version(1), "f").value();
  fork.apply(user("look into parser.cpp")).value();
  fork.apply(answer("line 40 is off by one")).value();
  parent.apply(answer("meanwhile")).value();
  const Outcome outcome = parent.apply({op::MergeFork{"f"}}).value();
  EXPECT_EQ(outcome.operation, "MERGE_FORK");
  EXPECT_FALSE(outcome.opened_batch);
  ASSERT_EQ(parent.view().size(), 3u);
  EXPECT_EQ(parent.view()[1].text(), "meanwhile");
  const Message made = parent.view()[2];
  EXPECT_EQ(made.role(), Role::user);
  EXPECT_NE(made.text().find("line 40 is off by one"), std::string::npos);
  EXPECT_NE(made.text().find("2 messages"), std::string::npos);
  EXPECT_NE(made.json().find(R"("metadata":{"fork":{"conversation":"f","version":3,)"),
            std::string::npos)
      << made.json();
  const Blame blame = parent.history().blame(Ordinal(2)).value();
  ASSERT_TRUE(blame.from);
  EXPECT_EQ(blame.from->conversation, "f");
  EXPECT_EQ(blame.from->version, 3u);
  EXPECT_FALSE(blame.from->ordinal);
}

TEST_P(MergeFork, ExpandPutsTheForksMessagesInPlaceOfTheSummaryAndExpandOfThoseBringsItBack) {
  Conversation parent = open("p");
  parent.apply(user("a")).value();
  Conversation fork = parent.fork(Version(1), "f").value();
  fork.apply(user("b")).value();
  fork.apply(answer("c")).value();
  parent.apply({op::MergeFork{.from = "f", .summary = says(Role::user, "the fork said c")}})
      .value();
  parent.apply(user("d")).value();
  fork.apply(answer("later than the merge")).value();
  parent.apply({op::Expand{1}}).value();
  EXPECT_EQ(texts(parent), (std::vector<std::string>{"a", "b", "c", "d"}));
  const Blame blame =
      parent.history()
          .blame(parent.history().stands_for(Ordinal(3)).empty() ? Ordinal(4) : Ordinal(3))
          .value();
  ASSERT_TRUE(blame.from);
  EXPECT_EQ(blame.from->ordinal, 1u);
  EXPECT_EQ(parent.history().stands_for(Ordinal(3)), std::vector{Ordinal(1)});
  reopen();
  Conversation again = open("p");
  EXPECT_EQ(texts(again), (std::vector<std::string>{"a", "b", "c", "d"}));
  again.apply({op::Expand{2}}).value();
  EXPECT_EQ(texts(again), (std::vector<std::string>{"a", "the fork said c", "d"}));
  again.apply({op::Undo{}}).value();
  again.apply({op::Undo{}}).value();
  EXPECT_EQ(texts(again), (std::vector<std::string>{"a", "the fork said c", "d"}));
  again.apply({op::Expand{1}}).value();
  EXPECT_EQ(texts(again), (std::vector<std::string>{"a", "b", "c", "d"}));
  expect_whole();
}

TEST_P(MergeFork, MessagesAreTheForksOwnAsItsViewShowsThem) {
  Conversation parent = open("p");
  parent.apply(user("a")).value();
  Conversation fork = parent.fork(Version(1), "f").value();
  fork.apply(user("b")).value();
  fork.apply(user("c")).value();
  fork.apply(user("d")).value();
  fork.apply({op::Delete{Names::indices({2})}}).value();
  fork.apply({op::Insert{0, {says(Role::system, "s")}}}).value();
  parent.apply({op::MergeFork{.from = "f", .mode = MergeMode::messages}}).value();
  EXPECT_EQ(texts(parent), (std::vector<std::string>{"a", "s", "b", "d"}));
  parent.apply({op::MergeFork{.from = "f", .mode = MergeMode::pick, .ordinals = {3, 2}}}).value();
  EXPECT_EQ(texts(parent), (std::vector<std::string>{"a", "s", "b", "d", "c", "d"}));
  EXPECT_EQ(parent.history().blame(Ordinal(4)).value().from->ordinal, 2u);
  parent.apply({op::Undo{}}).value();
  EXPECT_EQ(texts(parent), (std::vector<std::string>{"a", "s", "b", "d"}));
}

TEST_P(MergeFork, ACallFromBeforeTheForkKeepsTheResultThatTheOriginGaveIt) {
  const auto parsed = [](std::string_view json) {
    return Operation{op::Append{{Message::parse(json).value()}}};
  };
  const auto result = [&](const std::string& text) {
    return parsed(R"({"role":"tool","tool_call_id":"c1","content":")" + text + R"("})");
  };
  Conversation parent = open("p");
  parent
      .apply(parsed(R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1",)"
                    R"("type":"function","function":{"name":"look","arguments":"{}"}}]})"))
      .value();
  Conversation fork = parent.fork(Version(1), "f").value();
  fork.apply(result("seen by the fork")).value();
  fork.apply(answer("done")).value();
  const op::MergeFork all{.from = "f", .mode = MergeMode::messages};
  const op::MergeFork both{.from = "f", .mode = MergeMode::pick, .ordinals = {1, 2}};

  // No result yet: the fork's is welcome.
  parent.apply({all}).value();
  EXPECT_EQ(texts(parent), (std::vector<std::string>{"", "seen by the fork", "done"}));
  parent.apply({op::Undo{}}).value();

  parent.apply(result("seen here")).value();
  EXPECT_EQ(parent.apply({both}).error().code, ErrorCode::invalid_argument);
  parent.apply({all}).value();
  EXPECT_EQ(texts(parent), (std::vector<std::string>{"", "seen here", "done"}));

  // One that is hidden is in nobody's way.
  parent.apply({op::Undo{}}).value();
  parent.apply({op::Delete{Names::indices({1})}}).value();
  parent.apply({all}).value();
  const std::vector<std::string> shown = texts(parent);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), "seen by the fork"), 1);
}

TEST_P(MergeFork, RefusesWhatIsNoForkOfItAndArgumentsThatExcludeEachOther) {
  Conversation parent = open("p");
  parent.apply(user("a")).value();
  open("stranger").apply(user("x")).value();
  Conversation fork = parent.fork(Version(1), "f").value();
  Conversation forked_again = fork.fork(Version(1), "g").value();
  forked_again.apply(user("y")).value();
  const auto refused = [&](op::MergeFork merge, ErrorCode code, const std::string& field) {
    const Result<Outcome> outcome = parent.apply({std::move(merge)});
    ASSERT_FALSE(outcome);
    EXPECT_CODE(outcome.error(), code);
    EXPECT_EQ(outcome.error().field, field);
  };
  refused({"nobody"}, ErrorCode::not_found, "from");
  refused({"stranger"}, ErrorCode::not_found, "from");
  refused({"p"}, ErrorCode::not_found, "from");
  refused({"g"}, ErrorCode::not_found, "from");
  refused({"f"}, ErrorCode::not_found, "from");  // nothing of its own yet
  refused({"../x"}, ErrorCode::invalid_argument, "from");
  fork.apply(user("b")).value();
  refused({.from = "f", .mode = MergeMode::pick}, ErrorCode::invalid_argument, "ordinals");
  refused({.from = "f", .mode = MergeMode::pick, .ordinals = {0}}, ErrorCode::invalid_argument,
          "ordinals");
  refused({.from = "f", .mode = MergeMode::pick, .ordinals = {2}}, ErrorCode::invalid_argument,
          "ordinals");
  refused({.from = "f", .mode = MergeMode::pick, .ordinals = {1, 1}}, ErrorCode::invalid_argument,
          "ordinals");
  refused({.from = "f", .ordinals = {1}}, ErrorCode::invalid_argument, "ordinals");
  refused({.from = "f", .mode = MergeMode::messages, .summary = says(Role::user, "s")},
          ErrorCode::invalid_argument, "summary");
  EXPECT_EQ(parent.version(), Version(1));
  EXPECT_CODE(Conversation().apply({op::MergeFork{"f"}}).error(), ErrorCode::unsupported);
}

TEST_P(MergeFork, AForkTakesNoMessagesAndAMergeTheSameHoweverLongTheForkIs) {
  Conversation parent = open("p");
  parent.apply(user(std::string(100'000, 'x'))).value();
  std::vector<std::uint64_t> grown;
  for (const std::uint64_t length : {4u, 400u}) {
    const std::string id = "f" + std::to_string(length);
    Conversation fork = parent.fork(parent.version(), id).value();
    EXPECT_TRUE(store().messages(id, 0, 1000).value().empty()) << "a fork stores no message";
    EXPECT_TRUE(store().versions(id, 0, 1000).value().empty());
    std::vector<Message> many(length, says(Role::assistant, std::string(2000, 'y')));
    fork.apply({op::Append{many}}).value();
    const std::uint64_t before = size_of("p");
    parent.apply({op::MergeFork{.from = id}}).value();
    grown.push_back(size_of("p") - before);
  }
  EXPECT_LT(grown[0], 8'000u);
  EXPECT_LT(grown[1], grown[0] + (400 - 4))
      << "it grows with the fork: a byte for each message more";
  if (!has_files()) return;
  const std::uint64_t before = size_of("p");
  parent.apply({op::MergeFork{.from = "f400", .mode = MergeMode::messages}}).value();
  EXPECT_LT(size_of("p") - before, 400 * 200u) << "bodies were copied";
  expect_whole();
}

TEST_P(MergeFork, APurgedForkLeavesWhatWasMergedAndCannotBeExpandedAnyMore) {
  Conversation parent = open("p");
  parent.apply(user("a")).value();
  {
    Conversation fork = parent.fork(Version(1), "f").value();
    fork.apply(user("b " + std::string(5000, 'b'))).value();
    fork.apply(answer("c")).value();
    Conversation inner = fork.fork(Version(3), "g").value();
    inner.apply(answer("of a fork's fork " + std::string(3000, 'g'))).value();
    fork.apply({op::MergeFork{.from = "g", .mode = MergeMode::messages}}).value();
  }
  parent.apply({op::MergeFork{.from = "f", .mode = MergeMode::messages}}).value();
  parent.apply({op::MergeFork{.from = "f"}}).value();
  const std::vector<std::string> before = texts(parent);
  ASSERT_EQ(before.size(), 5u);
  const Removal removal{"admin", 1, "asked to"};
  EXPECT_TRUE(store().purge("g", removal, {}));
  expect_whole();
  EXPECT_TRUE(store().purge("f", removal, {}));
  reopen();
  Conversation again = open("p");
  EXPECT_EQ(texts(again), before);
  expect_whole();
  const Result<Outcome> expanded = again.apply({op::Expand{4}});
  ASSERT_FALSE(expanded);
  EXPECT_CODE(expanded.error(), ErrorCode::not_found);
}

TEST_P(MergeFork, ARedactionReachesWhatWasMergedFromEitherSide) {
  const Removal removal{"admin", 1, "asked to"};
  for (const bool from_the_fork : {true, false}) {
    const std::string side = from_the_fork ? "1" : "2", secret = "canary-" + side + "-93ab";
    Conversation parent = open("p" + side);
    parent.apply(user("a")).value();
    {
      Conversation fork = parent.fork(Version(1), "f" + side).value();
      fork.apply(answer("the password is " + secret)).value();
      fork.apply(answer("so much for that: " + secret)).value();
    }
    parent.apply({op::MergeFork{.from = "f" + side, .mode = MergeMode::messages}}).value();
    parent.apply({op::MergeFork{.from = "f" + side}}).value();
    const std::vector<Ordinal> both = {Ordinal(1), Ordinal(2)};
    Conversation& asked = parent;
    Conversation other = open("f" + side);
    const Redaction done =
        (from_the_fork ? other : asked).redact(both, removal, {.derived = true}).value();
    EXPECT_EQ(done.messages, 5u) << "two in the fork, two in its origin, and the summary";
    for (const std::string& id : {"p" + side, "f" + side})
      for (const std::string& text : texts(open(id).history().log()))
        EXPECT_EQ(text.find(secret), std::string::npos) << id;
    if (has_files()) {
      EXPECT_FALSE(is_anywhere(secret));
    }
  }
  expect_whole();
}

TEST_P(MergeFork, ARedactionReachesWhatAForkDerivedBeforeItWasMerged) {
  using Derive = std::function<void(Conversation&, const std::string& secret)>;
  const std::pair<std::string, Derive> derivations[] = {
      {"summary",
       [](Conversation& fork, const std::string& secret) {
         fork.apply({op::Compress{Names::indices({0, 1}), says(Role::user, "told: " + secret)}})
             .value();
       }},
      {"copy",
       [](Conversation& fork, const std::string&) {
         fork.apply({op::Transform{Names::indices({0}), op::ReplaceText{"my", "the"}}}).value();
       }},
      {"quote", [](Conversation& fork, const std::string& secret) {
         fork.apply({op::Delete{Names::indices({0})}}).value();
         fork.apply({op::Recall{.text = secret}}).value();
       }}};
  const Removal removal{"admin", 1, "asked to"};
  for (const auto& [derivation, derive] : derivations) {
    for (const MergeMode mode : {MergeMode::messages, MergeMode::pick, MergeMode::summary}) {
      for (const std::string side : {"p", "f"}) {
        const std::string of = derivation + std::to_string(static_cast<int>(mode)) + side;
        SCOPED_TRACE(of);
        const std::string secret = "canary" + of + "93ab";
        Conversation parent = open("p" + of);
        parent.apply(user("my password is " + secret)).value();
        parent.apply(answer("noted")).value();
        {
          Conversation fork = parent.fork(Version(2), "f" + of).value();
          derive(fork, secret);
          fork.apply(user("of the fork alone")).value();
        }
        op::MergeFork merge{.from = "f" + of, .mode = mode};
        if (mode == MergeMode::pick) merge.ordinals = {2, 3};
        parent.apply({merge}).value();
        if (mode == MergeMode::summary) parent.apply({op::Expand{2}}).value();
        Conversation other = open("f" + of);
        Conversation& asked = side == "p" ? parent : other;
        const std::vector<Ordinal> first = {Ordinal(0)};
        const Redaction found = asked.find_derived(first).value();
        const std::uint64_t merged = mode == MergeMode::summary ? 3 : 2;
        EXPECT_TRUE(std::any_of(found.derived.begin(), found.derived.end(), [&](const auto& each) {
          return each.conversation == "p" + of && each.ordinal == Ordinal(merged);
        })) << "it is not listed";
        const Redaction done = asked.redact(first, removal, {.derived = true}).value();
        EXPECT_EQ(done.messages, merged + 1) << "the fork's summary is derived as well";
        EXPECT_EQ(done.derived, found.derived);
        EXPECT_EQ(parent.history().log()[merged + 1].text(), "of the fork alone");
        for (const std::string& id : {"p" + of, "f" + of})
          for (const std::string& text : texts(open(id).history().log()))
            EXPECT_EQ(text.find(secret), std::string::npos) << id;
        if (has_files()) {
          EXPECT_FALSE(is_anywhere(secret));
        }
      }
    }
  }
  expect_whole();
}

// A conversation and its forks as plain lists.
struct Plain {
  struct Fork {
    std::uint64_t base = 0;  // the length of the log it began with
    std::vector<std::string> log;
    std::vector<std::size_t> view;
  };
  std::vector<std::string> log;
  std::vector<std::size_t> view;
  struct Summary {
    std::string fork;
    std::vector<std::string> expands_to;
  };
  std::map<std::size_t, Summary> summaries;  // by ordinal
  // what an EXPAND made: its pieces, by each of them
  std::map<std::size_t, std::vector<std::size_t>> made;
  std::map<std::size_t, std::size_t> stands_for;  // and the summary that each stands for

  std::size_t store(const std::string& text) {
    log.push_back(text);
    return log.size() - 1;
  }
};

TEST_P(MergeFork, RandomForksAndMergesAgreeWithPlainLists) {
  const char* given = std::getenv("SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return n == 0 ? 0 : random() % n; };
  Plain plain;
  std::map<std::string, Plain::Fork> forks;
  std::vector<std::string> ids;
  std::uint64_t words = 0;
  const auto word = [&] {
    return "w" + std::to_string(words++) + std::string(below(3) == 0 ? 1500 : 3, 'x');
  };
  open("p").apply(user(plain.log[plain.store("begin")])).value();
  plain.view.push_back(0);
  const int steps = lasts() ? 120 : 240;
  for (int step = 0; step < steps; ++step) {
    Conversation parent = open("p");
    const std::string id = ids.empty() ? "" : ids[below(ids.size())];
    switch (below(8)) {
      case 0: {
        const std::string text = word();
        parent.apply(user(text)).value();
        plain.view.push_back(plain.store(text));
        break;
      }
      case 1: {
        const std::string fork = "f" + std::to_string(ids.size());
        parent.fork(parent.version(), fork).value();
        forks[fork] = {plain.log.size(), plain.log, plain.view};
        ids.push_back(fork);
        break;
      }
      case 2:
      case 3: {
        if (id.empty()) break;
        Plain::Fork& fork = forks[id];
        Conversation opened = open(id);
        if (below(4) == 0 && !fork.view.empty()) {
          const std::size_t at = below(fork.view.size());
          opened.apply({op::Delete{Names::indices({at})}}).value();
          fork.view.erase(fork.view.begin() + static_cast<std::ptrdiff_t>(at));
        } else {
          const std::string text = word();
          opened.apply(answer(text)).value();
          fork.log.push_back(text);
          fork.view.push_back(fork.log.size() - 1);
        }
        break;
      }
      case 4: {
        if (id.empty()) break;
        const Plain::Fork& fork = forks[id];
        std::vector<std::string> own;
        for (const std::size_t ordinal : fork.view)
          if (ordinal >= fork.base) own.push_back(fork.log[ordinal]);
        const Result<Outcome> outcome =
            parent.apply({op::MergeFork{.from = id, .mode = MergeMode::messages}});
        ASSERT_EQ(bool(outcome), !own.empty());
        for (const std::string& text : own) plain.view.push_back(plain.store(text));
        break;
      }
      case 5: {
        if (id.empty()) break;
        const Plain::Fork& fork = forks[id];
        std::vector<std::string> own;
        for (const std::size_t ordinal : fork.view)
          if (ordinal >= fork.base) own.push_back(fork.log[ordinal]);
        const std::string text = word();
        const Result<Outcome> outcome =
            parent.apply({op::MergeFork{.from = id, .summary = says(Role::user, text)}});
        ASSERT_EQ(bool(outcome), fork.log.size() > fork.base);
        if (!outcome) break;
        plain.view.push_back(plain.store(text));
        plain.summaries[plain.view.back()] = {id, own};
        break;
      }
      case 6: {
        if (plain.view.empty()) break;
        const std::size_t at = below(plain.view.size()), ordinal = plain.view[at];
        const Result<Outcome> outcome = parent.apply({op::Expand{at}});
        const auto place = plain.view.begin() + static_cast<std::ptrdiff_t>(at);
        if (const auto found = plain.summaries.find(ordinal); found != plain.summaries.end()) {
          ASSERT_EQ(bool(outcome), !found->second.expands_to.empty());
          if (!outcome) break;
          std::vector<std::size_t> pieces;
          for (const std::string& text : found->second.expands_to)
            pieces.push_back(plain.store(text));
          for (const std::size_t piece : pieces)
            plain.made[piece] = pieces, plain.stands_for[piece] = ordinal;
          plain.view.insert(plain.view.erase(place), pieces.begin(), pieces.end());
        } else if (const auto piece = plain.made.find(ordinal); piece != plain.made.end()) {
          ASSERT_TRUE(outcome) << outcome.error().message;
          const std::vector<std::size_t> pieces = piece->second;
          // It comes to the place of the first piece in the log's order; all that is between two
          // pieces is a piece.
          const auto first =
              std::find_if(plain.view.begin(), plain.view.end(), [&](std::size_t each) {
                return std::find(pieces.begin(), pieces.end(), each) != pieces.end();
              });
          *first = plain.stands_for[ordinal];
          std::erase_if(plain.view, [&](std::size_t each) {
            return std::find(pieces.begin(), pieces.end(), each) != pieces.end();
          });
        } else {
          ASSERT_FALSE(outcome);
        }
        break;
      }
      default: {
        if (plain.view.size() < 6) break;
        const std::size_t at = below(plain.view.size());
        parent.apply({op::Delete{Names::indices({at})}}).value();
        plain.view.erase(plain.view.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    std::vector<std::string> expected;
    for (const std::size_t ordinal : plain.view) expected.push_back(plain.log[ordinal]);
    ASSERT_EQ(texts(parent), expected) << "step " << step;
    ASSERT_EQ(texts(parent.history().log()), plain.log);
    ASSERT_EQ(texts(open("p")), expected) << "read again, step " << step;
    for (const auto& [fork_id, fork] : forks) {
      std::vector<std::string> shown;
      for (const std::size_t ordinal : fork.view) shown.push_back(fork.log[ordinal]);
      if (step % 20 == 0) {
        ASSERT_EQ(texts(open(fork_id)), shown);
      }
    }
  }
  expect_whole();
}

UNDERTEXT_OF_EVERY_STORE(MergeFork);

}  // namespace
}  // namespace undertext
