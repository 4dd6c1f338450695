// What an operation costs is counted in tree nodes made, so that the laws of cost hold on every
// machine and under every load.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/blocks.hpp>
#include <undertext/history.hpp>
#include <undertext/work.hpp>

#include "history/operation_table.hpp"
#include "history/pair_search.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

Message message(const std::string& role, const std::string& more) {
  return Message::parse("{\"role\":\"" + role + "\"," + more + "}").value();
}

// Turns of a user message, a call, its result and an answer, after a system message; a few messages
// are pinned.
History conversation_of(std::uint64_t n) {
  History history;
  op::Append append;
  append.messages.push_back(message("system", R"("content":"rules")"));
  for (std::uint64_t k = 0; append.messages.size() < n; ++k) {
    const std::string id = "c" + std::to_string(k);
    append.messages.push_back(message("user", R"("content":"question")"));
    append.messages.push_back(
        message("assistant", R"("content":"","toolCalls":[{"id":")" + id + "\"}]"));
    append.messages.push_back(message("tool", R"("content":"result","toolCallId":")" + id + "\""));
    append.messages.push_back(message("assistant", R"("content":"answer")"));
  }
  history = history.apply({append}, {}).value().history;
  op::Mark mark{Names::indices({1}), "pinned"};
  for (std::uint64_t i = 1000; i < n; i += 100000) mark.names.numbers.push_back(i);
  return history.apply({mark}, {}).value().history;
}

std::uint64_t nodes_made() {
  return EntryTree::nodes_made() + StoredTree::nodes_made() + PlaceTree::nodes_made() +
         BatchTree::nodes_made() + LinkTree::nodes_made() + NoteTree::nodes_made() +
         Log::MadeTree::nodes_made() + decltype(Log::spans)::nodes_made() +
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

// One edit of one message copies a path in each tree it touches, and a path is as long as the tree
// is high.
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
  EXPECT_LE(nodes_made_by(
                history,
                op::Compress{Names::indices({middle, middle + 1, middle + 2, middle + 3}), fresh}),
            paths(12));
  EXPECT_LE(nodes_made_by(history, op::Mark{Names::indices({middle}), "important"}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::StartBatch{}), paths(1));
  EXPECT_LE(nodes_made_by(history, op::Restore{1}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::Undo{}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::Unmark{Names::indices({1}), "pinned"}), paths(2));
  EXPECT_LE(nodes_made_by(history, op::Split{1, {2}}), paths(6));
  EXPECT_LE(nodes_made_by(history, op::Merge{{1, 5}}), paths(8));
  EXPECT_LE(nodes_made_by(history, op::Transform{Names::indices({middle}), SetMetadata{"{}"}}),
            paths(8));
  const History compressed =
      history.apply({op::Compress{Names::indices({5, 6, 7}), fresh}}, {}).value().history;
  EXPECT_LE(nodes_made_by(compressed, op::Expand{5}), paths(12));
  const History deleted =
      history.apply({op::Delete{Names::indices({middle, middle + 1})}}, {}).value().history;
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
  const auto paths = [&](double count) {
    return static_cast<std::uint64_t>(count * height * (1 + pins) + 12);
  };

  EXPECT_LE(nodes_made_by(history, op::Truncate{.keep_last = n / 2}), paths(6));
  EXPECT_LE(nodes_made_by(history, op::Truncate{.keep_first = n / 2, .pairs = Pairs::grow}),
            paths(6));
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
  for (std::uint64_t k = 0; k < n; ++k)
    calls += (k == 0 ? "{\"id\":\"c" : ",{\"id\":\"c") + std::to_string(k) + "\"}";
  append.messages.push_back(message("assistant", R"("content":"","toolCalls":[)" + calls + "]"));
  for (std::uint64_t k = 0; k < n; ++k)
    append.messages.push_back(
        message("tool", R"("content":"result","toolCallId":"c)" + std::to_string(k) + "\""));
  append.messages.push_back(message("assistant", R"("content":"answer")"));
  return History().apply({append}, {}).value().history;
}

