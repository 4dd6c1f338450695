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

std::vector<std::optional<std::uint64_t>> hidden_in(const History::Rep& rep,
                                                    const std::vector<std::uint32_t>& ordinals) {
  std::vector<std::optional<std::uint64_t>> found(ordinals.size());
  const PlacedView head = rep.head.placed();
  const Shown now(head);
  std::vector<std::size_t> open;  // places in `ordinals`
  for (std::size_t i = 0; i < ordinals.size(); ++i)
    if (!now.has(ordinals[i])) open.push_back(i);
  EntryTree newer = head.entries;
  for (std::uint64_t k = rep.states.size(); k-- > 0 && !open.empty();) {
    const PlacedView then = rep.states[k].placed();
    if (then.entries.common_prefix(newer) < then.size()) {
      const Shown shown(then);
      std::optional<std::uint64_t> version;
      std::erase_if(open, [&](std::size_t i) {
        if (!shown.has(ordinals[i])) return false;
        if (!version) version = version_after(rep, rep.first_state + k);
        found[i] = version;
        return true;
      });
    }
    newer = then.entries;
  }
  return found;
}

}  // namespace undertext
