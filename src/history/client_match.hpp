// Which messages of a request are known, and which ones the client sends no longer.
//
// What the client sent last is compared with what it sends now: the common beginning and end first,
// then the middle (list_match.hpp). Behind its list stand messages that it has not sent yet: an
// answer that was recorded here comes with the next request, or is dropped by it. Messages that it
// dropped earlier may return, between the neighbours that the log's order gives them.
//
// A client that was given the view is compared with the view (client_match_view.cpp): what is not
// visible may return, and whatever is visible and not sent went. Only a summary stays that stands
// for messages which were sent.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "history/list_match.hpp"
#include "history/state.hpp"

namespace undertext {

inline bool is_reference(const op::Reconcile::Sent& sent) {
  return sent.ordinal || !sent.item.empty();
}

// Reconciled::reference of the record that changed the client list last.
std::uint64_t newest_reference(const History::Rep& rep);

// How many messages the client list and the request begin with that have the same identities; up to
// the first that is only named. 0 where identities are made otherwise than then. The messages
// themselves are not read.
std::uint64_t common_beginning(const History::Rep& rep, const op::Reconcile& sent);
// How many messages of requests were walked through on this thread to find what they have in common
// with the client list and whether they are named:
// tests count them.
std::uint64_t messages_walked();
void add_messages_walked(std::uint64_t count);

class ClientMatch {
 public:
  // `alike`: as common_beginning() found it.
  ClientMatch(const History::Rep& rep, const op::Reconcile& sent, std::uint64_t alike);

  // from the list as it is
  bool differs() const {
    return takes_view_ || old_.size() > unsent_ || begin_ < end_ || !gone_.empty();
  }
  bool only_adds() const { return takes_view_ || (is_at_end_ && gone_.empty()); }

  // Places in the request that are neither in the common beginning nor in the common end.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }
  // What the message there is in the log. Nothing: it is new.
  std::optional<std::uint32_t> ordinal(std::size_t place) const;
  bool is_listed(std::size_t place) const;                // it was in the list before
  bool returns(std::size_t place) const;                  // the client had dropped it
  std::optional<std::uint32_t> next_ordinal() const;      // of the common end
  std::uint32_t ordinal_at_end(std::size_t place) const;  // of a place there

  // Whether a message may be visible: of a client that was given the view, only what it sent and
  // what stands for that.
  bool may_show(std::uint32_t ordinal) const;

  // What went, in the log's order: of the list, and of what was recorded since.
  const std::vector<std::uint32_t>& gone() const { return gone_; }
  // What counts as dropped from now on without having been in the list, or by another identity too.
  const std::vector<ClientListEntry>& left_out() const { return left_out_; }
  // What stood beside the common beginning of a view, and went too.
  const std::vector<std::uint32_t>& gone_beside() const { return beside_; }

  std::uint64_t common() const;
  std::uint64_t added() const;
  std::uint64_t removed() const { return removed_; }

  // Nonzero: identities are made otherwise than before.
  std::uint64_t new_key() const {
    return rekeyed_.empty() && client_.volatile_key == key_ ? 0 : key_;
  }
  // ordinals of the list, as it was and as it will be
  std::unordered_set<std::uint32_t> listed() const;

  // `entry` answers what to note for a place of the request.
  template <class EntryAt>
  std::vector<ClientListEdit> list_edits(EntryAt entry) const;

 private:
  enum class From : std::uint8_t { list, unsent, dropped };
  struct Known {
    std::uint32_t ordinal = 0;
    From from = From::list;
    std::uint64_t at = 0;  // in the list
  };

  Known known_as(std::size_t old) const;
  // Of a client that was given the view.
  void start_from_view();
  void add_visible(const std::vector<std::uint32_t>& visible);
  void find_gone_from_view();
  std::unordered_set<std::uint32_t> listed_from_view() const;
  bool may_return(std::uint32_t ordinal) const;
  std::vector<std::uint32_t> may_return(const Identity& identity, std::uint64_t most) const;
  bool is_told_by_listed(std::uint32_t ordinal) const;
  // Was there before `told`, and is sent again; or it is summarised.
  bool is_told_in_list(std::uint32_t ordinal, std::uint32_t told) const;
  bool makes_summary() const;
  bool is_told_by_summary(std::uint32_t ordinal) const;
  bool is_told_by_kept(std::uint32_t ordinal) const;
  bool stands_for_kept(std::uint32_t ordinal) const;
  const std::unordered_map<std::uint32_t, From>& kept() const;