// The least time of some runs, in microseconds of this process: others may take the processor
// meanwhile.
// The clock counts single microseconds, and an edit may take less, so a run is `repeats` edits.
double least_us(const std::function<void()>& run, int runs, int repeats = 1) {
  double least = 1e9;
  for (int k = 0; k < runs; ++k) {
    const std::clock_t start = std::clock();
    for (int repeat = 0; repeat < repeats; ++repeat) run();
    least =
        std::min(least, static_cast<double>(std::clock() - start) * 1e6 / CLOCKS_PER_SEC / repeats);
  }
  return least;
}
double least_us(const History& history, const Operation::What& what, int runs = 15,
                int repeats = 1) {
  const Operation operation{what};
  return least_us(
      [&] {
        const Result<Step> step = history.apply(operation, {});
        if (!step) ADD_FAILURE() << step.error().message;
      },
      runs, repeats);
}

// An edit, and what was done before it.
struct NamedEdit {
  const char* name;
  Operation::What what;
  std::vector<Operation::What> before = {};
};

History after_all(History history, const std::vector<Operation::What>& operations) {
  for (const Operation::What& what : operations) {
    const Result<Step> step = history.apply({what}, {});
    if (!step) ADD_FAILURE() << name(Operation{what}) << ": " << step.error().message;
    if (step) history = step->history;
  }
  return history;
}

// What a conversation finds for these: here always the same message.
op::Recall recalled(const Message& message) {
  return {.text = "question", .budget_tokens = 100, .find = [=](const History&) {
            return Result<op::Recalled>(op::Recalled{"question", 100, {0}, {message}});
          }};
}
op::MergeFork merged(const Message& message) {
  return {
      .from = "f", .find = [=](const History&) {
        return Result<op::MergedFork>(op::MergedFork{"f", 1, MergeMode::summary, {}, {message}});
      }};
}
op::Expand expanded_fork(std::uint64_t index, const Message& message) {
  return {index, [=](const op::MergedFork&) {
            return Result<op::ExpandFork>(op::ExpandFork{index, "f", 1, {0}, {message}});
          }};
}

// Whether every operation of the table is among some edits, but for those left out.
template <class Edits>
void expect_every_operation(const Edits& edits, const std::set<std::string_view>& left_out) {
  std::set<std::string_view> names = left_out;
  for (const NamedEdit& edit : edits) names.insert(name(Operation{edit.what}));
  for (const OperationRow& row : operation_rows) EXPECT_EQ(names.count(row.name), 1u) << row.name;
}

// `few` and `many` are measured in turns until `is_fine`, at most so often: others may slow down
// one measurement, not each.
void expect_costs(const char* name, const std::function<double()>& few,
                  const std::function<double()>& many,
                  const std::function<bool(double few, double many)>& is_fine) {
  double least_few = 1e9, least_many = 1e9;
  for (int round = 0; round < 5; ++round) {
    least_few = std::min(least_few, few());
    least_many = std::min(least_many, many());
    if (is_fine(least_few, least_many)) return;
  }
  ADD_FAILURE() << name << ": " << least_few << " us, and " << least_many << " us";
}

