// The log: all messages ever stored in a conversation, in order of arrival, with what is derived
// from them for finding tool pairs and the originals of summaries. A value: copies share
// everything, and storing into one copy does not show in another.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/message.hpp>
#include <undertext/work.hpp>

#include "base/shared.hpp"
#include "history/order.hpp"
#include "sequence/entry.hpp"

namespace undertext {

// One side of a tool pair that a message holds. The id is known by its hash alone, and two ids with
// one hash count as one: among a million ids of a conversation the chance of that is about 1 in
// 10^7. A false pair makes an edit keep, hide or warn of a message too many; nothing is lost by it.
struct Link {
  std::uint64_t hash_and_side;  // the upper 63 bits, and the lowest one: whether it is a call
  std::uint32_t ordinal;
  std::uint32_t
      // of a call: the ordinal of the first result of its id that came with it or later; no_place:
      // it waits. Of a result: 0
      answered_at;

  static Link of(const ToolLink& link, std::uint32_t ordinal);
  bool is_call() const { return (hash_and_side & 1) != 0; }
  std::uint64_t hash() const { return hash_and_side >> 1; }
  friend bool operator==(const Link&, const Link&) = default;
};
struct LinkSums {
  std::uint32_t ordinal_max = 0;
  std::uint32_t answered_max = 0;
  static LinkSums of(const Link& link) { return {link.ordinal, link.answered_at}; }
  LinkSums& operator+=(const LinkSums& next) {
    ordinal_max = std::max(ordinal_max, next.ordinal_max);
    answered_max = std::max(answered_max, next.answered_max);
    return *this;
  }
  friend bool operator==(const LinkSums&, const LinkSums&) = default;
};
template <>
struct ItemCodec<Link> {
  static void write(PageOut& out, const Link* items, unsigned n);
  static std::vector<Link> read(PageIn& in, unsigned n);
};
template <>
struct SumsCodec<LinkSums> {
  static void write(PageOut& out, const LinkSums& sums) {
    out.number(sums.ordinal_max);
    out.number(sums.answered_max);
  }
  static LinkSums read(PageIn& in) {
    const std::uint32_t ordinal_max = in.number32();
    return {ordinal_max, in.number32()};
  }
};
using LinkTree = HouseTree<Link, LinkSums>;

// Where a link with this hash is. May speak of links that were cut off: a note counts only if the
// link is there and has the hash.
struct LinkNote {
  std::uint32_t hash;  // upper half
  std::uint32_t link;  // its index
  static LinkNote of(std::uint64_t hash, std::uint64_t link) {
    return {static_cast<std::uint32_t>(hash >> 31), static_cast<std::uint32_t>(link)};
  }
  std::uint64_t key() const { return (static_cast<std::uint64_t>(hash) << 32) | link; }
  friend bool operator==(const LinkNote&, const LinkNote&) = default;
};
struct NoteSums {
  std::uint64_t last_key = 0;
  static NoteSums of(const LinkNote& note) { return {note.key()}; }
  NoteSums& operator+=(const NoteSums& next) {
    last_key = std::max(last_key, next.last_key);
    return *this;
  }
  friend bool operator==(const NoteSums&, const NoteSums&) = default;
};
template <>
struct ItemCodec<LinkNote> {
  static void write(PageOut& out, const LinkNote* items, unsigned n);
  static std::vector<LinkNote> read(PageIn& in, unsigned n);
};
template <>
struct SumsCodec<NoteSums> {
  static void write(PageOut& out, const NoteSums& sums) { out.number(sums.last_key); }
  static NoteSums read(PageIn& in) { return {in.number()}; }
};
using NoteTree = HouseTree<LinkNote, NoteSums>;

// A message that was made from others, and those originals, in view order.
struct OriginalsNote {
  std::uint32_t ordinal;
  Shared<std::vector<std::uint32_t>> originals;
  friend bool operator==(const OriginalsNote&, const OriginalsNote&) = default;
};

template <>
struct ItemCodec<OriginalsNote> {
  static void write(PageOut& out, const OriginalsNote* items, unsigned n);
  static std::vector<OriginalsNote> read(PageIn& in, unsigned n);
};

// Originals with neighbouring ordinals that one message stands for. Ordered by the first of them.
struct OriginalsSpan {
  std::uint32_t first;
  std::uint32_t end;
  std::uint32_t stand_in;
  friend bool operator==(const OriginalsSpan&, const OriginalsSpan&) = default;
};
struct SpanSums {
  std::uint32_t first_max = 0;
  std::uint32_t end_max = 0;
  std::uint32_t stand_in_max = 0;
  static SpanSums of(const OriginalsSpan& span) { return {span.first, span.end, span.stand_in}; }
  SpanSums& operator+=(const SpanSums& next) {
    first_max = std::max(first_max, next.first_max);
    end_max = std::max(end_max, next.end_max);
    stand_in_max = std::max(stand_in_max, next.stand_in_max);
    return *this;
  }
  friend bool operator==(const SpanSums&, const SpanSums&) = default;
};
template <>
struct ItemCodec<OriginalsSpan> {
  static void write(PageOut& out, const OriginalsSpan* items, unsigned n);
  static std::vector<OriginalsSpan> read(PageIn& in, unsigned n);
};
template <>
struct SumsCodec<SpanSums> {
  static void write(PageOut& out, const SpanSums& sums) {
    out.number(sums.first_max);
    out.number(sums.end_max);
    out.number(sums.stand_in_max);
  }
  static SpanSums read(PageIn& in) {
    const std::uint32_t first_max = in.number32(), end_max = in.number32();
    return {first_max, end_max, in.number32()};
  }
};

// Where bodies come from that are not in memory. Called on any thread. What goes wrong is thrown as
// Failure: unavailable, or corrupt.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual Message body(std::uint32_t ordinal) const = 0;
};

