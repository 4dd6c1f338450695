// What providers report of requests. Kept in the memory of this process, as long as the conversation stays open in it.
#include <charconv>
#include <utility>

#include "base/json_text.hpp"
#include "json/fields.hpp"
#include "server/app_rep.hpp"
#include "server/schema.hpp"

namespace undertext {
namespace {

std::string spelled(double number) {
  char text[64];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, number);
  return {text, end.ptr};
}

void append_totals(std::string& out, const UsageTotals& totals) {
  out += R"({"requests":)" + std::to_string(totals.requests) + R"(,"prompt":)" + std::to_string(totals.prompt);
  out += R"(,"completion":)" + std::to_string(totals.completion) + R"(,"cached":)" + std::to_string(totals.cached);
  out += R"(,"total":)" + std::to_string(totals.total) + R"(,"cost":)" + spelled(totals.cost) + "}";
}

void append_request(std::string& out, const RequestUsage& usage) {
  append_json_string(out += R"({"requestId":)", usage.request_id);
  append_json_string(out += R"(,"model":)", usage.model);
  out += R"(,"prompt":)" + std::to_string(usage.prompt) + R"(,"completion":)" + std::to_string(usage.completion);
  out += R"(,"cached":)" + std::to_string(usage.cached) + R"(,"total":)" + std::to_string(usage.total);
  out += R"(,"cost":)" + spelled(usage.cost) + R"(,"timestamp":)" + std::to_string(usage.at_ms);
  out += R"(,"estimatedPrompt":)" + std::to_string(usage.estimated_prompt) + "}";
}

std::string usage_json(const UsageTracker& usage) {
  const UsageStatistics statistics = usage.statistics();
  std::string out = R"({"ok":true,"result":{"totals":)";
  append_totals(out, statistics.totals);
  out += R"(,"models":[)";
  const char* separator = "";
  for (const UsageStatistics::OfModel& of : statistics.by_model) {
    append_json_string((out += std::exchange(separator, ",")) += R"({"model":)", of.model);
    append_totals(out += R"(,"totals":)", of.totals);
    const UsageCorrection correction = usage.correction(of.model);
    out += R"(,"factor":)" + spelled(correction.factor) + R"(,"factorHigh":)" + spelled(correction.factor_high);
    out += R"(,"learnedFrom":)" + std::to_string(correction.learned_from) + "}";
  }
  separator = "";
  out += R"(],"open":[)";
  for (const RequestUsage& request : usage.open()) append_request(out += std::exchange(separator, ","), request);
  separator = "";
  out += R"(],"recent":[)";
  constexpr std::size_t recent_max = 100;
  const std::deque<RequestUsage>& all = usage.history();
  for (std::size_t i = all.size() - std::min(all.size(), recent_max); i < all.size(); ++i)
    append_request(out += std::exchange(separator, ","), all[i]);
  return out + "]}}";
}

void read_cost(Fields& fields, double& cost) {
  const std::optional<JsonValue> value = fields.find("cost");
  if (!value) return;
  const std::string_view text = value->raw();
  if (!value->is(JsonType::number) || std::from_chars(text.data(), text.data() + text.size(), cost).ec != std::errc())
    fields.fail("cost", "must be a number");
}

struct Report {
  RequestUsage usage;
  bool final = true;
};

Report read_report(std::string_view body) {
  const JsonText text = JsonText::parse(body, {}).value();
  if (!text.root().is(JsonType::object)) refuse(ErrorCode::invalid_argument, "the body must be a JSON object");
  Report report;
  Reading reading;
  Fields fields(text.root(), "a report", reading);
  fields.need("requestId", report.usage.request_id);
  fields.take("model", report.usage.model);
  fields.need("prompt", report.usage.prompt);
  fields.take("completion", report.usage.completion);
  fields.take("cached", report.usage.cached);
  fields.take("total", report.usage.total);
  read_cost(fields, report.usage.cost);
  Integer timestamp;
  fields.take("timestamp", timestamp);
  report.usage.at_ms = timestamp.value;
  fields.take("estimatedPrompt", report.usage.estimated_prompt);
  fields.take("final", report.final);
  fields.done();
  if (reading.failed()) throw Failure(reading.take_error());
  return report;
}

http::Reply report(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = app.conversation(call);
  const Report report = read_report(call.request.body);
  if (std::optional<Error> error = conversation->update_usage(report.usage)) throw Failure(std::move(*error));
  if (report.final) {
    if (std::optional<Error> error = conversation->finish_usage(report.usage.request_id)) throw Failure(std::move(*error));
  }
  return json_reply(usage_json(conversation->usage()));
}

}  // namespace

std::vector<Route> usage_routes(App::Rep& app) {
  return {
      {.method = "GET",
       .path = "/v1/conversations/{id}/usage",
       .name = "getUsage",
       .what = "What providers reported, and what that taught. Of this process, since it opened the conversation.",
       .parameters = {conversation_id()},
       .reply_schema = schema::result_of(schema::object),
       .handle = replying([&app](const Call& call) { return json_reply(usage_json(app.conversation(call)->usage())); })},
      {.method = "POST",
       .path = "/v1/conversations/{id}/usage",
       .right = Right::write,
       .name = "reportUsage",
       .what = "A report of one request. It is final unless it says that it is not; until then a later one takes its place.",
       .parameters = {conversation_id()},
       .body = Body::json,
       .body_schema =
           R"({"type":"object","additionalProperties":false,"required":["requestId","prompt"],"properties":{"requestId":{"type":"string","minLength":1},"model":{"type":"string"},"prompt":{"type":"integer","minimum":0},"completion":{"type":"integer","minimum":0},"cached":{"type":"integer","minimum":0},"total":{"type":"integer","minimum":0},"cost":{"type":"number","minimum":0},"timestamp":{"type":"integer","minimum":0},"estimatedPrompt":{"type":"integer","minimum":0},"final":{"type":"boolean"}}})",
       .reply_schema = schema::result_of(schema::object),
       .handle = replying([&app](const Call& call) { return report(app, call); })},
  };
}

}  // namespace undertext