TEST(Cost, OfAnEditDoesNotDependOnTheCallsOfAMessageThatItDoesNotName) {
  constexpr std::uint64_t few = 500, many = 50000;
  const History small = with_calls(few), large = with_calls(many);
  const Message fresh = message("user", R"("content":"new")"),
                again = message("tool", R"("content":"other","toolCallId":"c7")");
  const Names one = Names::indices({100}), first = Names::indices({0});
  const NamedEdit edits[] = {
      {"delete", op::Delete{one}},
      {"delete two", op::Delete{Names::indices({100, 200})}},
      {"append", op::Append{{again}}},
      {"replace", op::Replace{Names::indices({9}), {again}}},
      {"insert", op::Insert{50, {fresh}}},
      {"truncate", op::Truncate{.remove_first = 1}},
      {"clear", op::Clear{}},
      {"mark", op::Mark{Names::indices({1}), "important"}},
      {"unmark", op::Unmark{one, "important"}, {op::Mark{one, "important"}}},
      {"compress", op::Compress{one, fresh}},
      {"plan", op::ApplyPlan{{Version(1), {{{{0, 1}}, fresh}}}}},
      {"expand", op::Expand{100}, {op::Compress{one, fresh}}},
      {"show", op::Show{{100}}, {op::Delete{one}}},
      {"merge", op::Merge{{0, 1}}, {op::Insert{1, {fresh}}}},
      {"transform", op::Transform{one, SetMetadata{"{}"}}},
      {"split", op::Split{0, {2}}},
      {"start batch", op::StartBatch{}},
      {"end batch", op::EndBatch{0, {Role::user}}, {op::StartBatch{}, op::Append{{fresh}}}},
      {"rollback", op::Rollback{0}, {op::Clear{}}},
      {"grow", op::Delete{one, Pairs::grow}},
      {"undo", op::Undo{}},
      {"redo", op::Redo{}, {op::Delete{first}, op::Undo{}}},
      {"restore", op::Restore{1}, {op::Clear{}}},
      {"recall", recalled(fresh)},
      {"merge fork", merged(fresh)},
      {"expand fork", expanded_fork(0, fresh), {op::Clear{false}, merged(fresh)}},
  };
  // These read every message.
  expect_every_operation(edits, {"FILTER", "IMPORT_MARK_MAP", "RECONCILE"});
  for (const NamedEdit& edit : edits) {
    const History before_small = after_all(small, edit.before),
                  before_large = after_all(large, edit.before);
    expect_costs(
        edit.name, [&] { return least_us(before_small, edit.what, 5, 100); },
        [&] { return least_us(before_large, edit.what, 5, 100); },
        [&](double before, double after) {
          std::printf("  %-12s %8.2f us with %llu calls, %8.2f us with %llu\n", edit.name, before,
                      static_cast<unsigned long long>(few), after,
                      static_cast<unsigned long long>(many));
          return after <= 3 * before;
        });
  }
}

// A call, and many results with its id.
op::Append results_of_one_call(std::uint64_t n) {
  op::Append append{{message("user", R"("content":"question")"),
                     message("assistant", R"("content":"","toolCalls":[{"id":"c"}])")}};
  for (std::uint64_t k = 0; k < n; ++k)
    append.messages.push_back(message("tool", R"("content":"result","toolCallId":"c")"));
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
  const auto with_results = [](std::uint64_t n) {
    return History().apply({results_of_one_call(n)}, {}).value().history;
  };
  const auto edit = [&](auto what) {
    return [=](std::uint64_t n) { return least_us(with_results(n), what(n), 5); };
  };
  const auto edit_after = [&](auto first, auto what) {
    return [=](std::uint64_t n) {
      return least_us(with_results(n).apply({first(n)}, {}).value().history, what(n), 5);
    };
  };
  const auto without_results = [](std::uint64_t n) {
    return op::Delete{Names::indices(all_results(n))};
  };
  const auto summarised = [](std::uint64_t n) {
    return op::Compress{Names::indices(all_results(n)), message("user", R"("content":"s")")};
  };
  const std::pair<const char*, Edit> edits[] = {
      {"append results",
       [](std::uint64_t n) { return least_us(History(), results_of_one_call(n), 5); }},
      {"append one", edit([](std::uint64_t) {
         return op::Append{{message("tool", R"("content":"other","toolCallId":"c")")}};
       })},
      {"delete call", edit([](std::uint64_t) { return op::Delete{Names::indices({1})}; })},
      {"delete result",
       edit([](std::uint64_t n) { return op::Delete{Names::indices({2 + n / 2})}; })},
      {"delete results", edit(without_results)},
      {"expand results", edit_after(summarised, [](std::uint64_t) { return op::Expand{2}; })},
      {"replace call", edit([](std::uint64_t n) {
         return op::Replace{Names::indices({1}), {results_of_one_call(n).messages[1]}};
       })},
      {"truncate, shrink",
       edit([](std::uint64_t) { return op::Truncate{.remove_first = 2, .pairs = Pairs::shrink}; })},
      {"truncate, grow",
       edit([](std::uint64_t) { return op::Truncate{.keep_first = 2, .pairs = Pairs::grow}; })},
      {"results, shrink", edit([](std::uint64_t n) {
         return op::Delete{Names::indices(all_results(n)), Pairs::shrink};
       })},
      {"results, grow", edit([](std::uint64_t n) {
         return op::Delete{Names::indices(all_results(n)), Pairs::grow};
       })},
  };
  for (const auto& [name, cost] : edits) {
    const double before = cost(few), after = cost(many);
    std::printf("  %-17s %8.1f us with %llu results, %8.1f us with %llu\n", name, before,
                static_cast<unsigned long long>(few), after, static_cast<unsigned long long>(many));
    EXPECT_LE(after, 8 * before + 60) << name;
  }
}

