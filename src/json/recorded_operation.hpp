// Operations as they were carried out, written as JSON and read back: what an export holds. The words are those of the canonical spelling; messages
// are not among the arguments, since what an operation stored stands beside it.
//
//     APPEND                  (nothing)
//     DELETE                  "indices":[3,4],"pairs":"literal"
//     REPLACE                 "index":3
//     COMPRESS                "ordinals":[1,2],"summary":true                       by names
//     COMPRESS                "plan":{"base":12,"replacements":[…],"strategy":…}    by a strategy
//     TRANSFORM               "roles":["tool"],"function":true                      by a function, which nothing remains of
//     IMPORT_MARK_MAP         "markMap":{…}
#pragma once

#include <string>

#include <undertext/operation.hpp>

#include "json/fields.hpp"

namespace undertext {

// Appends ,"name":value for every argument. CompressBy has none: a plan is recorded for it.
void append_recorded_arguments(std::string& out, Operation operation);

// Takes the arguments of the operation with this name. What is wrong goes to the Reading of `fields`. Lists of messages are left empty; where a
// summary was, some message stands.
Operation::What take_recorded_arguments(Fields& fields, std::string_view operation);

}  // namespace undertext
