// All token counts of a history made anew.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "history/state.hpp"

namespace undertext {
namespace {

struct Measured {
  std::uint32_t tokens, bytes;  // the bytes are others where a body was taken out
};

// Histories share nodes, frames and snapshots among their versions; each is changed once.
class Recount {
 public:
  explicit Recount(const std::vector<Measured>& counts) : counts_(counts) {}

  State state(const State& old) {
    State made;
    made.view = entries(old.view);
    made.log_length = old.log_length;
    made.frame = frame(old.frame);
    return made;
  }

 private:
  EntryTree entries(const EntryTree& old) {
    const auto change = [&](Entry e) {
      e.tokens = counts_[e.ordinal].tokens & tokens_per_message_max;
      e.bytes = counts_[e.ordinal].bytes;
      return e;
    };
    return old.changed(change, known_entries_);
  }

  Shared<Frame> frame(const Shared<Frame>& old) {
    Shared<Frame>& made = known_frames_[&*old];
    if (!made) {
      const auto change = [&](const Batch& batch) {
        return Batch{batch.boundary, batch.opened_in, {entries(batch.before.entries), batch.before.places}};
      };
      made = Shared<Frame>::make(old->batches.changed(change, known_batches_), old->marks, old->places);
    }
    return made;
  }

  const std::vector<Measured>& counts_;
  EntryTree::ChangedNodes known_entries_;
  BatchTree::ChangedNodes known_batches_;
  std::unordered_map<const Frame*, Shared<Frame>> known_frames_;
};

}  // namespace

History History::recounted(const std::function<std::uint32_t(const Message&)>& count_tokens) const {
  std::vector<Measured> counts;
  counts.reserve(rep_->log.size());
  for (const Message& message : log()) {
    counts.push_back({std::min(count_tokens ? count_tokens(message) : 0, tokens_per_message_max),
                      static_cast<std::uint32_t>(message.json().size())});
  }

  auto made = std::make_shared<Rep>(*rep_);
  std::size_t ordinal = 0;
  const auto change_stored = [&](StoredMessage stored) {
    stored.tokens = counts[ordinal].tokens & tokens_per_message_max;
    stored.bytes = counts[ordinal++].bytes;
    return stored;
  };
  StoredTree::ChangedNodes known_stored;
  made->log.stored = rep_->log.stored.changed(change_stored, known_stored);

  Recount recount(counts);
  HouseTree<State, NoSums> states;
  for (std::uint64_t k = 0; k < rep_->states.size(); ++k) states.push_back(recount.state(rep_->states[k]));
  made->states = std::move(states);
  made->head = recount.state(rep_->head);
  return History(std::move(made));
}

}  // namespace undertext
