#include "history/pair_search.hpp"

#include <algorithm>
#include <tuple>

#include "history/placed_view.hpp"

namespace undertext {
namespace {

// Some programs use one id again in every turn, and some edit one message again in every turn. So
// no more than this many links are needed of the view on either side of the message in question, or
// so many as it takes to find a call, since a call may have any number of results. An edited call
// is stored after them.
constexpr std::size_t links_needed = 32;
static_assert(Log::few_notes <= links_needed, "of an id with few notes either way finds all links");

// What few notes say is found again as fast as remembered.
constexpr std::uint64_t notes_remembered = 4 * links_needed;

// A message of the view that mentions the id.
struct Occurrence {
  std::uint64_t index = 0;
  std::uint32_t ordinal = 0;
  std::optional<std::uint64_t> call_link = {}, result_link = {};
};

PairPlaces pair_of(const Occurrence& call, const Occurrence& result) {
  return {call.index,     result.index,    call.ordinal,
          result.ordinal, *call.call_link, *result.result_link};
}

void add_pairs_among(const std::vector<Occurrence>& found, std::vector<PairPlaces>& pairs) {
  const auto calls = [](const Occurrence& o) { return o.call_link.has_value(); };
  const auto answers = [](const Occurrence& o) { return o.result_link.has_value(); };
  const auto first_call = std::find_if(found.begin(), found.end(), calls);
  if (first_call == found.end()) return;
  const auto second_call = std::find_if(first_call + 1, found.end(), calls);
  // Results before any call answer the first one, unless it has a result of its own.
  const bool takes_earlier = std::none_of(first_call, second_call, answers);
  const Occurrence* call = takes_earlier ? &*first_call : nullptr;
  for (const Occurrence& o : found) {
    if (calls(o)) call = &o;
    if (call && answers(o)) pairs.push_back(pair_of(*call, o));
  }
}

}  // namespace

std::span<const PairPlaces> Mentioned::pairs_with(std::uint64_t index) const {
  const auto by_call =
      std::equal_range(pairs.begin(), pairs.end(), PairPlaces{.call = index},
                       [](const PairPlaces& a, const PairPlaces& b) { return a.call < b.call; });
  // A message that calls and answers is its own partner.
  if (by_call.first != by_call.second) return {by_call.first, by_call.second};
  const auto by_result = std::equal_range(
      pairs.begin(), pairs.end(), PairPlaces{.result = index},
      [](const PairPlaces& a, const PairPlaces& b) { return a.result < b.result; });
  return {by_result.first, by_result.second};
}

void Mentioned::pair(std::vector<SeenLink>& seen) {
  const auto comes_before = [](const SeenLink& a, const SeenLink& b) {
    return std::tie(a.index, a.link) < std::tie(b.index, b.link);
  };
  if (!std::is_sorted(seen.begin(), seen.end(), comes_before))
    std::sort(seen.begin(), seen.end(), comes_before);
  calls.clear();
  pairs.clear();
  early.reset();
  result_count = 0;
  calls_reach = no_place;
  // Most ids are of one call and one result.
  if (seen.size() == 2 && seen[0].is_call && !seen[1].is_call && seen[0].index < seen[1].index) {
    calls.push_back(seen[0].index);
    result_count = 1;
    pairs.push_back({seen[0].index, seen[1].index, seen[0].ordinal, seen[1].ordinal, seen[0].link,
                     seen[1].link});
    return;
  }
  std::vector<Occurrence> found;
  found.reserve(seen.size());
  for (const SeenLink& s : seen) {
    if (found.empty() || found.back().index != s.index) found.push_back({s.index, s.ordinal});
    std::optional<std::uint64_t>& link =
        s.is_call ? found.back().call_link : found.back().result_link;
    if (!link) link = s.link;
  }
  for (const Occurrence& o : found) {
    if (o.call_link) calls.push_back(o.index);
    if (o.result_link) ++result_count;
  }
  if (!found.empty() && !found.front().call_link) early = found.front().index;
  add_pairs_among(found, pairs);
}

// Whether the id has few notes; then they are all read.
bool PairSearch::find_few(std::uint64_t hash) {
  if (few_hash_ == hash) return true;
  if (many_hash_ == hash) return false;
  few_hash_.reset();
  seen_of_few_.clear();
  const bool are_few =
      log_.visit_few(hash, [&](const Link& link, std::uint64_t at, std::uint64_t note) {
        if (const std::optional<std::uint64_t> index = view_.index_of(link.ordinal))
          seen_of_few_.push_back({note, at, *index, link.ordinal, link.is_call()});
      });
  if (!are_few) {
    many_hash_ = hash;
    return false;
  }
  few_.pair(seen_of_few_);
  few_.is_whole = true;
  few_hash_ = hash;
  return true;
}

Mentioned& PairSearch::around(std::uint64_t hash, std::uint32_t ordinal) {
  if (find_few(hash)) return few_;
  std::uint64_t note = log_.note_at(hash, log_.first_link(ordinal));
  Stretch stretch;
  const auto known = known_around(hash, note);
  if (known != known_.end()) {
    const Stretch& all = known->second;
    if (!all.needs_earlier(note) && !all.needs_later(note, ordinal)) return known->second.mentioned;
    stretch = std::move(known_.extract(known).mapped());
  } else {
    stretch = empty_stretch(hash, note);
    note = stretch.begin;
  }
  while (stretch.needs_earlier(note)) extend_down(hash, stretch, note);
  while (stretch.needs_later(note, ordinal)) extend_up(hash, stretch, note);
  stretch.pair();
  const bool is_long = stretch.end - stretch.begin > notes_remembered;
  Stretch& kept = is_long ? known_[{hash, stretch.begin}] : short_;
  kept = std::move(stretch);
  return kept.mentioned;
}

PairSearch::Stretch PairSearch::empty_stretch(std::uint64_t hash, std::uint64_t note) {
  if (!links_) {
    const EntrySums sums = view_.entries.sums();
    links_.emplace(log_.first_link(sums.ordinal_min),
                   log_.first_link(std::uint64_t{sums.ordinal_max} + 1));
    if (view_.size() == 0) links_->first = links_->second;
  }
  Stretch stretch;
  stretch.first = log_.note_at(hash, links_->first);
  stretch.last = log_.note_at(hash, links_->second);
  stretch.begin = stretch.end = std::clamp(note, stretch.first, stretch.last);
  return stretch;
}

PairSearch::Known::iterator PairSearch::known_around(std::uint64_t hash, std::uint64_t note) {
  auto found = known_.upper_bound({hash, note});
  if (found == known_.begin()) return known_.end();
  --found;
  return found->first.first == hash && note <= found->second.end ? found : known_.end();
}

void PairSearch::extend_down(std::uint64_t hash, Stretch& stretch, std::uint64_t note) {
  const std::uint64_t lowest =
      std::max(stretch.first, note - std::min<std::uint64_t>(note, Log::notes_max));
  std::uint64_t begin = stretch.begin - std::min(stretch.step(), stretch.begin - lowest);
  auto before = known_.lower_bound({hash, stretch.begin});
  const bool has_before =
      before != known_.begin() && (--before)->first.first == hash && before->second.end >= begin;
  if (has_before) begin = before->second.end;
  stretch.put(0, look(hash, begin, stretch.begin));
  stretch.begin = begin;
  if (!has_before) return;
  stretch.put(0, before->second.seen);
  stretch.begin = before->second.begin;
  known_.erase(before);
}

void PairSearch::extend_up(std::uint64_t hash, Stretch& stretch, std::uint64_t note) {
  const std::uint64_t highest = std::min(stretch.last, note + Log::notes_max);
  std::uint64_t end = stretch.end + std::min(stretch.step(), highest - stretch.end);
  const auto after = known_.lower_bound({hash, stretch.end});
  const bool has_after =
      after != known_.end() && after->first.first == hash && after->second.begin <= end;
  if (has_after) end = after->second.begin;
  stretch.put(stretch.seen.size(), look(hash, stretch.end, end));
  stretch.end = end;
  if (!has_after) return;
  stretch.put(stretch.seen.size(), after->second.seen);
  stretch.end = after->second.end;
  known_.erase(after);
}

std::vector<PairSearch::Seen> PairSearch::look(std::uint64_t hash, std::uint64_t begin,
                                               std::uint64_t end) const {
  std::vector<Seen> seen;
  log_.visit_notes(hash, begin, end, [&](const Link& link, std::uint64_t at, std::uint64_t note) {
    if (const std::optional<std::uint64_t> index = view_.index_of(link.ordinal))
      seen.push_back({note, at, *index, link.ordinal, link.is_call()});
  });
  return seen;
}

std::size_t PairSearch::Stretch::seen_below(std::uint64_t note) const {
  const auto at = std::lower_bound(seen.begin(), seen.end(), note,
                                   [](const Seen& s, std::uint64_t n) { return s.note < n; });
  return static_cast<std::size_t>(at - seen.begin());
}

bool PairSearch::Stretch::needs_earlier(std::uint64_t note) const {
  if (begin == first || note - begin >= Log::notes_max) return false;
  const std::size_t below = seen_below(note);
  return below < links_needed || calls.empty() || calls.front() >= below;
}

bool PairSearch::Stretch::needs_later(std::uint64_t note, std::uint32_t ordinal) const {
  if (end == last || end - note >= Log::notes_max) return false;
  if (seen.size() - seen_below(note) < links_needed || calls.empty()) return true;
  // The results of the call in question are not over before the next call. Whether the first call
  // takes results before it, what follows it tells.
  return seen[calls.back()].ordinal == ordinal ||
         (calls.size() == 1 && calls.back() + 1 == seen.size());
}

// Doubles: so however often it grows, what is done for all of it is done O(log n) times.
std::uint64_t PairSearch::Stretch::step() const {
  return std::max<std::uint64_t>(links_needed, end - begin);
}

void PairSearch::Stretch::put(std::size_t at, const std::vector<Seen>& more) {
  seen.insert(seen.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
  calls.clear();
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i].is_call) calls.push_back(i);
}

void PairSearch::Stretch::pair() {
  std::vector<Seen> in_view = seen;
  mentioned.pair(in_view);
}

std::vector<PairPlaces> pairs_of(const Log& log, const PlacedView& view, std::uint64_t hash,
                                 std::uint32_t ordinal) {
  const std::optional<std::uint64_t> index = view.index_of(ordinal);
  if (!index) return {};
  PairSearch search(log, view);
  const std::span<const PairPlaces> pairs = search.pairs_of(hash, ordinal, *index);
  return {pairs.begin(), pairs.end()};
}

}  // namespace undertext
