// What providers report of requests. Kept in the memory of this process, as long as the conversation stays open in it.
#include <utility>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "json/fields.hpp"
#include "json/usage_json.hpp"
#include "server/app_rep.hpp"

namespace undertext {
namespace {

// With the word that it is of this process alone.
std::string usage_answer(const UsageTracker& usage) {
  constexpr std::string_view lead = R"({"ok":true,"result":{)";
  std::string out;
  append_result(out, usage);
  return out.insert(lead.size(), R"("scope":"process",)");
}

UsageReport read_report(std::string_view body) {
  const JsonText text = JsonText::parse(body, {}).value();
  if (!text.root().is(JsonType::object)) refuse(ErrorCode::invalid_argument, "the body must be a JSON object");
  UsageReport report;
  Reading reading;
  Fields fields(text.root(), "a report", reading);
  read_usage(fields, report);
  fields.done();
  if (reading.failed()) throw Failure(reading.take_error());
  return report;
}

// As it is in the store: another process may have taken it out.
std::shared_ptr<Conversation> current(App::Rep& app, const Call& call) {
  std::shared_ptr<Conversation> conversation = app.conversation(call);
  if (std::optional<Error> error = conversation->catch_up()) throw Failure(std::move(*error));
  return conversation;
}

http::Reply report(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = current(app, call);
  const UsageReport report = read_report(call.request.body);
  if (std::optional<Error> error = conversation->update_usage(report.usage)) throw Failure(std::move(*error));
  if (report.final) {
    if (std::optional<Error> error = conversation->finish_usage(report.usage.request_id)) throw Failure(std::move(*error));
  }
  return json_reply(usage_answer(conversation->usage()));
}

}  // namespace

std::vector<Route> usage_routes(App::Rep& app) {
  return {
      {.method = "GET",
       .path = "/v1/conversations/{id}/usage",
       .name = "getUsage",
       .what = "What providers reported, and what that taught. Of this process, since it opened the conversation.",
       .parameters = {conversation_id()},
       .answers = "UsageAnswer",
       .handle = replying([&app](const Call& call) { return json_reply(usage_answer(current(app, call)->usage())); })},
      {.method = "POST",
       .path = "/v1/conversations/{id}/usage",
       .right = Right::write,
       .name = "reportUsage",
       .what = "A report of one request. It is final unless it says that it is not; until then a later one takes its place.",
       .parameters = {conversation_id()},
       .body = Body::json,
       .takes = "UsageReport",
       .answers = "UsageAnswer",
       .handle = replying([&app](const Call& call) { return report(app, call); })},
  };
}

}  // namespace undertext
