// The text of an answer that is made piece by piece. There is room for each piece before it is
// taken: in what an answer may have (--answer), and in the budget of what is in memory (--memory).
//
//     AnswerText out(app.room_for_answer(call), R"({"ok":true,"result":[)");
//     if (!out.fits(piece, page_bytes_max)) …   // the page ends here
//     out.add(piece);
//     return json_reply(out.take());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "json/request.hpp"

namespace undertext {

// What a page may have; one element is always given, unless it alone is more than an answer may
// have.
constexpr std::uint64_t page_bytes_max = std::uint64_t{8} << 20;

class AnswerText {
 public:
  AnswerText(AnswerRoom room, std::string_view lead) : room_(std::move(room)), text_(lead) {}

  void add(std::string_view piece);       // throws Failure: too_large, unavailable
  void expect(std::uint64_t more_bytes);  // the same of what will be added, before it is even made
  // There is memory for the blocks of a message, which a row has. Throws Failure: unavailable
  void expect_reading(const Message& message);
  // Whether the text has at most `end` bytes with it, and may be an answer then, its last few bytes
  // included.
  bool fits(std::string_view piece, std::uint64_t end) const;
  std::uint64_t size() const { return text_.size(); }
  std::uint64_t bytes_max() const { return room_.bytes_max; }
  std::string take() { return std::move(text_); }

 private:
  const AnswerRoom room_;
  std::string text_;
};

}  // namespace undertext