op::Reconcile whole_view(const History& history) {
  op::Reconcile sent;
  for (const Message& each : history.view()) sent.list.push_back({each, identity(each)});
  return sent;
}

// Every operation, on any conversation that begins with a message of the user.
std::vector<NamedEdit> every_edit(const History& history) {
  const std::uint64_t n = history.view().size(), middle = n / 2;
  const Message fresh = message("user", R"("content":"new")");
  const Names one = Names::indices({middle});
  Names most = Names::indices({});
  for (std::uint64_t i = 1; i < n; ++i) most.numbers.push_back(i);
  std::vector<std::uint64_t> hidden;
  for (const std::uint64_t index : most.numbers)
    hidden.push_back(history.view().ordinal(index).value);
  return {
      {"append", op::Append{{fresh}}},
      {"insert", op::Insert{middle, {fresh}}},
      {"replace", op::Replace{one, {fresh}}},
      {"truncate", op::Truncate{.keep_last = middle}},
      {"truncate, shrink", op::Truncate{.keep_last = middle, .pairs = Pairs::shrink}},
      {"truncate, grow", op::Truncate{.keep_last = middle, .pairs = Pairs::grow}},
      {"truncate role", op::Truncate{.keep_last = 3, .role = Role::tool}},
      {"clear", op::Clear{}},
      {"filter role", op::Filter{.roles = {Role::tool}}},
      {"filter text", op::Filter{.content_contains = {"result"}, .pairs = Pairs::grow}},
      {"delete", op::Delete{one}},
      {"delete, shrink", op::Delete{one, Pairs::shrink}},
      {"delete most", op::Delete{most, Pairs::grow}},
      {"compress", op::Compress{one, fresh}},
      {"compress most", op::Compress{most, fresh}},
      {"plan", op::ApplyPlan{{history.version(), {{{{0, 1}}, fresh}}}}},
      {"expand most", op::Expand{1}, {op::Compress{most, fresh}}},
      {"show one", op::Show{{hidden.back()}}, {op::Delete{most}}},
      {"show most", op::Show{hidden}, {op::Delete{most}}},
      {"merge", op::Merge{{0, 1}}, {op::Insert{0, {fresh}}}},
      {"split", op::Split{0, {2}}},
      {"transform", op::Transform{one, SetMetadata{"{}"}}},
      {"transform role", op::Transform{std::vector<Role>{Role::tool}, ReplaceText{"result", "r"}}},
      {"start batch", op::StartBatch{.hide_prior = true}},
      {"end batch", op::EndBatch{0, {Role::user}}, {op::StartBatch{}, op::Append{{fresh}}}},
      {"rollback", op::Rollback{0}, {op::Clear{}}},
      {"mark most", op::Mark{most, "important"}},
      {"unmark most", op::Unmark{most, "important"}, {op::Mark{most, "important"}}},
      {"undo", op::Undo{}},
      {"redo", op::Redo{}, {op::Delete{one}, op::Undo{}}},
      {"restore", op::Restore{1}},
      {"import map", op::ImportMarkMap{history.mark_map()}},
      {"reconcile", whole_view(history)},
      {"recall", recalled(fresh)},
      {"merge fork", merged(fresh)},
      {"expand fork", expanded_fork(n, fresh), {merged(fresh)}},
  };
}

