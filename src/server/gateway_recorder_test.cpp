#include "server/gateway_recorder.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(QuotaWatch, ATenantThatHasStoredWhatItMayIsTriedOnceInAWhile) {
  using std::chrono::seconds;
  QuotaWatch watch;
  const QuotaWatch::Clock::time_point now{};
  EXPECT_FALSE(watch.is_reached("a", now));
  watch.reached("a", now);
  EXPECT_TRUE(watch.is_reached("a", now));
  EXPECT_TRUE(watch.is_reached("a", now + seconds(9)));
  EXPECT_FALSE(watch.is_reached("b", now)) << "another tenant";
  EXPECT_FALSE(watch.is_reached("a", now + seconds(10))) << "one is let through";
  EXPECT_TRUE(watch.is_reached("a", now + seconds(11))) << "and only one";
  watch.freed("a");
  EXPECT_FALSE(watch.is_reached("a", now + seconds(12)));
}

}  // namespace
}  // namespace undertext
