// What lasts longer than a call: events, and compressions in the background.
#include <algorithm>
#include <utility>

#include "base/json_text.hpp"
#include "json/operation_json.hpp"
#include "json/request.hpp"
#include "server/app_rep.hpp"

namespace undertext {
namespace {

std::shared_ptr<Conversation> caught_up(App::Rep& app, const Call& call) {
  std::shared_ptr<Conversation> conversation = app.conversation(call);
  conversation->catch_up().value();
  return conversation;
}

void open_events(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = caught_up(app, call);
  // A browser that comes back has the number in the field, and still the parameter it began with.
  // Without either the head is told first, so that the client knows where it is.
  const char* const after = call.has("Last-Event-ID") ? "Last-Event-ID" : "after";
  const std::uint64_t next = call.has(after) ? std::max(call.number(after) + 1, call.number(after))
                                             : conversation->version().value;
  app.events.open({call.caller, conversation, next}, *call.exchange);
}

http::Reply compress(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = caught_up(app, call);
  std::string line = with_member(call.request.body, "operation", "COMPRESS");
  const std::string key =
      call.has("Idempotency-Key") ? *call.find("Idempotency-Key") : std::string();
  if (!key.empty()) line = with_member(line, "operationId", key);
  // Here it is one by a strategy, also where nothing is said of it.
  {
    const JsonText said = JsonText::parse(line, {}).value();
    for (const char* const names : {"indices", "ordinals", "summary"})
      if (said.root().find(names))
        refuse(ErrorCode::invalid_argument, "a strategy chooses the messages here", names);
    if (!said.root().find("progress")) line.insert(line.find('{') + 1, R"("progress":false,)");
  }
  const JsonText text = JsonText::parse(line, {}).value();
  // What is wrong with it is told now, and not to whoever asks for the job.
  const SpelledOperation spelled = read_operation(text.root(), conversation->settings()).value();
  // It is told with every event of the job, for as long as the job is known.
  const std::optional<JsonValue> given = text.root().find("strategy");
  std::string strategy =
      given ? std::string(given->raw()) : json_string(spelled.compress_by.strategy->name());
  constexpr std::size_t strategy_bytes_max = 16 << 10;
  if (strategy.size() > strategy_bytes_max)
    refuse(ErrorCode::too_large, "strategy is longer than 16 KiB", "strategy");
  keep_to_one_line(strategy);
  const Result<Compressions::Started> begun =
      app.compressions.start({.tenant = call.caller.tenant,
                              .conversation = conversation,
                              .line = line,
                              .strategy = std::move(strategy),
                              .key = key});
  if (!begun && begun.error().code == ErrorCode::conflict) return key_reused();
  const Compressions::Started started = begun.value();
  http::Reply reply = json_reply(R"({"ok":true,"result":)" + started.json + "}", 202);
  reply.fields.push_back(
      {"Location", "/v1/conversations/" + conversation->id() + "/compressions/" + started.job});
  return reply;
}

http::Reply job_reply(const std::optional<std::string>& json) {
  if (!json)
    refuse(ErrorCode::not_found, "this process has no such compression, or it ended long ago",
           "job");
  return json_reply(R"({"ok":true,"result":)" + *json + "}");
}

Parameter job() {
  return {.name = "job",
          .in = Parameter::In::path,
          .required = true,
          .what = "The compression.",
          .most = 64};
}

}  // namespace

std::vector<Route> live_routes(App::Rep& app) {
  constexpr std::string_view compressions = "/v1/conversations/{id}/compressions";
  return {
      {.method = "GET",
       .path = "/v1/conversations/{id}/events",
       .name = "getEvents",
       .what = "Server-sent events: every change of the conversation, also by other processes.",
       .parameters =
           {conversation_id(),
            {.name = "after",
             .type = Parameter::Type::integer,
             .what = "Begin behind this version (default: the head)."},
            {.name = "Last-Event-ID",
             .in = Parameter::In::header,
             .type = Parameter::Type::integer,
             .what = "The same, and goes before it: what a browser sends when it comes back."}},
       .reply_type = "text/event-stream",
       .handle = [&app](const Call& call) { open_events(app, call); }},
      {.method = "POST",
       .path = std::string(compressions),
       .right = Right::write,
       .name = "compress",
       .what = "COMPRESS by a strategy, in the background of this process.",
       .parameters = {conversation_id(),
                      idempotency_key("The operationId. What is sent again is answered with the "
                                      "same job while this process knows it, "
                                      "and later with one that changes nothing.")},
       .body = Body::json,
       .takes = "CompressionRequest",
       .answers = "CompressionAnswer",
       .reply_fields = {"Location"},
       .good_status = 202,
       .handle = replying([&app](const Call& call) { return compress(app, call); })},
      {.method = "GET",
       .path = std::string(compressions) + "/{job}",
       .name = "getCompression",
       .what = "Whether it still runs, and what it came to.",
       .parameters = {conversation_id(), job()},
       .answers = "CompressionAnswer",
       .handle = replying([&app](const Call& call) {
         return job_reply(
             app.compressions.find(call.caller.tenant, *call.find("id"), *call.find("job")));
       })},
      {.method = "DELETE",
       .path = std::string(compressions) + "/{job}",
       .right = Right::write,
       .name = "cancelCompression",
       .what = "Cancels a compression. One that has ended is not changed.",
       .parameters = {conversation_id(), job()},
       .answers = "CompressionAnswer",
       .handle = replying([&app](const Call& call) {
         return job_reply(
             app.compressions.cancel(call.caller.tenant, *call.find("id"), *call.find("job")));
       })},
  };
}

}  // namespace undertext
