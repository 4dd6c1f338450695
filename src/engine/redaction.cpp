// Redaction: taking the text of messages out for good, with what was derived from them, in all
// conversations that share them.
//
// The family of a message is the conversation whose record it is, and all forks of that, of these,
// and so on; and what such a fork was merged into. What came by MERGE_FORK is the same message: it
// goes in both. What was derived is found in each of them, since a fork goes on by itself. Texts of
// operations go first, while the messages that they quote can still be read: done again after a
// failure, it ends with the same.
#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "engine/conversation_rep.hpp"
#include "engine/index_conversation.hpp"
#include "engine/outcome_bytes.hpp"
#include "history/derived.hpp"
#include "history/merged.hpp"
#include "history/operation_bytes.hpp"
#include "history/ordered.hpp"
#include "message/redacted.hpp"
#include "store/chain.hpp"

namespace undertext {

std::optional<Error> Durable::redact(const OwnedMessages& ordinals, const Removal& removal) {
  std::optional<Error> failed;
  for (const auto& [owner, own] : ordinals) {
    std::vector<MessageRecord> stubs;
    for (const std::uint64_t ordinal : own) {
      std::vector<MessageRecord> found = store_->messages(owner, ordinal, ordinal + 1).value();
      if (found.empty())
        throw Failure(Error{ErrorCode::corrupt,
                            "message " + std::to_string(ordinal) + " of " + owner + " is missing"});
      MessageRecord record = std::move(found.front());
      if (!record.redacted) record.redacted = sha256(record.body);
      record.body = redacted(message_of(record),
                             {removal.who, removal.at_ms, removal.why, hex(*record.redacted)})
                        .json();
      stubs.push_back(std::move(record));
    }
    if (Result<void> done = store_->redact(owner, stubs, removal); !done)
      failed = std::move(done.error());
  }
  bodies_.reset();  // it may know the old ones
  has_read_words_ = false;
  return failed;
}

std::vector<VersionRecord> Durable::redacted_records(const QuotingOperations& operations,
                                                     const QuotableTexts& texts) {
  std::vector<VersionRecord> redacted;
  const std::uint64_t first =
      std::max(record_.first_version, record_.origin ? record_.origin->version : 0) + 1;
  for (std::uint64_t at = first; at <= record_.version;) {
    for (VersionRecord& record : versions(at, std::min(at + 1000, record_.version + 1))) {
      at = record.version + 1;
      RecordedOperation operation = operation_of(record);
      bool changed = operations.redact(operation, record.version);
      if (changed) {
        ByteOut out;
        write_record(out, operation, KeptPart::present);
        record.arguments = '\0' + out.bytes;
      }
      if (!record.answer.empty()) {
        Outcome outcome = read_outcome(record.answer);
        edit_texts(outcome, [&](std::string& text) {
          if (!texts.quoted_in(text)) return;
          text = redacted_text;
          changed = true;
        });
        if (changed) record.answer = outcome_bytes(outcome);
      }
      if (changed) redacted.push_back(std::move(record));
    }
  }
  return redacted;
}

std::optional<Error> Durable::redact(History& history, const QuotingOperations& operations,
                                     const QuotableTexts& texts) {
  Prune prune;
  prune.conversation = record_.id;
  prune.expected_version = record_.version;
  prune.first_version = record_.first_version;
  prune.operations = redacted_records(operations, texts);
  rewrite_pages(operations.redacted(history), prune);
  if (Result<void> done = store_->prune(prune); !done) return std::move(done.error());
  if (record_.origin) record_.origin->next_page = 1;
  record_.next_page = prune.checkpoint.next_page;
  history = history_on(prune.checkpoint);
  return {};
}

// A conversation that shares messages with others, with what of them is to be redacted. One
// thread's; throws Failure.
class RedactionOfFamily {
 public:
  RedactionOfFamily(Conversation::Rep& rep, const History& history) : rep_(rep), own_(history) {}

