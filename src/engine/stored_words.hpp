// The words under which messages are indexed, and which of them RECALL appended, for code that
// reads records of a store and has no history.
//
// A record says neither: what a message is a copy of, and its marks, are part of the history. It is
// loaded where the answer depends on it, which is seldom.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <undertext/history.hpp>
#include <undertext/store.hpp>

#include "recall/words.hpp"

namespace undertext {

class StoredWords {
 public:
  // Both must outlive this.
  StoredWords(Store& store, const ConversationRecord& record) : store_(store), record_(record) {}

  // The words of a message of the conversation's own, by the rule of own_words(). Throws Failure:
  // as Store.
  MessageWords of(const MessageRecord& record, const Message& message);
  // Whether RECALL appended the message. Reads O(log n) version records where it may have. Throws
  // Failure: as Store.
  bool is_recalled(std::uint64_t ordinal, const Message& message);

 private:
  struct Made {
    std::uint64_t first = 0, end = 0;  // messages
    std::string by = {};               // the operation's name; empty: it was pruned
  };
  const Made& made(std::uint64_t ordinal);
  const History* history();

  Store& store_;
  const ConversationRecord& record_;
  std::optional<Made> made_;  // the last one that was looked for
  std::optional<History> history_;
  bool has_tried_history_ = false;
};

}  // namespace undertext
