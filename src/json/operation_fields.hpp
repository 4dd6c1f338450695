// The fields of operations (history/operation_table.hpp) as JSON: read from a request, and written
// to and read from a record.
//
//     operation        in a request                      in a record
//     APPEND           "messages":[…]                    nothing: what it stored stands beside it
//     REPLACE          "index":3,"message":{…}           "index":3
//     COMPRESS         "ordinals":[1,2],"summary":{…}    "ordinals":[1,2],"summary":true
//       by a plan                                        "plan":{"base":12,"replacements":[…],…}
//     FILTER           "contentContains":["x"]           the same,"kept":[{"start":0,"end":3}]
//     TRANSFORM                                          "roles":["tool"],"function":true
//     RESTORE          "version":7                       "restoredVersion":7
#pragma once

#include <string>
#include <string_view>

#include <undertext/operation.hpp>

#include "json/fields.hpp"

namespace undertext {

// Of a request. What is wrong goes to the Reading of `fields`.
void take_arguments(Fields& fields, Operation::What& what);
// The messages of a TRANSFORM alone.
void take_which(Fields& fields, op::Transform& transform);

// Appends ,"name":value for all of a record but the operation's name.
void append_record(std::string& out, const RecordedOperation& record);
// The same back. Lists of messages are empty; where a summary was, some message stands. Throws
// Failure: unsupported for an operation or a tag that only a newer release knows.
RecordedOperation take_record(Fields& fields, std::string_view operation);

}  // namespace undertext
