#include "compression/kept.hpp"

#include <algorithm>
#include <string>

#include "base/find_bytes.hpp"
#include "history/pair_search.hpp"
#include "history/shown.hpp"
#include "history/state.hpp"
#include "message/reading.hpp"
#include "tokens/estimate.hpp"

namespace undertext {
namespace {

std::uint64_t tokens_between(const View& view, std::uint64_t start, std::uint64_t end) {
  return view.rep().placed.entries.total(start, end, TokensOf());
}

// Whether a user says something in it beside results of tools.
bool says_something(const Message& message) {
  // Without escapes the type would stand there as it is; so most results in a long run of tools
  // need not be parsed.
  const std::string_view json = message.json();
  if (json.find('\\') == std::string_view::npos &&
      find_bytes(json, "text\"") == std::string_view::npos)
    return false;
  return has_kind(MessageReading(message).turn(), BlockKind::text);
}

struct LastOfUser {
  // the last thing that a user said: no result of a tool, and no summary
  std::optional<std::uint64_t> request;
  std::optional<std::uint64_t> message;  // whatever it is
};

LastOfUser last_of_user(const View& view) {
  const View::Rep& rep = view.rep();
  LastOfUser last;
  rep.placed.entries.visit_back(
      0, view.size(),
      [](const EntrySums& s) { return s.role_counts[static_cast<std::size_t>(Role::user)] > 0; },
      [&](std::uint64_t index, const Entry& entry) {
        if (entry.role() != Role::user) return true;
        if (!last.message) last.message = index;
        const Message message = rep.log.message(entry.ordinal);
        // What was said beside the results in a stub is still there.
        const bool is_request = message.has_tool_links() ? says_something(message)
                                                         : !is_summary(rep.log, entry.ordinal);
        if (!is_request) return true;
        last.request = index;
        return false;
      });
  return last;
}

// A request, with the other pieces of it where it was split.
void add_pieces(const View& view, std::uint64_t request, std::vector<std::uint64_t>& indices) {
  const View::Rep& rep = view.rep();
  indices.push_back(request);
  for (const std::uint32_t ordinal :
       visible_copies(rep.log, rep.placed, rep.placed.entries[request].ordinal))
    if (rep.log.stored[ordinal].role() == Role::user)
      indices.push_back(*rep.placed.index_of(ordinal));
}

std::optional<std::uint64_t> last_but_system(const View& view) {
  for (std::uint64_t index = view.size(); index-- > 0;)
    if (view.rep().placed.entries[index].role() != Role::system) return index;
  return {};
}

// Whether a call of the message waits: no result came for it, and none is in the view. (An edited
// copy of a call is stored after its result.)
bool waits(const View& view, std::uint32_t ordinal) {
  const View::Rep& rep = view.rep();
  for (std::uint64_t i = rep.log.first_link(ordinal);
       i < rep.log.first_link(std::uint64_t{ordinal} + 1); ++i) {
    const Link link = rep.log.links[i];
    if (!link.is_call() || link.answered_at != no_place) continue;
    const std::vector<PairPlaces> pairs = pairs_of(rep.log, rep.placed, link.hash(), ordinal);
    if (std::none_of(pairs.begin(), pairs.end(),
                     [&](const PairPlaces& pair) { return pair.call_ordinal == ordinal; }))
      return true;
  }
  return false;
}

}  // namespace

// Going back from the end: what a user added, then results, then the calls that they answer, or
// that wait.
std::uint64_t unread_from(const View& view) {
  const View::Rep& rep = view.rep();
  std::uint64_t from = view.size();
  bool met_call = false;
  for (std::uint64_t index = view.size(); index-- > 0;) {
    const Entry& entry = rep.placed.entries[index];
    if (entry.role() == Role::system) continue;
    if (rep.log.count_links(entry.ordinal) == 0) {
      if (entry.role() == Role::user && from == view.size()) continue;
      break;
    }
    if (met_call && !entry.calls) break;
    met_call = met_call || entry.calls;
    from = index;
  }
  return met_call ? from : view.size();
}

std::vector<std::uint64_t> unread_results(const View& view) {
  const View::Rep& rep = view.rep();
  const EntryTree& entries = rep.placed.entries;
  std::uint64_t from = 0;
  entries.visit_back(
      0, view.size(),
      [](const EntrySums& s) {
        return s.role_counts[static_cast<std::size_t>(Role::assistant)] > 0;
      },
      [&](std::uint64_t index, const Entry& entry) {
        if (entry.role() != Role::assistant) return true;
        from = index + 1;
        return false;
      });
  PairSearch search(rep.log, rep.placed);
  const auto answers = [&](std::uint64_t index, std::uint32_t ordinal) {
    for (const Mention& mention : rep.log.mentions(ordinal)) {
      const std::span<const PairPlaces> pairs = search.pairs_of(mention.hash, ordinal, index);
      if (std::any_of(pairs.begin(), pairs.end(),
                      [&](const PairPlaces& pair) { return pair.result_ordinal == ordinal; }))
        return true;
    }
    return false;
  };
  std::vector<std::uint64_t> found;
  entries.visit(
      from, view.size(), [](const EntrySums& s) { return s.reach_min != no_place; },
      [&](std::uint64_t index, const Entry& entry) {
        if (entry.reach != no_place && answers(index, entry.ordinal)) found.push_back(index);
        return true;
      });
  return found;
}

Kept Kept::always(const History& history, const View& view, Whole whole) {
  return with_turns(history, view, last_of_user(view).request, whole);
}

Kept Kept::always_with_user(const History& history, const View& view, Whole whole) {
  const LastOfUser last = last_of_user(view);
  if (last.message)
    return with_turns(history, view, last.request ? last.request : last.message, whole);
  return with_turns(history, view, last_but_system(view), whole);
}

Kept Kept::with_turns(const History& history, const View& view, std::optional<std::uint64_t> user,
                      Whole whole) {
  std::vector<std::uint64_t> indices;
  for (const std::uint64_t ordinal : history.marked(pinned_mark)) {
    if (const std::optional<std::uint64_t> index = view.index_of(Ordinal(ordinal)))
      indices.push_back(*index);
  }
  // The result of a call that waits would come to nothing.
  for (const std::uint32_t ordinal : view.rep().log.waiting()) {
    const std::optional<std::uint64_t> index = view.index_of(Ordinal(ordinal));
    if (index && waits(view, ordinal)) indices.push_back(*index);
  }
  for (const std::uint64_t index : unread_results(view)) indices.push_back(index);
  if (user) add_pieces(view, *user, indices);
  view.rep().placed.entries.visit(
      0, view.size(),
      [](const EntrySums& s) { return s.role_counts[static_cast<std::size_t>(Role::system)] > 0; },
      [&](std::uint64_t i, const Entry& e) {
        if (e.role() == Role::system) indices.push_back(i);
        return true;
      });
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  Stretches kept = with_indices({}, indices);
  return of(view, with_tail(kept, unread_from(view), view.size()), whole);
}

Kept Kept::with_last(const View& view) const {
  const std::optional<std::uint64_t> last = last_but_system(view);
  return last && !keeps(stretches_, *last) ? with(view, {{*last, *last + 1}}) : *this;
}

Kept Kept::with(const View& view, const Stretches& more) const {
  if (more.empty()) return *this;
  return of(view, joined_stretches(stretches_, more), whole_);
}

Kept Kept::of(const View& view, Stretches kept, Whole whole) {
  Kept made;
  made.whole_ = whole;
  made.stretches_ = with_whole_turns(view.rep().log, view.rep().placed, std::move(kept), whole);
  for (const Range& range : made.stretches_) {
    made.tokens_before_.push_back(made.tokens_before_.back() +
                                  tokens_between(view, range.start, range.end));
  }
  return made;
}

std::uint64_t Kept::tokens_from(const View& view, std::uint64_t index) const {
  const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), index,
                                      [](std::uint64_t i, const Range& r) { return i < r.end; });
  if (after == stretches_.end()) return 0;
  const std::size_t k = static_cast<std::size_t>(after - stretches_.begin());
  return tokens() - tokens_before_[k + 1] +
         tokens_between(view, std::max(index, after->start), after->end);
}

