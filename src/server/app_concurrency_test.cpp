#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "server/app_fixture.hpp"

namespace undertext {
namespace {

using std::chrono::milliseconds;

// Readers, writers, watchers, compressions and deletions at once, on fewer open conversations than
// there are.
TEST(AppConcurrency, whatever_happens_at_once_every_call_is_answered_and_every_append_is_told) {
  const std::shared_ptr<Store> store = memory_store();
  App app({.store = [&](const std::string&) { return store; },
           .limits = {
               .conversations_open = 2, .heartbeat = milliseconds(5), .watch = milliseconds(2)}});
  constexpr int conversations = 4, appends = 40;
  const auto path = [](int i) { return "/v1/conversations/c" + std::to_string(i); };
  std::vector<std::shared_ptr<Answered>> streams;
  for (int i = 0; i < conversations; ++i) {
    ASSERT_EQ(
        call(app, "POST", "/v1/conversations", {.body = R"({"id":"c)" + std::to_string(i) + "\"}"})
            ->reply.status,
        201u);
    streams.push_back(call(app, "GET", path(i) + "/events"));
  }
  ASSERT_EQ(call(app, "POST", "/v1/conversations", {.body = R"({"id":"doomed"})"})->reply.status,
            201u);
  std::atomic<int> failures = 0;
  std::atomic<bool> done = false;
  {
    std::vector<std::jthread> writers, others;
    for (int i = 0; i < conversations; ++i) {
      writers.emplace_back([&, i] {
        for (int n = 0; n < appends; ++n)
          failures +=
              call(app, "POST", path(i) + "/operations",
                   {.body = R"({"operation":"APPEND","messages":[{"role":"user","content":"x"}]})"})
                  ->reply.status != 200;
      });
      others.emplace_back([&, i] {
        while (!done) {
          failures += call(app, "GET", path(i) + "/rows")->reply.status != 200;
          failures += call(app, "POST", path(i) + "/preview", {.body = R"({"operation":"CLEAR"})"})
                          ->reply.status != 200;
          call(app, "POST", path(i) + "/compressions", {.body = R"({"strategy":"none"})"});
          const unsigned status = call(app, "GET", "/v1/conversations/doomed/stats")->reply.status;
          failures += status != 200 && status != 404;
        }
      });
    }
    others.emplace_back([&] { call(app, "DELETE", "/v1/conversations/doomed"); });
    writers.clear();
    done = true;
  }
  EXPECT_EQ(failures, 0);
  for (int i = 0; i < conversations; ++i) {
    const std::string version = call(app, "GET", path(i) + "/version")->field("ETag");
    EXPECT_TRUE(streams[static_cast<std::size_t>(i)]->wait_for_text(
        "id: " + version.substr(1, version.size() - 2) + "\n"));
  }
  app.stop();
  for (const auto& stream : streams) EXPECT_TRUE(stream->ended);
}

}  // namespace
}  // namespace undertext
