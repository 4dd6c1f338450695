// Replays a recorded operation on the history it was applied to: the messages that it stored then
// are used, not made again.
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/history.hpp>

#include "sequence/entry.hpp"

namespace undertext {

// The operation may be without its messages. Only a FILTER by text whose record does not say what
// it kept reads bodies. corrupt: the record does not go with the history or with what is given.
Result<Step> replay(const History& history, RecordedOperation record, std::int64_t at_ms,
                    const std::vector<StoredMessage>& given);

}  // namespace undertext
