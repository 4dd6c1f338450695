// What an edit costs in a provider's prompt cache, and what the cache still serves afterwards.
//
//     EditCost cost = edit_cost(history, version_that_was_sent, version_to_send, profile.cache).value();
//     cost.break_even_turns;    // turns after which the shorter prompt has paid for the lost cache
//
// An edit invalidates the cache from the first difference on: the rest is billed again, once, at
// the price of writing. Pure; any thread may call it. dialect.hpp has edit_cost() for a Profile,
// which also counts the signed thinking that the edit breaks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/ids.hpp>
#include <undertext/view.hpp>

namespace undertext {

// How a provider's prompt cache bills. Factors are relative to the price of an input token.
struct CacheRules {
  enum class Kind : std::uint8_t {
    none,
    prefix,       // any prefix, in steps of `step` tokens
    breakpoints,  // up to cache markers
  };
  Kind kind = Kind::none;
  std::uint64_t tokens_min = 0;  // a shorter prefix is not kept
  std::uint64_t step = 1;
  double write = 1;  // what an uncached token costs to put there
  double read = 1;   // what a cached one costs
  // breakpoints: a marker finds what ends at most so many blocks back, its own counted; 0: any
  // number
  std::uint64_t lookback = 0;
};

// Who places cache markers in a request, for a provider that caches up to them.
enum class CacheMarkers : std::uint8_t {
  given,      // the caller: behind the instructions, and at the end of every request
  automatic,  // render(): docs/dialects.md has the rule
};

// The prefixes of a view that earlier requests left in a provider's cache, as numbers of messages.
struct CachedPrefixes {
  std::uint64_t head = 0;                // system messages
  std::vector<std::uint64_t> ends = {};  // lengths of cached prefixes, rising
  std::uint64_t stable = 0;              // unchanged since the last request
  // begin of the region that was edited last; 0: none, or the start
  std::uint64_t edited = 0;
};

// Infers the sent requests from the history: one before every appended assistant message up to
// version `last`, and with `is_sent` also the view at `last`. not_found: no such version.
// O(versions + edits log n).
struct LastRequest {
  Version last = {};
  bool is_sent = false;
};
UNDERTEXT_API Result<CachedPrefixes> cached_prefixes(
    const History& history, LastRequest request, const View& view,
    CacheMarkers markers = CacheMarkers::automatic);

// What it costs to send a view to a provider that has cached another one. Counts are the views'
// own.
struct EditCost {
  std::uint64_t stable = 0;       // tokens before the first difference
  std::uint64_t reusable = 0;     // of these: served by the cache
  std::uint64_t invalidated = 0;  // cached tokens that can no longer be served
  std::uint64_t rewritten = 0;    // tokens to be billed again
  // in input tokens: the price of writing them minus that of reading them
  double one_time = 0;
  double saved_per_turn = 0;                    // in input tokens, by being shorter
  std::optional<double> break_even_turns = {};  // unset: never
  // signed blocks that the provider would refuse; for a Profile only
  std::uint64_t broken_thinking = 0;
};
struct EditCostInput {
  std::uint64_t cached_before = 0;  // tokens in the cache
  std::uint64_t stable = 0;
  std::uint64_t removed = 0;
  std::uint64_t inserted = 0;
  // For CacheRules::Kind::breakpoints: lengths of cached prefixes, in tokens.
  std::vector<std::uint64_t> breakpoints = {};
};
UNDERTEXT_API EditCost edit_cost(const EditCostInput& input, const CacheRules& rules);

struct CostOptions {
  // tokens of tools and instructions before the view, which are stable and end with a marker
  std::uint64_t overhead = 0;
  CacheMarkers markers = CacheMarkers::given;
};
// What it costs to send version `next` after version `sent`. For a plan: of the history that
// applying it gives. not_found: no such version.
UNDERTEXT_API Result<EditCost> edit_cost(const History& history, Version sent, Version next,
                                         const CacheRules& rules, const CostOptions& options = {});

}  // namespace undertext
