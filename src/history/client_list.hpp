// The client list: what a client that keeps its own list sent last, beside the states of a history.
//
//     ClientState
//       list      the messages of its last request, in order, each with its identity
//       dropped   those it sent before and does not send now, and answers that it left out, by
//                 identity: they may come back
//
// Only RECONCILE changes it; UNDO, ROLLBACK and RESTORE leave it. A list stands in the log's order.
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/identity.hpp>
#include <undertext/operation.hpp>
#include <undertext/work.hpp>

#include "sequence/entry.hpp"

namespace undertext {

struct ClientEntry {
  Identity identity;
  std::uint32_t ordinal = 0;
  friend auto operator<=>(const ClientEntry&, const ClientEntry&) = default;
};
template <>
struct ItemCodec<ClientEntry> {
  static void write(PageOut& out, const ClientEntry* items, unsigned n);
  static std::vector<ClientEntry> read(PageIn& in, unsigned n);
};
using ClientTree = HouseTree<ClientEntry, NoSums>;

struct ClientState {
  ClientTree list;
  ClientTree dropped;  // sorted
  // when it was last changed: later messages the client has not seen from here
  std::uint32_t log_length = 0;
  std::uint64_t volatile_key = 0;  // of the VolatileParts that the identities are made with

  // The ordinals of dropped messages with this identity, rising; the last `most` of them. O(log n)
  // and what is found.
  std::vector<std::uint32_t> dropped_as(const Identity& identity, std::uint64_t most) const;
  // The same of those in [begin, end): the first and the last `most` of them.
  std::vector<std::uint32_t> dropped_between(const Identity& identity, std::uint64_t most,
                                             std::uint32_t begin, std::uint32_t end) const;
  std::uint64_t count_dropped_as(const Identity& identity) const;

  // The list after `edits`, which are of the list as it is. false: they do not fit it. Throws
  // Failure: that of `work`, which may be null.
  bool edit(const std::vector<ClientListEdit>& edits, const Work* work);
  // These were never in the list, and count as dropped from now on.
  void leave_out(const std::vector<ClientListEntry>& entries);

  void save(PageOut& out) const;
  static ClientState load(PageIn& in);
};

// The state since `version`, until the next row.
struct ClientRow {
  std::uint32_t version = 0;
  ClientState state;
  friend bool operator==(const ClientRow& a, const ClientRow& b) { return a.version == b.version; }
};
template <>
struct ItemCodec<ClientRow> {
  static void write(PageOut& out, const ClientRow* items, unsigned n);
  static std::vector<ClientRow> read(PageIn& in, unsigned n);
};
using ClientRows = HouseTree<ClientRow, NoSums>;

// How many of the rows are of versions up to `version`.
std::uint64_t rows_up_to(const ClientRows& rows, std::uint64_t version);

std::uint64_t volatile_key(const VolatileParts& parts);

}  // namespace undertext