  std::optional<Error> find(const std::vector<Ordinal>& ordinals) {
    if (ordinals.empty()) return {};
    std::uint64_t lowest = ordinals.front().value;
    for (const Ordinal ordinal : ordinals) {
      if (ordinal.value >= own_.stats().total_messages)
        return Error{ErrorCode::not_found,
                     "there is no message with ordinal " + std::to_string(ordinal.value),
                     "ordinals"};
      wanted_.emplace(rep_.durable->owner_of_message(ordinal.value), ordinal.value);
      lowest = std::min(lowest, ordinal.value);
    }
    add_member(merged_into(rep_.durable->owner_of_message(lowest)));
    find_all();
    for (Member& member : members_) find_quotes(member);
    return {};
  }

  // Texts of operations, forks before what they are forked from: then nobody needs its pages any
  // more.
  std::optional<Error> redact_operations(History& history) {
    return members_.empty() ? std::nullopt : redact_operations(members_.front(), false, history);
  }

  std::optional<Error> redact_messages(bool with_derived, const Removal& removal) {
    const std::set<Place>& places = with_derived ? all_ : wanted_;
    Durable::OwnedMessages owned;
    for (const auto& [owner, ordinal] : places) owned[owner].push_back(ordinal);
    found_.messages = places.size();
    for (Member& member : members_) member.has_some = !in_log_of(member, places).empty();
    // Requests have the text in their own bytes. What an owner has goes with its messages.
    std::optional<Error> failed;
    for (const Member& member : members_)
      if (member.has_some && !owned.contains(member.id))
        if (Result<void> done = rep_.durable->empty_requests_of(member.id, removal); !done)
          failed = std::move(done.error());
    rep_.recent_texts.clear();
    for (const auto& [owner, ordinals] : owned) owners_.push_back(owner);
    std::optional<Error> error = rep_.durable->redact(owned, removal);
    return error ? error : failed;
  }

  // Sizes and counts are those of the stubs from now on.
  std::optional<Error> recount(History& history) {
    std::optional<Error> counted;
    Tries tries;
    do {
      history = rep_.durable->load().recounted_where_replaced(rep_.context.count_tokens);
      counted = rep_.durable->recounted(history, rep_.tokenizer);
    } while (counted && tries.may_retry(*counted));
    for (Member& member : members_) {
      if (!member.conversation || !member.has_some) continue;
      // The one that is open has the old bodies in memory.
      member.conversation = rep_.durable->open_counted(member.id, rep_.settings).value();
      if (Result<void> done = member.conversation->recount(); !done) return std::move(done.error());
    }
    return counted;
  }

  Redaction take() { return std::move(found_); }
  // Conversations whose records redact_messages() changed.
  std::vector<std::string> owners() { return std::move(owners_); }

 private:
  using Place = std::pair<std::string, std::uint64_t>;  // whose record it is, and its ordinal
  struct Member {
    std::string id;
    std::optional<Conversation> conversation;  // unset: the one that redacts
    std::vector<Member*> forks = {};
    std::vector<std::uint32_t> derived = {};
    bool has_some = false;
  };

  Member& add_member(const std::string& id) {
    Member& member = members_.emplace_back(Member{id, std::nullopt});
    if (id != rep_.durable->id())
      member.conversation = rep_.durable->open_counted(id, rep_.settings).value();
    for (const std::string& fork : rep_.durable->forks_of(id))
      member.forks.push_back(&add_member(fork));
    return member;
  }

  // The farthest of those that it was forked from into which it, or what it was merged into, was
  // merged; else itself.
  std::string merged_into(const std::string& id) {
    std::string root = id;
    std::string at = id;
    while (const std::optional<Origin> origin = rep_.durable->origin_of(at)) {
      const History parent =
          origin->conversation == rep_.durable->id()
              ? own_
              : rep_.durable->open_counted(origin->conversation, rep_.settings).value().history();
      const std::vector<TakenFromFork> taken = taken_from_forks(parent.rep());
      if (std::any_of(taken.begin(), taken.end(),
                      [&](const TakenFromFork& each) { return each.from == at; }))
        root = origin->conversation;
      at = origin->conversation;
    }
    return root;
  }

