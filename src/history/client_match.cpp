#include "history/client_match.hpp"

#include <algorithm>

#include "history/list_match.hpp"
#include "history/shown.hpp"
#include "message/reading.hpp"
#include "message/redacted.hpp"

namespace undertext {

namespace {

thread_local std::uint64_t walked = 0;

std::uint64_t common_from(const Log& log, const ClientTree& list, const op::Reconcile& sent,
                          std::uint64_t same, bool says_all) {
  const std::uint64_t most = std::min<std::uint64_t>(list.size(), sent.list.size()), first = same;
  ClientTree::Walk walk;
  bool is_alike = true;
  for (std::uint64_t chunks = 0; is_alike && same < most; ++chunks) {
    log.go_on(chunks);
    const ClientTree::Chunk chunk = list.chunk(same, walk);
    for (const std::uint64_t end = std::min(chunk.end, most); same < end; ++same) {
      const op::Reconcile::Sent& each = sent.list[same];
      is_alike = chunk.items[same - chunk.begin].identity == each.identity &&
                 (says_all || !is_reference(each));
      if (!is_alike) break;
    }
  }
  walked += same - first;
  return same;
}

}  // namespace

std::uint64_t newest_reference(const History::Rep& rep) {
  if (rep.clients.empty()) return 0;
  const VersionRow& row = rep.versions[rep.clients[rep.clients.size() - 1].version];
  const auto* const record =
      row.operation ? std::get_if<op::Reconciled>(&row.operation->operation.what) : nullptr;
  return record ? record->reference : 0;
}

std::uint64_t common_beginning(const History::Rep& rep, const op::Reconcile& sent) {
  const ClientState client = rep.client();
  return client.volatile_key == volatile_key(sent.volatile_parts)
             ? common_from(rep.log, client.list, sent, 0, false)
             : 0;
}

std::uint64_t messages_walked() { return walked; }
void add_messages_walked(std::uint64_t count) { walked += count; }

ClientMatch::ClientMatch(const History::Rep& rep, const op::Reconcile& sent, std::uint64_t alike)
    : rep_(rep),
      log_(rep.log),
      sent_(sent),
      client_(rep.client()),
      key_(volatile_key(sent.volatile_parts)),
      alike_(alike),
      takes_view_(sent.takes_view && !sent.is_delta) {
  make_identities();
  if (takes_view_) {
    start_from_view();
  } else {
    add_unsent(sent.volatile_parts);
    if (sent.is_delta) {
      go_on_with_delta();
    } else {
      find_ends();
    }
  }
  match_middle();
  find_returning();
  rewind();
  if (takes_view_) {
    find_gone_from_view();
  } else {
    find_gone();
  }
}

// Where identities are made otherwise than before, what was dropped is known by both. What is left of
// a message has no other identity than the one it had.
void ClientMatch::make_identities() {
  if (client_.volatile_key == key_) return;
  StoredReader stored(log_);
  const auto made_now = [&](const ClientEntry& entry) {
    const Message& message = stored.message(entry.ordinal);
    return message.is_redacted() ? entry.identity : identity(message, sent_.volatile_parts);
  };
  rekeyed_.reserve(client_.list.size());
  const auto visit = [](const ClientTree& entries, auto each) {
    entries.visit(
        0, entries.size(), [](const NoSums&) { return true; },
        [&](std::uint64_t, const ClientEntry& entry) {
          each(entry);
          return true;
        });
  };
  visit(client_.list,
        [&](const ClientEntry& entry) { rekeyed_.push_back({made_now(entry), entry.ordinal}); });
  visit(client_.dropped, [&](const ClientEntry& entry) {
    if (const Identity now = made_now(entry); now != entry.identity)
      left_out_.push_back({entry.ordinal, now});
  });
  client_.leave_out(left_out_);
}

// What was stored behind the list since the last request.
void ClientMatch::add_unsent(const VolatileParts& parts) {
  std::optional<std::uint32_t> last;
  if (!client_.list.empty()) last = client_.list[client_.list.size() - 1].ordinal;
  std::vector<std::uint32_t> ordinals;
  for (std::uint32_t ordinal = client_.log_length; ordinal < log_.size(); ++ordinal)
    if (!log_.stands_for(ordinal) && !(last && log_.order.before(ordinal, *last)))
      ordinals.push_back(ordinal);
  log_.order.sort(ordinals);
  StoredReader stored(log_);
  for (const std::uint32_t ordinal : ordinals)
    old_.push_back({identity(stored.message(ordinal), parts), ordinal});
  unsent_ = old_.size();
}

std::uint64_t ClientMatch::common_beginning() const {
  if (rekeyed_.empty()) return common_from(log_, client_.list, sent_, alike_, true);
  const std::uint64_t most = std::min<std::uint64_t>(client_.list.size(), sent_.list.size());
  std::uint64_t same = 0;
  while (same < most && rekeyed_[same].identity == sent_.list[same].identity) ++same;
  return same;
}

std::uint64_t ClientMatch::common_end(std::uint64_t most) const {
  const std::uint64_t size = client_.list.size();
  std::uint64_t same = 0;
  ClientTree::Chunk chunk;
  for (; same < most; ++same) {
    log_.go_on(same);
    const std::uint64_t at = size - 1 - same;
    if (rekeyed_.empty() && (at < chunk.begin || at >= chunk.end)) chunk = client_.list.chunk(at);
    const Identity& before =
        rekeyed_.empty() ? chunk.items[at - chunk.begin].identity : rekeyed_[at].identity;
    if (before != sent_.list[sent_.list.size() - 1 - same].identity) break;
  }
  return same;
}

void ClientMatch::find_ends() {
  const std::uint64_t size = client_.list.size();
  begin_ = prefix_ = common_beginning();
  end_ = sent_.list.size();
  // What was not sent yet stands behind the list: then its end may be in the middle of the request.
  if (unsent_ == 0) suffix_ = common_end(std::min<std::uint64_t>(size, end_) - prefix_);
  end_ -= suffix_;
  std::vector<ClientEntry> middle;
  for (std::uint64_t at = prefix_; at < size - suffix_; ++at) {
    log_.go_on(at);
    middle.push_back(old_entry(at));
  }
  old_.insert(old_.begin(), middle.begin(), middle.end());
}

namespace {

// How many of the last of `before` are the first of `now`: the most.
std::size_t overlap(const std::vector<Identity>& before, const std::vector<Identity>& now) {
  // For each beginning of `now`, the longest shorter one that it ends with.
  std::vector<std::size_t> shorter(now.size(), 0);
  for (std::size_t i = 1, k = 0; i < now.size(); ++i) {
    while (k > 0 && now[i] != now[k]) k = shorter[k - 1];
    if (now[i] == now[k]) ++k;
    shorter[i] = k;
  }
  std::size_t k = 0;
  for (const Identity& each : before) {
    while (k > 0 && (k == now.size() || each != now[k])) k = shorter[k - 1];
    if (k < now.size() && each == now[k]) ++k;
  }
  return k;
}

}  // namespace

// The list goes on with what is new. Instructions stand in every request, and some begin with what
// was sent since something was cached. A delta that goes on with another answer than the one before
// says nothing again of what was sent or dropped; it may have the answer. One that goes on with the
// same answer as before, and says what was said then, is sent again.
void ClientMatch::go_on_with_delta() {
  prefix_ = client_.list.size();
  end_ = sent_.list.size();
  skip_said_instructions();
  if (sent_.reference != 0 && newest_reference(rep_) == sent_.reference && list_ends_with_delta()) {
    begin_ = end_;
    old_.clear();
    unsent_ = 0;
    return;
  }
  const PlacedView view = rep_.head.placed();
  for (const ClientEntry& entry : old_)
    if (view.shows(entry.ordinal) || is_answer(entry.ordinal)) implied_.push_back(entry);
  old_.clear();
  unsent_ = 0;
  std::vector<Identity> before, now;
  for (std::size_t place = begin_; place < end_; ++place) now.push_back(sent_.list[place].identity);
  const std::uint64_t repeated_max =
      goes_on_with_another_answer() ? 0 : std::min<std::uint64_t>(prefix_, now.size());
  for (std::uint64_t at = prefix_ - repeated_max; at < prefix_; ++at) {
    log_.go_on(at);
    before.push_back(old_entry(at).identity);
  }
  for (const ClientEntry& entry : implied_) before.push_back(entry.identity);
  begin_ += overlap(before, now);
}

bool ClientMatch::list_ends_with_delta() const {
  const std::uint64_t count = end_ - begin_;
  if (count > prefix_) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    log_.go_on(i);
    if (old_entry(prefix_ - count + i).identity != sent_.list[begin_ + i].identity) return false;
  }
  return true;
}

