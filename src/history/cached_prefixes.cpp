// Which prefixes of a view the requests before it left in a provider's cache.
//
// Versions that APPENDs made in a row are a run: the view of its last version begins with the views
// of all others. What was sent in a run is therefore a beginning of that one view, and one
// comparison a run tells what of it is still the same.
#include <algorithm>
#include <optional>
#include <utility>

#include <undertext/edit_cost.hpp>

#include "base/answering_failure.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

bool same_message(const View& a, std::uint64_t i, const View& b, std::uint64_t k) {
  return a.ordinal(i) == b.ordinal(k) || a[i] == b[k];
}

// In messages.
std::uint64_t shared_prefix(const View& a, const View& b) {
  const std::uint64_t most = std::min(a.size(), b.size());
  std::uint64_t same = a.rep().is_log || b.rep().is_log
                           ? 0
                           : a.rep().placed.entries.common_prefix(b.rep().placed.entries);
  while (same < most && same_message(a, same, b, same)) ++same;
  return same;
}

bool has_role(const View& view, std::uint64_t index, Role role) {
  return view.count(role, index, index + 1) > 0;
}

std::uint64_t leading_system(const View& view) {
  std::uint64_t count = 0;
  while (count < view.size() && has_role(view, count, Role::system)) ++count;
  return count;
}

struct Run {
  View view;                             // at its last version
  std::vector<std::uint64_t> sent = {};  // requests, by their number of messages
};

// Before each message of the model's, unless it follows another one or has nothing to answer.
std::vector<std::uint64_t> requests_in(const View& view, std::uint64_t begin) {
  std::vector<std::uint64_t> sent;
  const std::uint64_t head = leading_system(view);
  std::uint64_t k = view.count(Role::assistant, 0, begin);
  for (; const std::optional<std::uint64_t> index = view.index_of_role(Role::assistant, k); ++k)
    if (*index > head && !has_role(view, *index - 1, Role::assistant)) sent.push_back(*index);
  return sent;
}

std::vector<Run> runs_of(const History& history, LastRequest request) {
  const History::Rep& rep = history.rep();
  std::vector<Run> runs;
  // messages that were there before the run; all of the first one's count as appended
  std::uint64_t begin = 0;
  for (std::uint64_t v = rep.first_version; v <= request.last.value; ++v) {
    const bool goes_on =
        v < request.last.value && rep.versions[v + 1].state == rep.versions[v].state;
    if (goes_on) continue;
    const View view = history.view_at(Version(v)).value();
    Run run{view, requests_in(view, begin)};
    if (v == request.last.value && request.is_sent && !view.empty() &&
        (run.sent.empty() || run.sent.back() != view.size()))
      run.sent.push_back(view.size());
    if (!run.sent.empty()) runs.push_back(std::move(run));
    if (v < request.last.value) begin = rep.message_count(v + 1);
  }
  return runs;
}

}  // namespace

Result<CachedPrefixes> cached_prefixes(const History& history, LastRequest request,
                                       const View& view, CacheMarkers markers) {
  return answering_failure([&]() -> Result<CachedPrefixes> {
    if (const Result<View> known = history.view_at(request.last); !known) return known.error();
    CachedPrefixes cached;
    cached.head = leading_system(view);
    const Run* before = nullptr;
    const std::vector<Run> runs = runs_of(history, request);
    for (const Run& run : runs) {
      const std::uint64_t still = shared_prefix(run.view, view), head = leading_system(run.view);
      std::uint64_t edited = 0;
      if (before != nullptr) {
        const std::uint64_t shared = std::min(
            {shared_prefix(before->view, run.view), before->sent.back(), run.sent.front()});
        if (shared < before->sent.back() && shared > head) edited = shared;
      }
      if (edited > 0) cached.edited = edited;
      if (cached.edited > still) cached.edited = 0;
      if (head > 0 && head <= still) cached.ends.push_back(head);
      if (markers == CacheMarkers::automatic && edited > 0 && edited <= still)
        cached.ends.push_back(edited);
      for (const std::uint64_t end : run.sent)
        if (end <= still) cached.ends.push_back(end);
      before = &run;
    }
    if (before != nullptr) {
      cached.stable = std::min(shared_prefix(before->view, view), before->sent.back());
      if (cached.stable < before->sent.back())
        cached.edited = cached.stable > cached.head ? cached.stable : 0;
    }
    std::sort(cached.ends.begin(), cached.ends.end());
    cached.ends.erase(std::unique(cached.ends.begin(), cached.ends.end()), cached.ends.end());
    return cached;
  });
}

}  // namespace undertext
