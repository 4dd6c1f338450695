// What a History is made of. All of it immutable values that share structure.
//
//     History::Rep
//       log        every message
//       versions   a row for each version 0, 1, …
//       states     the states that have been left
//       head       the current state
//       clients    the client list, since each version that changed it
//
//     State
//       view       entries
//       frame      batches, marks, places: what an APPEND does not change
//
// Most versions are made by APPEND, and a view before an APPEND is a beginning of the view after
// it. So a run of them shares one state, that of its last version, and an earlier version of the
// run is read as the beginning of it: it costs a row of 24 bytes and no tree of its own.
//
//     op         (0)  APPEND  APPEND  DELETE  APPEND
//     version     0     1       2       3       4
//     state       0     0       0       1       1        1 is the head, 0 is states[0]
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <undertext/history.hpp>
#include <undertext/operation.hpp>

#include "base/shared.hpp"
#include "history/client_list.hpp"
#include "history/log.hpp"
#include "history/marks.hpp"
#include "history/placed_view.hpp"

namespace undertext {

struct Batch {
  std::uint32_t boundary;   // the first ordinal that belongs to it
  std::uint32_t opened_in;  // the version that opened it; 0 for batch 0
  PlacedView before;        // the snapshot of the batch below it, which this one left
  friend bool operator==(const Batch& a, const Batch& b) {
    return a.boundary == b.boundary && a.opened_in == b.opened_in;
  }
};
template <>
struct ItemCodec<Batch> {
  static void write(PageOut& out, const Batch* items, unsigned n);
  static std::vector<Batch> read(PageIn& in, unsigned n);
};
using BatchTree = HouseTree<Batch, NoSums>;

struct Frame {
  BatchTree batches;  // never empty
  Marks marks;
  PlaceTree places;
};

// The operation that made a version, and the versions it leads to: those follow from carrying it
// out.
struct LinkedOperation : RecordedOperation {
  std::optional<std::uint32_t> restores = {};  // the version whose state came back
  // the version that UNDO would bring back; for an UNDO or REDO only
  std::optional<std::uint32_t> undo = {};
  std::optional<std::uint32_t> redo = {};
};

// The state of a run's last version.
struct State {
  [[no_unique_address]] EntryTree view;  // its last four bytes are free, and log_length takes them
  std::uint32_t log_length = 0;
  Shared<Frame> frame;

  PlacedView placed() const { return {view, frame->places}; }
  friend bool operator==(const State& a, const State& b) {
    return a.log_length == b.log_length && a.frame == b.frame;
  }
};

template <>
struct ItemCodec<State> {
  static void write(PageOut& out, const State* items, unsigned n);
  static std::vector<State> read(PageIn& in, unsigned n);
};

struct VersionRow {
  std::int64_t at_ms = 0;
  Shared<LinkedOperation> operation;  // null: an APPEND without a description, or version 0
  std::uint32_t log_length = 0;
  std::uint32_t state = 0;  // which state's run it belongs to
  friend bool operator==(const VersionRow& a, const VersionRow& b) {
    return a.operation == b.operation && a.log_length == b.log_length;
  }
};
static_assert(sizeof(VersionRow) == 24);
template <>
struct ItemCodec<VersionRow> {
  static void write(PageOut& out, const VersionRow* items, unsigned n);
  static std::vector<VersionRow> read(PageIn& in, unsigned n);
};

struct History::Rep {
  Log log;
  HouseTree<VersionRow, NoSums> versions;  // never empty
  HouseTree<State, NoSums> states;
  State head;
  ClientRows clients;
  // Versions and states below these were pruned: of the versions the rows are left, of the states
  // nothing.
  std::uint32_t first_version = 0;
  std::uint32_t first_state = 0;

  std::uint64_t head_number() const { return versions.size() - 1; }
  ClientState client() const {
    return clients.empty() ? ClientState() : clients[clients.size() - 1].state;
  }
  bool has_version(std::uint64_t version) const {
    return version >= first_version && version <= head_number();
  }

  // The first version whose log holds the message.
  std::uint64_t version_that_stored(std::uint64_t ordinal) const {
    std::uint64_t low = 0, high = head_number();
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      (versions[middle].log_length > ordinal ? high : low) =
          versions[middle].log_length > ordinal ? middle : middle + 1;
    }
    return low;
  }

  // The state whose view begins with that of `version`, and how many messages that beginning has.
  const State& run_of(std::uint64_t version) const {
    const std::uint32_t state = versions[version].state - first_state;
    return state < states.size() ? states[state] : head;
  }
  // The first version after this one that is of another run. O(log k) rows are read for a run of k
  // versions.
  std::uint64_t end_of_run(std::uint64_t version) const {
    const auto is_of_it = [&, state = versions[version].state](std::uint64_t v) {
      return versions[v].state == state;
    };
    std::uint64_t low = version + 1, step = 1;
    std::uint64_t high = low;
    while (high < versions.size() && is_of_it(high)) {
      low = high + 1;
      high = std::min<std::uint64_t>(high + step, versions.size());
      step *= 2;
    }
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (is_of_it(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  std::uint64_t message_count(std::uint64_t version) const {
    const State& run = run_of(version);
    const std::uint64_t later = std::uint64_t{run.log_length} - versions[version].log_length;
    if (later > run.view.size())
      throw_corrupt_page(0, "a version has more messages than the one after it");
    return run.view.size() - later;
  }

  State state_at(std::uint64_t version) const {
    State state = run_of(version);
    const std::uint64_t count = message_count(version);
    state.view.splice(count, state.view.size() - count, {});
    state.log_length = versions[version].log_length;
    return state;
  }
};

// What a View reads: entries of a view, or the log itself up to a length.
struct View::Rep {
  Log log;
  PlacedView placed;
  bool is_log = false;
  std::uint64_t log_length = 0;
};

inline Error no_version(std::string field, std::uint64_t version, const History::Rep& rep) {
  const bool pruned = version < rep.first_version;
  return {ErrorCode::not_found,
          pruned ? "version " + std::to_string(version) + " was pruned; the first one kept is " +
                       std::to_string(rep.first_version)
                 : "there is no version " + std::to_string(version) + "; the head is " +
                       std::to_string(rep.head_number()),
          std::move(field)};
}

// The snapshot of a batch below the current one.
inline const PlacedView& snapshot_of(const BatchTree& batches, std::uint64_t batch) {
  return batches[batch + 1].before;
}

}  // namespace undertext
