// An operation as bytes, without the messages it brought: those are in the log.
#pragma once

#include <undertext/operation.hpp>

#include "base/bytes.hpp"
#include "history/stretches.hpp"

namespace undertext {

// Functions are not written: what they made is in the log. CompressBy cannot be.
void write_operation(ByteOut& out, const Operation& operation);

void write_stretches(ByteOut& out, const Stretches& stretches);
Stretches read_stretches(ByteIn& in);

// Its lists of messages are empty; where a summary was, some message stands. Throws Failure: corrupt.
Operation read_operation(ByteIn& in);

}  // namespace undertext
