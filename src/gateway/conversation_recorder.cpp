#include "gateway/conversation_recorder.hpp"

#include <utility>

namespace undertext {
namespace {

using Milliseconds = std::chrono::milliseconds;

std::int64_t milliseconds(std::chrono::system_clock::duration duration) {
  return std::chrono::duration_cast<Milliseconds>(duration).count();
}

// Of the calls that a gateway knows, those that hold a list of messages.
bool is_recorded(CallKind call) { return call != CallKind::models && call != CallKind::other; }

std::string path_of(const std::string& target) { return target.substr(0, target.find('?')); }

const std::string* find_field(const std::vector<http::Field>& fields, std::string_view name) {
  http::Head head;
  for (const http::Field& field : fields)
    if (head.fields = {field}, head.find(name)) return &field.value;
  return nullptr;
}

ResponseForm form_of(const ObservedExchange& exchange) {
  const std::string* type = find_field(exchange.fields, "content-type");
  return type && type->starts_with("text/event-stream") ? ResponseForm::event_stream : ResponseForm::whole;
}

}  // namespace

ConversationRecorder::ConversationRecorder(ConversationRecorderOptions options)
    : options_(std::move(options)), turns_(options_.turns) {}

void ConversationRecorder::failed(const ObservedRequest& request, const std::string& what, const Error& error) const {
  if (options_.on_failure) options_.on_failure(request.tenant, what, error);
}

Result<SentRequest> ConversationRecorder::sent(const ObservedRequest& request) const {
  SentRequest sent{.tenant = request.tenant, .dialect = *request.dialect, .method = request.method};
  if (!options_.one_user) sent.user = request.client;
  sent.head.path = path_of(request.target);
  for (const http::Field& field : request.fields) sent.head.headers.emplace_back(field.name, field.value);
  if (const std::string* named = request.find("x-undertext-conversation")) sent.conversation = *named;
  sent.at_ms = milliseconds(request.received.time_since_epoch());
  if (request.body) {
    Result<std::string> body = decoded(*request.body, request.content_encoding, options_.decoded_bytes_max);
    if (!body) return body.error();
    sent.body = std::move(*body);
  }
  return sent;
}

void ConversationRecorder::request(const std::shared_ptr<const ObservedRequest>& request) {
  if (!request->dialect || !is_recorded(request->call)) return;
  const Result<SentRequest> read = sent(*request);
  if (!read) return failed(*request, "the body of a request", read.error());
  Result<std::shared_ptr<ObservedTurn>> turn = turns_.begin(*read);
  if (!turn) return failed(*request, "a request", turn.error());
  if (*turn) under_way_[request->number] = std::move(*turn);
}

void ConversationRecorder::finished(ObservedExchange exchange) {
  const auto found = under_way_.find(exchange.request->number);
  if (found == under_way_.end()) return;
  const std::shared_ptr<ObservedTurn> turn = std::move(found->second);
  under_way_.erase(found);
  const bool has_answer = exchange.end != ObservedExchange::End::upstream_failed;
  GivenAnswer answer{.status = has_answer ? exchange.status : 0,
                     .form = form_of(exchange),
                     .body_bytes = exchange.body_bytes,
                     .is_torn = has_answer && exchange.end != ObservedExchange::End::complete,
                     .duration_ms = milliseconds(exchange.ended - exchange.request->received)};
  if (exchange.first_byte) answer.first_byte_ms = milliseconds(*exchange.first_byte - exchange.request->received);
  Result<std::string> body = decoded(exchange.body, exchange.content_encoding, options_.decoded_bytes_max, CutOff::allowed);
  if (body) {
    answer.body = std::move(*body);
  } else {
    failed(*exchange.request, "the body of an answer", body.error());
  }
  const Result<std::uint64_t> recorded = turns_.finish(*turn, answer);
  if (!recorded) return failed(*exchange.request, "an answer", recorded.error());
  if (options_.on_recorded) options_.on_recorded(exchange.request->tenant);
}

}  // namespace undertext
