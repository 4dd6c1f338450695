// What an edit costs where a provider keeps prompts in a cache.
#include <undertext/edit_cost.hpp>

#include <algorithm>

#include <undertext/blocks.hpp>

#include "base/answering_failure.hpp"

namespace undertext {

namespace {

// `shorter`: by how many tokens every later turn is.
EditCost billed(EditCost cost, double shorter, const CacheRules& rules) {
  const bool has_cache = rules.kind != CacheRules::Kind::none;
  cost.one_time =
      has_cache ? static_cast<double>(cost.rewritten) * std::max(0.0, rules.write - rules.read) : 0;
  cost.saved_per_turn = shorter * (has_cache ? rules.read : 1);
  if (cost.one_time <= 0) {
    cost.break_even_turns = 0;
  } else if (cost.saved_per_turn > 0) {
    cost.break_even_turns = cost.one_time / cost.saved_per_turn;
  }
  return cost;
}

std::uint64_t in_steps(std::uint64_t tokens, const CacheRules& rules) {
  const std::uint64_t step = std::max<std::uint64_t>(rules.step, 1);
  return tokens / step * step;
}

}  // namespace

EditCost edit_cost(const EditCostInput& input, const CacheRules& rules) {
  EditCost cost;
  cost.stable = input.stable;
  if (rules.kind == CacheRules::Kind::prefix) {
    cost.reusable = in_steps(input.stable, rules);
  } else if (rules.kind == CacheRules::Kind::breakpoints) {
    for (const std::uint64_t breakpoint : input.breakpoints)
      if (breakpoint <= input.stable) cost.reusable = std::max(cost.reusable, breakpoint);
  }
  cost.reusable = std::min(cost.reusable, input.cached_before);
  if (cost.reusable < rules.tokens_min) cost.reusable = 0;
  cost.invalidated = input.cached_before - cost.reusable;
  cost.rewritten = cost.invalidated - std::min(cost.invalidated, input.removed) + input.inserted;
  return billed(cost, static_cast<double>(input.removed) - static_cast<double>(input.inserted),
                rules);
}

namespace {

// Whether a marker behind `mark` messages finds a prefix of `end` messages.
bool finds(const View& view, std::uint64_t mark, std::uint64_t end, const CacheRules& rules) {
  if (end > mark) return false;
  if (rules.lookback == 0 || end == mark) return true;
  std::uint64_t blocks = 0;
  for (std::uint64_t i = mark; i-- > end;) {
    if (mark - i >= rules.lookback) return false;  // a message has a block at least
    blocks += std::max<std::size_t>(read_blocks(view[i]).size(), 1);
    if (blocks >= rules.lookback) return false;
  }
  return true;
}

// The longest cached prefix that a marker of the request finds, in tokens. Automatic markers stand,
// among other places, right there.
std::uint64_t found_tokens(const View& view, const CachedPrefixes& cached, const CacheRules& rules,
                           const CostOptions& options) {
  for (auto end = cached.ends.rbegin(); end != cached.ends.rend(); ++end) {
    if (options.markers == CacheMarkers::automatic || *end == cached.head ||
        finds(view, view.size(), *end, rules))
      return options.overhead + view.sums(0, *end).tokens();
  }
  return options.overhead;
}

}  // namespace

Result<EditCost> edit_cost(const History& history, Version sent, Version next,
                           const CacheRules& rules, const CostOptions& options) {
  return answering_failure([&]() -> Result<EditCost> {
    const Result<View> candidate = history.view_at(next);
    if (!candidate) return candidate.error();
    const Result<CachedPrefixes> cached =
        cached_prefixes(history, {sent, true}, *candidate, options.markers);
    if (!cached) return cached.error();
    const std::uint64_t before = options.overhead + history.view_at(sent).value().sums().tokens();
    const std::uint64_t after = options.overhead + candidate->sums().tokens();
    EditCost cost;
    cost.stable = options.overhead + candidate->sums(0, cached->stable).tokens();
    if (rules.kind == CacheRules::Kind::prefix) cost.reusable = in_steps(cost.stable, rules);
    if (rules.kind == CacheRules::Kind::breakpoints)
      cost.reusable = found_tokens(*candidate, *cached, rules, options);
    if (cost.reusable < rules.tokens_min) cost.reusable = 0;
    // After an UNDO the cache may serve more than what was sent last.
    cost.invalidated = before - std::min(before, cost.reusable);
    cost.rewritten = after - cost.reusable;
    return billed(cost, static_cast<double>(before) - static_cast<double>(after), rules);
  });
}

}  // namespace undertext
