#include "history/hidden_in.hpp"

#include <algorithm>

namespace undertext {
namespace {

// The first version of the run that follows a state.
std::uint64_t version_after(const History::Rep& rep, std::uint64_t state) {
  std::uint64_t low = rep.first_version, high = rep.head_number();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (rep.versions[middle].state > state)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

std::map<std::uint32_t, std::uint64_t> hidden_in(const History::Rep& rep,
                                                 std::set<std::uint32_t> ordinals) {
  std::map<std::uint32_t, std::uint64_t> found;
  // A view of all messages in a row, such as that before the first edit, need not be searched.
  const auto shows = [](const PlacedView& view, std::uint32_t ordinal) {
    const EntrySums sums = view.entries.sums();
    if (ordinal < sums.ordinal_min || ordinal > sums.ordinal_max) return false;
    const bool has_all = std::uint64_t{sums.ordinal_max} - sums.ordinal_min + 1 == view.size();
    return has_all || view.shows(ordinal);
  };
  EntryTree newer = rep.head.view;
  std::erase_if(ordinals, [&](std::uint32_t ordinal) { return shows(rep.head.placed(), ordinal); });
  for (std::uint64_t k = rep.states.size(); k-- > 0 && !ordinals.empty();) {
    const PlacedView then = rep.states[k].placed();
    if (then.entries.common_prefix(newer) < then.size()) {
      for (auto at = ordinals.begin(); at != ordinals.end();) {
        if (!shows(then, *at)) {
          ++at;
          continue;
        }
        found[*at] = version_after(rep, rep.first_state + k);
        at = ordinals.erase(at);
      }
    }
    newer = then.entries;
  }
  return found;
}

}  // namespace undertext
