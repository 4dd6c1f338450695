// RECONCILE: a conversation follows a client that keeps its own list and sends all of it with every
// request.
//
//     client list    s  u1  a1  u2  a2              what it sent last
//     request        s  u1  a1  u9                  what it sends now
//     differences    u2 and a2 are dropped, u9 is new and replaces u2
//     view           s  S   u9                      S, a summary that stands for u1 and a1, stays
//
// differences() compares and decides; apply_differences() does what was decided, now and whenever
// the record is replayed.
#pragma once

#include <optional>

#include <undertext/history.hpp>

#include "history/draft.hpp"
#include "history/state.hpp"

namespace undertext {

struct Differences {
  op::Reconciled record;
  Reconciliation reconciliation;
};

// O(messages of the request) comparisons of identities, and O(log n) for each message that differs.
// Reads the bodies of messages that were stored since the last request, and of all when identities
// are made otherwise than then. `alike`: how many of the first messages were compared already
// (common_beginning() of client_match.hpp).
Differences differences(const History::Rep& rep, const op::Reconcile& sent, std::uint64_t alike);

// invalid_argument: the record does not go with the history.
std::optional<Error> apply_differences(Draft& draft, const op::Reconciled& differences);

}  // namespace undertext
