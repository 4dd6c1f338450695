#include "server/answer_text.hpp"

#include <algorithm>

#include "message/visit_blocks.hpp"
#include "server/app_rep.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t last_bytes = 64;  // brackets, and where to go on

}  // namespace

void AnswerText::expect(std::uint64_t more_bytes) {
  const std::uint64_t needed = text_.size() + more_bytes;
  if (needed > room_.bytes_max)
    refuse(ErrorCode::too_large, "the answer would have more than " +
                                     std::to_string(room_.bytes_max) + " bytes: ask for less");
  if (needed <= text_.capacity()) return;
  // A string that grows at least doubles.
  const std::uint64_t capacity = std::max<std::uint64_t>(needed, 2 * text_.capacity());
  if (room_.reserve && !room_.reserve(capacity))
    refuse(ErrorCode::unavailable, "there is too much in memory already: retry later");
  text_.reserve(capacity);
}

void AnswerText::expect_reading(const Message& message) {
  const std::uint64_t bytes = visit_blocks_bytes(message);
  if (bytes > 0 && room_.reserve && !room_.reserve(text_.capacity() + bytes))
    refuse(ErrorCode::unavailable, "there is too much in memory already: retry later");
}

void AnswerText::add(std::string_view piece) {
  expect(piece.size());
  text_ += piece;
}

bool AnswerText::fits(std::string_view piece, std::uint64_t end) const {
  return text_.size() + piece.size() + last_bytes <= std::min(end, room_.bytes_max);
}

}  // namespace undertext