// The ids that a message mentions, by hash, each once, rising.
struct Mention {
  std::uint64_t hash = 0;
  bool calls = false, answers = false;
};

struct Log {
  // Microseconds each, at most: comparing identities, looking for one in a tree.
  static constexpr std::uint64_t small_steps = 256;

  StoredTree stored;  // by ordinal
  LinkTree links;     // of all messages, by ordinal, then as Message::tool_links() has them
  NoteTree notes;     // the same by hash

  // What stands for others: what COMPRESS made, and what REPLACE, MERGE, SPLIT and TRANSFORM made.
  // By ordinal.
  using MadeTree = HouseTree<OriginalsNote, NoSums>;
  MadeTree summaries;
  MadeTree copies;
  HouseTree<OriginalsSpan, SpanSums> spans;  // of both, by original

  LogOrder order;

  // False: the history was stored by a release that knew fewer kinds of calls. There are no links
  // until with_links() makes them.
  bool links_known = true;
  // False: by a release without an order. There are neither `order` nor `copies` nor `spans` until
  // with_order() makes them.
  bool order_known = true;
  bool views_are_in_order() const { return order_known && !order.departed(); }

  std::shared_ptr<const BodySource> bodies;  // null: all are in memory
  // null: without limits. Of a draft and of History::limited(), never of a version
  std::shared_ptr<Work> work;

  std::uint64_t size() const { return stored.size(); }
  Message message(std::uint32_t ordinal) const {
    check_ordinal(ordinal);
    return body_of(stored[ordinal], ordinal);
  }
  void go_on() const {
    if (work) work->go_on();
  }
  // Of a loop whose steps take less than asking does: asks at some of its places.
  void go_on(std::uint64_t place) const {
    if (place % small_steps == 0) go_on();
  }
  // What a damaged page names may not be there. Throws Failure: corrupt.
  void check_ordinal(std::uint64_t ordinal) const {
    if (ordinal >= stored.size()) throw_no_message(ordinal);
  }
  Message body_of(const StoredMessage& at, std::uint32_t ordinal) const {
    Message body = at.body.is_here() ? *at.body : bodies->body(ordinal);
    if (work) work->read(body.json());
    return body;
  }

  // Stores a message and answers its ordinal. Whether it is a summary must be known by then.
  std::uint32_t store(const Message& message, std::int64_t now_ms, std::uint32_t tokens);
  void note_summary(std::uint32_t ordinal, std::vector<std::uint32_t> originals);
  const std::vector<std::uint32_t>* originals(std::uint32_t ordinal) const;  // nullptr: no summary

  void note_copies(const std::vector<std::uint32_t>& copies, std::vector<std::uint32_t> originals);
  // What a summary or a copy stands for. nullptr: nothing.
  const std::vector<std::uint32_t>* stands_for(std::uint32_t ordinal) const;
  // what stands for it
  std::vector<std::uint32_t> stand_ins_of(std::uint32_t ordinal) const;
  // for stand_ins_of()
  void add_spans(std::uint32_t stand_in, std::vector<std::uint32_t> originals);

  static std::uint64_t hash_of(std::string_view id);

  // The links of a message are [first_link(o), first_link(o + 1)).
  std::uint64_t first_link(std::uint64_t ordinal) const;
  std::uint64_t count_links(std::uint32_t ordinal) const {
    return first_link(std::uint64_t{ordinal} + 1) - first_link(ordinal);
  }
  std::vector<Mention> mentions(std::uint32_t ordinal) const {
    return mentions(ordinal, first_link(ordinal));
  }
  // where its first link is known
  std::vector<Mention> mentions(std::uint32_t ordinal, std::uint64_t first) const;

  // Calls visit(link, index) -> bool for links with this hash, of messages from `around` down (not
  // included) or up, until it answers false or many notes were looked at.
  template <class Visit>
  void visit_mentions_below(std::uint64_t hash, std::uint64_t around, Visit visit) const;
  template <class Visit>
  void visit_mentions_from(std::uint64_t hash, std::uint64_t around, Visit visit) const;

  // The same in two steps, without an end: where the note of this link stands, or would; and
  // visit(link, index, note) for those of the notes [begin, end) that speak of links with this
  // hash, rising.
  std::uint64_t note_at(std::uint64_t hash, std::uint64_t link) const {
    return first_note(LinkNote::of(hash, link).key());
  }
  template <class Visit>
  void visit_notes(std::uint64_t hash, std::uint64_t begin, std::uint64_t end, Visit visit) const;

