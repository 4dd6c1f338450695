// What the trees of a conversation hold: entries of a view, and stored messages of a log; with the
// sums kept over them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <undertext/message.hpp>

#include "message/slot.hpp"
#include "sequence/page.hpp"
#include "sequence/tree.hpp"

namespace undertext {

inline constexpr std::uint32_t no_place = std::numeric_limits<std::uint32_t>::max();

// A message's stand in a view: all that queries and edits need to know of it without reading it. 28
// bytes.
//
// `place` makes an ordinal findable. An appended message stands at the place of its own ordinal;
// one that was put somewhere has the place of what it replaced, or of its left neighbour. Places
// never fall along a view, and a view knows the place of every ordinal (its own number, or an entry
// in the view's list of exceptions), so that it is found by a search, not a walk.
//
// `reach` makes broken tool pairs findable: it is at most the place of every earlier message in the
// view with which this one makes a tool pair, and no_place when there is none. A cut before index p
// breaks a pair only if an entry at or after p reaches back to the place of index p - 1 or beyond.
struct Entry {
  std::uint32_t ordinal;
  std::uint32_t place;
  std::uint32_t reach;
  std::uint32_t bytes;
  std::uint32_t tokens : 28;
  std::uint32_t calls : 1;    // an assistant's that makes a tool call
  std::uint32_t reasons : 1;  // an assistant's with a model's reasoning
  std::uint32_t role_bits : 2;
  // in halves: a 64-bit member would pad every entry to 32 bytes
  std::uint32_t time_low, time_high;

  Role role() const { return static_cast<Role>(role_bits); }
  std::int64_t time_ms() const {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(time_high) << 32) | time_low);
  }
  void set_time_ms(std::int64_t t) {
    time_low = static_cast<std::uint32_t>(static_cast<std::uint64_t>(t));
    time_high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(t) >> 32);
  }
  // The same message at the same place; the rest of an entry follows from these but for `reach`,
  // which may only be lower.
  friend bool operator==(const Entry& a, const Entry& b) {
    return a.ordinal == b.ordinal && a.place == b.place;
  }
};
static_assert(sizeof(Entry) == 28);

inline constexpr std::uint32_t tokens_per_message_max = (1u << 28) - 1;

// A message of the log. Its count of tokens was made when it was stored. Its body may be in a store
// only: Log::message() gets it.
struct StoredMessage {
  MessageSlot body;
  std::int64_t time_ms;  // the message's timestamp, else its arrival
  std::uint32_t tokens : 28;
  std::uint32_t calls : 1;  // as in an Entry
  std::uint32_t reasons : 1;
  std::uint32_t role_bits : 2;
  std::uint32_t bytes;

  StoredMessage() = default;
  StoredMessage(const Message& message, std::int64_t time, std::uint32_t token_count)
      : body(message),
        time_ms(time),
        tokens(token_count & tokens_per_message_max),
        calls(0),
        reasons(0),
        role_bits(static_cast<unsigned>(message.role()) & 3u),
        bytes(static_cast<std::uint32_t>(message.json().size())) {}

  Role role() const { return static_cast<Role>(role_bits); }
  void set_units(const Message& message, const std::vector<ToolLink>& links);
  friend bool operator==(const StoredMessage& a, const StoredMessage& b) {
    return a.time_ms == b.time_ms && a.tokens == b.tokens && a.role_bits == b.role_bits &&
           a.bytes == b.bytes;
  }
};
static_assert(sizeof(StoredMessage) == 24);
static_assert(role_count <= 4, "role_bits holds two bits");

// The sums both kinds of tree keep.
struct MessageSums {
  std::uint64_t role_tokens[role_count] = {};
  std::uint64_t bytes = 0;
  std::int64_t time_min = std::numeric_limits<std::int64_t>::max();
  std::int64_t time_max = std::numeric_limits<std::int64_t>::min();
  std::uint32_t role_counts[role_count] = {};

  static MessageSums of(const StoredMessage& stored) {
    MessageSums s;
    s.add(stored);
    return s;
  }
  void add(const StoredMessage& stored) {
    add(stored.role_bits, stored.tokens, stored.bytes, stored.time_ms);
  }
  void add(std::size_t role, std::uint64_t tokens_more, std::uint64_t bytes_more,
           std::int64_t time) {
    role_tokens[role] += tokens_more;
    role_counts[role] += 1;
    bytes += bytes_more;
    time_min = std::min(time_min, time);
    time_max = std::max(time_max, time);
  }
  MessageSums& operator+=(const MessageSums& next) {
    for (std::size_t r = 0; r < role_count; ++r) {
      role_tokens[r] += next.role_tokens[r];
      role_counts[r] += next.role_counts[r];
    }
    bytes += next.bytes;
    time_min = std::min(time_min, next.time_min);
    time_max = std::max(time_max, next.time_max);
    return *this;
  }
  std::uint64_t tokens() const {
    return role_tokens[0] + role_tokens[1] + role_tokens[2] + role_tokens[3];
  }
  friend bool operator==(const MessageSums&, const MessageSums&) = default;
};