bool ClientMatch::goes_on_with_another_answer() const {
  if (!sent_.is_delta || sent_.reference == 0) return false;
  const std::uint64_t before = newest_reference(rep_);
  return before != 0 && before != sent_.reference;
}

// A delta may begin with system prompts that stand at the same places of the list, or anywhere in
// it: an earlier delta may have brought them. What a developer says there may be said again. All of
// them are looked for in one walk.
void ClientMatch::skip_said_instructions() {
  std::size_t end = begin_;
  std::unordered_set<Identity, IdentityHash> wanted;
  for (; end < end_; ++end) {
    log_.go_on(end);
    const op::Reconcile::Sent& sent = sent_.list[end];
    if (sent.message.role() != Role::system) break;
    if (stands_at_place(end)) continue;
    if (MessageReading(sent.message).turn().is_developer) break;
    wanted.insert(sent.identity);
  }
  for (std::uint64_t at = prefix_; at-- > 0 && !wanted.empty();) {
    log_.go_on(at);
    wanted.erase(old_entry(at).identity);
  }
  while (begin_ < end && (stands_at_place(begin_) || !wanted.contains(sent_.list[begin_].identity)))
    ++begin_;
}

bool ClientMatch::stands_at_place(std::size_t place) const {
  return place < prefix_ && sent_.list[place].identity == old_entry(place).identity;
}

