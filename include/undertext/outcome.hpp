// What changes of a conversation return, and the events that they send to subscribers.
//
//     Outcome outcome = conversation.apply({op::Append{{hello}}}).value();
//     outcome.version;   // the version that the operation made
//     for (const Event& event : outcome.events) log(name(event.type));
//
// All of these are plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>
#include <undertext/query.hpp>

namespace undertext {

struct Event {
  enum class Type : std::uint8_t {
    message_added,                   // ordinal
    batch_opened,                    // batch
    rolled_back,                     // batch: the one returned to
    context_changed,                 // after every operation; events of what it triggered follow
    token_limit_exceeded,            // tokens_used, token_limit; once per crossing
    compression_threshold_exceeded,  // tokens_used, token_limit: the threshold; once per crossing
    // automatically: strategy, tokens_used before and tokens_after, target_reached; made `version`
    compressed,
    compression_failed,  // strategy, error: nothing was changed
    // strategy, error: messages under a slow summary changed meanwhile; nothing was changed
    compression_discarded,
    // Stored data was rewritten, here or in another process: messages may have been redacted,
    // versions pruned, or all recounted by another tokenizer. Invalidate caches.
    rewritten,
  };
  Type type = Type::context_changed;
  Version version;
  Ordinal ordinal = {};
  BatchIndex batch = {};
  std::uint64_t tokens_used = 0;
  std::uint64_t token_limit = 0;
  std::uint64_t tokens_after = 0;
  std::string strategy = {};
  std::shared_ptr<const Error> error = {};
  // Of compressed: false where the plan missed the target; unset in answers of older releases.
  std::optional<bool> target_reached = {};
};
UNDERTEXT_API std::string_view name(Event::Type type);  // such as "TOKEN_LIMIT_EXCEEDED"

// What an operation did, and its events: a limit that was crossed, a compression that it triggered,
// or one that ended in the background since the last operation.
struct Outcome : Applied {
  std::vector<Event> events;
  bool by_strategy = false;  // a COMPRESS whose messages a strategy chose
  // of such a COMPRESS; unset: the view was within the target already
  std::optional<Receipt> receipt = {};
};

// A version as it was made, here or in another process: its operation, its time, and the messages
// it stored.
struct PastVersion {
  // With its description and operation id. Its own messages and expected version are ignored.
  RecordedOperation record;
  std::int64_t at_ms = 0;
  std::vector<Message> messages = {};
};

// What prune_versions() deleted.
struct Reclaimed {
  Version first_version;       // the oldest that is left
  std::uint64_t versions = 0;  // pruned
  std::uint64_t messages = 0;  // whose bodies no kept version needs: deleted, stubs left
};

// What redact() found and did.
struct Redaction {
  struct Derived {
    std::string conversation;
    Ordinal ordinal;
    bool is_summary = false;  // else an edited copy: of REPLACE, MERGE, SPLIT or TRANSFORM
    friend bool operator==(const Derived&, const Derived&) = default;
  };
  struct Quoting {
    std::string conversation;
    Version version;
    friend bool operator==(const Quoting&, const Quoting&) = default;
  };
  std::uint64_t messages = 0;  // that were redacted
  // What was made from the messages, here and in forks. Not redacted, except with
  // RedactOptions::derived.
  std::vector<Derived> derived;
  // Operations whose descriptions or arguments quote the messages; likewise.
  std::vector<Quoting> operations;
};

}  // namespace undertext
