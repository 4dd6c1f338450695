// Makes a client's session work without a gateway: the gateway's compaction items become what they
// stand for, in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/compaction_seal.hpp"

namespace undertext {

struct Detached {
  std::string text;            // of the session's file
  std::uint64_t items = 0;     // that were replaced by their summaries
  std::uint64_t unopened = 0;  // that another key has sealed: they stay
  std::uint64_t unread = 0;    // lines that have a sealed text and are no JSON: they stay
};

// `text`: JSON lines, in whatever form a client has them, or one JSON value. Lines without a sealed
// text stay byte for byte, also those that are no JSON.
// A compaction item of a list becomes a message of the user with its summary. A block stands for
// all that is before it: a list of messages begins with the summary of its last one, and goes on
// with what was said behind it. Where each message is a line, the summary is the line before its
// block; in other places, such as a message inside of a record, a block becomes a text.
Detached detached(std::string_view text, const CompactionSeal& seal);

}  // namespace undertext