void ClientMatch::match_middle() {
  std::vector<Identity> before, now;
  for (const ClientEntry& entry : old_) before.push_back(entry.identity);
  for (std::size_t place = begin_; place < end_; ++place) now.push_back(sent_.list[place].identity);
  known_.resize(now.size());
  matched_.resize(before.size());
  for (const auto& [a, b] : match_lists(before, now, log_.work.get())) {
    known_[b] = known_as(a);
    matched_[a] = true;
  }
  forget_repeated_behind_summary();
}

// A client that compacts keeps the end of its list behind the new summary, or nothing. Where that
// end went, what says the same as a message before it is said again, such as a note about a
// command: the summary stands for the former one, and for what followed it.
void ClientMatch::forget_repeated_behind_summary() {
  if (takes_view_ || sent_.is_delta || suffix_ > 0) return;
  std::size_t summary = begin_;
  while (summary < end_ && (known(summary) || !sent_.list[summary].is_summary)) ++summary;
  if (summary == end_ || client_.count_dropped_as(sent_.list[summary].identity) > 0) return;
  // Behind the last message that both have. An answer that was not sent yet is no end of the list.
  std::size_t gone = 0, fresh = 0;
  for (std::size_t i = old_.size(); i-- > 0 && !matched_[i];)
    if (i < old_.size() - unsent_) ++gone;
  while (fresh < end_ - summary && !known(end_ - 1 - fresh)) ++fresh;
  if (gone <= fresh) return;  // as if they were changed
  std::unordered_map<std::uint32_t, std::size_t> old;
  for (std::size_t i = 0; i < old_.size(); ++i) old.emplace(old_[i].ordinal, i);
  for (std::size_t place = summary + 1; place < end_; ++place) {
    const Known* const at = known(place);
    if (!at) continue;
    matched_[old.at(at->ordinal)] = false;
    known_[place - begin_].reset();
  }
}

