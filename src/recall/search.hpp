// The answer to a recall, from a history and the index of its log.
#pragma once

#include <string>

#include <undertext/error.hpp>
#include <undertext/history.hpp>
#include <undertext/recall.hpp>

#include "recall/index.hpp"

namespace undertext {

// invalid_argument: no text, a text without a word, no budget; filters that exclude each other.
// not_found: as RecallQuery::which says. May throw Failure, as History.
Result<Recalled> search(const History& history, const RecallIndex& index, const RecallQuery& query,
                        const Rerank& rerank = {});

// What RECALL appends: a user message that quotes the units, as data. not_found: there are none.
// cannot_fit: there are none that the budget has room for.
Result<Message> quote(const Recalled& recalled, const std::string& text,
                      const MessageLimits& limits);
// It begins as these do, as a message that a user typed may: what appended it decides.
bool may_be_quote(const Message& message);

}  // namespace undertext