bool is_summary(const Log& log, std::uint32_t ordinal) {
  return log.originals(ordinal) && log.count_links(ordinal) == 0;
}

Stretches whole_summaries(const View& view) {
  const Log& log = view.rep().log;
  std::vector<std::uint64_t> found;
  for (std::uint64_t k = 0; k < log.summaries.size(); ++k) {
    const std::uint32_t ordinal = log.summaries[k].ordinal;
    const std::optional<std::uint64_t> index = view.index_of(Ordinal(ordinal));
    if (index && is_summary(log, ordinal)) found.push_back(*index);
  }
  std::sort(found.begin(), found.end());
  return with_whole_turns(log, view.rep().placed, with_indices({}, found));
}

std::uint64_t count_tokens(const Aim& aim, const Message& message) {
  return aim.count_tokens ? aim.count_tokens(message) : estimate_tokens(message);
}

std::uint64_t tokens_in(const View& view, const Stretches& stretches) {
  std::uint64_t tokens = 0;
  for (const Range& range : stretches) tokens += tokens_between(view, range.start, range.end);
  return tokens;
}

bool has_reasoning(const View& view) {
  return view.rep().placed.entries.sums().reasoning_count > 0;
}

Stretches with_tail(const Stretches& kept, std::uint64_t start, std::uint64_t size) {
  Stretches all;
  for (const Range& range : kept) {
    if (range.start >= start) break;
    add_stretch(all, range.start, std::min(range.end, start));
  }
  add_stretch(all, start, size);
  return all;
}

std::uint64_t tokens_with_tail(const View& view, const Kept& kept, std::uint64_t start) {
  return kept.tokens() - kept.tokens_from(view, start) + tokens_between(view, start, view.size());
}

std::uint64_t largest_tail(const View& view, const Kept& kept, std::uint64_t tokens_max) {
  std::uint64_t low = 0, high = view.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (tokens_with_tail(view, kept, middle) <= tokens_max) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return next_legal_cut(view.rep().log, view.rep().placed, low, kept.whole());
}

Plan empty_plan(const History& history, std::string_view strategy) {
  Plan plan;
  plan.base = history.version();
  plan.strategy = strategy;
  plan.tokens_before = plan.tokens_after = history.stats().tokens;
  return plan;
}

Plan plan_keeping(const History& history, const View& view, const Stretches& kept,
                  std::string_view strategy) {
  Plan plan = empty_plan(history, strategy);
  Stretches hidden = complement(kept, view.size());
  if (hidden.empty()) return plan;
  plan.tokens_after = tokens_in(view, kept);
  plan.replacements.push_back({std::move(hidden)});
  return plan;
}

Error cannot_fit(std::string_view strategy, std::uint64_t minimum, std::uint64_t tokens_max) {
  Error error{ErrorCode::cannot_fit,
              std::string(strategy) + " cannot bring the view to " + std::to_string(tokens_max) +
                  " tokens; the least it can reach is " + std::to_string(minimum)};
  error.tokens_minimum = minimum;
  return error;
}

bool is_within(const View& view, const Aim& aim) {
  return aim.tokens_max && view.sums().tokens() <= *aim.tokens_max;
}

}  // namespace undertext
