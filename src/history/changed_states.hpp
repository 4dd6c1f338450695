// A history whose entries are changed one by one, all at once. Versions share nodes, frames and
// snapshots; each is changed once, and its copies are shared as it was.
#pragma once

#include <unordered_map>
#include <utility>

#include "history/state.hpp"

namespace undertext {

template <class Change>
class ChangedStates {
 public:
  explicit ChangedStates(Change change) : change_(std::move(change)) {}  // Entry -> Entry

  // The states of `rep`.
  void change(History::Rep& rep) {
    HouseTree<State, NoSums> states;
    for (std::uint64_t k = 0; k < rep.states.size(); ++k) states.push_back(state(rep.states[k]));
    rep.states = std::move(states);
    rep.head = state(rep.head);
  }
  EntryTree entries(const EntryTree& old) { return old.changed(change_, known_entries_); }

 private:
  State state(const State& old) {
    State made;
    made.view = entries(old.view);
    made.log_length = old.log_length;
    made.frame = frame(old.frame);
    return made;
  }

  Shared<Frame> frame(const Shared<Frame>& old) {
    Shared<Frame>& made = known_frames_[&*old];
    if (!made) {
      const auto change = [&](const Batch& batch) {
        return Batch{
            batch.boundary, batch.opened_in, {entries(batch.before.entries), batch.before.places}};
      };
      made = Shared<Frame>::make(old->batches.changed(change, known_batches_), old->marks,
                                 old->places);
    }
    return made;
  }

  Change change_;
  EntryTree::ChangedNodes known_entries_;
  BatchTree::ChangedNodes known_batches_;
  std::unordered_map<const Frame*, Shared<Frame>> known_frames_;
};

}  // namespace undertext
