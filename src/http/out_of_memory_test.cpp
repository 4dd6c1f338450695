// Memory that runs out while a request is read or answered costs that connection at most.
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace {

thread_local bool may_fail = false;     // a thread of the server under test
std::atomic<int> allocations_left{-1};  // of such threads, before one fails; negative: none fails

void* allocate(std::size_t bytes) {
  if (may_fail && allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace undertext::http {
namespace {

using namespace testing;

TEST(OutOfMemory, CostsOneConnectionAtMost) {
  Calls calls = echoing();
  calls.admit = [](const Head&) {
    may_fail = true;
    return Admission{1 << 20};
  };
  calls.handle = [](Request request, std::unique_ptr<Exchange> exchange) {
    if (request.target != "/stream") return echo(std::move(request), std::move(exchange));
    auto stream = exchange->stream(200, "text/plain", {});
    stream->write("a piece of the stream");
    stream->end();
  };
  Server server = serve(calls);
  int failures = 0;
  for (int nth = 0; nth < 150; ++nth) {
    for (const char* target : {"/a-target-that-is-no-short-string", "/stream"}) {
      // The connection may fail before it is accepted too.
      allocations_left = nth;
      RawClient client(server);
      client.send(post(target, std::string(10'000, 'x')));
      client.end_sending();
      const std::string all = client.read_all();
      if (allocations_left < 0) ++failures;
      allocations_left = -1;
      EXPECT_TRUE(all.empty() || status_of(all) == 200u || status_of(all) == 500u) << all;
      RawClient next(server);
      next.send(get("/"));
      EXPECT_EQ(body_of(next.read_answer()), "GET / ") << "after allocation " << nth;
    }
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace undertext::http