op::Append calls_of_one_id(std::uint64_t n) {
  op::Append append{{message("user", R"("content":"question")")}};
  for (std::uint64_t k = 0; k < n; ++k) {
    append.messages.push_back(message("assistant", R"("content":"","toolCalls":[{"id":"c"}])"));
    append.messages.push_back(message("tool", R"("content":"result","toolCallId":"c")"));
  }
  return append;
}

// Shapes that a client may send, with n of something.
struct Shape {
  const char* name;
  History (*make)(std::uint64_t n);
};
constexpr Shape shapes[] = {
    {"calls in a message", with_calls},
    {"results of one call",
     [](std::uint64_t n) { return after_all(History(), {results_of_one_call(n)}); }},
    {"calls of one id",
     [](std::uint64_t n) { return after_all(History(), {calls_of_one_id(n / 2)}); }},
    {"marks of a message",
     [](std::uint64_t n) {
       History history = with_calls(8);
       for (std::uint64_t k = 0; k < n; ++k)
         history = after_all(history, {op::Mark{Names::indices({5}), "m" + std::to_string(k)}});
       return history;
     }},
    {"pinned messages",
     [](std::uint64_t n) {
       op::Mark pin{Names::indices({}), std::string(pinned_mark)};
       for (std::uint64_t k = 2; k < n; k += 2) pin.names.numbers.push_back(k);
       return after_all(with_calls(n), {pin});
     }},
    {"batches",
     [](std::uint64_t n) {
       History history = with_calls(8);
       for (std::uint64_t k = 0; k < n; ++k) history = after_all(history, {op::StartBatch{}});
       return history;
     }},
    {"versions",
     [](std::uint64_t n) {
       History history = with_calls(8);
       for (std::uint64_t k = 0; k < n; k += 2)
         history = after_all(history, {op::Insert{3, {message("user", R"("content":"new")")}},
                                       op::Delete{Names::indices({3})}});
       return history;
     }},
    {"undone versions",
     [](std::uint64_t n) {
       History history = with_calls(8);
       for (std::uint64_t k = 0; k < n / 2; ++k)
         history = after_all(history, {op::Mark{Names::indices({k % 8}), "m"}});
       for (std::uint64_t k = 0; k < n / 2; ++k) history = after_all(history, {op::Undo{}});
       return history;
     }},
    {"summaries of summaries",
     [](std::uint64_t n) {
       History history = with_calls(8);
       for (std::uint64_t k = 0; k < n; ++k)
         history = after_all(
             history, {op::Compress{Names::indices({4}), message("user", R"("content":"s")")}});
       return history;
     }},
};

// Four times as many of anything cost at most some four times as much; the square would be sixteen
// times.
TEST(Cost, OfEveryOperationRisesNoFasterThanWhatAClientSends) {
  constexpr std::uint64_t few = 1000, many = 4 * few;
  for (const Shape& shape : shapes) {
    const History small = shape.make(few), large = shape.make(many);
    const std::vector<NamedEdit> small_edits = every_edit(small), large_edits = every_edit(large);
    expect_every_operation(small_edits, {});
    for (std::size_t k = 0; k < small_edits.size(); ++k) {
      const History before_small = after_all(small, small_edits[k].before),
                    before_large = after_all(large, large_edits[k].before);
      const std::string what = std::string(shape.name) + ", " + small_edits[k].name;
      expect_costs(
          what.c_str(), [&] { return least_us(before_small, small_edits[k].what, 2); },
          [&] { return least_us(before_large, large_edits[k].what, 2); },
          [](double before, double after) { return after <= 8 * before + 20; });
    }
  }
}

op::Reconcile::Sent said(Role role, const std::string& text, bool is_summary = false) {
  const Message each = Message::make(role, text).value();
  return {each, identity(each), is_summary};
}