ClientMatch::Known ClientMatch::known_as(std::size_t old) const {
  const std::uint32_t ordinal = old_[old].ordinal;
  if (takes_view_) {
    const auto at = rest_.find(ordinal);
    return at == rest_.end() ? Known{ordinal, From::unsent, 0}
                             : Known{ordinal, From::list, at->second};
  }
  const bool was_sent = old < old_.size() - unsent_;
  return {ordinal, was_sent ? From::list : From::unsent, was_sent ? prefix_ + old : 0};
}

namespace {

// How many dropped messages of one identity are looked at, where a request has it `count` times.
constexpr std::uint64_t looked_at(std::size_t count) { return 64 + 4 * count; }

using WantedCounts = std::unordered_map<Identity, std::size_t, IdentityHash>;

}  // namespace

void ClientMatch::find_returning() {
  if ((client_.dropped.empty() && hidden_.empty()) || goes_on_with_another_answer()) return;
  if (takes_view_) kept();  // without what returns: that tells nothing yet
  std::optional<std::uint32_t> left;
  if (prefix_ > 0) left = client_.list[prefix_ - 1].ordinal;
  std::size_t begin = begin_;
  for (std::size_t place = begin_; place < end_; ++place) {
    log_.go_on(place);
    const Known* const at = known(place);
    if (!at) continue;
    add_returning(begin, place, left, at->ordinal);
    left = at->ordinal;
    begin = place + 1;
  }
  add_returning(begin, end_, left, next_ordinal());
}

// A request from before a compaction has messages that were written again since. Those that it kept
// stand where they were, so what was dropped around them counts as much as what is listed now, if
// then fewer messages are new.
void ClientMatch::rewind() {
  if (takes_view_ || sent_.is_delta || client_.dropped.empty()) return;
  std::unordered_set<Identity, IdentityHash> listed;
  for (const ClientEntry& entry : old_) listed.insert(entry.identity);
  std::unordered_map<Identity, std::size_t, IdentityHash> wanted;
  std::size_t known = 0;
  bool has_moved = false;  // whether something is new that is there already
  for (std::size_t place = begin_; place < end_; ++place) {
    log_.go_on(place);
    const Identity& identity = sent_.list[place].identity;
    ++wanted[identity];
    if (known_[place - begin_]) {
      ++known;
    } else if (listed.contains(identity) || !client_.dropped_as(identity, 1).empty()) {
      has_moved = true;
    }
  }
  if (!has_moved) return;
  std::unordered_map<std::uint32_t, std::size_t> old;
  for (std::size_t i = 0; i < old_.size(); ++i) old.emplace(old_[i].ordinal, i);
  std::vector<ClientEntry> all = old_;
  std::optional<std::uint32_t> left, right = next_ordinal();
  if (prefix_ > 0) left = client_.list[prefix_ - 1].ordinal;
  for (const auto& [identity, count] : wanted) {
    log_.go_on();
    for (const std::uint32_t ordinal : may_return(identity, looked_at(count)))
      if (may_stand_between(left, ordinal, right)) all.push_back({identity, ordinal});
  }
  std::sort(all.begin(), all.end(), [&](const ClientEntry& a, const ClientEntry& b) {
    return log_.order.before(a.ordinal, b.ordinal);
  });
  std::vector<Identity> before, now;
  for (const ClientEntry& entry : all) before.push_back(entry.identity);
  for (std::size_t place = begin_; place < end_; ++place) now.push_back(sent_.list[place].identity);
  const Matches matches = match_lists(before, now, log_.work.get());
  // Going back, the client sends what it sent then, and goes on from there: nothing new stands in
  // between.
  if (matches.size() <= known || matches.back().second + std::size_t{1} != matches.size()) return;
  known_.assign(now.size(), std::nullopt);
  matched_.assign(old_.size(), false);
  for (const auto& [a, b] : matches) {
    const auto at = old.find(all[a].ordinal);
    known_[b] = at == old.end() ? Known{all[a].ordinal, From::dropped, 0} : known_as(at->second);
    if (at != old.end()) matched_[at->second] = true;
  }
}

