// What an edit costs where a provider keeps prompts in a cache.
#include <undertext/edit_cost.hpp>

#include <algorithm>

namespace undertext {

EditCost edit_cost(const EditCostInput& input, const CacheRules& rules) {
  EditCost cost;
  cost.stable = input.stable;
  if (rules.kind == CacheRules::Kind::prefix) {
    cost.reusable = input.stable / std::max<std::uint64_t>(rules.step, 1) * std::max<std::uint64_t>(rules.step, 1);
  } else if (rules.kind == CacheRules::Kind::breakpoints) {
    for (const std::uint64_t breakpoint : input.breakpoints)
      if (breakpoint <= input.stable) cost.reusable = std::max(cost.reusable, breakpoint);
  }
  cost.reusable = std::min(cost.reusable, input.cached_before);
  if (cost.reusable < rules.tokens_min) cost.reusable = 0;
  cost.invalidated = input.cached_before - cost.reusable;
  cost.rewritten = cost.invalidated - std::min(cost.invalidated, input.removed) + input.inserted;
  const double factor = rules.kind == CacheRules::Kind::none ? 0 : std::max(0.0, rules.write - rules.read);
  cost.one_time = static_cast<double>(cost.rewritten) * factor;
  const double read = rules.kind == CacheRules::Kind::none ? 1 : rules.read;
  cost.saved_per_turn = (static_cast<double>(input.removed) - static_cast<double>(input.inserted)) * read;
  if (cost.one_time <= 0) {
    cost.break_even_turns = 0;
  } else if (cost.saved_per_turn > 0) {
    cost.break_even_turns = cost.one_time / cost.saved_per_turn;
  }
  return cost;
}

EditCost edit_cost(const View& sent, const View& candidate, const CacheRules& rules, std::uint64_t overhead) {
  std::uint64_t same = 0;
  const std::uint64_t size = std::min(sent.size(), candidate.size());
  for (auto a = sent.begin(), b = candidate.begin(); same < size && *a == *b; ++a, ++b) ++same;
  // Behind the last message of the shorter end that is the same in both: what is appended anyway is no cost of the edit.
  std::uint64_t tail = 0;
  while (tail < size - same && sent[sent.size() - 1 - tail] == candidate[candidate.size() - 1 - tail]) ++tail;
  EditCostInput input;
  input.stable = overhead + sent.sums(0, same).tokens();
  input.cached_before = overhead + sent.sums().tokens();
  input.removed = sent.sums(same, sent.size() - tail).tokens();
  input.inserted = candidate.sums(same, candidate.size() - tail).tokens();
  input.breakpoints = {overhead, input.stable, input.cached_before};
  return edit_cost(input, rules);
}

}  // namespace undertext
