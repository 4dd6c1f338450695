// Records of requests as rows of a store, and back.
//
//     facts     what holds no text of a message
//     parts     which raw bytes there are, and the volatile parts; emptied by a redaction
//     request   a packed text, or nothing
//     answer    likewise
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/request_record.hpp>
#include <undertext/store.hpp>

namespace undertext {

// Without number, request and answer.
RequestRow row_of(const RequestRecord& record);
// Throws Failure: corrupt; unsupported for what a newer release stored.
RequestRecord record_of(const RequestRow& row);
// Whether texts were kept that are no longer there.
bool was_redacted(const RequestRow& row);

// A text as differences to what the conversation has.
struct PackedText {
  std::uint64_t size = 0;
  Digest digest = {};      // of the text
  std::uint64_t base = 0;  // the earlier request that it refers to; 0: none
  // how many requests refer to one another down to one that refers to none
  std::uint64_t depth = 0;
  struct Run {
    std::uint64_t first = 0, count = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  // whose bodies it refers to: ordinals, in the order of the reference
  std::vector<Run> messages = {};
  std::string packed = {};

  std::string bytes() const;
  static PackedText read(std::string_view bytes);  // as record_of(); borrows nothing

  // The ordinals as runs.
  static std::vector<Run> runs_of(const std::vector<std::uint64_t>& ordinals);
};

}  // namespace undertext