  void make_identities();
  void find_ends();
  void go_on_with_delta();
  bool list_ends_with_delta() const;
  bool goes_on_with_another_answer() const;
  void skip_said_instructions();
  bool stands_at_place(std::size_t place) const;
  void add_unsent(const VolatileParts& parts);
  void match_middle();
  void forget_repeated_behind_summary();
  void find_returning();
  void rewind();
  void add_returning(std::size_t begin, std::size_t end, std::optional<std::uint32_t> left,
                     std::optional<std::uint32_t> right);
  void add_often(std::size_t begin, std::size_t end, std::optional<std::uint32_t> left,
                 std::optional<std::uint32_t> right,
                 const std::unordered_map<Identity, std::size_t, IdentityHash>& often);
  void match_returning(std::size_t begin, std::size_t end, std::vector<ClientEntry> returning,
                       bool ends_at_known);
  const std::unordered_set<std::uint32_t>& old_ordinals() const;
  bool may_stand_between(std::optional<std::uint32_t> left, std::uint32_t ordinal,
                         std::optional<std::uint32_t> right) const;
  void find_gone();
  void leave_out_answers();
  bool is_answer(std::uint32_t ordinal) const;
  ClientEntry old_entry(std::uint64_t at) const {
    return rekeyed_.empty() ? client_.list[at] : rekeyed_[at];
  }
  std::uint64_t common_beginning() const;
  std::uint64_t common_end(std::uint64_t most) const;
  const Known* known(std::size_t place) const {
    const std::optional<Known>& at = known_[place - begin_];
    return at ? &*at : nullptr;
  }

  const History::Rep& rep_;
  const Log& log_;
  const op::Reconcile& sent_;
  ClientState client_;
  const std::uint64_t key_;
  const std::uint64_t alike_;
  // the whole list with identities as they are made now; empty: they are so already
  std::vector<ClientEntry> rekeyed_;
  std::uint64_t prefix_ = 0, suffix_ = 0;  // of the list
  std::size_t begin_ = 0, end_ = 0;
  std::vector<ClientEntry> old_;  // the middle of the list, and behind it what was not sent
  std::size_t unsent_ = 0;        // how many of those there are
  // of a delta: what the client does not send and has, behind its list
  std::vector<ClientEntry> implied_;
  std::vector<std::optional<Known>> known_;
  std::vector<bool> matched_;  // of old_
  mutable std::optional<std::unordered_set<std::uint32_t>> old_ordinals_;
  mutable std::optional<bool> makes_summary_;
  std::vector<std::uint32_t> gone_;
  std::vector<ClientListEntry> left_out_;
  std::uint64_t removed_ = 0;
  bool is_at_end_ = true;  // whether everything that is new stands behind the list

  const bool takes_view_;
  PlacedView view_;  // of these, only then
  // ordinals of the list behind the common beginning, and their places
  std::unordered_map<std::uint32_t, std::uint64_t> rest_;
  // those of them that are not visible
  std::unordered_multimap<Identity, std::uint32_t, IdentityHash> hidden_;
  // visible beside the common beginning
  std::vector<std::uint32_t> beside_;
  mutable std::optional<std::unordered_map<std::uint32_t, From>> kept_;
};

template <class EntryAt>
std::vector<ClientListEdit> ClientMatch::list_edits(EntryAt entry) const {
  std::vector<ClientListEdit> edits;
  if (!rekeyed_.empty()) {
    ClientListEdit all{0, rekeyed_.size(), {}};
    for (std::uint64_t i = 0; i < prefix_; ++i)
      all.entries.push_back({rekeyed_[i].ordinal, rekeyed_[i].identity});
    for (const ClientEntry& each : implied_) all.entries.push_back({each.ordinal, each.identity});
    for (std::size_t place = begin_; place < end_; ++place) all.entries.push_back(entry(place));
    for (std::uint64_t i = rekeyed_.size() - suffix_; i < rekeyed_.size(); ++i)
      all.entries.push_back({rekeyed_[i].ordinal, rekeyed_[i].identity});
    return {std::move(all)};
  }
  ClientListEdit next{prefix_, prefix_, {}};
  for (const ClientEntry& each : implied_) next.entries.push_back({each.ordinal, each.identity});
  const auto close = [&](std::uint64_t end) {
    next.end = end;
    if (next.end > next.start || !next.entries.empty()) edits.push_back(std::move(next));
  };
  for (std::size_t place = begin_; place < end_; ++place) {
    const Known* const at = known(place);
    if (at && at->from == From::list) {
      close(at->at);
      next = {at->at + 1, at->at + 1, {}};
    } else {
      next.entries.push_back(entry(place));
    }
  }
  close(client_.list.size() - suffix_);
  return edits;
}

}  // namespace undertext
