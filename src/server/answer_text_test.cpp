#include "server/answer_text.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

ErrorCode refusal_of(AnswerText& text, std::string_view piece) {
  try {
    text.add(piece);
  } catch (const Failure& failure) {
    return failure.error().code;
  }
  return ErrorCode::internal;
}

TEST(AnswerText, AsksForAllThatItHoldsBeforeItGrows) {
  std::uint64_t asked = 0;
  AnswerText text({.reserve = [&](std::uint64_t bytes) { return (asked = bytes) <= 10'000; }}, "[");
  text.add(std::string(1000, 'x'));
  EXPECT_GE(asked, 1001u);
  text.expect(5000);
  EXPECT_GE(asked, 6001u);
  EXPECT_EQ(refusal_of(text, std::string(20'000, 'x')), ErrorCode::unavailable);
  const std::string whole = text.take();
  EXPECT_EQ(whole.size(), 1001u) << "what was refused is not in it";
  EXPECT_LE(whole.capacity(), 10'000u);
}

TEST(AnswerText, HasNoMoreThanAnAnswerMay) {
  AnswerText text({.bytes_max = 1000}, "[");
  EXPECT_TRUE(text.fits(std::string(900, 'x'), 2000));
  EXPECT_FALSE(text.fits(std::string(999, 'x'), 2000)) << "there is an end to come";
  EXPECT_FALSE(text.fits(std::string(900, 'x'), 500));
  EXPECT_EQ(refusal_of(text, std::string(1000, 'x')), ErrorCode::too_large);
}

}  // namespace
}  // namespace undertext