  // What is wanted, and what is derived from it: also from what a fork derived and a MERGE_FORK
  // brought here, and so on.
  void find_all() {
    const std::vector<std::pair<Place, Place>> same = merged();
    add_same(same, wanted_);
    all_.insert(wanted_.begin(), wanted_.end());
    for (std::size_t before = 0; before != all_.size();) {
      before = all_.size();
      for (Member& member : members_) find_in(member);
      add_same(same, all_);
    }
    for (Member& member : members_) list(member);
  }

  // Each message that came from a fork, with the fork's own.
  std::vector<std::pair<Place, Place>> merged() {
    std::vector<std::pair<Place, Place>> same;
    for (Member& member : members_) {
      const Durable& durable = *rep_of(member).durable;
      for (const TakenFromFork& taken : taken_from_forks(history_of(member).rep())) {
        const auto is_fork = [&](const Member& other) { return other.id == taken.from; };
        if (std::none_of(members_.begin(), members_.end(), is_fork)) continue;  // it was purged
        for (std::size_t i = 0; i < taken.ordinals.size(); ++i)
          same.push_back({{durable.owner_of_message(taken.first + i), taken.first + i},
                          {taken.from, taken.ordinals[i]}});
      }
    }
    return same;
  }

  static void add_same(const std::vector<std::pair<Place, Place>>& same, std::set<Place>& places) {
    for (std::size_t before = 0; before != places.size();) {
      before = places.size();
      for (const auto& [here, there] : same) {
        if (places.contains(here)) places.insert(there);
        if (places.contains(there)) places.insert(here);
      }
    }
  }

  // The summaries of forks that have some of what goes.
  std::vector<std::uint32_t> summaries_of_forks(const History& history) const {
    std::vector<std::uint32_t> found;
    for (const TakenFromFork& taken : taken_from_forks(history.rep())) {
      const auto is_its = [&](const Place& place) { return place.first == taken.from; };
      if (taken.ordinals.empty() && std::any_of(all_.begin(), all_.end(), is_its))
        found.push_back(static_cast<std::uint32_t>(taken.first));
    }
    return found;
  }

  Conversation::Rep& rep_of(Member& member) {
    return member.conversation ? *member.conversation->rep_ : rep_;
  }
  History history_of(Member& member) {
    return with_order(member.conversation ? member.conversation->history() : own_);
  }

  // Their ordinals, rising.
  std::vector<std::uint32_t> in_log_of(Member& member, const std::set<Place>& places) {
    const std::uint64_t size = history_of(member).stats().total_messages;
    const Durable& durable = *rep_of(member).durable;
    std::vector<std::uint32_t> here;
    for (const auto& [owner, ordinal] : places)
      if (ordinal < size && durable.owner_of_message(ordinal) == owner)
        here.push_back(static_cast<std::uint32_t>(ordinal));
    std::sort(here.begin(), here.end());
    return here;
  }

  void find_in(Member& member) {
    const History history = history_of(member);
    const std::vector<std::uint32_t> summaries = summaries_of_forks(history);
    std::vector<std::uint32_t> some = in_log_of(member, all_);
    some.insert(some.end(), summaries.begin(), summaries.end());
    const std::vector<std::uint32_t> derived = derived_from(history.rep(), some);
    some.insert(some.end(), derived.begin(), derived.end());
    for (const std::uint32_t ordinal : some)
      all_.emplace(rep_of(member).durable->owner_of_message(ordinal), ordinal);
  }

  void list(Member& member) {
    const History history = history_of(member);
    const Log& log = history.rep().log;
    member.derived.clear();
    for (const std::uint32_t ordinal : in_log_of(member, all_)) {
      const Place place{rep_of(member).durable->owner_of_message(ordinal), ordinal};
      const bool is_derived = !wanted_.contains(place);
      if (is_derived) member.derived.push_back(ordinal);
      if (!listed_.insert(place).second) continue;
      texts_.add(log.message(ordinal));
      const std::optional<ForkedFrom> from = forked_from(history.rep(), ordinal);
      if (is_derived)
        found_.derived.push_back(
            {place.first, Ordinal(ordinal), log.originals(ordinal) || (from && !from->ordinal)});
    }
  }

