// What a provider's cache of prompts still serves after an edit, and what the edit costs there.
//
//     EditCost cost = edit_cost(history, version_that_was_sent, version_to_send, profile.cache).value();
//     cost.break_even_turns;    // after how many turns being shorter has paid for the cache that was lost
//
// An edit makes the cache useless from the first difference on: what follows is billed again, once, at the price of writing. Pure; any
// thread may call it. dialect.hpp has edit_cost() for a Profile, which also counts the signed thinking that the edit breaks.
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

// How a provider's cache of prompts bills. Factors are of the price of an input token.
struct CacheRules {
  enum class Kind : std::uint8_t {
    none,
    prefix,       // any prefix, in steps of `step` tokens
    breakpoints,  // up to marked places
  };
  Kind kind = Kind::none;
  std::uint64_t tokens_min = 0;  // a shorter prefix is not kept
  std::uint64_t step = 1;
  double write = 1;            // what an uncached token costs to put there
  double read = 1;             // what a cached one costs
  std::uint64_t lookback = 0;  // breakpoints: a marker finds what ends at most so many blocks back, its own counted; 0: any number
};

// Who marks a request for a provider that caches up to marked places.
enum class CacheMarkers : std::uint8_t {
  given,      // the caller: behind the instructions, and at the end of every request
  automatic,  // render(): docs/dialects.md has the rule
};

// What the requests before it left of a view in a provider's cache. All are numbers of messages from its start.
struct CachedPrefixes {
  std::uint64_t head = 0;                // system messages
  std::vector<std::uint64_t> ends = {};  // rising: so many messages are a prefix that the cache holds
  std::uint64_t stable = 0;              // so many are as in the last request
  std::uint64_t edited = 0;  // where the region begins that was edited last; 0: there is none, or it begins at the start
};

// Which requests were sent is taken from the history: one before every assistant message that was appended, up to version `last`, and
// with `is_sent` the view at `last` too. not_found: no such version. O(versions + edits log n).
struct LastRequest {
  Version last = {};
  bool is_sent = false;
};
UNDERTEXT_API Result<CachedPrefixes> cached_prefixes(const History& history, LastRequest request, const View& view,
                                                     CacheMarkers markers = CacheMarkers::automatic);

// What it costs to send a view to a provider whose cache holds another one. Counts are the views' own.
struct EditCost {
  std::uint64_t stable = 0;                     // tokens before the first difference
  std::uint64_t reusable = 0;                   // of these, the ones that the cache still serves
  std::uint64_t invalidated = 0;                // cached tokens that are of no more use
  std::uint64_t rewritten = 0;                  // tokens to be billed again
  double one_time = 0;                          // in input tokens: what the rewriting costs beyond reading it from the cache
  double saved_per_turn = 0;                    // in input tokens, by being shorter
  std::optional<double> break_even_turns = {};  // unset: never
  std::uint64_t broken_thinking = 0;            // signed blocks that the provider would not take any more; for a Profile only
};
struct EditCostInput {
  std::uint64_t cached_before = 0;  // tokens in the cache
  std::uint64_t stable = 0;
  std::uint64_t removed = 0;
  std::uint64_t inserted = 0;
  // For CacheRules::Kind::breakpoints: where prefixes end that the cache knows, in tokens.
  std::vector<std::uint64_t> breakpoints = {};
};
UNDERTEXT_API EditCost edit_cost(const EditCostInput& input, const CacheRules& rules);

struct CostOptions {
  std::uint64_t overhead = 0;  // tokens of tools and instructions before the view, which are stable and end with a marker
  CacheMarkers markers = CacheMarkers::given;
};
// What it costs to send version `next` after version `sent`. For a plan: of the history that applying it gives. not_found: no such version.
UNDERTEXT_API Result<EditCost> edit_cost(const History& history, Version sent, Version next, const CacheRules& rules,
                                         const CostOptions& options = {});

}  // namespace undertext
