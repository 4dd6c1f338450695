// A recorded operation as bytes: its tag, its fields in the order of operation_table.hpp, its
// description, and what it kept.
#pragma once

#include <undertext/operation.hpp>

#include "base/bytes.hpp"

namespace undertext {

// What an operation kept (records_kept()) is part of the record of a version. The pages of a
// history leave it out:
// it can be long, and nothing is replayed from them.
enum class KeptPart : bool { absent, present };

// internal: an operation that is never recorded (CompressBy), or one without what it kept.
void write_record(ByteOut& out, const RecordedOperation& record, KeptPart kept);

// Lists of messages are empty; where a summary was, some message stands. Throws Failure: corrupt;
// unsupported for a tag of a newer release.
RecordedOperation read_record(ByteIn& in, KeptPart kept);

}  // namespace undertext
