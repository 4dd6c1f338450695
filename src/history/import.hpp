// Taking over the state of another keeper of the same messages, in the form of document 004.
#pragma once

#include <optional>

#include <undertext/error.hpp>
#include <undertext/operation.hpp>

namespace undertext {

class Draft;

// Makes the map's view and batches the draft's, once they have passed the checks: arrays of equal
// length, first boundary 0, boundaries never falling and inside the log, batch numbers counting up
// from 0, the current batch present, indices inside the log, none twice, and the indices per role,
// when any are given, those of the messages. Each batch below the current one gets as its snapshot
// what the view has below the next boundary. invalid_argument with the reason; `field` is the
// array's name.
std::optional<Error> import_mark_map(Draft& draft, const MarkMap& map);

}  // namespace undertext