  // The same for all notes of the hash, in one step. False, and nothing is shown, where there are
  // more than a few.
  static constexpr std::size_t few_notes = 32;
  template <class Visit>
  bool visit_few(std::uint64_t hash, Visit visit) const;

  // Some programs use one id again in every turn.
  static constexpr std::size_t notes_max = 4096;

  // The messages with a call for which no result came, with it or later. Rising. O(log n) each.
  std::vector<std::uint32_t> waiting() const;

  // Makes the links of the message `ordinal`, the next one without.
  void add_links(std::uint32_t ordinal, const std::vector<ToolLink>& message_links);

  // Takes back everything from `length` on, for another conversation to go on from there.
  void cut(std::uint64_t length);

 private:
  [[noreturn]] static void throw_no_message(std::uint64_t ordinal);
  std::uint64_t first_note(std::uint64_t key) const;
  std::uint64_t spans_from(std::uint32_t first) const;
  void set_answered(std::uint64_t link, std::uint32_t answered_at);

  // Shows the link of a note if it has the hash; answers whether to go on.
  template <class Visit>
  bool visit_noted(const LinkNote& note, std::uint64_t hash, std::size_t& looked,
                   Visit& visit) const {
    if (note.hash != LinkNote::of(hash, 0).hash || ++looked > notes_max) return false;
    if (note.link >= links.size()) return true;
    const Link link = links[note.link];
    return link.hash() != hash || visit(link, std::uint64_t{note.link});
  }
};

template <class Visit>
void Log::visit_mentions_below(std::uint64_t hash, std::uint64_t around, Visit visit) const {
  std::size_t looked = 0;
  notes.visit_back(
      0, note_at(hash, first_link(around)), [](const NoteSums&) { return true; },
      [&](std::uint64_t, const LinkNote& note) { return visit_noted(note, hash, looked, visit); });
}

template <class Visit>
void Log::visit_mentions_from(std::uint64_t hash, std::uint64_t around, Visit visit) const {
  std::size_t looked = 0;
  notes.visit(
      note_at(hash, first_link(around)), notes.size(), [](const NoteSums&) { return true; },
      [&](std::uint64_t, const LinkNote& note) { return visit_noted(note, hash, looked, visit); });
}

template <class Visit>
void Log::visit_notes(std::uint64_t hash, std::uint64_t begin, std::uint64_t end,
                      Visit visit) const {
  notes.visit(
      begin, end, [](const NoteSums&) { return true; },
      [&](std::uint64_t at, const LinkNote& note) {
        if (note.link >= links.size()) return true;
        const Link link = links[note.link];
        if (link.hash() == hash) visit(link, std::uint64_t{note.link}, at);
        return true;
      });
}

template <class Visit>
bool Log::visit_few(std::uint64_t hash, Visit visit) const {
  const LinkNote first = LinkNote::of(hash, 0);
  std::pair<std::uint64_t, std::uint32_t> found[few_notes];  // place of the note, index of the link
  std::size_t count = 0;
  bool are_few = true;
  notes.visit(
      0, notes.size(), [&](const NoteSums& s) { return s.last_key >= first.key(); },
      [&](std::uint64_t at, const LinkNote& note) {
        if (note.hash < first.hash) return true;
        are_few = note.hash > first.hash || count < few_notes;
        if (note.hash > first.hash || !are_few) return false;
        found[count++] = {at, note.link};
        return true;
      });
  if (!are_few) return false;
  for (std::size_t k = 0; k < count; ++k) {
    const auto [note, at] = found[k];
    if (at >= links.size()) continue;
    const Link link = links[at];
    if (link.hash() == hash) visit(link, std::uint64_t{at}, note);
  }
  return true;
}

// The entry of a stored message, at `place`, reaching nowhere.
Entry entry_of(const StoredMessage& stored, std::uint32_t ordinal, std::uint32_t place);

// Reads stored messages, quickly where neighbours are read one after another.
class StoredReader {
 public:
  explicit StoredReader(const Log& log) : log_(log) {}
  const StoredMessage& operator[](std::uint32_t ordinal) {
    if (ordinal < chunk_.begin || ordinal >= chunk_.end) {
      log_.check_ordinal(ordinal);
      chunk_ = log_.stored.chunk(ordinal);
    }
    return chunk_.items[ordinal - chunk_.begin];
  }
  // Of messages that are read one after another soon.
  void prefetch(std::uint32_t ordinal) const {
    log_.check_ordinal(ordinal);
    log_.stored.prefetch(ordinal);
  }
  // Valid until the next call.
  const Message& message(std::uint32_t ordinal) {
    const StoredMessage& at = (*this)[ordinal];
    if (!at.body.is_here()) fetched_ = log_.bodies->body(ordinal);
    const Message& body = at.body.is_here() ? *at.body : *fetched_;
    if (log_.work) log_.work->read(body.json());
    return body;
  }

 private:
  const Log& log_;
  StoredTree::Chunk chunk_;
  MessageSlot fetched_;
};

}  // namespace undertext
