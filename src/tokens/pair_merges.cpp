// A hash table of pairs, and merging with a heap of candidates.
#include "tokens/pair_merges.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace undertext {
namespace {

constexpr std::uint64_t no_pair = ~std::uint64_t{0};
constexpr std::uint32_t none = ~std::uint32_t{0};

std::uint64_t pair_of(TokenNumber left, TokenNumber right) {
  return std::uint64_t{left} << 32 | right;
}

}  // namespace

PairMerges::PairMerges() : slots_(1024, Slot{no_pair, {}}) {}

std::size_t PairMerges::slot_of(std::uint64_t pair) const {
  const std::size_t mask = slots_.size() - 1;
  std::uint64_t hash = pair * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 32;
  std::size_t slot = static_cast<std::size_t>(hash) & mask;
  while (slots_[slot].pair != pair && slots_[slot].pair != no_pair) slot = (slot + 1) & mask;
  return slot;
}

void PairMerges::grow() {
  std::vector<Slot> old(slots_.size() * 2, Slot{no_pair, {}});
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.pair != no_pair) slots_[slot_of(slot.pair)] = slot;
}

void PairMerges::add(TokenNumber left, TokenNumber right, Merge merge) {
  if (2 * (count_ + 1) > slots_.size()) grow();
  Slot& slot = slots_[slot_of(pair_of(left, right))];
  if (slot.pair != no_pair) {
    if (merge.rank < slot.merge.rank) slot.merge = merge;
    return;
  }
  slot = {pair_of(left, right), merge};
  ++count_;
}

std::optional<PairMerges::Merge> PairMerges::find(TokenNumber left, TokenNumber right) const {
  const Slot& slot = slots_[slot_of(pair_of(left, right))];
  if (slot.pair == no_pair) return std::nullopt;
  return slot.merge;
}

void PairMerges::apply(std::vector<TokenNumber>& parts, std::size_t parts_min) const {
  const std::size_t count = parts.size();
  if (count <= parts_min || count < 2) return;
  struct Part {
    std::uint32_t before;
    std::uint32_t after;
    // of the merge with the part after it; none when there is none, or the part is gone
    std::uint32_t rank;
    TokenNumber result;
  };
  std::vector<Part> links(count);
  std::vector<std::uint64_t> candidates;  // rank and place of the left part; some are out of date
  candidates.reserve(count);
  const auto look = [&](std::uint32_t at) {
    Part& part = links[at];
    part.rank = none;
    if (part.after == none) return false;
    if (const std::optional<Merge> merge = find(parts[at], parts[part.after])) {
      part.rank = merge->rank;
      part.result = merge->result;
      candidates.push_back(std::uint64_t{merge->rank} << 32 | at);
      return true;
    }
    return false;
  };
  for (std::uint32_t i = 0; i < count; ++i)
    links[i] = {i == 0 ? none : i - 1, i + 1 == count ? none : i + 1, none, 0};
  for (std::uint32_t i = 0; i < count; ++i) look(i);
  std::make_heap(candidates.begin(), candidates.end(), std::greater<>());

  std::size_t left = count;
  while (left > parts_min && !candidates.empty()) {
    const std::uint64_t candidate = candidates.front();
    std::pop_heap(candidates.begin(), candidates.end(), std::greater<>());
    candidates.pop_back();
    const auto at = static_cast<std::uint32_t>(candidate);
    Part& part = links[at];
    if (part.rank == none || part.rank != candidate >> 32) continue;
    const std::uint32_t gone = part.after;
    parts[at] = part.result;
    part.after = links[gone].after;
    links[gone].rank = none;
    if (part.after != none) links[part.after].before = at;
    --left;
    if (look(at)) std::push_heap(candidates.begin(), candidates.end(), std::greater<>());
    if (part.before != none && look(part.before))
      std::push_heap(candidates.begin(), candidates.end(), std::greater<>());
  }

  std::size_t kept = 0;
  for (std::uint32_t at = 0; at != none; at = links[at].after) parts[kept++] = parts[at];
  parts.resize(kept);
}

}  // namespace undertext
