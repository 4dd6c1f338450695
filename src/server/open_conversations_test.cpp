#include "server/open_conversations.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

class OpenConversationsTest : public testing::Test {
 protected:
  void make(const std::string& id) {
    Conversation::open(store, id, {}, {.make = OpenOptions::Make::always}).value();
  }

  std::shared_ptr<Store> store = memory_store();
  OpenConversations open{[this](const std::string&) { return store; },
                         {.count = 3, .bytes_each = 1 << 20, .bytes = 4 << 20}};
};

TEST_F(OpenConversationsTest, one_that_is_open_is_opened_once_for_each_tenant) {
  make("a");
  const std::shared_ptr<Conversation> first = open.get("", "a");
  EXPECT_EQ(open.get("", "a"), first);
  EXPECT_NE(open.get("other", "a"), first);
  EXPECT_EQ(open.count(), 2u);
}

TEST_F(OpenConversationsTest, the_least_recently_used_goes_but_none_that_is_in_use) {
  for (const char* id : {"a", "b", "c", "d", "e"}) make(id);
  const std::shared_ptr<Conversation> held = open.get("", "a");
  const std::weak_ptr<Conversation> b = open.get("", "b"), c = open.get("", "c");
  open.get("", "b");
  open.get("", "d");
  EXPECT_TRUE(c.expired());
  EXPECT_FALSE(b.expired());
  open.get("", "e");
  EXPECT_TRUE(b.expired());
  EXPECT_EQ(open.get("", "a"), held);
  EXPECT_EQ(open.count(), 3u);
}

TEST_F(OpenConversationsTest, where_all_are_in_use_one_more_is_opened) {
  std::vector<std::shared_ptr<Conversation>> held;
  for (const char* id : {"a", "b", "c", "d"}) {
    make(id);
    held.push_back(open.get("", id));
  }
  EXPECT_EQ(open.count(), 4u);
  held.clear();
  make("e");
  open.get("", "e");
  EXPECT_EQ(open.count(), 3u) << "and closed again when it can be";
}

TEST_F(OpenConversationsTest, those_that_have_much_in_memory_go_before_there_are_too_many) {
  OpenConversations few{[this](const std::string&) { return store; },
                        {.count = 100, .bytes_each = 1 << 20, .bytes = 2 << 20}};
  for (const char* id : {"a", "b", "c"}) {
    make(id);
    few.get("", id)
        ->apply({op::Append{{Message::make(Role::user, std::string(700'000, 'x')).value()}}})
        .value();
  }
  // what it has become is seen at the next use
  for (const char* id : {"a", "b", "c"}) few.get("", id);
  EXPECT_EQ(few.count(), 2u) << "three of 700 kB are more than 2 MiB";
  EXPECT_LE(few.bytes(), 2u << 20);
  const std::weak_ptr<Conversation> b = few.get("", "b"), c = few.get("", "c");
  few.get("", "a");
  EXPECT_TRUE(b.expired()) << "the least recently used";
  EXPECT_FALSE(c.expired());
}

TEST_F(OpenConversationsTest, what_is_not_there_is_looked_for_again_the_next_time) {
  try {
    open.get("", "a");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::not_found);
  }
  EXPECT_EQ(open.count(), 0u);
  make("a");
  EXPECT_EQ(open.get("", "a")->id(), "a");
}

TEST_F(OpenConversationsTest, what_is_forgotten_is_opened_anew_and_stays_with_who_holds_it) {
  make("a");
  const std::shared_ptr<Conversation> held = open.get("", "a");
  open.forget("", "a");
  open.forget("", "a");
  EXPECT_NE(open.get("", "a"), held);
  EXPECT_EQ(held->id(), "a");
}

}  // namespace
}  // namespace undertext
