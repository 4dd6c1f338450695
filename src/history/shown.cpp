#include "history/shown.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "history/pairs.hpp"
#include "message/redacted.hpp"

namespace undertext {
namespace {

class Returning {
 public:
  Returning(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals)
      : rep_(rep), log_(rep.log), view_(rep.head.placed()), all_(ordinals.begin(), ordinals.end()) {}

  std::vector<std::uint32_t> take() {
    add_units_last_seen();
    // A partner may have been hidden by itself, or with versions that were given up since.
    for (std::vector<std::uint32_t> more = lone_partners(); !more.empty(); more = lone_partners())
      all_.insert(more.begin(), more.end());
    std::vector<std::uint32_t> found(all_.begin(), all_.end());
    log_.order.sort(found);
    return found;
  }

 private:
  bool can_return(std::uint32_t ordinal) const {
    return !view_.shows(ordinal) && !stand_in(log_, view_, ordinal) &&
           (rep_.first_version == 0 || !was_given_up(log_.message(ordinal)));
  }
  bool is_here(std::uint32_t ordinal) const { return all_.contains(ordinal) || view_.shows(ordinal); }

  void add_units_last_seen() {
    std::vector<std::uint32_t> left;
    for (const std::uint32_t ordinal : all_) {
      if (log_.stored[ordinal].role() != Role::system) left.push_back(ordinal);
    }
    for (std::uint64_t k = rep_.states.size(); k-- > 0 && !left.empty();) {
      const PlacedView then = rep_.states[k].placed();
      std::vector<std::uint64_t> indices;
      std::erase_if(left, [&](std::uint32_t ordinal) {
        const std::optional<std::uint64_t> index = then.index_of(ordinal);
        if (index) indices.push_back(*index);
        return index.has_value();
      });
      if (indices.empty()) continue;
      std::sort(indices.begin(), indices.end());
      const Stretches units = mend_units(log_, then, with_indices({}, indices), Pairs::grow, {});
      for (const std::uint32_t ordinal : then.ordinals(units)) {
        if (can_return(ordinal)) all_.insert(ordinal);
      }
    }
  }

  // Partners of messages that have none so far.
  std::vector<std::uint32_t> lone_partners() const {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t ordinal : all_) {
      for (const Mention& mention : log_.mentions(ordinal)) {
        std::vector<std::uint32_t> calls, results;
        bool has_call = mention.calls, has_result = mention.answers;
        const auto look = [&](const Link& link, std::uint64_t) {
          if (is_here(link.ordinal)) (link.is_call() ? has_call : has_result) = true;
          (link.is_call() ? calls : results).push_back(link.ordinal);
          return true;
        };
        log_.visit_mentions_below(mention.hash, ordinal, look);
        log_.visit_mentions_from(mention.hash, std::uint64_t{ordinal} + 1, look);
        if (!has_call) add_nearest(found, ordinal, std::move(calls), true);
        if (!has_result) add_nearest(found, ordinal, std::move(results), false);
      }
    }
    return found;
  }

  // The last one before the message, or else the first one after it; of results the other way round.
  void add_nearest(std::vector<std::uint32_t>& found, std::uint32_t ordinal, std::vector<std::uint32_t> others,
                   bool are_calls) const {
    std::erase_if(others, [&](std::uint32_t other) { return !can_return(other); });
    if (others.empty()) return;
    log_.order.sort(others);
    const auto after =
        std::partition_point(others.begin(), others.end(), [&](std::uint32_t other) { return log_.order.before(other, ordinal); });
    const bool is_before = are_calls ? after != others.begin() : after == others.end();
    found.push_back(is_before ? *std::prev(after) : *after);
  }

  const History::Rep& rep_;
  const Log& log_;
  const PlacedView view_;
  std::set<std::uint32_t> all_;
};

}  // namespace

std::optional<std::uint32_t> stand_in(const Log& log, const PlacedView& view, std::uint32_t ordinal) {
  std::vector<std::uint32_t> open = log.makers_of(ordinal);
  std::unordered_set<std::uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::uint32_t maker = open.back();
    open.pop_back();
    if (view.shows(maker)) return maker;
    for (const std::uint32_t next : log.makers_of(maker)) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return {};
}

std::vector<std::uint32_t> with_hidden_units(const History::Rep& rep, const std::vector<std::uint32_t>& ordinals) {
  return Returning(rep, ordinals).take();
}

}  // namespace undertext
