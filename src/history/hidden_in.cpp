#include "history/hidden_in.hpp"

#include <algorithm>
#include <optional>

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

// What a view shows, for many questions. A view of all messages in a row, such as that before the
// first edit, need not be searched.
class Shown {
 public:
  explicit Shown(const PlacedView& view)
      : view_(view),
        sums_(view.entries.sums()),
        has_all_(std::uint64_t{sums_.ordinal_max} - sums_.ordinal_min + 1 == view.size()) {}
  bool has(std::uint32_t ordinal) const {
    if (ordinal < sums_.ordinal_min || ordinal > sums_.ordinal_max) return false;
    return has_all_ || view_.shows(ordinal);
  }

 private:
  const PlacedView& view_;
  const EntrySums sums_;
  const bool has_all_;
};

}  // namespace

std::map<std::uint32_t, std::uint64_t> hidden_in(const History::Rep& rep,
                                                 std::set<std::uint32_t> ordinals) {
  std::map<std::uint32_t, std::uint64_t> found;
  const PlacedView head = rep.head.placed();
  const Shown now(head);
  std::erase_if(ordinals, [&](std::uint32_t ordinal) { return now.has(ordinal); });
  EntryTree newer = head.entries;
  for (std::uint64_t k = rep.states.size(); k-- > 0 && !ordinals.empty();) {
    const PlacedView then = rep.states[k].placed();
    if (then.entries.common_prefix(newer) < then.size()) {
      const Shown shown(then);
      std::optional<std::uint64_t> version;
      std::erase_if(ordinals, [&](std::uint32_t ordinal) {
        if (!shown.has(ordinal)) return false;
        if (!version) version = version_after(rep, rep.first_state + k);
        found[ordinal] = *version;
        return true;
      });
    }
    newer = then.entries;
  }
  return found;
}

}  // namespace undertext
