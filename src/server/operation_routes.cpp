// Changing a conversation, and what a change would do.
#include <algorithm>
#include <utility>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "server/answer_text.hpp"
#include "server/app_rep.hpp"
#include "server/rows.hpp"

namespace undertext {
namespace {

// Of If-Match, which is the version that the operation, or the first of a list, expects.
bool is_failed_precondition(const Error& error) {
  return error.code == ErrorCode::conflict && error.field == "expectedVersion" &&
         error.operation_index.value_or(0) == 0;
}

http::Reply operated(const Call& call, LineAnswer answer) {
  http::Reply reply = reply_of(std::move(answer));
  if (reply.error && is_failed_precondition(*reply.error) && expected_version(call))
    reply.status = 412;
  return reply;
}

http::Reply operate(App::Rep& app, const Call& call) {
  RequestOptions options = app.operating(call);
  const auto carry_out = [&] {
    return operated(call, answer_request(*app.conversation(call), call.request.body, options));
  };
  const std::string* key = call.find("Idempotency-Key");
  if (key == nullptr) return carry_out();
  options.operation_id = *key;
  // whose it is, and the key
  const std::string of_key = call.caller.tenant + "/" + *call.find("id") + "/" + *key;
  if (!app.operation_requests.begin(of_key, call.request.body)) return key_reused();
  http::Reply reply = reply_from(carry_out);
  app.operation_requests.end(of_key, reply.status == 200);
  return reply;
}

// removed, and as many added; a page of either at the most
constexpr std::size_t changed_rows_max = 50;

void append_changed(AnswerText& out, const History& history,
                    const std::vector<std::uint64_t>& ordinals, std::string_view change,
                    const char*& separator) {
  const std::uint64_t full = out.size() + page_bytes_max;
  std::string piece;
  for (std::size_t i = 0; i < ordinals.size() && i < changed_rows_max; ++i) {
    piece = separator;
    out.expect_reading(history.log()[ordinals[i]]);
    append_row(piece, history, Ordinal(ordinals[i]), change);
    if (!out.fits(piece, full)) return;  // the difference tells of it
    out.add(piece);
    separator = ",";
  }
}

http::Reply preview(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = app.conversation(call);
  conversation->catch_up().value();
  const History before = conversation->history().limited(call.work);
  Conversation trial = conversation->trial(before.version()).value();
  LineAnswer answer = answer_request(trial, call.request.body, app.operating(call));
  if (answer.error) return operated(call, std::move(answer));
  const History after = trial.history().limited(call.work);
  const Diff diff = after.diff(before.version(), after.version()).value();
  AnswerText out(app.room_for_answer(call), "");
  // The answers as a list has them, whether or not there was a list; and more behind them.
  std::string piece =
      answer.is_list ? std::move(answer.line) : R"({"ok":true,"results":[)" + answer.line + "]}";
  piece.pop_back();
  append_sums(piece += R"(,"before":)", before);
  append_sums(piece += R"(,"after":)", after);
  append_json(piece += R"(,"diff":)", diff);
  out.add(piece += R"(,"rows":[)");
  const char* separator = "";
  append_changed(out, before, diff.removed, "removed", separator);
  append_changed(out, after, diff.added, "added", separator);
  out.add("]}");
  http::Reply reply = json_reply(out.take());
  reply.fields.push_back(etag(before.version()));
  return reply;
}

}  // namespace

std::vector<Route> operation_routes(App::Rep& app) {
  return {
      {.method = "POST",
       .path = "/v1/conversations/{id}/operations",
       .right = Right::write,
       .name = "operate",
       .what = "Applies an operation, or a list as one atomic step.",
       .parameters = {conversation_id(), if_match(),
                      idempotency_key("The operationId. Of a list, KEY/0, KEY/1, … for those that "
                                      "have none. What is repeated "
                                      "answers as the first time.")},
       .body = Body::json,
       .takes = "OperationRequest",
       .answers = "OperationAnswer",
       .reply_fields = {"ETag"},
       .handle = replying([&app](const Call& call) { return operate(app, call); })},
      {.method = "POST",
       .path = "/v1/conversations/{id}/preview",
       .name = "preview",
       .what = "What the same body would do: its answers, the view before and after, the "
               "difference and the first messages of it. "
               "Stores nothing.",
       .parameters = {conversation_id(), if_match()},
       .body = Body::json,
       .takes = "OperationRequest",
       .answers = "Preview",
       .reply_fields = {"ETag"},
       .handle = replying([&app](const Call& call) { return preview(app, call); })},
  };
}

}  // namespace undertext
