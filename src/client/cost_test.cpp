// What following a client costs.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <undertext/client.hpp>
#include <undertext/history.hpp>
#include <undertext/work.hpp>

namespace undertext {
namespace {

// Of the processor, whoever else uses it.
double milliseconds(const auto& work) {
  const std::clock_t begin = std::clock();
  work();
  return 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

std::string request_of(std::uint64_t messages) {
  std::string body = R"({"model":"m","system":"be good","messages":[)";
  for (std::uint64_t i = 0; i < messages; ++i)
    body += (i == 0 ? "" : ",") +
            (R"({"role":")" + std::string(i % 2 == 0 ? "user" : "assistant")) +
            R"(","content":[{"type":"text","text":"message )" + std::to_string(i) +
            R"( says something of an ordinary length, so that there is something to read"}]})";
  return body + "]}";
}

TEST(LawsOfCost, OneMoreMessageAfterAHundredThousandCostsLittleBesideReadingTheRequest) {
  constexpr std::uint64_t count = 100'000;
  const ClientProfile client = find_client("anthropic").value();
  const History before =
      History()
          .apply({read_client_request(client, {}, request_of(count)).value().reconcile}, {})
          .value()
          .history;
  const std::string body = request_of(count + 1);
  ClientRequest request;
  const double reading =
      milliseconds([&] { request = read_client_request(client, {}, body).value(); });
  const Operation operation{std::move(request.reconcile)};
  double reconciling = 1e9;
  for (int i = 0; i < 5; ++i) {
    std::optional<Step> step;
    reconciling =
        std::min(reconciling, milliseconds([&] { step = before.apply(operation, {}).value(); }));
    ASSERT_EQ(step->applied.reconciliation->added, 1u);
    ASSERT_EQ(step->history.stats().total_messages, count + 2);
  }
  std::printf("a request of %.1f MB: %.2f ms to read it, %.3f ms to reconcile it\n",
              static_cast<double>(body.size()) / 1e6, reading, reconciling);
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
  const Operation first{list_of(count, Role::assistant, "first")},
      next{list_of(count, Role::user, "next")}, other{list_of(count, Role::assistant, "other")};
  History history;
  const auto take = [&](const Operation& operation) {
    return milliseconds([&] { history = history.apply(operation, {}).value().history; });
  };
  const double storing = take(first), replacing = take(next), of_same_role = take(other),
               back = take(first);
  EXPECT_EQ(history.stats().total_messages, 3 * count);
  std::printf(
      "%llu messages: stored in %.1f ms, replaced by others in %.1f ms, by others of their role in "
      "%.1f ms; back in %.1f ms\n",
      static_cast<unsigned long long>(count), storing, replacing, of_same_role, back);
  for (const double each : {replacing, of_same_role, back}) EXPECT_LT(each, 60 * storing + 500);
}

// A long list that names its first items by their ids, and one that is not there.
std::string request_that_names(std::uint64_t messages, std::uint64_t named) {
  std::string body = R"({"input":[{"type":"item_reference","id":"msg_unknown"})";
  for (std::uint64_t i = 0; i < messages; ++i) {
    const std::string id = R"("id":"msg_)" + std::to_string(i) + R"(")";
    const bool is_name = i < named;
    body += is_name ? R"(,{"type":"item_reference",)" + id + "}"
                    : R"(,{"type":"message",)" + id +
                          R"(,"role":"assistant","content":[{"type":"output_text","text":"a )" +
                          std::to_string(i) + R"("}]})";
  }
  return body + "]}";
}

TEST(LawsOfCost, ItemsThatARequestNamesAreNotLookedForInTheWholeLogAgain) {
  constexpr std::uint64_t count = 2000;
  const ClientProfile client = find_client("openai_responses").value();
  const auto read = [&](std::uint64_t messages, std::uint64_t named) {
    return read_client_request(client, {}, request_that_names(messages, named)).value().reconcile;
  };
  const History whole = History().apply({read(count, 0)}, {}).value().history;
  std::uint64_t looks = 0;
  const auto follow = [&](const History& history, const op::Reconcile& request) {
    auto work = std::make_shared<Work>(WorkLimits{.interrupted = [&]() -> Result<void> {
      ++looks;
      return {};
    }});
    looks = 0;
    Step step = history.limited(work).apply({request}, {}).value();
    EXPECT_EQ(step.history.stats().total_messages, request.list.size());
    return step.history;
  };
  History history = follow(whole, read(count, 3));
  EXPECT_LT(looks, 100u) << "they stand where they stood";
  history = follow(history, read(count + 1, 3));
  EXPECT_LT(looks, 100u);
  EXPECT_EQ(history.client_list().size(), count + 2);
}

}  // namespace
}  // namespace undertext
