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

op::Reconcile list_of(std::uint64_t count, Role role, std::string_view text) {
  std::vector<Message> messages;
  for (std::uint64_t i = 0; i < count; ++i)
    messages.push_back(Message::make(role, std::string(text) + " " + std::to_string(i)).value());
  return client_list(find_client("generic").value(), messages);
}

// Measured beside the first request, which stores as many.
TEST(LawsOfCost, AListThatIsReplacedCostsAsMuchAsAListThatIsNew) {
  constexpr std::uint64_t count = 30'000;
  const Operation first{list_of(count, Role::assistant, "first")}, next{list_of(count, Role::user, "next")},
      other{list_of(count, Role::assistant, "other")};
  History history;
  const auto take = [&](const Operation& operation) {
    return milliseconds([&] { history = history.apply(operation, {}).value().history; });
  };
  const double storing = take(first), replacing = take(next), of_same_role = take(other), back = take(first);
  EXPECT_EQ(history.stats().total_messages, 3 * count);
  std::printf(
      "%llu messages: stored in %.1f ms, replaced by others in %.1f ms, by others of their role in %.1f ms; back in %.1f ms\n",
      static_cast<unsigned long long>(count), storing, replacing, of_same_role, back);
  for (const double each : {replacing, of_same_role, back}) EXPECT_LT(each, 60 * storing + 500);
}

}  // namespace
}  // namespace undertext
