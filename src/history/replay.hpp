// An operation that was carried out before, carried out again on the history it was carried out on: what it stored then is taken, not made anew.
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/history.hpp>

#include "history/stretches.hpp"
#include "sequence/entry.hpp"

namespace undertext {

// `operation` may be without its messages. No body is looked into, if `kept` says what a FILTER by text kept. corrupt: it does not go with the history or
// with what is given.
Result<Step> replay(const History& history, Operation operation, std::int64_t at_ms, const std::vector<StoredMessage>& given,
                    const Stretches* kept = nullptr);

}  // namespace undertext
