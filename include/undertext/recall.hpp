// Finding messages by what they say: full-text search over a conversation, hidden messages first of all.
//
//     RecallQuery query{.text = "why did the migration time out?", .budget_tokens = 4000};
//     for (const RecalledUnit& unit : conversation.recall(query).value().units)
//       for (const Message& message : unit.messages) read(message);
//
// Messages are ranked by the words that they share with the text (BM25; docs/recall.md has the
// weights). Words are those of every language: English and German ones by their stems, scripts without
// spaces by pairs of characters, paths and identifiers also by their parts.
//
// Threads: as Conversation. Failure: invalid_argument (no text, a budget of 0, filters that exclude each
// other), not_found (`which` names a version or batch that there is not), and of stored conversations
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

// What to look for. Costs the postings of the text's words, O(log n) for each unit returned, and what
// the filters cost: `contains` reads the messages that share a word with the text, and `start`, `end`,
// `first` and `last` walk the log once.
struct RecallQuery {
  std::string text;
  std::uint64_t budget_tokens = 4000;  // of all units together; a unit that does not fit is left out
  // The filters of `messages`, over another scope: what is hidden at that version (default: the
  // head); with `all`, what is visible too.
  MessageQuery which = {};
};

// A message that was found, with all that belongs to it: its whole unit (a call, its results, the
// reasoning it follows from) and its neighbours in the log.
struct RecalledUnit {
  std::vector<Ordinal> ordinals;               // in the log's order
  std::vector<Ordinal> matched;                // those of them that share words with the text, best first
  std::vector<Message> messages;               // in the order of `ordinals`
  std::uint64_t tokens = 0;                    // of these
  double score = 0;                            // of the best one; comparable within one answer only
  std::optional<Version> hidden_in = {};       // the version that last hid the best one; unset: it is visible
  std::optional<Ordinal> represented_by = {};  // the visible message that stands for the best one
};

struct Recalled {
  std::vector<RecalledUnit> units;  // best first; no message is in two of them
  std::uint64_t tokens = 0;         // of all units
};

// Ranks again what words have found: given the text and the texts of the best messages, a number for
// each, larger for what fits better. Its order and that of the words count the same. Where it fails,
// or throws a Failure, the order of the words stands.
using Rerank = std::function<Result<std::vector<double>>(const std::string& text, const std::vector<std::string>& texts)>;

}  // namespace undertext
