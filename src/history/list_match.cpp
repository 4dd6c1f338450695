#include "history/list_match.hpp"

#include <algorithm>
#include <unordered_map>

#include "history/longest_rising.hpp"

namespace undertext {
namespace {

constexpr std::size_t table_max = 1u << 16;
constexpr unsigned depth_max = 16;  // each level looks at everything once

class Matcher {
 public:
  Matcher(std::span<const Identity> a, std::span<const Identity> b, const Work* work)
      : a_(a), b_(b), work_(work) {}

  Matches take() {
    match({0, a_.size(), 0, b_.size()}, 0);
    return std::move(matches_);
  }

 private:
  struct Part {
    std::size_t a, a_end, b, b_end;
    bool empty() const { return a == a_end || b == b_end; }
  };

  void add(std::size_t a, std::size_t b) {
    matches_.emplace_back(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  }

  void match(Part part, unsigned depth) {
    for (; !part.empty() && a_[part.a] == b_[part.b]; ++part.a, ++part.b) add(part.a, part.b);
    std::size_t suffix = 0;
    for (; !part.empty() && a_[part.a_end - 1] == b_[part.b_end - 1]; --part.a_end, --part.b_end)
      ++suffix;
    if (!part.empty()) match_middle(part, depth);
    for (std::size_t i = 0; i < suffix; ++i) add(part.a_end + i, part.b_end + i);
  }

  void go_on(std::size_t place = 0) const {
    constexpr std::size_t small_steps = 1024;
    if (work_ && place % small_steps == 0) work_->go_on();
  }

  void match_middle(const Part& part, unsigned depth) {
    go_on();
    const Matches anchors = depth < depth_max ? rising(unique_in(part)) : Matches();
    if (anchors.empty())
      return (part.a_end - part.a) * (part.b_end - part.b) <= table_max ? match_by_table(part)
                                                                        : match_next(part);
    Part before{part.a, part.a, part.b, part.b};
    for (const auto& [a, b] : anchors) {
      before.a_end = a, before.b_end = b;
      match(before, depth + 1);
      add(a, b);
      before.a = a + std::size_t{1}, before.b = b + std::size_t{1};
    }
    match({before.a, part.a_end, before.b, part.b_end}, depth + 1);
  }

  // Pairs of those that stand once on each side, by their place in b.
  Matches unique_in(const Part& part) const {
    struct Seen {
      std::uint32_t count_a = 0, count_b = 0, a = 0;
    };
    std::unordered_map<Identity, Seen, IdentityHash> seen;
    for (std::size_t i = part.a; i < part.a_end; ++i) {
      go_on(i);
      Seen& at = seen[a_[i]];
      ++at.count_a;
      at.a = static_cast<std::uint32_t>(i);
    }
    for (std::size_t i = part.b; i < part.b_end; ++i) {
      go_on(i);
      if (const auto at = seen.find(b_[i]); at != seen.end()) ++at->second.count_b;
    }
    Matches unique;
    for (std::size_t i = part.b; i < part.b_end; ++i) {
      const auto at = seen.find(b_[i]);
      if (at != seen.end() && at->second.count_a == 1 && at->second.count_b == 1)
        unique.emplace_back(at->second.a, static_cast<std::uint32_t>(i));
    }
    return unique;
  }

  // A longest part that rises in a as well.
  static Matches rising(const Matches& by_b) {
    Matches found;
    const auto before = [&](std::size_t i, std::size_t j) { return by_b[i].first < by_b[j].first; };
    for (const std::size_t i : longest_rising(by_b.size(), before)) found.push_back(by_b[i]);
    return found;
  }

  // The longest common subsequence; of several, the one whose matches stand first.
  void match_by_table(const Part& part) {
    const std::size_t n = part.a_end - part.a, m = part.b_end - part.b;
    std::vector<std::uint32_t> longest((n + 1) * (m + 1), 0);
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
      return longest[i * (m + 1) + j];
    };
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t j = m; j-- > 0;)
        at(i, j) = a_[part.a + i] == b_[part.b + j] ? at(i + 1, j + 1) + 1
                                                    : std::max(at(i + 1, j), at(i, j + 1));
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
      if (a_[part.a + i] == b_[part.b + j]) {
        add(part.a + i++, part.b + j++);
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  // Each with the next one that is equal: for long stretches of messages that all stand there
  // often.
  void match_next(const Part& part) {
    std::unordered_map<Identity, std::vector<std::size_t>, IdentityHash> places;
    for (std::size_t i = part.a; i < part.a_end; ++i) {
      go_on(i);
      places[a_[i]].push_back(i);
    }
    std::size_t next = part.a;
    for (std::size_t j = part.b; j < part.b_end; ++j) {
      go_on(j);
      const auto found = places.find(b_[j]);
      if (found == places.end()) continue;
      const auto at = std::lower_bound(found->second.begin(), found->second.end(), next);
      if (at == found->second.end()) continue;
      add(*at, j);
      next = *at + 1;
    }
  }

  std::span<const Identity> a_, b_;
  const Work* const work_;
  Matches matches_;
};

}  // namespace

Matches match_lists(std::span<const Identity> a, std::span<const Identity> b, const Work* work) {
  return Matcher(a, b, work).take();
}

}  // namespace undertext
