// Full-text search over a conversation; by default over its hidden messages.
//
//     RecallQuery query{.text = "why did the migration time out?", .budget_tokens = 4000};
//     for (const RecalledUnit& unit : conversation.recall(query).value().units)
//       for (const Message& message : unit.messages) read(message);
//
// Messages are ranked by the words that they share with the text (BM25; docs/recall.md has the
// weights). Words of every language are indexed: English and German
// ones by their stems, scripts without spaces by pairs of characters, paths and identifiers also by
// their parts.
//
// Threads: as Conversation. Errors: invalid_argument (no text, a budget of 0, filters that exclude
// each other), not_found (`which` names an unknown version or batch); of stored conversations also
// unavailable and corrupt.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>
#include <undertext/query.hpp>

namespace undertext {

// A search. Costs the postings of the text's words, O(log n) for each unit returned, and the
// filters: `contains` reads the messages that share a word with the text, and `start`, `end`,
// `first` and `last` walk the log once.
struct RecallQuery {
  std::string text;
  std::uint64_t budget_tokens = 4000;  // of all units together; a unit that does not fit is skipped
  // The filters of `messages`, over another scope: the messages hidden at that version (default:
  // the head); with `all`, also the visible ones.
  MessageQuery which = {};
};

// A matching message with its whole unit (a call, its results, the reasoning before it) and its
// neighbours in the log.
struct RecalledUnit {
  std::vector<Ordinal> ordinals;  // in the log's order
  // those of them that share words with the text, best first
  std::vector<Ordinal> matched;
  std::vector<Message> messages;  // in the order of `ordinals`
  std::uint64_t tokens = 0;       // of these
  double score = 0;               // of the best one; comparable within one answer only
  // the version that last hid the best one; unset: it is visible
  std::optional<Version> hidden_in = {};
  std::optional<Ordinal> represented_by = {};  // the visible message that stands for the best one
};

struct Recalled {
  std::vector<RecalledUnit> units;  // best first; no message is in two of them
  std::uint64_t tokens = 0;         // of all units
  // where no unit fits the budget: the tokens of the smallest one that was found; else 0
  std::uint64_t tokens_needed = 0;
};

// Reranks the best messages: returns a number for each text, larger for a better match. This order
// and that of the words have equal weight. If it returns an error or throws a Failure, the order of
// the words is used.
using Rerank = std::function<Result<std::vector<double>>(const std::string& text,
                                                         const std::vector<std::string>& texts)>;

}  // namespace undertext
