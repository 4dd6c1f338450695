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
  watch.recorded("a");
  EXPECT_FALSE(watch.is_reached("a", now + seconds(12)));
}

TEST(QuotaWatch, ATurnThatWasUnderWayWhenTheQuotaWasReachedFreesNothing) {
  using std::chrono::seconds;
  QuotaWatch watch;
  const QuotaWatch::Clock::time_point now{};
  watch.reached("a", now);
  watch.recorded("a");
  EXPECT_TRUE(watch.is_reached("a", now + seconds(1)));
  EXPECT_FALSE(watch.is_reached("a", now + seconds(10)));
  watch.reached("a", now + seconds(11));
  watch.recorded("a");
  EXPECT_TRUE(watch.is_reached("a", now + seconds(12))) << "the one that tried was not recorded";
}

}  // namespace
}  // namespace undertext