bool ClientMatch::may_stand_between(std::optional<std::uint32_t> left, std::uint32_t ordinal,
                                    std::optional<std::uint32_t> right) const {
  return !(left && !log_.order.before(*left, ordinal)) &&
         !(right && !log_.order.before(ordinal, *right)) &&
         !(rep_.first_version > 0 && was_pruned(log_.message(ordinal)));
}

// What can return to [begin, end) of the request, between the messages `left` and `right`. Texts
// that were dropped very often come last: then their neighbours tell which of them it is.
void ClientMatch::add_returning(std::size_t begin, std::size_t end,
                                std::optional<std::uint32_t> left,
                                std::optional<std::uint32_t> right) {
  WantedCounts wanted, often;
  for (std::size_t place = begin; place < end; ++place) ++wanted[sent_.list[place].identity];
  for (const auto& [identity, count] : wanted) {
    log_.go_on();
    if (client_.count_dropped_as(identity) > looked_at(count)) often.emplace(identity, count);
  }
  std::vector<ClientEntry> returning;
  for (const auto& [identity, count] : wanted) {
    log_.go_on();
    for (const std::uint32_t ordinal :
         may_return(identity, often.contains(identity) ? 0 : looked_at(count)))
      if (may_stand_between(left, ordinal, right)) returning.push_back({identity, ordinal});
  }
  match_returning(begin, end, std::move(returning), right.has_value());
  if (!often.empty()) add_often(begin, end, left, right, often);
}

// The same between all that is known by now, of those near their neighbours.
void ClientMatch::add_often(std::size_t begin, std::size_t end, std::optional<std::uint32_t> left,
                            std::optional<std::uint32_t> right, const WantedCounts& often) {
  const auto add = [&](std::size_t from, std::size_t to, std::optional<std::uint32_t> before,
                       std::optional<std::uint32_t> behind) {
    WantedCounts wanted;
    for (std::size_t place = from; place < to; ++place)
      if (const Identity& identity = sent_.list[place].identity; often.contains(identity))
        ++wanted[identity];
    std::vector<ClientEntry> returning;
    for (const auto& [identity, count] : wanted) {
      log_.go_on();
      for (const std::uint32_t ordinal : client_.dropped_between(
               identity, looked_at(count), before ? *before + 1 : 0, behind ? *behind : no_place))
        if (may_return(ordinal) && may_stand_between(before, ordinal, behind))
          returning.push_back({identity, ordinal});
    }
    match_returning(from, to, std::move(returning), behind.has_value());
  };
  std::size_t from = begin;
  for (std::size_t place = begin; place < end; ++place) {
    const Known* const at = known(place);
    if (!at) continue;
    const std::uint32_t ordinal = at->ordinal;
    add(from, place, left, ordinal);
    left = ordinal;
    from = place + 1;
  }
  add(from, end, left, right);
}