// Lists that a client may send one after the other, with n of something.
struct Requests {
  const char* name;
  op::Reconcile (*first)(std::uint64_t n), (*next)(std::uint64_t n);
};
template <class Said>
op::Reconcile list_of(std::uint64_t n, Said said_at) {
  op::Reconcile request;
  for (std::uint64_t k = 0; k < n; ++k) request.list.push_back(said_at(k));
  return request;
}
template <class Said>
op::Reconcile delta_of(std::uint64_t n, Said said_at) {
  op::Reconcile request = list_of(n, said_at);
  request.is_delta = true;
  return request;
}
op::Reconcile::Sent numbered(Role role, std::uint64_t k) {
  return said(role, "text " + std::to_string(k));
}

constexpr Requests requests[] = {
    {"a delta that repeats one instruction",
     [](std::uint64_t n) {
       return list_of(
           n, [](std::uint64_t k) { return numbered(k == 0 ? Role::system : Role::user, k); });
     },
     [](std::uint64_t n) {
       return delta_of(n, [](std::uint64_t) { return numbered(Role::system, 0); });
     }},
    {"a delta that repeats all instructions",
     [](std::uint64_t n) {
       return list_of(n, [](std::uint64_t k) { return numbered(Role::system, k); });
     },
     [](std::uint64_t n) {
       return delta_of(n, [n](std::uint64_t k) { return numbered(Role::system, n - 1 - k); });
     }},
    {"a delta that repeats its words",
     [](std::uint64_t n) {
       return list_of(n, [](std::uint64_t) { return said(Role::user, "yes"); });
     },
     [](std::uint64_t n) {
       return delta_of(
           n, [n](std::uint64_t k) { return said(Role::user, k + 1 == n ? "no" : "yes"); });
     }},
    {"a list of equal texts that grows in front",
     [](std::uint64_t n) {
       return list_of(n, [](std::uint64_t k) { return said(Role::user, k % 3 ? "yes" : "no"); });
     },
     [](std::uint64_t n) {
       return list_of(n, [](std::uint64_t k) { return said(Role::user, k % 2 ? "yes" : "no"); });
     }},
    {"a list that is replaced",
     [](std::uint64_t n) {
       return list_of(n, [](std::uint64_t k) { return numbered(Role::user, k); });
     },
     [](std::uint64_t n) {
       return list_of(n, [n](std::uint64_t k) { return numbered(Role::user, n + k); });
     }},
    {"summaries behind instructions that go",
     [](std::uint64_t n) {
       return list_of(n, [](std::uint64_t k) {
         return k % 2 == 0 ? numbered(Role::system, k)
                           : said(Role::assistant, "summary " + std::to_string(k), true);
       });
     },
     [](std::uint64_t n) {
       return list_of(n / 2, [](std::uint64_t k) {
         return said(Role::assistant, "summary " + std::to_string(2 * k + 1), true);
       });
     }},
};

TEST(Cost, OfFollowingAClientRisesNoFasterThanItsLists) {
  constexpr std::uint64_t few = 1000, many = 4 * few;
  for (const Requests& each : requests) {
    const History small = after_all(History(), {each.first(few)}),
                  large = after_all(History(), {each.first(many)});
    const op::Reconcile small_next = each.next(few), large_next = each.next(many);
    expect_costs(
        each.name, [&] { return least_us(small, small_next, 2); },
        [&] { return least_us(large, large_next, 2); },
        [](double before, double after) { return after <= 8 * before + 20; });
  }
}