struct EntrySums : MessageSums {
  std::uint32_t ordinal_min = no_place;
  std::uint32_t ordinal_max = 0;
  std::uint32_t place_max = 0;
  std::uint32_t reach_min = no_place;
  std::uint32_t call_count = 0;
  std::uint32_t reasoning_count = 0;

  static EntrySums of(const Entry& e) {
    EntrySums s;
    s.add(e);
    return s;
  }
  void add(const Entry& e) {
    MessageSums::add(e.role_bits, e.tokens, e.bytes, e.time_ms());
    ordinal_min = std::min(ordinal_min, e.ordinal);
    ordinal_max = std::max(ordinal_max, e.ordinal);
    place_max = std::max(place_max, e.place);
    reach_min = std::min(reach_min, e.reach);
    call_count += e.calls;
    reasoning_count += e.reasons;
  }
  EntrySums& operator+=(const EntrySums& next) {
    MessageSums::operator+=(next);
    ordinal_min = std::min(ordinal_min, next.ordinal_min);
    ordinal_max = std::max(ordinal_max, next.ordinal_max);
    place_max = std::max(place_max, next.place_max);
    reach_min = std::min(reach_min, next.reach_min);
    call_count += next.call_count;
    reasoning_count += next.reasoning_count;
    return *this;
  }
  friend bool operator==(const EntrySums&, const EntrySums&) = default;
};

template <>
struct ItemCodec<Entry> {
  static void write(PageOut& out, const Entry* items, unsigned n);
  static std::vector<Entry> read(PageIn& in, unsigned n);
};
template <>
struct ItemCodec<StoredMessage> {
  static void write(PageOut& out, const StoredMessage* items, unsigned n);  // without bodies
  static std::vector<StoredMessage> read(PageIn& in, unsigned n);
};
template <>
struct SumsCodec<MessageSums> {
  static void write(PageOut& out, const MessageSums& sums);
  static MessageSums read(PageIn& in);
};
template <>
struct SumsCodec<EntrySums> {
  static void write(PageOut& out, const EntrySums& sums);
  static EntrySums read(PageIn& in);
};

// Measures for Tree::seek and Tree::total.
struct TokensOf {
  std::uint64_t operator()(const MessageSums& s) const { return s.tokens(); }
  std::uint64_t operator()(const Entry& e) const { return e.tokens; }
  std::uint64_t operator()(const StoredMessage& m) const { return m.tokens; }
};

// Messages of some roles.
struct CountOf {
  bool wanted[role_count] = {};

  std::uint64_t operator()(const MessageSums& s) const {
    std::uint64_t n = 0;
    for (std::size_t r = 0; r < role_count; ++r) n += wanted[r] ? s.role_counts[r] : 0;
    return n;
  }
  std::uint64_t operator()(const Entry& e) const { return wanted[e.role_bits] ? 1 : 0; }
  std::uint64_t operator()(const StoredMessage& m) const { return wanted[m.role_bits] ? 1 : 0; }
};

// Messages with tool calls.
struct CallsOf {
  std::uint64_t operator()(const EntrySums& s) const { return s.call_count; }
  std::uint64_t operator()(const Entry& e) const { return e.calls; }
};

// For trees that need no more than their count.
struct NoSums {
  template <class Item>
  static NoSums of(const Item&) {
    return {};
  }
  NoSums& operator+=(const NoSums&) { return *this; }
  friend bool operator==(const NoSums&, const NoSums&) = default;
};
template <>
struct SumsCodec<NoSums> {
  static void write(PageOut&, const NoSums&) {}
  static NoSums read(PageIn&) { return {}; }
};

// Widths. Every kept version pays for a path of narrow nodes; the log is kept once and read at
// random, so its nodes are wide.
#if defined(UNDERTEXT_LEAF_MAX)  // tests build the whole engine with tiny nodes
template <class Item, class Sums>
using HouseTree = Tree<Item, Sums, UNDERTEXT_LEAF_MAX, UNDERTEXT_INNER_MAX>;
using StoredTree = HouseTree<StoredMessage, MessageSums>;
#else
template <class Item, class Sums>
using HouseTree = Tree<Item, Sums, 32, 8>;
using StoredTree = Tree<StoredMessage, MessageSums, 64, 32>;
#endif
using EntryTree = HouseTree<Entry, EntrySums>;

}  // namespace undertext
