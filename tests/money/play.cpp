// Plays a client's session under a policy of the gateway, turn by turn: lines of JSON in, what is
// sent out.
//
//     play POLICY
//
//     in   {"at":MS,"append":[MESSAGE…],"over":BOOL,"window":N,"lifetime":MS,"overhead":N,"prompt":N}
//     out  {"keep":K,"put":[MESSAGE…],"edited":BOOL,"tokens":N,"factor":F}
//
// A line is a request of the client: what it adds to the list of the one before. "over": the list
// begins anew. "prompt": what the upstream counted of the request before, from which the correction
// of the count is learned, as the gateway learns it.
// What is sent begins with the first K messages of what was sent before, and goes on with `put`.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <undertext/usage.hpp>

#include "base/json_text.hpp"
#include "money/replay.hpp"
#include "tokens/counting.hpp"

namespace {

using namespace undertext;

std::uint64_t number_of(const JsonValue& line, std::string_view name) {
  const std::optional<JsonValue> value = line.find(name);
  return value ? value->uint64_saturated().value_or(0) : 0;
}

std::vector<Message> messages_of(const JsonValue& line) {
  std::vector<Message> messages;
  if (const std::optional<JsonValue> list = line.find("append"))
    for (const JsonValue message : list->elements())
      messages.push_back(Message::parse(message.raw(), {}).value());
  return messages;
}

// As conversations that the gateway makes are counted.
constexpr std::string_view model = "m";

class Session {
 public:
  explicit Session(const std::string& policy)
      : policy_(GatewayPolicies::read(policy).value().of({})),
        count_(counting_by("estimate").value().counter()),
        replay_(policy_, count_, PolicyReplay::Summaries::written) {}

  std::string turn(const JsonValue& line) {
    const std::int64_t at_ms = static_cast<std::int64_t>(number_of(line, "at"));
    learn(number_of(line, "prompt"));
    if (const std::optional<JsonValue> over = line.find("over");
        over && over->is(JsonType::boolean) && over->boolean()) {
      replay_.start_over();
    }
    replay_.append(messages_of(line));
    PolicyReplay::Moment moment{.measure = {.overhead_tokens = number_of(line, "overhead"),
                                            .factor = usage_.correction(model).factor}};
    if (const std::uint64_t window = number_of(line, "window"); window > 0) moment.window = window;
    if (sent_ms_) moment.idle_ms = at_ms - *sent_ms_;
    moment.cache_lifetime_ms = static_cast<std::int64_t>(number_of(line, "lifetime"));
    const bool is_edited = replay_.edit(moment);
    sent_ms_ = at_ms;
    const View view = replay_.history().view();
    estimated_ = view.sums().tokens() + moment.measure.overhead_tokens;
    const std::uint64_t keep = replay_.send();
    std::string out = R"({"keep":)" + std::to_string(keep) + R"(,"put":[)";
    for (std::uint64_t i = keep; i < view.size(); ++i)
      (out += i == keep ? "" : ",") += view[i].json();
    out += std::string(R"(],"edited":)") + (is_edited ? "true" : "false") + R"(,"tokens":)" +
           std::to_string(estimated_) + R"(,"factor":)" + std::to_string(moment.measure.factor) +
           "}";
    return out;
  }

 private:
  void learn(std::uint64_t prompt) {
    if (prompt == 0 || estimated_ == 0) return;
    usage_
        .record({.request_id = std::to_string(++reports_),
                 .model = std::string(model),
                 .prompt = prompt,
                 .estimated_prompt = estimated_})
        .value();
  }

  const GatewayPolicy policy_;
  const PolicyReplay::Count count_;
  PolicyReplay replay_;
  UsageTracker usage_;
  std::optional<std::int64_t> sent_ms_;
  std::uint64_t estimated_ = 0, reports_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: play POLICY");
    Session session(argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      const JsonText text = JsonText::parse(line, {}).value();
      std::cout << session.turn(text.root()) << std::endl;
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