// Each place of [begin, end) that is not known gets one of `returning`, as the log's order allows.
void ClientMatch::match_returning(std::size_t begin, std::size_t end,
                                  std::vector<ClientEntry> returning, bool ends_at_known) {
  if (returning.empty()) return;
  std::sort(returning.begin(), returning.end(), [&](const ClientEntry& a, const ClientEntry& b) {
    return log_.order.before(a.ordinal, b.ordinal);
  });
  const auto is_same = [](const ClientEntry& a, const ClientEntry& b) {
    return a.ordinal == b.ordinal;
  };
  returning.erase(std::unique(returning.begin(), returning.end(), is_same), returning.end());
  std::vector<Identity> before, now;
  for (const ClientEntry& entry : returning) before.push_back(entry.identity);
  for (std::size_t place = begin; place < end; ++place) now.push_back(sent_.list[place].identity);
  // Behind the last message of a request anything may have stood: that both end alike says nothing.
  if (!ends_at_known) now.push_back({});
  for (const auto& [a, b] : match_lists(before, now, log_.work.get()))
    if (begin + b < end) known_[begin + b - begin_] = Known{returning[a].ordinal, From::dropped, 0};
}

// Not of what the request is compared with already. A client that is given the view sees what is
// visible and what is told; what was redacted is not what it sends, and would be seen.
bool ClientMatch::may_return(std::uint32_t ordinal) const {
  if (!takes_view_) return !old_ordinals().contains(ordinal) && !is_told_by_listed(ordinal);
  return !view_.shows(ordinal) && !is_told_by_kept(ordinal) && !log_.message(ordinal).is_redacted();
}

// By a summary of the client's own that it still sends, or that a new one tells: where it says the
// same behind that, it says it again.
bool ClientMatch::is_told_by_listed(std::uint32_t ordinal) const {
  std::vector<std::uint32_t> open = log_.stand_ins_of(ordinal);
  std::unordered_set<std::uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    const std::uint32_t maker = open.back();
    open.pop_back();
    if (log_.originals(maker) && is_told_in_list(maker, ordinal)) return true;
    for (const std::uint32_t above : log_.stand_ins_of(maker))
      if (seen.insert(above).second) open.push_back(above);
  }
  return false;
}

bool ClientMatch::is_told_in_list(std::uint32_t ordinal, std::uint32_t told) const {
  std::uint64_t low = 0, high = client_.list.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (log_.order.before(client_.list[middle].ordinal, ordinal)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == client_.list.size() || client_.list[low].ordinal != ordinal) return false;
  const bool is_sent =
      low < prefix_ || low >= client_.list.size() - suffix_ || matched_[low - prefix_];
  return (is_sent && log_.order.before(ordinal, told)) || makes_summary();
}

// A summary that the client sent before, and sends again, is an earlier list's. What stands before
// a new one comes back: the client went back there, and summarised from there on.
bool ClientMatch::makes_summary() const {
  if (makes_summary_) return *makes_summary_;
  makes_summary_ = false;
  for (std::size_t place = begin_; place < end_ && !*makes_summary_; ++place) {
    const op::Reconcile::Sent& sent = sent_.list[place];
    if (known(place)) continue;
    if (!sent.is_summary && sent.message.role() != Role::system) break;
    makes_summary_ = sent.is_summary && client_.count_dropped_as(sent.identity) == 0;
  }
  return *makes_summary_;
}

// Messages that the client dropped, the last `most` of them, and those that it has and does not
// see.
std::vector<std::uint32_t> ClientMatch::may_return(const Identity& identity,
                                                   std::uint64_t most) const {
  std::vector<std::uint32_t> ordinals = client_.dropped_as(identity, most);
  const auto [begin, end] = hidden_.equal_range(identity);
  for (auto at = begin; at != end; ++at) ordinals.push_back(at->second);
  std::erase_if(ordinals, [&](std::uint32_t ordinal) { return !may_return(ordinal); });
  return ordinals;
}

const std::unordered_set<std::uint32_t>& ClientMatch::old_ordinals() const {
  if (old_ordinals_) return *old_ordinals_;
  old_ordinals_.emplace();
  for (const ClientEntry& entry : old_) old_ordinals_->insert(entry.ordinal);
  return *old_ordinals_;
}

