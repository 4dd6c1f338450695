// Cache markers.
#include <algorithm>

#include "dialect/rules.hpp"

namespace undertext {

bool is_long_lived(std::string_view cache_marker) {
  return cache_marker.find("\"1h\"") != std::string_view::npos;
}

void find_cache(const RuleInput& asked, Faults& found) {
  std::uint64_t markers = asked.facts.cache_markers;
  bool short_lived = false;
  const auto see = [&](const Block& block, std::size_t turn, std::size_t b) {
    if (block.cache.empty()) return;
    ++markers;
    if (block.kind == BlockKind::reasoning) found.add(FindingCode::cache_on_thinking, turn, b);
    if (is_long_lived(block.cache) && short_lived) found.add(FindingCode::cache_ttl_order, turn, b);
    if (!is_long_lived(block.cache)) short_lived = true;
  };
  std::size_t at_top = 0;
  for (const Turn& top : asked.draft.top)
    for (const Block& block : top.blocks) see(block, top_turn, at_top++);
  for (std::size_t i = 0; i < asked.draft.turns.size(); ++i)
    for (std::size_t b = 0; b < asked.draft.turns[i].blocks.size(); ++b)
      see(asked.draft.turns[i].blocks[b], i, b);
  if (markers > asked.profile.cache_markers_max)
    found.add(FindingCode::cache_too_many, top_turn, no_block, std::to_string(markers));
}

void mend_cache(Repair& repair, const std::vector<Fault>&) {
  const auto take_off = [&repair](Turn& turn, Block& block) {
    repair.lose(LossCode::cache_hint, turn, block);
    block.cache = {};
    if (!block.raw.empty())
      block.raw = repair.arena.keep(without_member(block.raw, "cache_control"));
    turn.touch();
  };
  std::uint64_t top_markers = repair.facts.cache_markers, markers = 0;
  bool short_lived = false;
  const auto visit = [&](Turn& turn, std::uint64_t& count) {
    for (Block& block : turn.blocks) {
      if (block.cache.empty()) continue;
      if (block.kind == BlockKind::reasoning || (is_long_lived(block.cache) && short_lived)) {
        take_off(turn, block);
        continue;
      }
      if (!is_long_lived(block.cache)) short_lived = true;
      ++count;
    }
  };
  for (Turn& turn : repair.draft.top) visit(turn, top_markers);
  for (Turn& turn : repair.draft.turns) visit(turn, markers);
  const auto thin = [&](std::vector<Turn>& list, std::uint64_t excess) {
    for (Turn& turn : list)
      for (Block& block : turn.blocks)
        if (excess > 0 && !block.cache.empty()) {
          take_off(turn, block);
          --excess;
        }
  };
  const std::uint64_t most = repair.profile.cache_markers_max;
  if (top_markers + markers <= most) return;
  const std::uint64_t excess = top_markers + markers - most;
  thin(repair.draft.turns, std::min(excess, markers));
  if (excess > markers) thin(repair.draft.top, excess - markers);
}

}  // namespace undertext
