// Queries as they come in from JSON: {"query":"messages","role":"user","last":3}.
#pragma once

#include <cstdint>
#include <variant>

#include <undertext/error.hpp>
#include <undertext/ids.hpp>
#include <undertext/query.hpp>

#include "base/json_text.hpp"

namespace undertext {

// One type a query, as in spelling and answer.
namespace ask {
struct Messages {
  MessageQuery which;
};
struct Count {
  MessageQuery which;
};
struct Uncompressed {};
struct MarkMap {};
struct State {};
struct Stats {};
struct HeadVersion {};
struct Batches {};
struct BatchSnapshot {
  BatchIndex batch_index;
};
struct Versions {};
struct Diff {
  Version from;
  Version to;
};
struct Blame {
  Ordinal ordinal;
};
}  // namespace ask

using Query = std::variant<ask::Messages, ask::Count, ask::Uncompressed, ask::MarkMap, ask::State, ask::Stats, ask::HeadVersion,
                           ask::Batches, ask::BatchSnapshot, ask::Versions, ask::Diff, ask::Blame>;

// `object` is an object that has `query`. invalid_argument: an unknown query or field, or one of the wrong type.
Result<Query> read_query(JsonValue object);

}  // namespace undertext
