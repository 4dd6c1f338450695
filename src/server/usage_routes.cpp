// Requests and what providers report of them, stored with the conversation.
#include <utility>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "json/fields.hpp"
#include "json/request_record_json.hpp"
#include "json/usage_json.hpp"
#include "server/app_rep.hpp"

namespace undertext {
namespace {

std::string usage_answer(const UsageTracker& usage) {
  std::string out;
  append_result(out, usage);
  return out;
}

template <class Read>
void read_body(std::string_view body, std::string_view what, Read read) {
  const JsonText text = JsonText::parse(body, {}).value();
  if (!text.root().is(JsonType::object))
    refuse(ErrorCode::invalid_argument, "the body must be a JSON object");
  Reading reading;
  Fields fields(text.root(), what, reading);
  read(fields);
  fields.done();
  if (reading.failed()) throw Failure(reading.take_error());
}

// As it is in the store: another process may have taken it out.
std::shared_ptr<Conversation> current(App::Rep& app, const Call& call) {
  std::shared_ptr<Conversation> conversation = app.conversation(call);
  conversation->catch_up().value();
  return conversation;
}

http::Reply report(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = current(app, call);
  UsageReport report;
  read_body(call.request.body, "a report", [&](Fields& fields) { read_usage(fields, report); });
  (report.final ? conversation->record_usage(report.usage)
                : conversation->update_usage(report.usage))
      .value();
  return json_reply(usage_answer(conversation->usage()));
}

http::Reply take_over(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = current(app, call);
  UsageState state;
  read_body(call.request.body, "usage", [&](Fields& fields) { read_usage_state(fields, state); });
  conversation->set_usage(UsageTracker::restored(state).value()).value();
  return json_reply(usage_answer(conversation->usage()));
}

http::Reply record(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = app.conversation(call);
  GivenRequest given;
  read_body(call.request.body, "a request", [&](Fields& fields) {
    read_given_request(fields, conversation->settings().limits.message, given);
  });
  std::string out;
  append_result(out, record_given(*conversation, std::move(given)));
  return json_reply(std::move(out));
}

}  // namespace

std::vector<Route> usage_routes(App::Rep& app) {
  return {
      {.method = "GET",
       .path = "/v1/conversations/{id}/usage",
       .name = "getUsage",
       .what = "What providers reported, and what that taught.",
       .parameters = {conversation_id()},
       .answers = "UsageAnswer",
       .handle = replying([&app](const Call& call) {
         return json_reply(usage_answer(current(app, call)->usage()));
       })},
      {.method = "POST",
       .path = "/v1/conversations/{id}/usage",
       .right = Right::write,
       .name = "reportUsage",
       .what = "A report of one request. It is final unless it says that it is not; until then a "
               "later one takes its place.",
       .parameters = {conversation_id()},
       .body = Body::json,
       .takes = "UsageReport",
       .answers = "UsageAnswer",
       .handle = replying([&app](const Call& call) { return report(app, call); })},
      {.method = "POST",
       .path = "/v1/conversations/{id}/requests",
       .right = Right::write,
       .name = "recordRequest",
       .what = "Records a request of a client, with its raw text and that of its answer. The "
               "result is its number.",
       .parameters = {conversation_id()},
       .body = Body::json,
       .takes = "GivenRequest",
       .answers = "NumberAnswer",
       .handle = replying([&app](const Call& call) { return record(app, call); })},
      {.method = "PUT",
       .path = "/v1/conversations/{id}/usage",
       .right = Right::write,
       .name = "setUsage",
       .what = "Takes over what was reported elsewhere: the result of a GET. An empty object "
               "forgets all.",
       .parameters = {conversation_id()},
       .body = Body::json,
       .takes = "GivenUsage",
       .answers = "UsageAnswer",
       .handle = replying([&app](const Call& call) { return take_over(app, call); })},
  };
}

}  // namespace undertext
