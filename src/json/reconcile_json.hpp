// RECONCILE as it comes in:
//
//     {"operation":"RECONCILE","client":"claude_code","request":{"model":…,"system":…,"messages":[…]}}
//     {"operation":"RECONCILE","dialect":"openai_chat","messages":[…]}
//
// `client` is a profile (client.hpp), by default "generic"; `dialect` overrides the profile's. Without either, messages are in the engine's own form.
#pragma once

#include <undertext/operation.hpp>

#include "json/fields.hpp"

namespace undertext {

// What is wrong goes to the Reading of `fields`.
void take_reconcile(Fields& fields, const MessageLimits& limits, op::Reconcile& reconcile);

}  // namespace undertext
