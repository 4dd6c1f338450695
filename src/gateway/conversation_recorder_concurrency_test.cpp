// Conversations that are edited on several threads while their answers are recorded on another.
#include <atomic>
#include <future>
#include <map>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "gateway/conversation_recorder.hpp"

namespace undertext {
namespace {

class ConversationRecorderTest : public ::testing::Test {
 protected:
  ConversationRecorderTest()
      : recorder_(
            {.turns = {
                 .store = [this](const std::string&) { return store_; },
                 .open = [this](const std::string&, const std::string& id) { return open(id); },
                 .secret = "secret"},
             .edits = {.policies =
                           GatewayPolicies::read(R"({"mode":"compact","thresholdTokens":1500})")
                               .value()},
             .on_failure = [this](const std::string&, const std::string& what, const Error& error) {
               const std::lock_guard lock(mutex_);
               failures_ += what + ": " + error.message + "\n";
             }}) {}

  std::shared_ptr<Conversation> open(const std::string& id) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Conversation>& conversation = open_[id];
    if (!conversation)
      conversation = std::make_shared<Conversation>(
          Conversation::open(store_, id, {}, {.make = OpenOptions::Make::never}).value());
    return conversation;
  }

  std::shared_ptr<const ObservedRequest> request(const std::string& session,
                                                 const std::string& list) {
    auto request = std::make_shared<ObservedRequest>();
    request->number = ++numbers_;
    request->tenant = "default";
    request->call = CallKind::messages;
    request->upstream = "anthropic";
    request->dialect = Dialect::anthropic;
    request->method = "POST";
    request->target = "/v1/messages";
    request->fields = {{"x-session-id", session}};
    request->body = std::make_shared<const std::string>(
        R"({"model":"m","max_tokens":9,"messages":[)" + list + "]}");
    request->body_bytes = request->body->size();
    request->received = std::chrono::system_clock::now();
    return request;
  }

  // A session of its own, of so many turns. The number of requests that were edited.
  int talk(const std::string& session, int turns) {
    int edited = 0;
    std::string list;
    for (int turn = 0; turn < turns; ++turn) {
      const std::string said = session + " says " + std::to_string(turn);
      list += (list.empty() ? "" : ",") + (R"({"role":"user","content":")" + said) + R"("})";
      const std::shared_ptr<const ObservedRequest> asked = request(session, list);
      const RequestEdit edit = recorder_.edit(asked, {});
      if (edit.on_sent) edit.on_sent();
      edited += edit.body.has_value();
      std::string answer;
      for (int word = 0; word < 100; ++word) answer += "word" + std::to_string(word * turn) + " ";
      recorder_.finished({.request = asked,
                          .status = 200,
                          .body = R"({"id":")" + session + std::to_string(turn) +
                                  R"(","role":"assistant","content":[{"type":"text","text":")" +
                                  answer + "\"}]}",
                          .ended = std::chrono::system_clock::now()});
      list += R"(,{"role":"assistant","content":")" + answer + R"("})";
    }
    return edited;
  }

  const std::shared_ptr<Store> store_ = memory_store();
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Conversation>> open_;
  std::string failures_;
  std::atomic<std::uint64_t> numbers_ = 0;
  ConversationRecorder recorder_;
};

TEST_F(ConversationRecorderTest, EditsAreHeldUpWhileTheStoreHangsAndUntilItIsFastAgain) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<bool> hangs = true;
  ConversationRecorder recorder(
      {.turns = {.store =
                     [&](const std::string&) {
                       if (hangs) released.wait();
                       return store_;
                     },
                 .open = [this](const std::string&, const std::string& id) { return open(id); }},
       .slow_after = std::chrono::milliseconds(200),
       .edits_again_after = std::chrono::hours(1)});
  EXPECT_FALSE(recorder.is_held_up());
  std::thread recording(
      [&] { recorder.request(request("s", R"({"role":"user","content":"hi"})")); });
  while (!recorder.is_held_up()) std::this_thread::yield();
  hangs = false;
  release.set_value();
  recording.join();
  EXPECT_TRUE(recorder.is_held_up()) << "it may hang again at once";
  while (recorder.is_held_up()) recorder.request(request("s", R"({"role":"user","content":"hi"})"));
  EXPECT_EQ(open_.size(), 1u);
}

TEST_F(ConversationRecorderTest, ConversationsAreEditedSideBySideAndNothingIsMixedUp) {
  constexpr int sessions = 4, turns = 24;
  std::atomic<int> edited = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < sessions; ++i)
    threads.emplace_back([&, i] { edited += talk("session" + std::to_string(i), turns); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures_, "");
  EXPECT_GT(edited, sessions);
  ASSERT_EQ(open_.size(), static_cast<std::size_t>(sessions));
  for (const auto& [id, conversation] : open_) {
    const History history = conversation->history();
    const std::vector<Ordinal> list = history.client_list();
    ASSERT_EQ(list.size(), static_cast<std::size_t>(2 * turns - 1))
        << id << " has no answer to its last request yet";
    const View log = history.log();
    const std::string first = log[list[0].value].text();
    const std::string session = first.substr(0, first.find(' '));
    for (int turn = 0; turn < turns; ++turn)
      EXPECT_EQ(log[list[static_cast<std::size_t>(2 * turn)].value].text(),
                session + " says " + std::to_string(turn));
    EXPECT_EQ(conversation->requests({.last = turns}).value().size(),
              static_cast<std::size_t>(turns));
  }
}

}  // namespace
}  // namespace undertext
