// What a caller can set: of a conversation, of how a stored one is opened, and of single calls.
//
//     Settings settings{.model = "gpt-5", .compression = {.enabled = true}};
//     Conversation conversation = Conversation::open(store, "support-17", settings).value();
//
// All of these are plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <undertext/compression.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>
#include <undertext/recall.hpp>
#include <undertext/summariser.hpp>
#include <undertext/work.hpp>

namespace undertext {

struct Limits {
  MessageLimits message = {};
};

// Automatic compression: runs after an operation that leaves the view with more than `threshold`
// tokens.
//
// A strategy that waits for a network runs in the background, on the version of that moment.
// Messages appended meanwhile stay; where the view is above the threshold again, it runs again.
// A plan that falls short of the target is applied if it frees a sixteenth of the threshold
// (Event::target_reached). Else the event is compression_failed with cannot_fit.
// After an attempt that fell short or was undone, the next one runs when the view has grown by a
// sixteenth of the threshold, or has shrunk.
struct CompressionConfig {
  bool enabled = false;
  // 0: Settings::token_limit; without one, three quarters of the window
  std::uint64_t threshold = 0;
  // of the view afterwards; default: three quarters of the threshold
  std::optional<std::uint64_t> target_tokens = {};
  StrategyPtr strategy = {};  // default: default_strategy()
  // Lowers the target by what this many turns add, at the recent growth of the conversation, but
  // never below a quarter of the threshold. A turn is a message of an assistant with what led to
  // it.
  std::uint64_t headroom_turns = 0;
  SurvivalPolicy survival = {};  // of every compression of the conversation
};

using Summarisers = std::map<std::string, std::shared_ptr<const Summariser>, std::less<>>;
using Strategies = std::map<std::string, StrategyPtr, std::less<>>;

struct Settings {
  // The model of the conversation. It decides what the four settings below leave empty
  // (models.hpp). An unknown model is no error.
  std::string model = {};
  // A name that find_tokenizer() knows, optionally followed by "+COSTS". Default: the model's, then
  // that of the stored conversation, then the estimate.
  std::string tokenizer = {};
  std::string costs = {};                    // of content other than text: a name of docs/tokens.md
  std::string profile = {};                  // of requests, as find_profile() takes it
  std::optional<std::uint64_t> window = {};  // of budgets without one
  std::optional<std::uint64_t> token_limit = {};
  CompressionConfig compression = {};
  Summarisers summarisers = {};  // by name, for strategies given as JSON; "digest" is always there
  Strategies strategies = {};    // likewise, beside the shipped ones, whose names are reserved
  Rerank rerank = {};            // of recall; default: ranking by words alone
  Pairs pairs = Pairs::literal;
  Limits limits = {};
  // what the conversation belongs to, such as a folder; `undertext mcp` looks for it
  std::string project = {};
  // the model has the tools of context_tools.hpp: summaries and stubs name them
  bool context_tools = false;
  // milliseconds since 1970; default: the system's clock
  std::function<std::int64_t()> clock_ms = {};
};

// How a stored conversation is opened.
struct OpenOptions {
  enum class Make : std::uint8_t {
    if_missing,
    never,   // not_found when there is none
    always,  // conflict when there is one
  };
  Make make = Make::if_missing;
  // About what the conversation keeps in memory, besides what histories in use refer to. Anything
  // beyond it that was read is dropped with the next operation or catch_up().
  std::uint64_t cache_bytes = 64u << 20;
  // An APPEND without an expected version that loses a race is rebased onto the new head.
  bool rebase_appends = true;
  // Versions between two checkpoints. Opening replays the versions since the last one.
  std::uint64_t checkpoint_versions = 512;
  // Text kept with the conversation for later openings, such as the settings of a server; unset:
  // unchanged.
  std::optional<std::string> note = {};
  // For a conversation that is assembled under a staged id (store.hpp): the id that
  // Store::publish() will give it.
  std::string publish_as = {};
  // Kept with a conversation that this call creates, such as a digest of the request:
  // stored_maker() returns it.
  std::string made_by = {};
};

struct CompressOptions {
  // Target tokens. Unset: a strategy that needs a target (Strategy::needs_tokens_max) gets that of
  // automatic compression, even where that is disabled: CompressionConfig::target_tokens, else
  // three quarters of its threshold.
  // Other strategies run without one.
  std::optional<std::uint64_t> tokens_max = {};
  // also apply a plan that misses the target, if it frees something: Receipt::target_reached
  bool progress = false;
  std::optional<SurvivalPolicy> survival = {};  // unset: the conversation's
  OperationOptions operation = {};
  std::stop_token cancel = {};
  std::shared_ptr<Work> work = {};  // null: without limits
  // on the calling thread; an exception from it fails the call, which changes nothing
  OnCompressionProgress on_progress = {};
};

// Which versions prune_versions() keeps: those that any of these selects. The head, and what it can
// roll back to, are always kept.
struct Retention {
  std::optional<std::uint64_t> versions = {};  // the last so many
  // those since the last so many batches of the stack were opened
  std::optional<std::uint64_t> batches = {};
  std::optional<std::uint64_t> days = {};  // those of so many days up to now
};

struct RedactOptions {
  bool derived = false;  // also redacts what was made from the messages
};

}  // namespace undertext
