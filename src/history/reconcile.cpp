#include "history/reconcile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "history/client_match.hpp"
#include "history/followed_view.hpp"

namespace undertext {
namespace {

// New messages, and those that went, between two messages of the request that were known before.
struct Gap {
  std::vector<std::size_t> fresh;   // places in the request
  std::vector<std::uint32_t> gone;  // ordinals, in the log's order
  // The place and the ordinal of the message behind it; none: it is the last.
  std::size_t next_place = 0;
  std::optional<std::uint32_t> next;
};

class Reconciler {
 public:
  Reconciler(const History::Rep& rep, const op::Reconcile& sent, std::uint64_t alike)
      : log_(rep.log),
        sent_(sent),
        reference_(sent.reference != 0 ? sent.reference : newest_reference(rep)),
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
    find_covered();
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
      log_.go_on(place);
      if (const std::optional<std::uint32_t> known = match_.ordinal(place)) {
        gaps_.back().next_place = place;
        gaps_.back().next = known;
        gaps_.emplace_back();
      } else {
        gaps_.back().fresh.push_back(place);
      }
    }
    gaps_.back().next_place = match_.end();
    gaps_.back().next = match_.next_ordinal();
    std::size_t gap = 0;
    for (const std::uint32_t ordinal : match_.gone()) {
      log_.go_on(ordinal);
      while (gap + 1 < gaps_.size() && log_.order.before(*gaps_[gap].next, ordinal)) ++gap;
      gaps_[gap].gone.push_back(ordinal);
    }
  }

  // A summary of the client's own stands for all that it replaced. It is new, or its provider's
  // answer was one.
  void find_compaction() {
    bool has_gone = false;  // anything before it
    std::uint32_t first_told = no_place;
    for (std::size_t gap = 0; gap < gaps_.size() && !is_compaction(); ++gap) {
      log_.go_on(gap);
      for (const std::uint32_t ordinal : gaps_[gap].gone) {
        has_gone = true;
        if (log_.stored[ordinal].role() != Role::system) first_told = std::min(first_told, ordinal);
      }
      if (!has_gone) continue;
      const auto is_summary = [&](std::size_t place) { return sent_.list[place].is_summary; };
      const auto found = std::find_if(gaps_[gap].fresh.begin(), gaps_[gap].fresh.end(), is_summary);
      if (found != gaps_[gap].fresh.end()) {
        summary_ = *found;
      } else {
        answered_summary_ = answered_summary(gap, first_told);
      }
      summary_gap_ = gap;
    }
  }
  bool is_compaction() const { return summary_ || answered_summary_; }

  // A provider's summary that ends the gap, and stands for nothing yet. System prompts alone are not
  // summarised. `first_told`: the least ordinal of what went up to there and is none.
  std::optional<std::uint32_t> answered_summary(std::size_t gap, std::uint32_t first_told) const {
    const Gap& here = gaps_[gap];
    if (!here.next) return {};
    std::optional<std::uint32_t> ordinal = here.next;
    std::size_t place = here.next_place;
    const bool is_last = gap + 1 == gaps_.size();
    for (; is_last && place < sent_.list.size() && !sent_.list[place].is_summary; ++place) {
    }
    if (place == sent_.list.size() || !sent_.list[place].is_summary) return {};
    if (place != here.next_place) ordinal = match_.ordinal_at_end(place);
    if (log_.stored[*ordinal].role() != Role::assistant || log_.stands_for(*ordinal)) return {};
    return first_told < *ordinal ? ordinal : std::nullopt;
  }

  // Whether it stands before the client's summary, or may do so.
  bool is_before_summary(std::size_t gap, std::size_t place) const {
    return gap < summary_gap_ || (gap == summary_gap_ && (!summary_ || place < *summary_));
  }

  Role role(std::size_t place) const {
    const op::Reconcile::Sent& at = sent_.list[place];
    return at.ordinal ? log_.stored[static_cast<std::uint32_t>(*at.ordinal)].role()
                      : at.message.role();
  }

  // Whether a new message may be one of its role that went, in other words. What a client summarised
  // it did not change, but for its system prompt; and what its user says last is new.
  bool may_replace(std::size_t gap, std::size_t place) const {
    if (!is_compaction()) return true;
    if (gap <= summary_gap_) return role(place) == Role::system && is_before_summary(gap, place);
    return gaps_[gap].next || role(place) != Role::user;
  }

  // One that went and a new one of the same role in its place: the message was changed. They pair
  // up in order: O(log n) for each new one, however many of other roles went.
  void pair_replaced() {
    std::unordered_set<std::uint64_t> left_out;
    for (const ClientListEntry& entry : match_.left_out()) left_out.insert(entry.ordinal);
    for (std::size_t g = 0; g < gaps_.size(); ++g) {
      log_.go_on(g);
      if (gaps_[g].fresh.empty()) continue;
      const std::vector<std::uint32_t>& gone = gaps_[g].gone;
      std::array<std::vector<std::size_t>, role_count> of_role;
      for (std::size_t i = 0; i < gone.size(); ++i) {
        // What is no summary is no other wording of one: it would stand for all that the summary
        // stood for.
        if (!sent_.takes_view && log_.originals(gone[i])) continue;
        of_role[static_cast<std::size_t>(log_.stored[gone[i]].role())].push_back(i);
      }
      std::size_t next = 0;
      bool has_prompt = false;  // a new one before
      for (const std::size_t place : gaps_[g].fresh) {
        log_.go_on(place);
        const bool is_behind_prompt = has_prompt;
        has_prompt = has_prompt || role(place) == Role::user;
        if (!may_replace(g, place)) continue;
        const std::vector<std::size_t>& left = of_role[static_cast<std::size_t>(role(place))];
        const auto found = std::lower_bound(left.begin(), left.end(), next);
        if (found == left.end()) continue;
        // What was answered to another prompt is no other form of a recorded answer.
        if (is_behind_prompt && left_out.contains(gone[*found])) continue;
        replaces_.emplace(place, gone[*found]);
        next = *found + 1;
      }
    }
  }

