// Operations as they come in from JSON, in any of the three spellings; one Operation comes out.
//
//     canonical       {"operation":"TRUNCATE","keepLast":5}                       flat, upper case
//     configuration   {"operation":"truncate","truncate":{"keepLast":5}}          in a block of the operation's name
//     modification    {"operation":"delete","indices":[3]}                        indices are ordinals
//
// `insert` and `replace` are configuration when they have their block, modification otherwise.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>

#include "base/json_text.hpp"
#include "json/strategy_json.hpp"

namespace undertext {

// An operation, and how it was spelled, so that an error found when it is carried out names what
// the caller wrote.
struct SpelledOperation {
  struct FieldName {
    std::string_view canonical;  // as History names it in an error
    // as the caller wrote it; with dots when it is nested, such as "replaceText.find"
    std::string_view written;
  };

  Operation operation;
  // set: COMPRESS by this; `operation` has no more than the options
  StrategyCall compress_by = {};
  // the nested object that holds the arguments, such as "truncate"
  std::string_view block = {};
  std::vector<FieldName> field_names = {};  // those that differ

  // The error of History::apply in the caller's words.
  Error in_the_callers_words(Error error) const;
};

// `object` is an object that has `operation`. invalid_argument: an unknown operation or field, a
// field of the wrong type, or one that is missing. What depends on the conversation (ranges,
// visibility) is left to History::apply.
// `settings` hold the limits of messages, and the summarisers and strategies that it may name.
Result<SpelledOperation> read_operation(JsonValue object, const Settings& settings = {});

// A TRANSFORM whose change is code: the object names the messages, and may hold what every
// operation may carry.
Result<Operation> read_transform(JsonValue object, op::TransformFunction change);

// The shapes of all operations in their three spellings: TruncateOperation, NodeTruncate,
// ModificationDelete and so on, and the unions Operation, NodeOperation, Modification and
// AnyOperation.
void describe_operations(Shapes& shapes);

}  // namespace undertext
