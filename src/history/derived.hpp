// What was made from messages: the summaries and copies that stand for them, and the operations
// whose texts quote them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <undertext/history.hpp>
#include <undertext/operation.hpp>

#include "history/state.hpp"
#include "message/quotes.hpp"

namespace undertext {

// What stands for one of them, or quotes it (RECALL), or does so of something that does: rising,
// without themselves. O(versions).
std::vector<std::uint32_t> derived_from(const History::Rep& rep,
                                        const std::vector<std::uint32_t>& ordinals);

// Calls edit(text) for each free text of an operation: its description, what it searches and puts,
// the reason of a plan. Not for names (marks, strategies, models) and not for its messages. A
// TRANSFORM's object of metadata counts as one text.
void edit_texts(RecordedOperation& record, const std::function<void(std::string& text)>& edit);

// What takes the place of a text. Carrying the operation out again gives the same: what it stored
// and kept is on record.
inline constexpr const char* redacted_text = "[redacted]";

// The operations of a history that quote `texts`, and the TRANSFORMs that made one of `derived`.
class QuotingOperations {
 public:
  QuotingOperations(const QuotableTexts& texts, const History& history,
                    const std::vector<std::uint32_t>& derived);

  const std::vector<std::uint32_t>& versions() const { return versions_; }  // rising
  // Takes the texts out of the record of a version; returns whether there were any.
  bool redact(RecordedOperation& record, std::uint64_t version) const;
  // The same history without these texts.
  History redacted(const History& history) const;

 private:
  const QuotableTexts& texts_;
  std::vector<std::uint32_t> makers_;  // versions that stored something derived; rising
  std::vector<std::uint32_t> versions_;
};

}  // namespace undertext
