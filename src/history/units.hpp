// Units: which messages of a view belong together, so that a provider refuses one without the
// others. Everything that hides messages asks here.
//
//   - A tool call and its results, by id; and so all calls of one message with all their results.
//   - Reasoning and the calls that follow from it. In a run of assistant messages (system messages in between do not count) these are the messages with
//     calls after the one with reasoning, up to the next with reasoning. Where there is none, a message that is nothing but reasoning belongs to the
//     assistant message after it.
//
//       user   reasoning   call a   call b   result a   result b   reasoning   text   user
//              '----------------- one unit ----------------'       '-- another -'
//
// Pairs are found through the log's links, reasoning by the neighbours in the view; neither is
// stored with the view. Everything is O(log n) unless it says otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "history/placed_view.hpp"

namespace undertext {

// The reasoning of a view. Indices are the view's.
class Reasoning {
 public:
  Reasoning(const Log& log, const PlacedView& view) : log_(log), entries_(view.entries) {}

  // The reasoning from which a message follows, or would, that stands right before `index`: the
  // nearest before it in its run.
  std::optional<std::uint64_t> before(std::uint64_t index) const;

  // Of the reasoning at `index`: what follows from it.
  std::uint64_t count_calls(std::uint64_t index) const;
  std::optional<std::uint64_t> last(std::uint64_t index) const;
  std::vector<std::uint64_t> all(std::uint64_t index) const;  // O(log n) for each

  // The reasoning that the message at `index` follows from.
  std::optional<std::uint64_t> of(std::uint64_t index) const;

 private:
  std::uint64_t end(std::uint64_t index) const;  // of what can follow
  std::optional<std::uint64_t> said_next(std::uint64_t index) const;

  const Log& log_;
  const EntryTree& entries_;
};

}  // namespace undertext
