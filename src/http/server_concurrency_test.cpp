// Many clients, workers on threads of their own, clients that break off in the middle, and a stop
// in the midst of it.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;

// Threads before a queue, as the server's owner has them.
class Workers {
 public:
  explicit Workers(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void add(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

// "/stream": in ten pieces; "/drop": broken off; else echoed.
void work(const Request& request, std::shared_ptr<Exchange> exchange) {
  if (request.target != "/stream" && request.target != "/drop")
    return exchange->answer({.content_type = "text/plain",
                             .body = request.method + " " + request.target + " " + request.body});
  auto stream = exchange->stream(200, "text/plain", {});
  for (int i = 0; i < 10 && stream->write("piece"); ++i) {
  }
  if (request.target == "/stream") stream->end();
}

Calls worked_by(Workers& workers) {
  Calls calls = echoing();
  calls.handle = [&](Request request, std::unique_ptr<Exchange> exchange) {
    workers.add([request = std::move(request), exchange = std::shared_ptr<Exchange>(std::move(
                                                   exchange))] { work(request, exchange); });
  };
  return calls;
}

void call_at_random(const Server& server, unsigned seed, int requests) {
  std::mt19937 random(seed);
  for (int i = 0; i < requests;) {
    RawClient client(server);
    for (int of_connection = 0; of_connection < 10 && i < requests; ++of_connection, ++i) {
      const std::string body = std::to_string(seed) + ":" + std::to_string(i);
      switch (random() % 8) {
        case 0: client.send(post("/", body).substr(0, 30)); return client.reset();
        case 1:
          client.send(get("/stream"));
          client.close();
          of_connection = 10;
          break;
        case 2:
          client.send(get("/drop"));
          EXPECT_EQ(count_of(client.read_all(), "0\r\n\r\n"), 0u);
          of_connection = 10;
          break;
        case 3:
          client.send(get("/stream"));
          EXPECT_EQ(count_of(client.read_until("\r\n0\r\n\r\n"), "piece"), 10u);
          break;
        case 4:
          client.send(post("/", body));
          client.reset();
          of_connection = 10;
          break;
        default:
          client.send(post("/", body));
          EXPECT_EQ(body_of(client.read_answer()), "POST / " + body);
      }
    }
  }
}

TEST(ManyClients, EachGetItsOwnAnswers) {
  Workers workers(4);
  Server server = serve(worked_by(workers));
  std::vector<std::thread> clients;
  for (unsigned i = 0; i < 8; ++i)
    clients.emplace_back([&, i] {
      for (unsigned round = 0; round < 20; ++round) call_at_random(server, i * 100 + round, 30);
    });
  for (std::thread& client : clients) client.join();
  server.stop();
  EXPECT_EQ(server.counts().connections, 0u);
}

TEST(ManyClients, SeeWholeAnswersOrNoneWhenTheServerStops) {
  for (int round = 0; round < 10; ++round) {
    Workers workers(2);
    Server server = serve(worked_by(workers), {.stop_patience = std::chrono::milliseconds(500)});
    std::atomic<int> answered = 0;
    std::vector<std::thread> clients;
    std::vector<RawClient> sockets;
    for (int i = 0; i < 8; ++i) sockets.emplace_back(server);
    for (RawClient& client : sockets)
      clients.emplace_back([&] {
        while (client.send(post("/", "x"))) {
          const std::string answer = client.read_answer();
          if (answer.empty()) break;
          EXPECT_EQ(body_of(answer), "POST / x");
          ++answered;
        }
        client.close();
      });
    while (answered < 100) std::this_thread::yield();
    server.stop();
    for (std::thread& client : clients) client.join();
  }
}

TEST(ManyClients, MayStopAServerTogether) {
  Server server = serve(echoing());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { server.stop(); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace undertext::http
