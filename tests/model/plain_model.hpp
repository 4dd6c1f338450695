// The plain reference that History is tested against: vectors, full copies, brute force, nothing
// clever. Written from the contract, not from the engine.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <undertext/history.hpp>

#include "message/edit.hpp"

namespace undertext {

// How the test counts: not to be guessed from the text.
inline std::uint32_t count_tokens(const Message& message) {
  return static_cast<std::uint32_t>(message.json().size() % 97);
}

class PlainModel {
 public:
  using Ordinals = std::vector<std::uint64_t>;

  struct Batch {
    std::uint64_t boundary = 0;
    std::optional<Ordinals> snapshot = {};  // once it has been left
    std::uint64_t left_at = 0;              // the log's length then
  };
  struct State {
    Ordinals view;
    std::vector<Batch> batches{{0}};
    std::map<std::string, std::set<std::uint64_t>> marks;
  };
  struct Record {
    State state;
    std::string operation;
    std::optional<std::uint64_t> undo, redo;
    std::uint64_t log_length = 0;
  };
  struct Compressed {  // what a COMPRESS hid, and what stands for it
    Plan plan;         // empty when the messages were named
    Ordinals hidden;
    std::vector<std::pair<std::uint64_t, Ordinals>> summaries;
  };
  struct Outcome {
    std::optional<ErrorCode> error;
    std::string field;
    std::vector<Warning> warnings;
    bool warnings_are_clear = true;  // pairs_are_clear() of both views
  };

  std::vector<Message> log;
  std::vector<std::int64_t> times;  // of the messages of the log
  std::vector<Record> versions{{}};
  std::map<std::uint64_t, Compressed> compressions;  // by the version that each made
  std::map<std::uint64_t, Ordinals> summaries;       // the originals of each
  // the same of what REPLACE, MERGE, SPLIT and TRANSFORM made
  std::map<std::uint64_t, Ordinals> copies;
  Ordinals order;  // all messages of the log

  const State& head() const { return versions.back().state; }
  Outcome apply(const Operation& operation, Pairs pairs, std::int64_t now_ms = 0);
  void go_back_to(std::uint64_t version);  // as a fork does: what came later was never there

  // Whether "its partner" has one meaning: no tool-call id is called twice in the view, nor is
  // there a result before the call of an id that was ever called twice.
  bool pairs_are_clear(const Ordinals& view) const;

  const Ordinals* stands_for(std::uint64_t ordinal) const;
  // Whether a message of the view stands for it, or for what does.
  bool has_stand_in(const Ordinals& view, std::uint64_t ordinal) const;

  // Of the reasoning that stands at `index` of the view: what belongs to it.
  Ordinals following(const Ordinals& view, std::size_t index) const;

 private:
  struct Refused {
    ErrorCode code;
    std::string field;
  };
  [[noreturn]] static void refuse(std::string field, ErrorCode code = ErrorCode::invalid_argument) {
    throw Refused{code, std::move(field)};
  }

  std::uint64_t store(const Message& message) {
    log.push_back(message);
    times.push_back(message.timestamp_ms().value_or(now_ms_));
    order.push_back(log.size() - 1);
    return log.size() - 1;
  }
  std::uint64_t store_before(const Message& message, std::uint64_t front) {
    const std::uint64_t ordinal = store(message);
    order.pop_back();
    order.insert(std::find(order.begin(), order.end(), front), ordinal);
    return ordinal;
  }
  void bring_back(State& s, const std::set<std::uint64_t>& leaving, const Ordinals& ordinals);
  std::set<std::uint64_t> with_units(const State& s, std::set<std::uint64_t> ordinals) const;
  std::size_t last_seen(std::uint64_t ordinal) const;
  bool can_return(const State& s, std::uint64_t ordinal) const {
    return !in(s.view, ordinal) && !has_stand_in(s.view, ordinal);
  }
  bool tells(const Ordinals& here, std::uint64_t ordinal) const;  // through what it stands for
  static bool in(const Ordinals& view, std::uint64_t ordinal) {
    return std::find(view.begin(), view.end(), ordinal) != view.end();
  }
  std::vector<std::size_t> named(const State& s, const Names& names) const;
  Ordinals named_ordinals(const State& s, const Names& names) const;
  Role role(std::uint64_t ordinal) const { return log[ordinal].role(); }
  bool pinned(const State& s, std::uint64_t ordinal) const {
    const auto marks = s.marks.find("pinned");
    return marks != s.marks.end() && marks->second.count(ordinal) > 0;
  }

