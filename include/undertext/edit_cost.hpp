// What an edit costs where a provider keeps prompts in a cache.
//
//     EditCost cost = edit_cost(view_that_was_sent, view_to_send, profile.cache, tokens_of_tools);
//     cost.break_even_turns;    // after how many turns being shorter has paid for the cache that was lost
//
// An edit voids the cache from the first difference on: what follows is billed anew, once, at the price of writing. Pure; any thread may call it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <undertext/export.hpp>
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
  double write = 1;  // what an uncached token costs to put there
  double read = 1;   // what a cached one costs
};

// What it costs to send `candidate` after `sent`, to a provider whose cache holds `sent`. Counts are the views' own.
struct EditCost {
  std::uint64_t stable = 0;                     // tokens before the first difference
  std::uint64_t reusable = 0;                   // of these, the ones that the cache still serves
  std::uint64_t invalidated = 0;                // cached tokens that are of no more use
  std::uint64_t rewritten = 0;                  // tokens to be billed anew
  double one_time = 0;                          // in input tokens: what the rewriting costs beyond reading it from the cache
  double saved_per_turn = 0;                    // in input tokens, by being shorter
  std::optional<double> break_even_turns = {};  // unset: never
};
struct EditCostInput {
  std::uint64_t cached_before = 0;  // tokens in the cache
  std::uint64_t stable = 0;
  std::uint64_t removed = 0;
  std::uint64_t inserted = 0;
  std::vector<std::uint64_t> breakpoints =
      {};  // for CacheRules::Kind::breakpoints: where prefixes end that the cache knows, in tokens
};
UNDERTEXT_API EditCost edit_cost(const EditCostInput& input, const CacheRules& rules);
// `overhead`: tokens of tools and instructions before the view, which count as stable and as a breakpoint.
UNDERTEXT_API EditCost edit_cost(const View& sent, const View& candidate, const CacheRules& rules, std::uint64_t overhead = 0);

}  // namespace undertext
