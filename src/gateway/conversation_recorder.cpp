#include "gateway/conversation_recorder.hpp"

#include <utility>

#include "http/head.hpp"

namespace undertext {
namespace {

using Milliseconds = std::chrono::milliseconds;

std::int64_t milliseconds(std::chrono::system_clock::duration duration) {
  return std::chrono::duration_cast<Milliseconds>(duration).count();
}

constexpr std::size_t ended_max = 4096;  // more than may wait for an editor

std::int64_t steady_ms() {
  return std::chrono::duration_cast<Milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
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

// By its type; some upstreams have another one for events, or none. No JSON begins as events do.
ResponseForm form_of(const ObservedExchange& exchange, std::string_view body) {
  constexpr std::string_view events = "text/event-stream";
  const std::string* type = find_field(exchange.fields, "content-type");
  const bool is_said =
      type && http::equal_ignoring_case(std::string_view(*type).substr(0, events.size()), events);
  const bool is_seen =
      body.starts_with("data:") || body.starts_with("event:") || body.starts_with(":");
  return is_said || is_seen ? ResponseForm::event_stream : ResponseForm::whole;
}

ClientRequestHead head_of(const ObservedRequest& request) {
  ClientRequestHead head;
  head.path = path_of(request.target);
  for (const http::Field& field : request.fields)
    head.headers.emplace_back(field.name, field.value);
  return head;
}

}  // namespace

class ConversationRecorder::Following {
 public:
  explicit Following(ConversationRecorder& recorder)
      : recorder_(recorder), lock_(recorder.mutex_), since_ms_(steady_ms()) {
    recorder_.following_since_ms_ = since_ms_;
  }
  ~Following() {
    const std::int64_t now_ms = steady_ms();
    const bool was_slow = now_ms - since_ms_ > recorder_.options_.slow_after.count();
    recorder_.slow_until_ms_ = was_slow ? now_ms : 0;
    recorder_.following_since_ms_ = 0;
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

 private:
  ConversationRecorder& recorder_;
  const std::lock_guard<std::mutex> lock_;
  const std::int64_t since_ms_;
};

bool is_turn(const ObservedRequest& request) {
  if (!request.dialect || !request.body) return false;
  const ClientRequestHead head = head_of(request);
  const Result<ClientRequest> read = read_client_request(client_of(*request.dialect, head),
                                                         *request.dialect, *request.body, {}, head);
  return read && read->kind == ClientRequestKind::turn;
}

ConversationRecorder::ConversationRecorder(ConversationRecorderOptions options)
    : options_(std::move(options)), turns_(options_.turns), editor_(options_.edits) {}

void ConversationRecorder::failed(const ObservedRequest& request, const std::string& what,
                                  const Error& error) {
  ++failures_;
  if (options_.on_failure) options_.on_failure(request.tenant, what, error);
}

Result<SentRequest> ConversationRecorder::sent(const ObservedRequest& request) const {
  SentRequest sent{.tenant = request.tenant, .dialect = *request.dialect, .method = request.method};
  if (!options_.one_user) sent.user = request.client;
  sent.head = head_of(request);
  if (const std::string* named = request.find("x-undertext-conversation"))
    sent.conversation = *named;
  sent.at_ms = milliseconds(request.received.time_since_epoch());
  // What is not compressed is shared with the exchange: bodies are large, and stay for as long as
  // their answers take.
  if (request.body && request.content_encoding.empty() &&
      request.body->size() <= options_.decoded_bytes_max) {
    sent.body = request.body;
  } else if (request.body) {
    Result<std::string> body =
        decoded(*request.body, request.content_encoding, options_.decoded_bytes_max);
    if (!body) return body.error();
    sent.body = std::make_shared<const std::string>(std::move(*body));
  }
  return sent;
}

std::shared_ptr<ObservedTurn> ConversationRecorder::begin(const ObservedRequest& request) {
  if (!request.dialect || !is_recorded(request.call) || ended_.contains(request.number))
    return nullptr;
  const auto [place, is_new] = under_way_.try_emplace(request.number);
  if (!is_new) return place->second;
  const Result<SentRequest> read = sent(request);
  if (!read) return failed(request, "the body of a request", read.error()), nullptr;
  Result<std::shared_ptr<ObservedTurn>> turn = turns_.begin(*read);
  if (!turn) return failed(request, "a request", turn.error()), nullptr;
  return place->second = std::move(*turn);
}

void ConversationRecorder::request(const std::shared_ptr<const ObservedRequest>& request) {
  const Following following(*this);
  begin(*request);
}

bool ConversationRecorder::is_held_up() const {
  const std::int64_t now_ms = steady_ms(), since_ms = following_since_ms_,
                     slow_until_ms = slow_until_ms_;
  return (since_ms != 0 && now_ms - since_ms > options_.slow_after.count()) ||
         (slow_until_ms != 0 && now_ms - slow_until_ms < options_.edits_again_after.count());
}

bool ConversationRecorder::keeps_bodies(CallKind call) const { return is_recorded(call); }

bool ConversationRecorder::may_edit(const ObservedRequest& request) const {
  if (!request.body || !request.dialect || !is_recorded(request.call)) return false;
  // An item of the gateway's means nothing to a provider, whatever the policy is by now.
  return editor_.policies().may_edit(request.tenant) ||
         (options_.edits.seal && !sealed_texts(*request.body).empty());
}

RequestEdit ConversationRecorder::edit(const std::shared_ptr<const ObservedRequest>& request,
                                       const Offer& offer) {
  RequestEdit simple = unedited(*request);
  if (simple.answer) return simple;  // refused
  // A copy: where the edit is late, the answer of the request is recorded meanwhile.
  std::optional<const ObservedTurn> turn;
  {
    const Following following(*this);
    if (const std::shared_ptr<const ObservedTurn> begun = begin(*request)) turn.emplace(*begun);
  }
  if (!turn) return simple;
  return editor_.edit(*turn, milliseconds(request->received.time_since_epoch()), offer);
}

RequestEdit ConversationRecorder::unedited(const ObservedRequest& request) const {
  if (!options_.edits.seal || !request.dialect) return {};
  // Where the body is not compressed, a glance tells that there is nothing to do.
  if (request.content_encoding.empty() && sealed_texts(*request.body).empty()) return {};
  const Result<SentRequest> read = sent(request);
  if (!read || !read->body) return {};
  return editor_.without_store(*request.dialect, *read->body,
                               whose_item(options_.turns.secret, *read));
}

std::shared_ptr<Conversation> ConversationRecorder::conversation_of(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = under_way_.find(number);
  return found == under_way_.end() || !found->second ? nullptr : found->second->conversation;
}

void ConversationRecorder::finished(ObservedExchange exchange) {
  const Following following(*this);
  ended_.insert(exchange.request->number);
  if (ended_.size() > ended_max) ended_.erase(ended_.begin());
  const auto found = under_way_.find(exchange.request->number);
  if (found == under_way_.end()) return;
  const std::shared_ptr<ObservedTurn> turn = std::move(found->second);
  under_way_.erase(found);
  if (!turn) return;
  const bool has_answer = exchange.end != ObservedExchange::End::upstream_failed;
  GivenAnswer answer{.status = has_answer ? exchange.status : 0,
                     .body_bytes = exchange.body_bytes,
                     .is_torn = has_answer && exchange.end != ObservedExchange::End::complete,
                     .duration_ms = milliseconds(exchange.ended - exchange.request->received),
                     .secrets = exchange.request->secrets};
  if (exchange.first_byte)
    answer.first_byte_ms = milliseconds(*exchange.first_byte - exchange.request->received);
  Result<std::string> body = decoded(exchange.body, exchange.content_encoding,
                                     options_.decoded_bytes_max, CutOff::allowed);
  if (body) {
    answer.form = form_of(exchange, *body);
    answer.body = std::move(*body);
  } else {
    failed(*exchange.request, "the body of an answer", body.error());
  }
  const Result<std::uint64_t> recorded = turns_.finish(*turn, answer);
  if (!recorded) return failed(*exchange.request, "an answer", recorded.error());
  if (options_.on_recorded) options_.on_recorded(exchange.request->tenant, *turn->conversation);
}

}  // namespace undertext
