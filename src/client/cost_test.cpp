// What following a client costs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include <undertext/client.hpp>
#include <undertext/history.hpp>

namespace undertext {
namespace {

double milliseconds(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

std::string request_of(std::uint64_t messages) {
  std::string body = R"({"model":"m","system":"be good","messages":[)";
  for (std::uint64_t i = 0; i < messages; ++i)
    body += (i == 0 ? "" : ",") + (R"({"role":")" + std::string(i % 2 == 0 ? "user" : "assistant")) +
            R"(","content":[{"type":"text","text":"message )" + std::to_string(i) +
            R"( says something of an ordinary length, so that there is something to read"}]})";
  return body + "]}";
}

TEST(LawsOfCost, OneMoreMessageAfterAHundredThousandCostsLittleBesideReadingTheRequest) {
  constexpr std::uint64_t count = 100'000;
  const ClientProfile client = find_client("anthropic").value();
  const History before =
      History().apply({read_client_request(client, {}, request_of(count)).value().reconcile}, {}).value().history;
  const std::string body = request_of(count + 1);
  ClientRequest request;
  const double reading = milliseconds([&] { request = read_client_request(client, {}, body).value(); });
  const Operation operation{std::move(request.reconcile)};
  double reconciling = 1e9;
  for (int i = 0; i < 5; ++i) {
    std::optional<Step> step;
    reconciling = std::min(reconciling, milliseconds([&] { step = before.apply(operation, {}).value(); }));
    ASSERT_EQ(step->applied.reconciliation->added, 1u);
    ASSERT_EQ(step->history.stats().total_messages, count + 2);
  }
  std::printf("a request of %.1f MB: %.2f ms to read it, %.3f ms to reconcile it\n", static_cast<double>(body.size()) / 1e6,
              reading, reconciling);
  EXPECT_LT(reconciling, reading / 20);
}

}  // namespace
}  // namespace undertext
