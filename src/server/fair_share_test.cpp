#include "server/fair_share.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace undertext {
namespace {

using std::chrono::milliseconds;
using Time = FairShare::Clock::time_point;

// A request whose use of a processor is what the test says.
struct Request {
  FairShare::Clock::duration used{};
  FairShare::Part part;
  Request(FairShare& whole, const char* tenant) : part(whole, tenant, [this] { return used; }) {}
  milliseconds pause(Time now) { return std::chrono::duration_cast<milliseconds>(part.pause(now)); }
};

const Time start = FairShare::Clock::now() + std::chrono::hours(1);

TEST(FairShare, ATenantThatIsAloneNeverPauses) {
  FairShare whole(2);
  Request first(whole, "loud"), second(whole, "loud");
  for (int k = 1; k < 100; ++k) {
    first.used = second.used = milliseconds(10 * k);
    EXPECT_EQ(first.pause(start + milliseconds(10 * k)), milliseconds(0));
    EXPECT_EQ(second.pause(start + milliseconds(10 * k)), milliseconds(0));
  }
}

TEST(FairShare, WhileOthersAreActiveATenantGetsHalfOfTheProcessorsAfterABurst) {
  FairShare whole(2);  // half of which is one
  Request quiet(whole, "quiet"), first(whole, "loud"), second(whole, "loud");
  first.used = milliseconds(50);
  EXPECT_EQ(first.pause(start), milliseconds(0)) << "a burst of 50 ms";
  second.used = milliseconds(10);
  EXPECT_EQ(second.pause(start), milliseconds(10));
  first.used = milliseconds(60);
  EXPECT_EQ(first.pause(start + milliseconds(2)), milliseconds(18)) << "behind the other one";
  EXPECT_EQ(quiet.pause(start + milliseconds(2)), milliseconds(0));
  // What is owed is paid with time.
  EXPECT_EQ(second.pause(start + milliseconds(30)), milliseconds(0));
}

TEST(FairShare, ManyShortRequestsPauseLikeALongOne) {
  FairShare whole(2);
  Request quiet(whole, "quiet");
  const Time now = FairShare::Clock::now();
  for (int k = 0; k < 200; ++k) {
    Request one(whole, "loud");
    one.part.pause(now);
    one.used = milliseconds(5);  // charged at its end
  }
  Request next(whole, "loud");
  EXPECT_GT(next.part.pause(FairShare::Clock::now()), milliseconds(100));
}

// Each works for as long as it is let, on a machine that has a processor for every one of them.
TEST(FairShare, WhateverTheNumberOfRequestsTheirShareIsTheSame) {
  for (const std::size_t count : {1u, 4u, 32u}) {
    FairShare whole(4);
    Request quiet(whole, "quiet");
    std::vector<std::unique_ptr<Request>> loud;
    std::vector<Time> goes_on(count, start);
    for (std::size_t k = 0; k < count; ++k)
      loud.push_back(std::make_unique<Request>(whole, "loud"));
    constexpr milliseconds step{1}, length{10'000};
    for (Time now = start; now < start + length; now += step) {
      quiet.part.pause(now);
      for (std::size_t k = 0; k < count; ++k) {
        if (now < goes_on[k]) continue;
        loud[k]->used += step;
        goes_on[k] = now + loud[k]->part.pause(now) + step;
      }
    }
    FairShare::Clock::duration used{};
    for (const std::unique_ptr<Request>& one : loud) used += one->used;
    const double share =
        std::chrono::duration<double>(used) / std::chrono::duration<double>(length);
    EXPECT_LE(share, 2.2) << count;  // of four
    EXPECT_GE(share, count == 1 ? 0.9 : 1.5) << count;
  }
}

}  // namespace
}  // namespace undertext
