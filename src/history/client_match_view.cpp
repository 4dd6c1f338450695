// A client that was given the view and sends a list that takes its place: frameworks that load a
// conversation and save it.
//
//     view        S  m4  m5            S, a summary, stands for m1 m2 m3
//     request     S  m4  m9            from the view: m5 went, m9 is new
//     request     m1 m2  m3  m4 m9     from before the summary: m1 m2 m3 are told by S, which stays
#include <algorithm>

#include "history/client_match.hpp"
#include "history/shown.hpp"

namespace undertext {
namespace {

std::vector<std::uint32_t> in_order(const Log& log, const PlacedView& view) {
  std::vector<std::uint32_t> ordinals;
  ordinals.reserve(view.size());
  view.entries.visit(
      0, view.size(), [](const auto&) { return true; },
      [&](std::uint64_t, const Entry& entry) {
        ordinals.push_back(entry.ordinal);
        return true;
      });
  if (log.order.departed()) log.order.sort(ordinals);
  return ordinals;
}

}  // namespace

bool ClientMatch::is_told_by_summary(std::uint32_t ordinal) const {
  const std::optional<std::uint32_t> told_by = stand_in(log_, view_, ordinal);
  return told_by && log_.originals(*told_by);
}

// The list and the request begin alike as far as both say the same and it is visible, or a visible
// summary tells it.
void ClientMatch::start_from_view() {
  view_ = rep_.head.placed();
  const std::vector<std::uint32_t> visible = in_order(log_, view_);
  const std::uint64_t same = common_beginning();
  std::size_t next = 0;
  for (; prefix_ < same; ++prefix_) {
    log_.go_on(prefix_);
    const std::uint32_t ordinal = old_entry(prefix_).ordinal;
    std::size_t at = next;
    while (at < visible.size() && visible[at] != ordinal && log_.order.before(visible[at], ordinal))
      ++at;
    const bool is_visible = at < visible.size() && visible[at] == ordinal;
    if (!is_visible && !is_told_by_summary(ordinal)) break;
    beside_.insert(beside_.end(), visible.begin() + static_cast<std::ptrdiff_t>(next),
                   visible.begin() + static_cast<std::ptrdiff_t>(at));
    next = at + (is_visible ? 1 : 0);
  }
  begin_ = prefix_;
  end_ = sent_.list.size();
  for (std::uint64_t at = prefix_; at < client_.list.size(); ++at) {
    log_.go_on(at);
    const ClientEntry entry = old_entry(at);
    rest_.emplace(entry.ordinal, at);
    if (!view_.shows(entry.ordinal)) hidden_.emplace(entry.identity, entry.ordinal);
  }
  add_visible({visible.begin() + static_cast<std::ptrdiff_t>(next), visible.end()});
}

// What the request is compared with.
void ClientMatch::add_visible(const std::vector<std::uint32_t>& visible) {
  std::unordered_set<Identity, IdentityHash> wanted;
  for (std::size_t place = begin_; place < end_; ++place) wanted.insert(sent_.list[place].identity);
  StoredReader stored(log_);
  for (const std::uint32_t ordinal : visible) {
    const auto at = rest_.find(ordinal);
    ClientEntry entry{at == rest_.end() ? identity(stored.message(ordinal), sent_.volatile_parts)
                                        : old_entry(at->second).identity,
                      ordinal};
    // The client was given what is left of a message that was redacted.
    if (at != rest_.end() && !wanted.contains(entry.identity))
      if (const Message& left = stored.message(ordinal); left.is_redacted())
        entry.identity = identity(left, sent_.volatile_parts);
    old_.push_back(entry);
  }
}

const std::unordered_map<std::uint32_t, ClientMatch::From>& ClientMatch::kept() const {
  if (kept_) return *kept_;
  kept_.emplace();
  for (std::uint64_t at = 0; at < prefix_; ++at) kept_->emplace(old_entry(at).ordinal, From::list);
  for (const std::optional<Known>& at : known_)
    if (at) kept_->emplace(at->ordinal, at->from);
  return *kept_;
}

// By something that the client sent instead. It may have had both.
bool ClientMatch::is_told_by_kept(std::uint32_t ordinal) const {
  std::vector<std::uint32_t> open = log_.stand_ins_of(ordinal);
  std::unordered_set<std::uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::uint32_t maker = open.back();
    open.pop_back();
    const auto at = kept().find(maker);
    if (at != kept().end() && !(at->second == From::list && rest_.contains(ordinal))) return true;
    for (const std::uint32_t above : log_.stand_ins_of(maker))
      if (seen.insert(above).second) open.push_back(above);
  }
  return false;
}

// For something that is seen nowhere else.
bool ClientMatch::stands_for_kept(std::uint32_t ordinal) const {
  std::vector<std::uint32_t> open{ordinal};
  while (!open.empty()) {
    const std::vector<std::uint32_t>* const originals = log_.stands_for(open.back());
    open.pop_back();
    if (!originals) continue;
    for (const std::uint32_t original : *originals) {
      if (kept().contains(original) && !view_.shows(original)) return true;
      open.push_back(original);
    }
  }
  return false;
}

bool ClientMatch::may_show(std::uint32_t ordinal) const {
  return !takes_view_ || kept().contains(ordinal) ||
         (log_.originals(ordinal) && stands_for_kept(ordinal));
}

// What is visible and was not sent. A summary stays if it stands for something that was; an edited
// copy does not.
void ClientMatch::find_gone_from_view() {
  kept_.reset();  // with what returns
  const auto goes = [&](std::uint32_t ordinal) {
    return !(log_.originals(ordinal) && stands_for_kept(ordinal));
  };
  std::erase_if(beside_, [&](std::uint32_t ordinal) { return !goes(ordinal); });
  for (std::size_t i = 0; i < old_.size(); ++i) {
    const auto& [identity, ordinal] = old_[i];
    if (matched_[i] || !goes(ordinal)) continue;
    gone_.push_back(ordinal);
    if (!rest_.contains(ordinal)) left_out_.push_back({ordinal, identity});
  }
  StoredReader stored(log_);
  for (const std::uint32_t ordinal : beside_)
    left_out_.push_back({ordinal, identity(stored.message(ordinal), sent_.volatile_parts)});
  removed_ = gone_.size() + beside_.size();
  for (const auto& [identity, ordinal] : hidden_)
    if (!kept().contains(ordinal) && !is_told_by_kept(ordinal)) gone_.push_back(ordinal);
  log_.order.sort(gone_);
}

// Summaries are never the client's own.
std::unordered_set<std::uint32_t> ClientMatch::listed_from_view() const {
  std::unordered_set<std::uint32_t> ordinals;
  for (const auto& [ordinal, from] : kept()) ordinals.insert(ordinal);
  for (const auto& [ordinal, at] : rest_)
    if (!log_.originals(ordinal)) ordinals.insert(ordinal);
  return ordinals;
}

}  // namespace undertext
