#include "history/followed_view.hpp"

#include <algorithm>

#include "history/shown.hpp"

namespace undertext {

bool FollowedView::is_listed(std::uint32_t ordinal) {
  if (!known_listed_) known_listed_ = listed_();
  return known_listed_->contains(ordinal);
}

// The visible messages that stand for one of `ordinals`, and were not found before. A message that
// the client keeps and once wrote in the place of one of them is its own: what stands for it stays.
std::vector<std::uint32_t> FollowedView::new_stand_ins(const std::vector<std::uint32_t>& ordinals) {
  std::vector<std::uint32_t> found, open = ordinals;
  while (!open.empty()) {
    log_.go_on();
    const std::uint32_t next = open.back();
    open.pop_back();
    for (const std::uint32_t maker : log_.stand_ins_of(next)) {
      if (!gone_.contains(maker) && is_listed(maker)) continue;
      if (!above_.insert(maker).second) continue;
      open.push_back(maker);
      if (view_.shows(maker) && !is_listed(maker)) found.push_back(maker);
    }
  }
  return found;
}

FollowedView::Expanded FollowedView::expand(std::uint32_t maker) {
  leaving_.insert(maker);
  Expanded expanded;
  std::vector<std::uint32_t> open{maker};
  while (!open.empty()) {
    log_.go_on();
    const std::vector<std::uint32_t> originals = *log_.stands_for(open.back());
    open.pop_back();
    for (const std::uint32_t ordinal : originals) {
      if (gone_.contains(ordinal)) {
        expanded.gone.push_back(ordinal);
      } else if (above_.contains(ordinal) || (!may_show_(ordinal) && log_.stands_for(ordinal))) {
        open.push_back(ordinal);
      } else if (may_show_(ordinal)) {
        expanded.remains = true;
        if (!view_.shows(ordinal)) shown_.insert(ordinal);
      }
    }
  }
  return expanded;
}

void FollowedView::drop(const std::vector<std::uint32_t>& gone,
                        const std::vector<std::uint32_t>& covered) {
  gone_.insert(gone.begin(), gone.end());
  for (const std::uint32_t ordinal : gone)
    if (view_.shows(ordinal)) leaving_.insert(ordinal);
  const std::vector<std::uint32_t> of_summary = new_stand_ins(covered);
  const std::vector<std::uint32_t> others = new_stand_ins(gone);
  for (const std::uint32_t maker : others) expand(maker);
  const std::unordered_set<std::uint32_t> is_covered(covered.begin(), covered.end());
  for (const std::uint32_t maker : of_summary) {
    const Expanded expanded = expand(maker);
    const auto is_other = [&](std::uint32_t ordinal) { return !is_covered.contains(ordinal); };
    // Whole, unless it stands for more than the client's summary does.
    if (!expanded.remains && std::none_of(expanded.gone.begin(), expanded.gone.end(), is_other)) {
      covered_.insert(maker);
      continue;
    }
    for (const std::uint32_t ordinal : expanded.gone)
      if (!is_other(ordinal)) covered_.insert(ordinal);
  }
  for (const std::uint32_t ordinal : covered)
    if (view_.shows(ordinal)) covered_.insert(ordinal);
  if (covered_.empty()) covered_.insert(covered.begin(), covered.end());
  // Something else that stays may stand for what remains.
  std::erase_if(shown_, [&](std::uint32_t ordinal) {
    const std::optional<std::uint32_t> maker = stand_in(log_, view_, ordinal, leaving_);
    return maker && !is_listed(*maker);
  });
}

void FollowedView::show(std::uint32_t ordinal) {
  if (view_.shows(ordinal)) return;
  std::vector<std::uint32_t> open = log_.stand_ins_of(ordinal);
  std::unordered_set<std::uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::uint32_t maker = open.back();
    open.pop_back();
    const bool is_visible =
        shown_.contains(maker) || (view_.shows(maker) && !leaving_.contains(maker));
    if (is_visible && !is_listed(maker)) return;
    for (const std::uint32_t above : log_.stand_ins_of(maker))
      if (seen.insert(above).second) open.push_back(above);
  }
  shown_.insert(ordinal);
}

Stretches FollowedView::hidden() const {
  std::vector<std::uint64_t> indices;
  for (const std::uint32_t ordinal : leaving_) indices.push_back(*view_.index_of(ordinal));
  std::sort(indices.begin(), indices.end());
  return with_indices({}, indices);
}

bool FollowedView::is_said_otherwise(std::uint32_t ordinal) const {
  if (stand_in(log_, view_, ordinal, leaving_) || stand_in(log_, ordinal, shown_)) return true;
  std::vector<std::uint32_t> open{ordinal};
  std::unordered_set<std::uint32_t> seen;
  while (!open.empty()) {
    const std::vector<std::uint32_t>* const originals = log_.stands_for(open.back());
    open.pop_back();
    if (!originals) continue;
    for (const std::uint32_t original : *originals) {
      if (shown_.contains(original) || (view_.shows(original) && !leaving_.contains(original)))
        return true;
      if (seen.insert(original).second) open.push_back(original);
    }
  }
  return false;
}

std::vector<std::uint64_t> FollowedView::covered() const {
  std::vector<std::uint32_t> ordinals;
  for (const std::uint32_t ordinal : covered_)
    if (!is_said_otherwise(ordinal)) ordinals.push_back(ordinal);
  if (ordinals.empty()) ordinals.assign(covered_.begin(), covered_.end());
  log_.order.sort(ordinals);
  return {ordinals.begin(), ordinals.end()};
}

}  // namespace undertext
