// A process that ends while threads of the library work.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "store/chain.hpp"

namespace undertext {
namespace {

TEST(Exit, WhileThreadsTakeDigestsEndsAsItWasAskedTo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exit_amid_work = [] {
    constexpr int threads = 4;
    static std::atomic<int> working = 0;
    for (int i = 0; i < threads; ++i)
      std::thread([] {
        sha256("a");
        for (++working;;) sha256("a");
      }).detach();
    while (working < threads) std::this_thread::yield();
    std::exit(0);
  };
  EXPECT_EXIT(exit_amid_work(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace undertext
