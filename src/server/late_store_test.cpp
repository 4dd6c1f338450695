#include "server/late_store.hpp"

#include <gtest/gtest.h>

#include <undertext/conversation.hpp>

#include "store/tenant.hpp"

namespace undertext {
namespace {

class LateStoreTest : public ::testing::Test {
 protected:
  std::shared_ptr<Store> make(std::chrono::milliseconds between_tries) {
    return late_store({.name = "memory: late",
                       .failure = Error{ErrorCode::unavailable, "the first try"},
                       .open = [this]() -> Result<std::shared_ptr<Store>> {
                         ++tries_;
                         if (store_) return store_;
                         throw Failure(Error{ErrorCode::unavailable, "another try"});
                       },
                       .between_tries = between_tries});
  }
  std::shared_ptr<Store> store_;
  int tries_ = 0;
};

TEST_F(LateStoreTest, CallsAreAnsweredAsTheLastTryToOpenItUntilItIsOpen) {
  const std::shared_ptr<Store> late = make(std::chrono::milliseconds(0));
  EXPECT_EQ(late->name(), "memory: late");
  EXPECT_EQ(late->list().error().code, ErrorCode::unavailable);
  EXPECT_EQ(late->list().error().message, "another try");
  store_ = memory_store();
  EXPECT_TRUE(Conversation::open(late, "a"));
  EXPECT_EQ(store_->list().value().size(), 1u);
  EXPECT_EQ(late->name(), store_->name());
  EXPECT_EQ(tries_, 3) << "it is opened once";
}

TEST_F(LateStoreTest, ItIsNotTriedAgainAtOnce) {
  const std::shared_ptr<Store> late = make(std::chrono::hours(1));
  store_ = memory_store();
  EXPECT_EQ(late->list().error().message, "the first try");
  EXPECT_EQ(tries_, 0);
}

TEST_F(LateStoreTest, TenantsHaveTheirPartsOfTheStoreThatIsOpened) {
  const std::shared_ptr<Store> late = make(std::chrono::milliseconds(0));
  const std::shared_ptr<Store> acme = store_of_tenant(late, "acme").value(),
                               operators = store_of_tenant(late, "").value();
  EXPECT_EQ(acme->list().error().code, ErrorCode::unavailable);
  store_ = memory_store();
  EXPECT_TRUE(Conversation::open(acme, "a"));
  EXPECT_TRUE(acme->find("a"));
  EXPECT_FALSE(operators->find("a"));
  EXPECT_TRUE(store_of_tenant(store_, "acme").value()->find("a"));
}

TEST_F(LateStoreTest, OneCallTriesWhileOthersAreAnswered) {
  std::shared_ptr<Store> late;
  int depth = 0;
  late = late_store({.failure = Error{ErrorCode::unavailable, "the first try"},
                     .open = [&]() -> Result<std::shared_ptr<Store>> {
                       EXPECT_EQ(++depth, 1);
                       EXPECT_EQ(late->list().error().message, "the first try");
                       return memory_store();
                     },
                     .between_tries = std::chrono::milliseconds(0)});
  EXPECT_TRUE(late->list());
}

}  // namespace
}  // namespace undertext