// A request may have so many messages that its time is over in between.
TEST(Cost, FollowingAClientEndsWhenItIsCancelledAndHasChangedNothing) {
  constexpr std::uint64_t count = 20'000;
  for (const Requests& each : requests) {
    SCOPED_TRACE(each.name);
    const History before = after_all(History(), {each.first(count)});
    const Operation next{each.next(count)};
    std::uint64_t asked = 0, most = ~std::uint64_t{0};
    const auto follow = [&] {
      asked = 0;
      return before.apply(
          next, {.work = std::make_shared<Work>(WorkLimits{.interrupted = [&]() -> Result<void> {
                   if (++asked <= most) return {};
                   return Error{ErrorCode::unavailable, "enough"};
                 }})});
    };
    const Result<Step> whole = follow();
    ASSERT_TRUE(whole) << whole.error().message;
    const std::uint64_t in_all = asked;
    EXPECT_GE(in_all, count / 1024);
    for (const std::uint64_t answered : {in_all / 4, in_all / 2, in_all - 1}) {
      most = answered;
      const Result<Step> ended = follow();
      ASSERT_FALSE(ended) << answered << " of " << in_all;
      EXPECT_EQ(ended.error().code, ErrorCode::unavailable);
      EXPECT_EQ(asked, answered + 1);
    }
    most = ~std::uint64_t{0};
    const Result<Step> again = follow();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->applied.reconciliation, whole->applied.reconciliation);
    EXPECT_EQ(again->history.client_list(), whole->history.client_list());
  }
}

// Every question about a conversation.
struct NamedQuery {
  const char* name;
  std::function<void(const History&)> ask;
};

std::uint64_t count_pairs(const History& history) {
  const PlacedView view = history.rep().head.placed();
  PairSearch search(history.rep().log, view);
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < view.size(); ++i) {
    const std::uint32_t ordinal = view.entries[i].ordinal;
    for (const Mention& mention : history.rep().log.mentions(ordinal))
      count += search.pairs_of(mention.hash, ordinal, i).empty() ? 0u : 1u;
  }
  return count;
}

std::vector<NamedQuery> every_query() {
  const auto middle = [](const History& history) { return history.view().size() / 2; };
  return {
      {"messages",
       [](const History& h) { EXPECT_TRUE(h.messages({.roles = {Role::tool}, .last = 3})); }},
      {"messages with a mark", [](const History& h) { EXPECT_TRUE(h.messages({.marked = "m1"})); }},
      {"messages with a text",
       [](const History& h) { EXPECT_TRUE(h.messages({.contains = "result"})); }},
      {"count", [](const History& h) { EXPECT_TRUE(h.count({.all = true, .from_ms = 0})); }},
      {"diff of neighbours",
       [](const History& h) { EXPECT_TRUE(h.diff(Version(h.version().value - 1), h.version())); }},
      {"diff of all", [](const History& h) { EXPECT_TRUE(h.diff(Version(0), h.version())); }},
      {"diff back", [](const History& h) { EXPECT_TRUE(h.diff(h.version(), Version(1))); }},
      {"blame of the first", [](const History& h) { EXPECT_TRUE(h.blame(Ordinal(0))); }},
      {"blame of the middle",
       [=](const History& h) { EXPECT_TRUE(h.blame(h.view().ordinal(middle(h)))); }},
      {"marks of a message", [](const History& h) { h.marks_of(Ordinal(5)); }},
      {"marks of each message",
       [](const History& h) {
         for (std::uint64_t o = 0; o < 8; ++o) h.marks_of(Ordinal(o));
       }},
      {"marked", [](const History& h) { h.marked(pinned_mark); }},
      {"mark map", [](const History& h) { h.mark_map(); }},
      {"uncompressed", [](const History& h) { h.uncompressed(); }},
      {"batches", [](const History& h) { h.batches(); }},
      {"snapshot", [](const History& h) { h.batch_snapshot(BatchIndex(0)); }},
      {"versions", [](const History& h) { h.versions(); }},
      {"receipts", [](const History& h) { h.receipts(); }},
      {"stands for",
       [](const History& h) {
         for (std::uint64_t o = 0; o < 16; ++o) h.stands_for(Ordinal(o));
       }},
      {"client list", [](const History& h) { h.client_list(); }},
      {"a legal cut",
       [=](const History& h) {
         h.view().next_legal_cut(middle(h));
         h.view().previous_legal_cut(middle(h));
       }},
      {"index of a message",
       [=](const History& h) { h.view().index_of(h.view().ordinal(middle(h))); }},
      {"calls that wait", [](const History& h) { h.rep().log.waiting(); }},
      {"pairs", [](const History& h) { count_pairs(h); }},
      {"blocks",
       [](const History& h) {
         for (const Message& each : h.view()) read_blocks(each);
       }},
      {"identities",
       [](const History& h) {
         for (const Message& each : h.view()) identity(each);
       }},
      {"fork", [](const History& h) { EXPECT_TRUE(h.fork(Version(1))); }},
  };
}

