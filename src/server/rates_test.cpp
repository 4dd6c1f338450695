#include "server/rates.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RatesOfMany : public ::testing::Test {
 protected:
  Rates::Time at(int ms) const { return start_ + milliseconds(ms); }
  const Rates::Time start_{seconds(1000)};
};

TEST_F(RatesOfMany, ABurstGoesThroughAndThenOneAtATime) {
  Rates rates(2, 3);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(rates.take("a", at(0)));
  EXPECT_EQ(rates.take("a", at(0)), seconds(1));
  EXPECT_TRUE(rates.take("a", at(499)));
  EXPECT_FALSE(rates.take("a", at(500)));
  EXPECT_TRUE(rates.take("a", at(600)));
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(rates.take("a", at(100'000))) << "never more than a burst is saved up";
  EXPECT_TRUE(rates.take("a", at(100'000)));
}

TEST_F(RatesOfMany, OneKeyDoesNotUseUpAnother) {
  Rates rates(1, 1);
  EXPECT_FALSE(rates.take("a", at(0)));
  EXPECT_TRUE(rates.take("a", at(0)));
  EXPECT_FALSE(rates.take("b", at(0)));
}

TEST_F(RatesOfMany, ARateBelowOneASecondSaysHowLongToWait) {
  Rates rates(0.1, 1);
  EXPECT_FALSE(rates.take("a", at(0)));
  EXPECT_EQ(rates.take("a", at(0)), seconds(10));
}

TEST_F(RatesOfMany, MoreKeysThanFitAreLimitedTogetherUntilOthersAreForgotten) {
  Rates rates(1, 2, 100);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(rates.take("k" + std::to_string(i), at(0)));
  EXPECT_FALSE(rates.take("one more", at(1)));
  EXPECT_FALSE(rates.take("and another", at(1)));
  EXPECT_TRUE(rates.take("and a third", at(1)));
  EXPECT_EQ(rates.size(), 100u);
  EXPECT_FALSE(rates.take("later", at(5000)));
  EXPECT_EQ(rates.size(), 1u) << "full buckets say nothing, and are forgotten";
}

TEST_F(RatesOfMany, AClockThatStandsStillOrGoesBackGivesNothing) {
  Rates rates(1000, 1);
  EXPECT_FALSE(rates.take("a", at(1000)));
  EXPECT_TRUE(rates.take("a", at(0)));
  EXPECT_TRUE(rates.take("a", at(1000)));
}

}  // namespace
}  // namespace undertext
