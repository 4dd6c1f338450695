#include "history/reconcile.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "history/client_match.hpp"
#include "history/followed_view.hpp"

namespace undertext {
namespace {

// New messages, and those that went, between two messages of the request that were known before.
struct Gap {
  std::vector<std::size_t> fresh;     // places in the request
  std::vector<std::uint32_t> gone;    // ordinals, in the log's order
  std::optional<std::uint32_t> next;  // the ordinal of the message behind it; none: it is the last
};

class Reconciler {
 public:
  Reconciler(const History::Rep& rep, const op::Reconcile& sent, std::uint64_t alike)
      : log_(rep.log),
        sent_(sent),
        match_(rep, sent, alike),
        view_(
            rep.log, rep.head.placed(), [this] { return match_.listed(); },
            [this](std::uint32_t ordinal) { return match_.may_show(ordinal); }) {}

  Differences take() {
    Differences found;
    found.reconciliation.common = match_.common();
    if (!match_.differs()) return found;
    make_gaps();
    find_compaction();
    pair_replaced();
    set_fronts();
    change_view();
    number_fresh();
    found.record = record();
    const op::Reconciled& made = found.record;
    const bool is_seen = !made.messages.empty() || !made.hidden.empty() || !made.shown.empty();
    if (sent_.takes_view && !is_seen) {  // the list that it noted before is as good
      found.reconciliation.common = sent_.list.size();
      return found;
    }
    found.reconciliation = {found.record.outcome, match_.common(), match_.added(),
                            match_.removed()};
    return found;
  }

 private:
  Message message(std::size_t place) const {
    const op::Reconcile::Sent& at = sent_.list[place];
    return at.ordinal ? log_.message(static_cast<std::uint32_t>(*at.ordinal)) : at.message;
  }

  void make_gaps() {
    gaps_.emplace_back();
    for (std::size_t place = match_.begin(); place < match_.end(); ++place) {
      if (const std::optional<std::uint32_t> known = match_.ordinal(place)) {
        gaps_.back().next = known;
        gaps_.emplace_back();
      } else {
        gaps_.back().fresh.push_back(place);
      }
    }
    gaps_.back().next = match_.next_ordinal();
    std::size_t gap = 0;
    for (const std::uint32_t ordinal : match_.gone()) {
      while (gap + 1 < gaps_.size() && log_.order.before(*gaps_[gap].next, ordinal)) ++gap;
      gaps_[gap].gone.push_back(ordinal);
    }
  }

  // A summary of the client's own stands for all that went before it.
  void find_compaction() {
    for (std::size_t gap = 0; gap < gaps_.size() && !summary_; ++gap) {
      covered_.insert(covered_.end(), gaps_[gap].gone.begin(), gaps_[gap].gone.end());
      if (covered_.empty()) continue;
      const auto is_summary = [&](std::size_t place) { return sent_.list[place].is_summary; };
      const auto found = std::find_if(gaps_[gap].fresh.begin(), gaps_[gap].fresh.end(), is_summary);
      if (found != gaps_[gap].fresh.end()) {
        summary_ = *found;
        summary_gap_ = gap;
      }
    }
    if (!summary_) covered_.clear();
  }

  bool is_covered(std::size_t gap) const { return summary_ && gap <= summary_gap_; }

  Role role(std::size_t place) const {
    const op::Reconcile::Sent& at = sent_.list[place];
    return at.ordinal ? log_.stored[static_cast<std::uint32_t>(*at.ordinal)].role()
                      : at.message.role();
  }

  // One that went and a new one of the same role in its place: the message was changed. They pair
  // up in order: O(log n) for each new one, however many of other roles went.
  void pair_replaced() {
    for (std::size_t g = 0; g < gaps_.size(); ++g) {
      if (is_covered(g) || gaps_[g].fresh.empty()) continue;
      const std::vector<std::uint32_t>& gone = gaps_[g].gone;
      std::array<std::vector<std::size_t>, role_count> of_role;
      for (std::size_t i = 0; i < gone.size(); ++i) {
        // What is no summary is no other wording of one: it would stand for all that the summary
        // stood for.
        if (!sent_.takes_view && log_.originals(gone[i])) continue;
        of_role[static_cast<std::size_t>(log_.stored[gone[i]].role())].push_back(i);
      }
      std::size_t next = 0;
      for (const std::size_t place : gaps_[g].fresh) {
        const std::vector<std::size_t>& left = of_role[static_cast<std::size_t>(role(place))];
        const auto found = std::lower_bound(left.begin(), left.end(), next);
        if (found == left.end()) continue;
        replaces_.emplace(place, gone[*found]);
        next = *found + 1;
      }
    }
  }

