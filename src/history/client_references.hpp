// Requests that name messages of the conversation instead of saying them.
#pragma once

#include <undertext/history.hpp>

#include "history/state.hpp"

namespace undertext {

// In the messages of the request from `first` on.
bool has_references(const op::Reconcile& sent, std::uint64_t first);

// The request with the ordinals and identities of what it names. An item that the conversation does
// not have stays the message that names it.
// invalid_argument: there is no message with an ordinal. O(messages of the list); items are looked
// for from the newest message on.
Result<op::Reconcile> with_references(const History::Rep& rep, const op::Reconcile& sent);

}  // namespace undertext
