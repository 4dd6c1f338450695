// What an operation costs is counted in tree nodes made, so that the laws of cost hold on every machine and under every load.
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/history.hpp>

#include "history/state.hpp"

namespace undertext {
namespace {

Message message(const std::string& role, const std::string& more) {
  return Message::parse("{\"role\":\"" + role + "\"," + more + "}").value();
}

// Turns of a user message, a call, its result and an answer, after a system message; a few messages are pinned.
History conversation_of(std::uint64_t n) {
  History history;
  op::Append append;
  append.messages.push_back(message("system", R"("content":"rules")"));
  for (std::uint64_t k = 0; append.messages.size() < n; ++k) {
    const std::string id = "c" + std::to_string(k);
    append.messages.push_back(message("user", R"("content":"question")"));
    append.messages.push_back(message("assistant", R"("content":"","toolCalls":[{"id":")" + id + "\"}]"));
    append.messages.push_back(message("tool", R"("content":"result","toolCallId":")" + id + "\""));
    append.messages.push_back(message("assistant", R"("content":"answer")"));
  }
  history = history.apply({append}, {}).value().history;
  op::Mark mark{Names::indices({1}), "pinned"};
  for (std::uint64_t i = 1000; i < n; i += 100000) mark.names.numbers.push_back(i);
  return history.apply({mark}, {}).value().history;
}

std::uint64_t nodes_made() {
  return EntryTree::nodes_made() + StoredTree::nodes_made() + PlaceTree::nodes_made() + BatchTree::nodes_made() +
         LinkTree::nodes_made() + NoteTree::nodes_made() + Log::MadeTree::nodes_made() + decltype(Log::spans)::nodes_made() +
         ByOrdinal<PutNote>::nodes_made() + HouseTree<MarkNote, MarkSums>::nodes_made() +
         HouseTree<VersionRow, NoSums>::nodes_made() + HouseTree<State, NoSums>::nodes_made();
}

std::uint64_t nodes_made_by(const History& history, const Operation::What& what) {
  const std::uint64_t before = nodes_made();
  const Result<Step> step = history.apply({what}, {});
  EXPECT_TRUE(step) << step.error().message;
  return nodes_made() - before;
}

class Cost : public ::testing::TestWithParam<std::uint64_t> {};

// One edit of one message copies a path in each tree it touches, and a path is as long as the tree is high.
TEST_P(Cost, AnOperationThatNamesOneMessageMakesLogarithmicallyManyNodes) {
  const std::uint64_t n = GetParam();
  const History history = conversation_of(n);
  const double height = 2 + std::log(static_cast<double>(n) / 16) / std::log(4.0);
  const auto paths = [&](double count) { return static_cast<std::uint64_t>(count * height + 12); };
  const Message fresh = message("user", R"("content":"new")");
  const std::uint64_t middle = n / 2;

  EXPECT_LE(nodes_made_by(history, op::Append{{fresh}}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::Insert{middle, {fresh}}), paths(4));
  EXPECT_LE(nodes_made_by(history, op::Replace{Names::indices({middle}), {fresh}}), paths(4));
  EXPECT_LE(nodes_made_by(history, op::Delete{Names::indices({middle})}), paths(4));
  EXPECT_LE(nodes_made_by(history, op::Delete{Names::ordinals({middle}), Pairs::shrink}), paths(8));
  EXPECT_LE(nodes_made_by(history, op::Compress{Names::indices({middle, middle + 1, middle + 2, middle + 3}), fresh}), paths(12));
  EXPECT_LE(nodes_made_by(history, op::Mark{Names::indices({middle}), "important"}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::StartBatch{}), paths(1));
  EXPECT_LE(nodes_made_by(history, op::Restore{1}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::Undo{}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::Unmark{Names::indices({1}), "pinned"}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::Split{1, {2}}), paths(6));
  EXPECT_LE(nodes_made_by(history, op::Merge{{1, 5}}), paths(8));
  EXPECT_LE(nodes_made_by(history, op::Transform{Names::indices({middle}), SetMetadata{"{}"}}), paths(8));
  const History compressed = history.apply({op::Compress{Names::indices({5, 6, 7}), fresh}}, {}).value().history;
  EXPECT_LE(nodes_made_by(compressed, op::Expand{5}), paths(12));
  const History deleted = history.apply({op::Delete{Names::indices({middle, middle + 1})}}, {}).value().history;
  EXPECT_LE(nodes_made_by(deleted, op::Show{{middle}}), paths(12));
  const History undone = history.apply({op::Undo{}}, {}).value().history;
  EXPECT_LE(nodes_made_by(undone, op::Redo{}), paths(2));
}