  // Right before what it replaces; else before the next message of the request that was known; else
  // at the end.
  void set_fronts() {
    for (std::size_t g = 0; g < gaps_.size(); ++g) {
      std::optional<std::uint32_t> front = gaps_[g].next;
      for (auto place = gaps_[g].fresh.rbegin(); place != gaps_[g].fresh.rend(); ++place) {
        const auto replaced = replaces_.find(*place);
        if (replaced != replaces_.end()) front = replaced->second;
        if (summary_ == *place && !gaps_[g].gone.empty()) front = gaps_[g].gone.front();
        fronts_[*place] = front;
      }
    }
  }

  void change_view() {
    std::vector<std::uint32_t> gone = match_.gone();
    gone.insert(gone.end(), match_.gone_beside().begin(), match_.gone_beside().end());
    view_.drop(gone, covered_);
    for (std::size_t place = match_.begin(); place < match_.end(); ++place)
      if (const std::optional<std::uint32_t> known = match_.ordinal(place);
          known && !match_.is_listed(place))
        view_.show(*known);
  }

  void number_fresh() {
    std::uint64_t next = log_.size();
    for (const Gap& gap : gaps_)
      for (const std::size_t place : gap.fresh) ordinals_.emplace(place, next++);
  }
  ClientListEntry entry(std::size_t place) const {
    const std::optional<std::uint32_t> known = match_.ordinal(place);
    return {known ? *known : ordinals_.at(place), sent_.list[place].identity};
  }

  op::Reconciled record() const {
    op::Reconciled d;
    d.client = sent_.client;
    d.dialect = sent_.dialect;
    for (const auto& [place, ordinal] : ordinals_) {
      const std::optional<std::uint32_t> front = fronts_.at(place);
      d.fronts.push_back(front ? *front + std::uint64_t{1} : 0);
      if (summary_ == place) d.made.push_back({d.messages.size(), view_.covered(), true});
      if (const auto replaced = replaces_.find(place); replaced != replaces_.end())
        d.made.push_back({d.messages.size(), {replaced->second}, false});
      d.messages.push_back(message(place));
    }
    const bool all_at_end = std::all_of(d.fronts.begin(), d.fronts.end(),
                                        [](std::uint64_t front) { return front == 0; });
    if (all_at_end) d.fronts.clear();
    d.hidden = view_.hidden();
    d.shown = view_.shown();
    d.list = match_.list_edits([this](std::size_t place) { return entry(place); });
    d.volatile_key = match_.new_key();
    const bool only_adds =
        d.fronts.empty() && d.hidden.empty() && d.shown.empty() && match_.only_adds();
    d.outcome = summary_    ? ReconcileOutcome::compacted
                : only_adds ? ReconcileOutcome::appended
                            : ReconcileOutcome::edited;
    return d;
  }

  const Log& log_;
  const op::Reconcile& sent_;
  ClientMatch match_;
  FollowedView view_;
  std::vector<Gap> gaps_;
  std::optional<std::size_t> summary_;  // its place in the request
  std::size_t summary_gap_ = 0;
  std::vector<std::uint32_t> covered_;  // what it stands for
  std::map<std::size_t, std::uint32_t> replaces_;
  std::map<std::size_t, std::optional<std::uint32_t>> fronts_;
  std::map<std::size_t, std::uint64_t> ordinals_;  // of the new ones
};

}  // namespace

Differences differences(const History::Rep& rep, const op::Reconcile& sent, std::uint64_t alike) {
  return Reconciler(rep, sent, alike).take();
}

}  // namespace undertext
