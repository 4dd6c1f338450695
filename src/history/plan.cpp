#include "history/plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace undertext {
namespace {

// A stretch that goes, and which replacement it belongs to.
struct Gone {
  Range range;
  std::size_t replacement;
};

std::optional<Error> collect(const Draft& draft, const Plan& plan, std::vector<Gone>& gone) {
  for (std::size_t k = 0; k < plan.replacements.size(); ++k) {
    const std::vector<Range>& hidden = plan.replacements[k].hidden;
    if (hidden.empty()) return bad_plan("has a replacement that hides nothing");
    std::uint64_t last_end = 0;
    for (const Range& range : hidden) {
      if (range.start >= range.end || range.end > draft.view().size())
        return bad_plan("names messages that are not in the view");
      if (range.start < last_end) return bad_plan("has stretches that do not rise");
      const bool is_broken =
          last_end != 0 && range.start > last_end && plan.replacements[k].summary;
      if (is_broken && !draft.replays()) return bad_plan("has a summary of more than one stretch");
      last_end = range.end;
      gone.push_back({range, k});
    }
  }
  std::sort(gone.begin(), gone.end(),
            [](const Gone& a, const Gone& b) { return a.range.start < b.range.start; });
  for (std::size_t i = 1; i < gone.size(); ++i) {
    if (gone[i].range.start < gone[i - 1].range.end) return bad_plan("hides a message twice");
  }
  return {};
}

std::optional<Error> check_kept(const Draft& draft, const std::vector<Gone>& gone) {
  CountOf system;
  system.wanted[static_cast<std::size_t>(Role::system)] = true;
  const std::vector<std::uint64_t> pinned = draft.pinned_indices();
  for (const Gone& g : gone) {
    if (draft.view().entries.total(g.range.start, g.range.end, system) > 0)
      return bad_plan("would hide a system message");
    const auto pin = std::lower_bound(pinned.begin(), pinned.end(), g.range.start);
    if (pin != pinned.end() && *pin < g.range.end) return bad_plan("would hide a pinned message");
  }
  return {};
}

}  // namespace

Error bad_plan(std::string message) {
  return {ErrorCode::invalid_argument, "the plan " + std::move(message), "plan"};
}

std::optional<Error> apply_plan(Draft& draft, const Plan& plan) {
  if (plan.base.value != draft.base().head_number()) {
    return Error{ErrorCode::conflict,
                 "the plan is for version " + std::to_string(plan.base.value) +
                     ", but the head is " + std::to_string(draft.base().head_number()),
                 "plan"};
  }
  if (plan.replacements.empty()) return {};
  std::vector<Gone> gone;
  if (std::optional<Error> error = collect(draft, plan, gone)) return error;
  if (std::optional<Error> error = check_kept(draft, gone)) return error;

  std::vector<Splice> splices;
  std::vector<bool> placed(plan.replacements.size(), false);
  for (const Gone& g : gone) {
    splices.push_back({g.range.start, g.range.end - g.range.start});
    const Replacement& replacement = plan.replacements[g.replacement];
    if (placed[g.replacement] || !replacement.summary) continue;
    placed[g.replacement] = true;
    Result<std::uint32_t> summary =
        draft.store_summary(*replacement.summary, draft.view().ordinals(replacement.hidden));
    if (!summary) return summary.error();
    splices.back().put.push_back(*summary);
  }

  const PlacedView before = draft.view();
  draft.edit(splices);
  // Older releases carried out plans that are refused now; what they stored is carried out as it
  // was.
  if (draft.view().size() == 0 && !draft.replays())
    return bad_plan("would leave nothing of the view");
  if (draft.view().entries.total(TokensOf()) > before.entries.total(TokensOf()))
    return bad_plan("would make the view larger");
  draft.open_batch();
  return {};
}

}  // namespace undertext
