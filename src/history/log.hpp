// The log: all messages ever stored in a conversation, in order of arrival, with what is derived from them for finding tool
// pairs and the originals of summaries. A value: copies share everything, and storing into one copy does not show in another.
#pragma once

#include <cstdint>
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
struct LinkSums {
  std::uint64_t last_key = 0;
  static LinkSums of(const LinkNote& note) { return {note.key()}; }
  LinkSums& operator+=(const LinkSums& next) {
    last_key = std::max(last_key, next.last_key);
    return *this;
  }
  friend bool operator==(const LinkSums&, const LinkSums&) = default;
};

// The originals that a summary stands for, in view order. Ordered by ordinal.
struct SummaryNote {
  std::uint32_t ordinal;
  Shared<std::vector<std::uint32_t>> originals;
  friend bool operator==(const SummaryNote&, const SummaryNote&) = default;
};

struct Log {
  StoredTree stored;                    // by ordinal
  HouseTree<LinkNote, LinkSums> links;  // every id of every message with tool links
  HouseTree<SummaryNote, NoSums> summaries;

  std::uint64_t size() const { return stored.size(); }
  const Message& message(std::uint32_t ordinal) const { return stored[ordinal].message; }

  // Stores a message and answers its ordinal. `links` are the message's.
  std::uint32_t store(const Message& message, const std::vector<ToolLink>& links, std::int64_t now_ms, std::uint32_t tokens);
  void note_summary(std::uint32_t ordinal, std::vector<std::uint32_t> originals);
  const std::vector<std::uint32_t>* originals(std::uint32_t ordinal) const;  // nullptr: no summary

  // What is noted of messages that mention the id, by rising ordinals. Of an id mentioned more than `mentions_max` times only the ones
  // nearest to `around`: some programs use one id again in every turn.
  static constexpr std::size_t mentions_max = 64;
  std::vector<LinkNote> mentions(std::string_view id, std::uint32_t around) const;
};

// The entry of a stored message, at `place`, reaching nowhere.
Entry entry_of(const StoredMessage& stored, std::uint32_t ordinal, std::uint32_t place);

// Reads stored messages, quickly where neighbours are read one after another.
class StoredReader {
 public:
  explicit StoredReader(const StoredTree& tree) : tree_(tree) {}
  const StoredMessage& operator[](std::uint32_t ordinal) {
    if (ordinal < chunk_.begin || ordinal >= chunk_.end) chunk_ = tree_.chunk(ordinal);
    return chunk_.items[ordinal - chunk_.begin];
  }

 private:
  const StoredTree& tree_;
  StoredTree::Chunk chunk_;
};

}  // namespace undertext
