// The index of a conversation's log, in memory: made from what is stored when it is first asked
// for, and from then on kept up with the log.
//
// Any thread may call any function.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <undertext/history.hpp>
#include <undertext/store.hpp>

#include "history/log.hpp"
#include "recall/index.hpp"

namespace undertext {

// The stored rows of the index, rising, the oldest origin's first. They may overlap, and there may
// be gaps.
using ReadWords = std::function<std::vector<WordsRow>()>;

class RecallCache {
 public:
  // Of the log of `history`, whose first `published` messages are there for good: the others are
  // indexed for this call alone, since they may never be committed.
  RecallIndex index_of(const History& history, std::uint64_t published,
                       const ReadWords& read_words);

  void clear();  // messages were redacted or pruned

 private:
  std::mutex lock_;
  RecallIndex index_;      // guarded by lock_
  bool has_read_ = false;  // guarded by lock_; the stored rows
};

// Adds the messages [index.size(), end) of the log. Reads their bodies. Throws Failure: the work of
// the history has to end.
void index_messages(RecallIndex& index, const History& history, std::uint64_t end);

// What a message of the log is indexed under. A copy in which nothing changed has no words: its
// original has them and is found.
MessageWords own_words(const Log& log, std::uint32_t ordinal, const Message& body);

}  // namespace undertext
