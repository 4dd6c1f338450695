// The log: all messages ever stored in a conversation, in order of arrival, with what is derived from them for finding tool
// pairs and the originals of summaries. A value: copies share everything, and storing into one copy does not show in another.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <undertext/message.hpp>

#include "base/shared.hpp"
#include "sequence/entry.hpp"

namespace undertext {

// A message mentions a tool-call id with this hash, as a call, a result or both. Ordered by hash, then ordinal.
struct LinkNote {
  std::uint32_t hash_and_sides;  // the upper 30 bits, and the lower two
  std::uint32_t ordinal;

  static constexpr std::uint32_t calls = 1, answers = 2;
  std::uint32_t hash() const { return hash_and_sides >> 2; }
  std::uint32_t sides() const { return hash_and_sides & 3; }
  std::uint64_t key() const { return (static_cast<std::uint64_t>(hash()) << 32) | ordinal; }
  friend bool operator==(const LinkNote&, const LinkNote&) = default;
};
template <>
struct ItemCodec<LinkNote> {
  static void write(PageOut& out, const LinkNote* items, unsigned n);
  static std::vector<LinkNote> read(PageIn& in, unsigned n);
};
struct LinkSums {
  std::uint64_t last_key = 0;
  static LinkSums of(const LinkNote& note) { return {note.key()}; }
  LinkSums& operator+=(const LinkSums& next) {
    last_key = std::max(last_key, next.last_key);
    return *this;
  }
  friend bool operator==(const LinkSums&, const LinkSums&) = default;
};

template <>
struct SumsCodec<LinkSums> {
  static void write(PageOut& out, const LinkSums& sums) { out.number(sums.last_key); }
  static LinkSums read(PageIn& in) { return {in.number()}; }
};

// The ids a message mentions, each once, rising.
struct LinkedId {
  std::string_view id;
  std::uint32_t sides;  // LinkNote::calls, LinkNote::answers or both
};
std::vector<LinkedId> linked_ids(const std::vector<ToolLink>& links);

// The originals that a summary stands for, in view order. Ordered by ordinal.
struct SummaryNote {
  std::uint32_t ordinal;
  Shared<std::vector<std::uint32_t>> originals;
  friend bool operator==(const SummaryNote&, const SummaryNote&) = default;
};

template <>
struct ItemCodec<SummaryNote> {
  static void write(PageOut& out, const SummaryNote* items, unsigned n);
  static std::vector<SummaryNote> read(PageIn& in, unsigned n);
};

// Where bodies come from that are not in memory. Called on any thread. What goes wrong is thrown as Failure: unavailable, or corrupt.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual Message body(std::uint32_t ordinal) const = 0;
};

struct Log {
  StoredTree stored;                    // by ordinal
  HouseTree<LinkNote, LinkSums> links;  // every id of every message with tool links
  HouseTree<SummaryNote, NoSums> summaries;

  std::shared_ptr<const BodySource> bodies;  // null: all are in memory

  std::uint64_t size() const { return stored.size(); }
  Message message(std::uint32_t ordinal) const {
    check_ordinal(ordinal);
    return body_of(stored[ordinal], ordinal);
  }
  // What a damaged page names may not be there. Throws Failure: corrupt.
  void check_ordinal(std::uint64_t ordinal) const {
    if (ordinal >= stored.size()) throw_no_message(ordinal);
  }
  Message body_of(const StoredMessage& at, std::uint32_t ordinal) const {
    return at.body.is_here() ? *at.body : bodies->body(ordinal);
  }

  // Stores a message and answers its ordinal. `links` are the message's.
  std::uint32_t store(const Message& message, const std::vector<ToolLink>& links, std::int64_t now_ms, std::uint32_t tokens);
  void note_summary(std::uint32_t ordinal, std::vector<std::uint32_t> originals);
  const std::vector<std::uint32_t>* originals(std::uint32_t ordinal) const;  // nullptr: no summary

  // Calls visit(note) -> bool for what is noted of messages with this hash of an id, from `around` down (not included) or up, until it answers
  // false. Messages of other ids may be among them: see sides_of().
  template <class Visit>
  void visit_mentions_below(std::uint32_t hash, std::uint32_t around, Visit visit) const;
  template <class Visit>
  void visit_mentions_from(std::uint32_t hash, std::uint32_t around, Visit visit) const;
  static std::uint32_t hash_of(std::string_view id);

  // The sides on which the noted message holds the id: LinkNote::calls, LinkNote::answers, both or none.
  std::uint32_t sides_of(const LinkNote& note, std::string_view id) const;

  // Takes back everything from `length` on, for another conversation to go on from there.
  void cut(std::uint64_t length);

 private:
  [[noreturn]] static void throw_no_message(std::uint64_t ordinal);
  friend class SavedHistory;
  std::uint64_t first_note(std::uint64_t key) const;
  bool has_stale_notes = false;  // of messages that were cut off
};

template <class Visit>
void Log::visit_mentions_below(std::uint32_t hash, std::uint32_t around, Visit visit) const {
  links.visit_back(
      0, first_note(LinkNote{hash << 2, around}.key()), [](const LinkSums&) { return true; },
      [&](std::uint64_t, const LinkNote& note) { return note.hash() == hash && visit(note); });
}

template <class Visit>
void Log::visit_mentions_from(std::uint32_t hash, std::uint32_t around, Visit visit) const {
  links.visit(
      first_note(LinkNote{hash << 2, around}.key()), links.size(), [](const LinkSums&) { return true; },
      [&](std::uint64_t, const LinkNote& note) { return note.hash() == hash && visit(note); });
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
  // Valid until the next call.
  const Message& message(std::uint32_t ordinal) {
    const StoredMessage& at = (*this)[ordinal];
    if (at.body.is_here()) return *at.body;
    fetched_ = log_.bodies->body(ordinal);
    return *fetched_;
  }

 private:
  const Log& log_;
  StoredTree::Chunk chunk_;
  MessageSlot fetched_;
};

}  // namespace undertext