// The view falls to half, to nothing, comes back: none of it copies the array.
TEST_P(Cost, CuttingAndRollingBackMakeLogarithmicallyManyNodesWhateverTheyHide) {
  const std::uint64_t n = GetParam();
  const History history = conversation_of(n);
  const double height = 2 + std::log(static_cast<double>(n) / 16) / std::log(4.0);
  const double pins = 1 + static_cast<double>(n) / 100000;
  const auto paths = [&](double count) { return static_cast<std::uint64_t>(count * height * (1 + pins) + 12); };

  EXPECT_LE(nodes_made_by(history, op::Truncate{.keep_last = n / 2}), paths(6));
  EXPECT_LE(nodes_made_by(history, op::Truncate{.keep_first = n / 2, .pairs = Pairs::grow}), paths(6));
  EXPECT_LE(nodes_made_by(history, op::Truncate{.keep_last = 3, .role = Role::user}), paths(12));
  EXPECT_LE(nodes_made_by(history, op::Clear{}), paths(8));
  const History cleared = history.apply({op::Clear{false}}, {}).value().history;
  EXPECT_LE(nodes_made_by(cleared, op::Rollback{0}), paths(2));
  EXPECT_LE(nodes_made_by(cleared, op::Undo{}), paths(2));
  EXPECT_LE(nodes_made_by(cleared, op::EndBatch{0, {Role::assistant}}), paths(2));
}

TEST_P(Cost, AForkAndACopyCopyNoMessages) {
  const History history = conversation_of(GetParam());
  const std::uint64_t before = nodes_made();
  const History copy = history;
  EXPECT_EQ(nodes_made(), before);
  const History fork = history.fork(Version(1)).value();
  EXPECT_LE(nodes_made() - before, 40u);
  EXPECT_EQ(fork.view()[5].json().data(), history.view()[5].json().data());
}

INSTANTIATE_TEST_SUITE_P(Sizes, Cost, ::testing::Values(1000u, 10000u, 100000u));

// A message with many calls, and their results.
History with_calls(std::uint64_t n) {
  std::string calls;
  op::Append append{{message("user", R"("content":"question")")}};
  for (std::uint64_t k = 0; k < n; ++k) calls += (k == 0 ? "{\"id\":\"c" : ",{\"id\":\"c") + std::to_string(k) + "\"}";
  append.messages.push_back(message("assistant", R"("content":"","toolCalls":[)" + calls + "]"));
  for (std::uint64_t k = 0; k < n; ++k)
    append.messages.push_back(message("tool", R"("content":"result","toolCallId":"c)" + std::to_string(k) + "\""));
  append.messages.push_back(message("assistant", R"("content":"answer")"));
  return History().apply({append}, {}).value().history;
}

// The least time of some runs, in microseconds of this process: others may take the processor meanwhile.
// The clock counts single microseconds, and an edit may take less, so a run is `repeats` edits.
double least_us(const History& history, const Operation::What& what, int runs = 15, int repeats = 1) {
  double least = 1e9;
  const Operation operation{what};
  for (int k = 0; k < runs; ++k) {
    const std::clock_t start = std::clock();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const Result<Step> step = history.apply(operation, {});
      if (!step) ADD_FAILURE() << step.error().message;
    }
    least = std::min(least, static_cast<double>(std::clock() - start) * 1e6 / CLOCKS_PER_SEC / repeats);
  }
  return least;
}

TEST(Cost, OfAnEditDoesNotDependOnTheCallsOfAMessageThatItDoesNotName) {
  constexpr std::uint64_t few = 500, many = 50000;
  const History small = with_calls(few), large = with_calls(many);
  const Message fresh = message("user", R"("content":"new")"), again = message("tool", R"("content":"other","toolCallId":"c7")");
  const std::pair<const char*, Operation::What> edits[] = {
      {"delete", op::Delete{Names::indices({100})}},
      {"delete two", op::Delete{Names::indices({100, 200})}},
      {"append", op::Append{{again}}},
      {"replace", op::Replace{Names::indices({9}), {again}}},
      {"insert", op::Insert{50, {fresh}}},
      {"mark", op::Mark{Names::indices({1}), "important"}},
      {"compress", op::Compress{Names::indices({100}), fresh}},
      {"transform", op::Transform{Names::indices({100}), SetMetadata{"{}"}}},
      {"split", op::Split{0, {2}}},
      {"start batch", op::StartBatch{}},
      {"grow", op::Delete{Names::indices({100}), Pairs::grow}},
      {"undo", op::Undo{}},
  };
  for (const auto& [name, what] : edits) {
    const double before = least_us(small, what, 15, 200), after = least_us(large, what, 15, 200);
    std::printf("  %-12s %8.2f us with %llu calls, %8.2f us with %llu\n", name, before, static_cast<unsigned long long>(few), after,
                static_cast<unsigned long long>(many));
    EXPECT_LE(after, 3 * before) << name;
  }
}