// As above. A step of a walk through what no cache holds takes longer, which may come to two
// milliseconds; the square of 4,000 takes more.
TEST(Cost, OfEveryQueryRisesNoFasterThanWhatAClientSent) {
  constexpr std::uint64_t few = 1000, many = 4 * few;
  for (const Shape& shape : shapes) {
    const History small = shape.make(few), large = shape.make(many);
    for (const NamedQuery& query : every_query()) {
      const std::string what = std::string(shape.name) + ", " + query.name;
      expect_costs(
          what.c_str(), [&] { return least_us([&] { query.ask(small); }, 2); },
          [&] { return least_us([&] { query.ask(large); }, 2); },
          [](double before, double after) { return after <= 8 * before + 2000; });
    }
  }
}

// What differs decides what it costs to find it, and not what stands beside it or between.
TEST(Cost, OfGoingBackAndOfADiffDoesNotDependOnWhatStays) {
  constexpr std::uint64_t few = 2000, many = 32 * few;
  const auto edited = [](std::uint64_t n) {
    const Message fresh = message("user", R"("content":"new")");
    return after_all(conversation_of(n), {op::Replace{Names::indices({n / 4}), {fresh}},
                                          op::Replace{Names::indices({n / 4 * 3}), {fresh}},
                                          op::Truncate{.keep_last = n / 2}, op::Append{{fresh}}});
  };
  const History small = edited(few), large = edited(many);
  const NamedQuery queries[] = {
      {"diff of an edit",
       [](const History& h) {
         EXPECT_EQ(h.diff(Version(2), Version(3)).value().added.size(), 1u);
       }},
      {"diff of two edits",
       [](const History& h) {
         EXPECT_EQ(h.diff(Version(2), Version(4)).value().removed.size(), 2u);
       }},
      {"ROLLBACK", [](const History& h) { EXPECT_TRUE(h.apply({op::Rollback{2}}, {})); }},
      {"RESTORE", [](const History& h) { EXPECT_TRUE(h.apply({op::Restore{4}}, {})); }},
      {"UNDO", [](const History& h) { EXPECT_TRUE(h.apply({op::Undo{}}, {})); }},
  };
  for (const NamedQuery& query : queries) {
    expect_costs(
        query.name, [&] { return least_us([&] { query.ask(small); }, 5, 50); },
        [&] { return least_us([&] { query.ask(large); }, 5, 50); },
        [&](double before, double after) {
          std::printf("  %-16s %8.2f us with %llu messages, %8.2f us with %llu\n", query.name,
                      before, static_cast<unsigned long long>(few), after,
                      static_cast<unsigned long long>(many));
          return after <= 4 * before;
        });
  }
}

TEST(Cost, AThousandKeptEditsOfAHundredThousandMessagesTakeLessThanEightMegabytes) {
  History history = conversation_of(100000);
  const std::uint64_t before =
      EntryTree::node_bytes_made() + PlaceTree::node_bytes_made() + BatchTree::node_bytes_made();
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const std::uint64_t at = (k * 7919) % 90000;
    const Message fresh = message("user", R"("content":"new")");
    if (k % 2 == 0) {
      history = history.apply({op::Insert{at, {fresh}}}, {}).value().history;
    } else {
      history = history.apply({op::Replace{Names::indices({at}), {fresh}}}, {}).value().history;
    }
  }
  EXPECT_LE(EntryTree::node_bytes_made() + PlaceTree::node_bytes_made() +
                BatchTree::node_bytes_made() - before,
            8u << 20);
}

}  // namespace
}  // namespace undertext