  // Whether `ordinal` has, among `view`, a message that holds the other side of this link.
  bool has_partner(const Ordinals& view, std::uint64_t ordinal, const ToolLink& link) const;
  Ordinals partners(const Ordinals& view, std::uint64_t ordinal, const ToolLink& link) const;
  Ordinals mended(const State& s, const Ordinals& before, Ordinals after, Pairs pairs) const;
  std::vector<Warning> warnings(const Ordinals& before, const Ordinals& after) const;
  bool calls(std::uint64_t ordinal) const;
  bool has_call(const Ordinals& view, std::uint64_t reasoning) const;  // that follows from it
  bool parts_reasoning(const Ordinals& before, const Ordinals& after) const;

  void open_batch(State& s, const Ordinals& snapshot, std::uint64_t boundary) {
    s.batches.back().snapshot = snapshot;
    s.batches.back().left_at = log_before_;
    s.batches.push_back({boundary});
  }
  void put(State& s, const std::vector<std::size_t>& indices, const Ordinals& put);

  void run(State& s, const op::Append& o);
  void run(State& s, const op::Insert& o);
  void run(State& s, const op::Replace& o);
  void run(State& s, const op::Truncate& o);
  void run(State& s, const op::Clear& o);
  void run(State& s, const op::Filter& o);
  void run(State& s, const op::Delete& o);
  void run(State& s, const op::Compress& o);
  void run(State& s, const op::ApplyPlan& o);
  void run(State& s, const op::CompressBy& o);
  void run(State& s, const op::Expand& o);
  void run(State& s, const op::Show& o);
  void run(State& s, const op::Merge& o);
  void run(State& s, const op::Split& o);
  void run(State& s, const op::Transform& o);
  void run(State& s, const op::StartBatch& o);
  void run(State& s, const op::EndBatch& o);
  void run(State& s, const op::Rollback& o);
  void run(State& s, const op::Mark& o);
  void run(State& s, const op::Unmark& o);
  void run(State& s, const op::Undo& o);
  void run(State& s, const op::Redo& o);
  void run(State& s, const op::Restore& o);
  void run(State& s, const op::ImportMarkMap& o);
  // Following a client has a model of its own: src/history/reconcile_model_test.cpp.
  [[noreturn]] void run(State&, const op::Reconcile&) { refuse("operation"); }
  [[noreturn]] void run(State&, const op::Reconciled&) { refuse("operation"); }
  // So has searching: src/recall/recall_model_test.cpp.
  [[noreturn]] void run(State&, const op::Recall&) { refuse("operation"); }
  [[noreturn]] void run(State&, const op::Recalled&) { refuse("operation"); }

  // And merging forks: tests/store/merge_fork_test.cpp.
  [[noreturn]] void run(State&, const op::MergeFork&) { refuse("operation"); }
  [[noreturn]] void run(State&, const op::MergedFork&) { refuse("operation"); }
  [[noreturn]] void run(State&, const op::ExpandFork&) { refuse("operation"); }

  Pairs pairs_ = Pairs::literal;
  std::uint64_t log_before_ = 0;
  std::int64_t now_ms_ = 0;
  std::optional<std::uint64_t> undo_, redo_;
  std::optional<Compressed> compressed_;
};

}  // namespace undertext