// A call, and many results with its id.
op::Append results_of_one_call(std::uint64_t n) {
  op::Append append{{message("user", R"("content":"question")"), message("assistant", R"("content":"","toolCalls":[{"id":"c"}])")}};
  for (std::uint64_t k = 0; k < n; ++k) append.messages.push_back(message("tool", R"("content":"result","toolCallId":"c")"));
  append.messages.push_back(message("user", R"("content":"next")"));
  return append;
}

std::vector<std::uint64_t> all_results(std::uint64_t n) {
  std::vector<std::uint64_t> indices;
  for (std::uint64_t k = 0; k < n; ++k) indices.push_back(2 + k);
  return indices;
}

TEST(Cost, OfAnEditRisesWithTheResultsOfACallAndNotWithTheirSquare) {
  constexpr std::uint64_t few = 400, many = 1600;
  using Edit = std::function<double(std::uint64_t n)>;
  const auto with_results = [](std::uint64_t n) { return History().apply({results_of_one_call(n)}, {}).value().history; };
  const auto edit = [&](auto what) { return [=](std::uint64_t n) { return least_us(with_results(n), what(n), 5); }; };
  const auto edit_after = [&](auto first, auto what) {
    return [=](std::uint64_t n) { return least_us(with_results(n).apply({first(n)}, {}).value().history, what(n), 5); };
  };
  const auto without_results = [](std::uint64_t n) { return op::Delete{Names::indices(all_results(n))}; };
  const auto summarised = [](std::uint64_t n) {
    return op::Compress{Names::indices(all_results(n)), message("user", R"("content":"s")")};
  };
  const std::pair<const char*, Edit> edits[] = {
      {"append results", [](std::uint64_t n) { return least_us(History(), results_of_one_call(n), 5); }},
      {"append one", edit([](std::uint64_t) { return op::Append{{message("tool", R"("content":"other","toolCallId":"c")")}}; })},
      {"delete call", edit([](std::uint64_t) { return op::Delete{Names::indices({1})}; })},
      {"delete result", edit([](std::uint64_t n) { return op::Delete{Names::indices({2 + n / 2})}; })},
      {"delete results", edit(without_results)},
      {"expand results", edit_after(summarised, [](std::uint64_t) { return op::Expand{2}; })},
      {"replace call",
       edit([](std::uint64_t n) { return op::Replace{Names::indices({1}), {results_of_one_call(n).messages[1]}}; })},
      {"truncate, shrink", edit([](std::uint64_t) { return op::Truncate{.remove_first = 2, .pairs = Pairs::shrink}; })},
      {"truncate, grow", edit([](std::uint64_t) { return op::Truncate{.keep_first = 2, .pairs = Pairs::grow}; })},
      {"results, shrink", edit([](std::uint64_t n) { return op::Delete{Names::indices(all_results(n)), Pairs::shrink}; })},
      {"results, grow", edit([](std::uint64_t n) { return op::Delete{Names::indices(all_results(n)), Pairs::grow}; })},
  };
  for (const auto& [name, cost] : edits) {
    const double before = cost(few), after = cost(many);
    std::printf("  %-17s %8.1f us with %llu results, %8.1f us with %llu\n", name, before, static_cast<unsigned long long>(few),
                after, static_cast<unsigned long long>(many));
    EXPECT_LE(after, 8 * before + 60) << name;
  }
}

TEST(Cost, AThousandKeptEditsOfAHundredThousandMessagesTakeLessThanEightMegabytes) {
  History history = conversation_of(100000);
  const std::uint64_t before = EntryTree::node_bytes_made() + PlaceTree::node_bytes_made() + BatchTree::node_bytes_made();
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const std::uint64_t at = (k * 7919) % 90000;
    const Message fresh = message("user", R"("content":"new")");
    if (k % 2 == 0) {
      history = history.apply({op::Insert{at, {fresh}}}, {}).value().history;
    } else {
      history = history.apply({op::Replace{Names::indices({at}), {fresh}}}, {}).value().history;
    }
  }
  EXPECT_LE(EntryTree::node_bytes_made() + PlaceTree::node_bytes_made() + BatchTree::node_bytes_made() - before, 8u << 20);
}

}  // namespace
}  // namespace undertext
