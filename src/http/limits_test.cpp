// Whoever sends too much, or is one too many.
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;
using std::chrono::milliseconds;

constexpr milliseconds soon{40};

std::string answer_to(const Server& server, std::string_view request) {
  RawClient client(server);
  client.send(request);
  return client.read_all();
}

TEST(Limits, OfTheHead) {
  Server server = serve(echoing(), {.head_bytes = 2000, .fields = 10, .target_bytes = 500});
  std::string fields;
  for (int i = 0; i < 9; ++i) fields += "X: y\r\n";
  const std::string close = "Connection: close\r\n";
  EXPECT_EQ(status_of(answer_to(server, get("/", fields.substr(6) + close))), 200u);
  EXPECT_EQ(status_of(answer_to(server, get("/", fields + close))), 431u);
  EXPECT_EQ(status_of(answer_to(server, get("/" + std::string(499, 'a'), close))), 200u);
  EXPECT_EQ(status_of(answer_to(server, get("/" + std::string(500, 'a'), close))), 414u);
  EXPECT_EQ(status_of(answer_to(server, get("/", "X: " + std::string(1500, 'a') + "\r\n" + close))),
            200u);
  EXPECT_EQ(status_of(answer_to(server, get("/", "X: " + std::string(2000, 'a') + "\r\n" + close))),
            431u);
  // Without the end of a line ever coming.
  EXPECT_EQ(status_of(answer_to(server, "GET /" + std::string(1000, 'a'))), 414u);
  EXPECT_EQ(status_of(answer_to(server, "GET / HTTP/1.1\r\nX: " + std::string(2000, 'a'))), 431u);
  EXPECT_EQ(server.counts().refused, 5u);
}

TEST(Limits, OfABodyByItsLength) {
  Server server = serve(echoing(100));
  EXPECT_EQ(
      status_of(answer_to(server, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n")),
      413u);
  EXPECT_EQ(status_of(answer_to(
                server, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1099511627776\r\n\r\n")),
            413u);
  RawClient client(server);
  client.send(post("/", std::string(100, 'x')));
  EXPECT_EQ(status_of(client.read_answer()), 200u);
}

TEST(Limits, OfABodyInChunks) {
  Server server = serve(echoing(100));
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(answer_to(server, head + "65\r\n")), 413u);
  EXPECT_EQ(status_of(answer_to(server, head + "64\r\n" + std::string(100, 'x') + "\r\n1\r\n")),
            413u);
}

TEST(Limits, AnEndlessBodyIsCut) {
  Server server = serve(echoing(1 << 20));
  RawClient client(server);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  int sent = 0;
  while (client.send(chunk)) ASSERT_LT(++sent, 1000);
  EXPECT_LT(server.counts().bytes_in, 2u << 20);
}

TEST(Limits, OfChunkExtensionsAndTrailers) {
  Server server = serve(echoing(1 << 20), {.head_bytes = 1000});
  std::string body;
  for (int i = 0; i < 20; ++i) body += "1;" + std::string(100, 'e') + "\r\nx\r\n";
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(answer_to(server, head + body)), 400u);
  EXPECT_EQ(status_of(answer_to(server, head + "0\r\nX: " + std::string(1000, 'x') + "\r\n\r\n")),
            431u);
}

TEST(Connections, AreLimitedInTotal) {
  Server server = serve(echoing(), {.connections_max = 2});
  RawClient first(server), second(server);
  for (RawClient* client : {&first, &second}) {
    client->send(get("/"));
    EXPECT_EQ(status_of(client->read_answer()), 200u);
  }
  RawClient third(server);
  EXPECT_EQ(status_of(third.read_all()), 503u);
  EXPECT_EQ(server.counts().connections_refused, 1u);
  first.close();
  while (server.counts().connections > 1) std::this_thread::yield();
  RawClient fourth(server);
  fourth.send(get("/"));
  EXPECT_EQ(status_of(fourth.read_answer()), 200u);
}

TEST(Connections, AreLimitedForEachPeer) {
  Server server = serve(echoing(), {.connections_per_peer_max = 1});
  RawClient first(server);
  first.send(get("/"));
  EXPECT_EQ(status_of(first.read_answer()), 200u);
  EXPECT_EQ(status_of(RawClient(server).read_all()), 503u);
  EXPECT_EQ(server.counts().connections, 1u);
}

TEST(Connections, WaitWhileTheSystemHasNoDescriptorsLeft) {
#if defined(__has_feature)
#  if __has_feature(undefined_behavior_sanitizer) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "inapplicable: the sanitizer opens a pipe to look whether memory can be read, "
                  "and takes a failure for a bad object";
#  endif
#endif
  Server server = serve(echoing(), {.idle_patience = soon});
  rlimit allowed{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &allowed), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit one_more{static_cast<rlim_t>(next) + 1, allowed.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_more), 0);
  RawClient client(server);  // has the last one
  client.send(get("/"));
  pollfd ready{client.socket(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 100), 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &allowed), 0);
  EXPECT_EQ(status_of(client.read_answer()), 200u);
}

TEST(Connections, ThatAreHalfOpenDoNotDelayOthers) {
  rlimit allowed{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &allowed), 0);
  // both ends of 500 connections are here
  allowed.rlim_cur = std::min<rlim_t>(allowed.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &allowed), 0);
  Server server = serve(echoing());
  std::vector<RawClient> half_open;
  for (int i = 0; i < 500; ++i) {
    half_open.emplace_back(server);
    half_open.back().send(i % 3 == 0 ? "GET / HTTP/1.1\r\nHost:"
                          : i % 3 == 1
                              ? "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"
                              : "");
  }
  RawClient client(server);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) {
    client.send(get("/"));
    EXPECT_EQ(status_of(client.read_answer()), 200u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, Limits{}.head_patience / 2);
  EXPECT_EQ(server.counts().connections, 501u);
}

TEST(Refusals, AreReadByAClientThatSendsABodyAllTheSame) {
  Server server = serve(echoing(10));
  RawClient client(server);
  client.send(post("/", std::string(100'000, 'x')));
  EXPECT_EQ(status_of(client.read_all()), 413u);
}

}  // namespace
}  // namespace undertext::http