void ClientMatch::find_gone() {
  const std::size_t of_list = old_.size() - unsent_;
  for (std::size_t i = 0; i < of_list; ++i)
    if (!matched_[i]) gone_.push_back(old_[i].ordinal);
  removed_ = gone_.size();
  bool may_be_at_end = true;
  for (std::size_t place = end_; place-- > begin_;) {
    const Known* const at = known(place);
    const bool was_sent = at && at->from == From::list;
    if (was_sent) may_be_at_end = false;
    if (!was_sent && !may_be_at_end) is_at_end_ = false;
  }
  if (suffix_ > 0 && begin_ < end_) is_at_end_ = false;
  leave_out_answers();
}

// A recorded answer that the client does not send, or has in another form, was dropped, and so were
// the results of its calls. What people appended or merged stays.
void ClientMatch::leave_out_answers() {
  const bool is_known =
      !client_.list.empty() || std::find(matched_.begin(), matched_.end(), true) != matched_.end();
  if (unsent_ == 0 || !is_known) return;
  const PlacedView view = rep_.head.placed();
  for (std::size_t i = old_.size() - unsent_; i < old_.size(); ++i) {
    log_.go_on();
    const auto& [identity, ordinal] = old_[i];
    if (matched_[i] || !is_answer(ordinal)) continue;
    left_out_.push_back({ordinal, identity});
    if (view.shows(ordinal) || stand_in(log_, view, ordinal)) gone_.push_back(ordinal);
  }
}

// Of a model, or of a tool that it called: not what a fork achieved, nor what was put somewhere.
bool ClientMatch::is_answer(std::uint32_t ordinal) const {
  const VersionRow& row = rep_.versions[rep_.version_that_stored(ordinal)];
  if (row.operation && !std::holds_alternative<op::Append>(row.operation->operation.what))
    return false;
  const Role role = log_.stored[ordinal].role();
  if (role == Role::assistant || role == Role::tool) return true;
  const std::vector<ToolLink> links = log_.message(ordinal).tool_links();
  return std::any_of(links.begin(), links.end(),
                     [](const ToolLink& link) { return link.side == ToolLink::Side::result; });
}

std::optional<std::uint32_t> ClientMatch::ordinal(std::size_t place) const {
  const Known* const at = known(place);
  return at ? std::optional(at->ordinal) : std::nullopt;
}

bool ClientMatch::is_listed(std::size_t place) const {
  const Known* const at = known(place);
  return at && at->from == From::list;
}

bool ClientMatch::returns(std::size_t place) const {
  const Known* const at = known(place);
  return at && at->from == From::dropped;
}

std::optional<std::uint32_t> ClientMatch::next_ordinal() const {
  if (suffix_ == 0) return std::nullopt;
  return client_.list[client_.list.size() - suffix_].ordinal;
}

std::uint32_t ClientMatch::ordinal_at_end(std::size_t place) const {
  return client_.list[client_.list.size() - (sent_.list.size() - place)].ordinal;
}

std::uint64_t ClientMatch::common() const {
  return takes_view_ ? sent_.list.size() - added() : client_.list.size() - removed_;
}

std::uint64_t ClientMatch::added() const {
  std::uint64_t count = implied_.size();
  for (std::size_t place = begin_; place < end_; ++place) {
    const Known* const at = known(place);
    const bool was_visible = takes_view_ && at && at->from == From::unsent;
    if (!is_listed(place) && !was_visible) ++count;
  }
  return count;
}

std::unordered_set<std::uint32_t> ClientMatch::listed() const {
  if (takes_view_) return listed_from_view();
  std::unordered_set<std::uint32_t> ordinals;
  client_.list.visit(
      0, client_.list.size(), [](const NoSums&) { return true; },
      [&](std::uint64_t, const ClientEntry& entry) {
        ordinals.insert(entry.ordinal);
        return true;
      });
  for (const std::optional<Known>& at : known_)
    if (at) ordinals.insert(at->ordinal);
  return ordinals;
}

}  // namespace undertext
