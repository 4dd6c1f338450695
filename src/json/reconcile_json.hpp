// RECONCILE as it comes in:
//
//     {"operation":"RECONCILE","client":"claude_code","request":{"model":…,"system":…,"messages":[…]}}
//     {"operation":"RECONCILE","dialect":"openai_chat","messages":[…]}
//
// `client` is a profile (client.hpp), by default "generic"; `dialect` overrides the profile's.
// Without either, messages are in the engine's own form.
#pragma once

#include <optional>

#include <undertext/client.hpp>
#include <undertext/operation.hpp>

#include "json/fields.hpp"

namespace undertext {

// `client` and `dialect`. What is wrong goes to the Reading of `fields`.
std::optional<ClientProfile> take_client(Fields& fields);
std::optional<Dialect> take_dialect(Fields& fields);
void take_reconcile(Fields& fields, const MessageLimits& limits, op::Reconcile& reconcile);

}  // namespace undertext
