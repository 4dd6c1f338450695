#include "server/readiness.hpp"

#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace undertext {
namespace {

using std::chrono::seconds;

TEST(ReadinessOfTheStore, is_asked_of_it_at_most_once_a_second) {
  int asked = 0;
  std::optional<Error> says;
  Readiness readiness([&] {
    ++asked;
    return says;
  });
  const Readiness::Clock::time_point now = Readiness::Clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(readiness.look(now));
  EXPECT_EQ(asked, 1);
  says = Error{ErrorCode::unavailable, "gone"};
  EXPECT_FALSE(readiness.look(now)) << "what it said then";
  EXPECT_EQ(readiness.look(now + seconds(1))->message, "gone");
  EXPECT_EQ(asked, 2);
}

TEST(ReadinessOfTheStore, what_is_thrown_says_that_it_is_not) {
  Readiness readiness(
      []() -> std::optional<Error> { throw Failure(Error{ErrorCode::corrupt, "broken"}); });
  EXPECT_EQ(readiness.look()->code, ErrorCode::corrupt);
}

TEST(ReadinessOfTheStore, does_not_wait_for_a_store_that_hangs) {
  const Readiness::Clock::time_point now = Readiness::Clock::now();
  std::promise<void> asked, answered;
  bool hangs = false;
  Readiness readiness([&]() -> std::optional<Error> {
    if (!hangs) return {};
    asked.set_value();
    answered.get_future().wait();
    return {};
  });
  EXPECT_FALSE(readiness.look(now));
  hangs = true;
  std::thread first([&] { EXPECT_FALSE(readiness.look(now + seconds(2))); });
  asked.get_future().wait();
  EXPECT_FALSE(readiness.look(now + seconds(3))) << "what it said the last time";
  EXPECT_EQ(readiness.look(now + seconds(30))->code, ErrorCode::unavailable);
  answered.set_value();
  first.join();
}

}  // namespace
}  // namespace undertext
