#include "server/fair_share.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

using std::chrono::milliseconds;

TEST(FairShare, SlowRequestsPauseInProportionWhileOtherTenantsAreActive) {
  FairShare whole(2);
  FairShare::Part first(whole, "loud"), second(whole, "loud"), third(whole, "loud");
  const auto now = FairShare::Clock::now();
  EXPECT_EQ(first.pause(now + milliseconds(10)).count(), 0);  // not slow yet
  EXPECT_EQ(first.pause(now + milliseconds(100)).count(), 0) << "nobody else is there";
  FairShare::Part quiet(whole, "quiet");
  EXPECT_EQ(first.pause(now + milliseconds(110)).count(), 0) << "it is the only slow one";
  second.pause(now + milliseconds(110));
  third.pause(now + milliseconds(110));
  EXPECT_EQ(first.pause(now + milliseconds(120)), milliseconds(20));  // 10 ms of work, three on one processor
  EXPECT_EQ(first.pause(now + milliseconds(121)).count(), 0);
  EXPECT_EQ(quiet.pause(now + milliseconds(200)).count(), 0);
}

TEST(FairShare, ARequestThatHasEndedCountsNoLonger) {
  FairShare whole(2);
  const auto now = FairShare::Clock::now();
  FairShare::Part quiet(whole, "quiet"), loud(whole, "loud");
  {
    FairShare::Part other(whole, "loud");
    other.pause(now + milliseconds(100));
    loud.pause(now + milliseconds(100));
    EXPECT_GT(loud.pause(now + milliseconds(200)).count(), 0);
  }
  EXPECT_EQ(loud.pause(now + milliseconds(500)).count(), 0);
}

}  // namespace
}  // namespace undertext
