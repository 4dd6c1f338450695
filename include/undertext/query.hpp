// Queries of a conversation, and their answers, as plain values. History and Conversation answer
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <undertext/ids.hpp>
#include <undertext/message.hpp>
#include <undertext/view.hpp>

namespace undertext {

// Selects messages. The filters apply in this order; an unset one passes everything. Costs O(log n
// + answer); with `contains`, O(n). `marked` costs O(log n) for each message with the mark. A time
// filter also pays for what `start` skips, and is fast only where times mostly rise.
struct MessageQuery {
  bool all = false;                          // the log, not the view
  std::optional<Version> at_version = {};    // as it was then
  std::optional<BatchIndex> at_batch = {};   // the last view of that batch; not together with `all`
  std::vector<Role> roles = {};              // any of these
  std::optional<std::int64_t> from_ms = {};  // from_ms <= time
  std::optional<std::int64_t> to_ms = {};    // time < to_ms
  std::optional<std::string> marked = {};
  std::optional<std::string> contains = {};  // in the message's text; case-sensitive
  // indices among the messages left so far, half open, clamped
  std::optional<std::uint64_t> start = {};
  std::optional<std::uint64_t> end = {};
  std::optional<std::uint64_t> first = {};  // at most one of these two
  std::optional<std::uint64_t> last = {};
  // of messages(): too_large when all of them together have more
  std::optional<std::uint64_t> bytes_max = {};
};

struct MessageList {
  std::vector<Message> messages;
  std::vector<Ordinal> ordinals;
};

struct MessageCount {
  std::uint64_t count = 0;
  std::uint64_t tokens = 0;
};

struct Stats {
  std::uint64_t total_messages = 0;          // in the log
  std::uint64_t current_batch_messages = 0;  // in the view
  std::uint64_t total_batches = 0;
  std::uint64_t current_batch_index = 0;
  std::uint64_t tokens = 0;  // of the view
};

struct BatchInfo {
  std::uint64_t index = 0;
  std::uint64_t boundary = 0;  // the first ordinal that belongs to it
  std::string opened_by;       // an operation's name; empty for batch 0
  std::int64_t opened_at_ms = 0;
  std::string description;          // of the operation that opened it
  std::uint64_t message_count = 0;  // of its snapshot, or of the view for the current batch
  std::uint64_t opened_in = 0;      // the version that opened it
};

// The view as it last was in a batch that has been left.
struct BatchSnapshot {
  std::uint64_t batch_index = 0;
  std::int64_t timestamp_ms = 0;  // when the batch was left
  std::string description;        // of the operation that left it
  View view;
};

struct VersionInfo {
  std::uint64_t version = 0;
  std::optional<std::uint64_t> parent = {};  // none for version 0
  std::string operation;                     // empty for version 0
  std::uint64_t batch_index = 0;
  std::int64_t timestamp_ms = 0;
  std::string description;
  std::uint64_t message_count = 0;
  std::uint64_t tokens = 0;
  std::optional<std::uint64_t> restores = {};  // whose state came back, for UNDO, REDO and RESTORE
  std::optional<bool> target_reached = {};     // as of the receipt, for COMPRESS by a strategy
};

struct Diff {                          // ordinals
  std::vector<std::uint64_t> removed;  // in the order of `from`
  std::vector<std::uint64_t> added;    // in the order of `to`
  // a smallest set of those in both whose order changed, in the order of `to`
  std::vector<std::uint64_t> moved;
};

struct BlameEntry {
  std::uint64_t version = 0;
  std::string operation;
  std::int64_t timestamp_ms = 0;
  std::string description;
};

// The origin of a message that MERGE_FORK appended.
struct ForkedFrom {
  std::string conversation;   // the fork
  std::uint64_t version = 0;  // its head at the time
  // in its log; unset: the message is a summary of the fork
  std::optional<std::uint64_t> ordinal = {};
};

struct Blame {
  std::uint64_t ordinal = 0;
  BlameEntry stored;
  std::vector<BlameEntry> hidden;  // the operations that hid it
  std::vector<BlameEntry> shown;   // those that put it into the view, including the first
  bool visible = false;            // now
  std::optional<ForkedFrom> from = {};
};

// What a COMPRESS did, by a plan or by names.
struct Receipt {
  struct Stands {
    std::uint64_t summary = 0;  // ordinal
    std::vector<std::uint64_t> stands_for;
  };
  std::uint64_t version = 0;  // the one it made
  std::int64_t timestamp_ms = 0;
  std::string strategy;    // empty: the messages were named by the caller
  std::string summariser;  // empty: none
  std::string model;       // that the summariser asked
  std::string reason;
  std::uint64_t tokens_before = 0;
  std::uint64_t tokens_after = 0;
  std::uint64_t prompt_tokens = 0;  // what the summary cost, as its provider reported
  std::uint64_t completion_tokens = 0;
  std::vector<std::uint64_t> hidden;  // ordinals, in view order
  std::vector<Stands> summaries;      // in view order
  // Of the view afterwards; unset: there was no target, or it was not recorded.
  std::optional<std::uint64_t> target_tokens = {};

  std::optional<bool> target_reached() const {
    return target_tokens ? std::optional<bool>(tokens_after <= *target_tokens) : std::nullopt;
  }
};

}  // namespace undertext
