// All token counts of a history made anew.
#include <algorithm>
#include <vector>

#include "history/changed_states.hpp"

namespace undertext {
namespace {

struct Measured {
  std::uint32_t tokens, bytes;  // the bytes are others where a body was taken out
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
  ChangedStates states([&](Entry e) {
    e.tokens = counts[e.ordinal].tokens & tokens_per_message_max;
    e.bytes = counts[e.ordinal].bytes;
    return e;
  });
  states.change(*made);
  return History(std::move(made));
}

}  // namespace undertext
