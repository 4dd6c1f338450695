// Token counts of a history, counted again.
#include <algorithm>
#include <vector>

#include "history/changed_states.hpp"

namespace undertext {
namespace {

struct Measured {
  std::uint32_t tokens, bytes;  // the bytes are others where a body was taken out
};

using CountTokens = std::function<std::uint32_t(const Message&)>;

Measured measured(const Message& message, const CountTokens& count_tokens) {
  return {std::min(count_tokens ? count_tokens(message) : 0, tokens_per_message_max),
          static_cast<std::uint32_t>(message.json().size())};
}

History with_counts(const History::Rep& rep, const std::vector<Measured>& counts) {
  auto made = std::make_shared<History::Rep>(rep);
  std::size_t ordinal = 0;
  const auto change_stored = [&](StoredMessage stored) {
    stored.tokens = counts[ordinal].tokens & tokens_per_message_max;
    stored.bytes = counts[ordinal++].bytes;
    return stored;
  };
  StoredTree::ChangedNodes known_stored;
  made->log.stored = rep.log.stored.changed(change_stored, known_stored);
  ChangedStates states([&](Entry e) {
    e.tokens = counts[e.ordinal].tokens & tokens_per_message_max;
    e.bytes = counts[e.ordinal].bytes;
    return e;
  });
  states.change(*made);
  return History(std::move(made));
}

}  // namespace

History History::recounted(const CountTokens& count_tokens) const {
  std::vector<Measured> counts;
  counts.reserve(rep_->log.size());
  for (const Message& message : log()) counts.push_back(measured(message, count_tokens));
  return with_counts(*rep_, counts);
}

History History::recounted_where_replaced(const CountTokens& count_tokens) const {
  std::vector<Measured> counts;
  counts.reserve(rep_->log.size());
  StoredReader stored(rep_->log);
  std::uint32_t ordinal = 0;
  for (const Message& message : log()) {
    const StoredMessage& then = stored[ordinal++];
    // A replayed history has the stub's size beside the count of what it replaced, so only the stub
    // itself can tell.
    counts.push_back(message.is_redacted() ? measured(message, count_tokens)
                                           : Measured{then.tokens, then.bytes});
  }
  return with_counts(*rep_, counts);
}

}  // namespace undertext