  // All that the client's summary stands for: what went and was not replaced. Not a recorded answer
  // behind a message that the summary kept: the client may send that yet.
  void find_covered() {
    if (!is_compaction()) return;
    std::unordered_set<std::uint64_t> excluded;
    for (const auto& [place, ordinal] : replaces_) excluded.insert(ordinal);
    const std::size_t end = answered_summary_ ? summary_gap_ + 1 : gaps_.size();
    for (std::size_t g = 0; g < end; ++g) {
      if (g == summary_gap_ + 1)
        for (const ClientListEntry& answer : match_.left_out()) excluded.insert(answer.ordinal);
      for (const std::uint32_t ordinal : gaps_[g].gone)
        if (!excluded.contains(ordinal)) covered_.push_back(ordinal);
    }
    // The client changed its system prompt, and nothing else.
    if (covered_.empty()) summary_.reset();
  }

  // Right before what it replaces; else before the next message of the request that was known; else
  // at the end.
  void set_fronts() {
    for (std::size_t g = 0; g < gaps_.size(); ++g) {
      log_.go_on(g);
      std::optional<std::uint32_t> front = gaps_[g].next;
      for (auto place = gaps_[g].fresh.rbegin(); place != gaps_[g].fresh.rend(); ++place) {
        const auto replaced = replaces_.find(*place);
        if (replaced != replaces_.end()) front = replaced->second;
        if (summary_ == *place) front = front_of_summary(gaps_[g], front);
        fronts_[*place] = front;
      }
    }
  }

  // Before the first message there that it stands for.
  std::optional<std::uint32_t> front_of_summary(const Gap& gap,
                                                std::optional<std::uint32_t> front) const {
    const std::unordered_set<std::uint32_t> covered(covered_.begin(), covered_.end());
    const auto first = std::find_if(gap.gone.begin(), gap.gone.end(), [&](std::uint32_t ordinal) {
      return covered.contains(ordinal);
    });
    return first == gap.gone.end() ? front : *first;
  }

  void change_view() {
    std::vector<std::uint32_t> gone = match_.gone();
    gone.insert(gone.end(), match_.gone_beside().begin(), match_.gone_beside().end());
    view_.drop(gone, covered_);
    for (std::size_t place = match_.begin(); place < match_.end(); ++place) {
      log_.go_on(place);
      if (const std::optional<std::uint32_t> known = match_.ordinal(place);
          known && match_.returns(place))
        view_.show(*known);
    }
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

  // What came before `ordinal`; a message that came later is the sum of what it stands for.
  std::vector<std::uint64_t> told_before(std::uint32_t ordinal) const {
    std::vector<std::uint32_t> told, open;
    for (const std::uint64_t each : view_.covered())
      open.push_back(static_cast<std::uint32_t>(each));
    std::unordered_set<std::uint32_t> seen(open.begin(), open.end());
    while (!open.empty()) {
      const std::uint32_t each = open.back();
      open.pop_back();
      if (each < ordinal) {
        told.push_back(each);
      } else if (const std::vector<std::uint32_t>* const originals = log_.stands_for(each)) {
        for (const std::uint32_t original : *originals)
          if (seen.insert(original).second) open.push_back(original);
      }
    }
    log_.order.sort(told);
    return {told.begin(), told.end()};
  }

  op::Reconciled record() const {
    op::Reconciled d;
    d.client = sent_.client;
    d.dialect = sent_.dialect;
    d.reference = reference_;
    for (const auto& [place, ordinal] : ordinals_) {
      log_.go_on(ordinal);
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
    d.left_out = match_.left_out();
    const bool only_adds =
        d.fronts.empty() && d.hidden.empty() && d.shown.empty() && match_.only_adds();
    if (answered_summary_)
      if (std::vector<std::uint64_t> told = told_before(*answered_summary_); !told.empty())
        d.summaries.push_back({*answered_summary_, std::move(told)});
    const bool is_compacted = summary_ || !d.summaries.empty();
    d.outcome = is_compacted ? ReconcileOutcome::compacted
                : only_adds  ? ReconcileOutcome::appended
                             : ReconcileOutcome::edited;
    return d;
  }

  const Log& log_;
  const op::Reconcile& sent_;
  const std::uint64_t reference_;
  ClientMatch match_;
  FollowedView view_;
  std::vector<Gap> gaps_;
  std::optional<std::size_t> summary_;  // its place in the request
  // instead of a new one: its ordinal
  std::optional<std::uint32_t> answered_summary_;
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