  void find_quotes(Member& member) {
    const QuotingOperations quoting(texts_, history_of(member), member.derived);
    for (const std::uint32_t version : quoting.versions())
      if (rep_of(member).durable->owner_of_version(version) == member.id)
        found_.operations.push_back({member.id, Version(version)});
  }

  // In an operation, its own or its origin's, or in what an operation id is answered with.
  bool has_quotes(Member& member) {
    const QuotingOperations quoting(texts_, history_of(member), member.derived);
    return !quoting.versions().empty() ||
           !rep_of(member).durable->redacted_records(quoting, texts_).empty();
  }

  std::optional<Error> redact_operations(Member& member, bool of_origin, History& own) {
    const bool needed = of_origin || has_quotes(member);
    for (Tries tries;;) {
      for (Member* fork : member.forks)
        if (auto failed = redact_operations(*fork, needed, own)) return failed;
      if (!needed) return {};
      const auto change = [&](History& history) {
        return rep_of(member).durable->redact(
            history, QuotingOperations(texts_, history, member.derived), texts_);
      };
      const std::optional<Error> error =
          member.conversation
              ? member.conversation->rep_->change_stored(change, Conversation::Rep::Tell::rewritten)
              : change(own);
      if (!error || !tries.may_retry(*error)) return error;
      if (!member.conversation) rep_.durable->catch_up(own);
      add_new_forks(member);
    }
  }

  // Somebody may have forked meanwhile.
  void add_new_forks(Member& member) {
    for (const std::string& fork : rep_.durable->forks_of(member.id)) {
      const auto is_it = [&](const Member* known) { return known->id == fork; };
      if (std::any_of(member.forks.begin(), member.forks.end(), is_it)) continue;
      member.forks.push_back(&add_member(fork));
      find_all();
    }
  }

  Conversation::Rep& rep_;
  const History own_;
  std::set<Place> wanted_, all_, listed_;
  std::deque<Member> members_;  // each before its forks
  QuotableTexts texts_;
  Redaction found_;
  std::vector<std::string> owners_;
};

Result<Redaction> Conversation::redact(const std::vector<Ordinal>& ordinals, const Removal& removal,
                                       const RedactOptions& options) {
  if (removal.who == retention)
    return Error{ErrorCode::invalid_argument,
                 "\"retention\" is written into what pruning leaves: give another name", "who"};
  Redaction done;
  std::optional<Error> failed;
  std::vector<std::string> owners;
  const std::optional<Error> refused = rep_->change_stored(
      [&](History& history) -> std::optional<Error> {
        RedactionOfFamily family(*rep_, history);
        if (std::optional<Error> error = family.find(ordinals)) return error;
        // What fails from here on has changed something: the history is another one, and that is
        // made known.
        failed = answering_failure([&]() -> std::optional<Error> {
          if (options.derived)
            if (std::optional<Error> error = family.redact_operations(history)) return error;
          const std::optional<Error> redacted = family.redact_messages(options.derived, removal);
          const std::optional<Error> counted = family.recount(history);
          return redacted ? redacted : counted;
        });
        done = family.take();
        owners = family.owners();
        return {};
      },
      Rep::Tell::rewritten);
  for (const std::string& owner : owners) index_again(*rep_->durable->store(), owner);
  if (refused || failed) return refused ? *refused : *failed;
  return done;
}

Result<Redaction> Conversation::find_derived(const std::vector<Ordinal>& ordinals) {
  Redaction found;
  const std::optional<Error> failed =
      rep_->change_stored([&](History& history) -> std::optional<Error> {
        RedactionOfFamily family(*rep_, history);
        if (std::optional<Error> error = family.find(ordinals)) return error;
        found = family.take();
        return {};
      });
  if (failed) return *failed;
  return found;
}

}  // namespace undertext
