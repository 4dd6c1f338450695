#include "gateway/gateway.hpp"

#include <algorithm>
#include <any>
#include <atomic>
#include <mutex>
#include <utility>
#include <variant>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "gateway/answer_block.hpp"
#include "gateway/editing.hpp"
#include "gateway/error_reply.hpp"
#include "gateway/fields.hpp"
#include "gateway/recall_tools.hpp"
#include "gateway/recording.hpp"
#include "http/head.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

// What a client may have unread before its call pauses; what curl hands over at a time, at most 16
// kB, comes on top.
constexpr std::uint64_t unsent_bytes_max = 32 << 10;

// Whoever stops services mostly kills them after 10 s.
constexpr std::chrono::seconds stop_time_max{8};

// How often it is looked whether the token of an answer that goes on is good still.
constexpr std::chrono::milliseconds token_look_every{500};

// Of the memory for bodies, what every tenant may have though others hold all of it.
constexpr std::uint64_t memory_bytes_always = 2 << 20;

// The same of what waits to be recorded.
constexpr std::uint64_t recording_bytes_always = 1 << 20;

struct GatewayVerdict {
  GatewayRoute route;
  GatewayCaller caller;
  std::string client;  // ObservedRequest::client
};

std::string random_key() {
  std::string key(32, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), static_cast<int>(key.size()));
  return key;
}

// 128 bits of HMAC-SHA-256, in hexadecimal.
std::string keyed_digest(const std::string& key, const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest,
           &size) == nullptr)
    return {};
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hexadecimal;
  for (unsigned i = 0; i < 16; ++i) {
    hexadecimal += digits[digest[i] >> 4];
    hexadecimal += digits[digest[i] & 15];
  }
  return hexadecimal;
}

// Whether a page of another site sends it. Scripts of pages send their origin, and programs send
// none; applications made of pages have schemes of their own.
bool is_of_foreign_page(const http::Head& head) {
  const std::string* const origin = head.find("origin");
  if (origin == nullptr) return false;
  const std::size_t scheme = origin->find("://");
  if (scheme == origin->npos) return true;  // "null": whoever hides where it comes from
  if (!http::equal_ignoring_case(origin->substr(0, scheme), "http") &&
      !http::equal_ignoring_case(origin->substr(0, scheme), "https"))
    return false;
  const std::string authority = origin->substr(scheme + 3);
  const std::string host = authority.starts_with('[') ? authority.substr(0, authority.find(']') + 1)
                                                      : authority.substr(0, authority.find(':'));
  const bool is_address = host.find_first_not_of("0123456789.") == host.npos;
  return host != "localhost" && host != "[::1]" && !(host.starts_with("127.") && is_address);
}

unsigned status_of(UpstreamEnd end) { return end == UpstreamEnd::timed_out ? 504 : 502; }

std::string_view why(UpstreamEnd end) {
  switch (end) {
    case UpstreamEnd::timed_out: return "the upstream did not answer in time";
    case UpstreamEnd::not_connected: return "the upstream cannot be reached";
    case UpstreamEnd::untrusted: return "the upstream's certificate cannot be verified";
    case UpstreamEnd::invalid: return "the upstream's answer is not valid HTTP";
    default: return "the upstream closed the connection without an answer";
  }
}

bool has_field(const std::vector<http::Field>& fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const http::Field& field) { return is_named(field, name); });
}
void drop_fields(std::vector<http::Field>& fields, std::string_view name) {
  std::erase_if(fields, [&](const http::Field& field) { return is_named(field, name); });
}

// Of a body that is not the client's.
void set_body(UpstreamRequest& request, const std::string& body) {
  request.body = std::make_shared<const std::string>(body);
  for (http::Field& field : request.fields)
    if (is_named(field, "content-length")) field.value = std::to_string(body.size());
}

ResponseForm form_of(const std::vector<http::Field>& fields) {
  for (const http::Field& field : fields)
    if (is_named(field, "content-type") && field.value.starts_with("text/event-stream"))
      return ResponseForm::event_stream;
  return ResponseForm::whole;
}

// Calls in whose answers a model may call tools. Gemini's other stream is no stream of events.
bool may_call_tools(const GatewayRoute& route) {
  switch (route.call) {
    case CallKind::messages:
    case CallKind::chat_completions:
    case CallKind::responses:
    case CallKind::generate_content: return true;
    case CallKind::stream_generate_content:
      return route.target.find("alt=sse") != std::string::npos;
    default: return false;
  }
}

}  // namespace

http::Limits gateway_limits() {
  http::Limits limits;
  limits.head_bytes = 32 << 10;
  limits.fields = 200;
  limits.target_bytes = 16 << 10;
  limits.idle_patience = std::chrono::minutes(5);
  // Who reads slowly reads slowly from the provider too: that is no reason to cut anybody off.
  limits.bytes_per_second_min = 1;
  limits.body_grace = std::chrono::minutes(10);
  limits.stop_patience = std::chrono::seconds(6);
  return limits;
}

struct GatewayRep {
  explicit GatewayRep(GatewayOptions given)
      : options(std::move(given)),
        budget(std::make_shared<http::Budget>(options.memory_bytes,
                                              options.memory_bytes / (options.find_token ? 2 : 1),
                                              memory_bytes_always)),
        queue(options.recorder,
              std::make_shared<http::Budget>(
                  options.recording_bytes, options.recording_bytes / (options.find_token ? 2 : 1),
                  std::min(recording_bytes_always, options.recording_bytes)),
              options.on_event),
        editing(
            options.editor, options.edit_patience,
            [this](Clock::time_point deadline) { queue.wait_for_recorder(deadline); },
            options.on_event),
        client(options.upstream_limits) {
    if (options.digest_key.empty()) options.digest_key = random_key();
  }

  std::variant<http::Admission, http::Reply> admit(const http::Head& head);
  std::optional<http::Reply> identify(const http::Head& head, GatewayVerdict& verdict) const;
  http::Reply refuse_stranger(const http::Head& head, Provider form, http::Reply reply) const;
  void handle(http::Request request, std::unique_ptr<http::Exchange> exchange);
  http::Reply refuse(const http::Refused& refused) const;
  std::optional<Recording> record(std::uint64_t number, const http::Request& request,
                                  const GatewayVerdict& verdict,
                                  const std::shared_ptr<const std::string>& body);
  std::optional<RecallTurn> offer_recall(const ObservedRequest& request, const GatewayRoute& route,
                                         const std::string& body) const noexcept;
  bool may_edit(const ObservedRequest& request) const noexcept;
  RecordLevel level_of(const std::string& tenant) const;
  RecordLevel level_of(const GatewayVerdict& verdict) const;
  void answered(const GatewayLine& line) noexcept;
  void stop();

  GatewayOptions options;
  const std::shared_ptr<http::Budget> budget;
  std::atomic<std::uint64_t> requests = 0, open = 0, upstream_failed = 0, torn = 0, client_left = 0,
                             recall_calls = 0;
  RecordingQueue queue;
  EditingQueue editing;
  UpstreamClient client;
  std::optional<http::Server> server;
  std::mutex stopping;
};

namespace {

// One request from its body's last byte to its answer's. on_head, on_bytes and on_end come from the
// upstream thread, one after another.
class GatewayCall final : public UpstreamCall, public std::enable_shared_from_this<GatewayCall> {
 public:
  GatewayCall(GatewayRep& gateway, const http::Request& request, GatewayVerdict verdict,
              std::unique_ptr<http::Exchange> exchange, std::uint64_t body_bytes,
              std::optional<Recording> recording)
      : gateway_(gateway),
        number_(gateway.client.next_number()),
        verdict_(std::move(verdict)),
        method_(request.method),
        peer_(request.peer),
        bytes_in_(body_bytes),
        exchange_(std::move(exchange)),
        recording_(std::move(recording)) {
    ++gateway_.open;
  }
  ~GatewayCall() override { --gateway_.open; }

  UpstreamClient::Number number() const { return number_; }

  bool is_gone() const { return gone_->load(); }
  std::shared_ptr<const ObservedRequest> observed() const {
    return recording_ ? recording_->shared_request() : nullptr;
  }
  const GatewayRoute& route() const { return verdict_.route; }
  void add_to_answer(std::vector<http::Field> fields) { added_ = std::move(fields); }

  // Without an upstream.
  void answer(http::RelayedHead head, std::string_view body) {
    on_head({.status = head.status,
             .reason = std::move(head.reason),
             .fields = std::move(head.fields)});
    pass_on(body);
    on_end(UpstreamEnd::complete, {});
  }

  void put_before_answer(std::string block) { first_.emplace(std::move(block)); }

  // The turn, of which `request` is the first request.
  void offer(RecallTurn turn, const UpstreamRequest& request) {
    turn_.emplace(std::move(turn));
    next_ = request;
  }

  // Before anything can come back.
  void watch() {
    exchange_->on_gone([&client = gateway_.client, number = number_, gone = gone_] {
      gone->store(true);
      client.cancel(number);
    });
  }

  void on_head(UpstreamHead head) override {
    status_ = head.status;
    if (turn_ && !takes_part_in_turn(head)) turn_.reset();
    if (is_lost_) return;
    if (turn_ && turn_->answers() > 1) return;
    if (recording_) recording_->head(head.status, head.fields);
    if (head.status == 101) return begin_tunnel(std::move(head));
    head.fields.insert(head.fields.end(), added_.begin(), added_.end());
    if (first_ && (head.status != 200 || has_field(head.fields, "content-encoding")))
      first_.reset();
    if (first_) {
      first_->begin(form_of(head.fields));
      drop_fields(head.fields, "content-length");
    }
    if (turn_ && form_of(head.fields) == ResponseForm::whole)
      head_ = std::move(head);  // its length is not known yet
    else
      begin_relay(std::move(head));
  }

  bool on_bytes(std::string_view bytes) override {
    if (is_lost_) return true;
    if (relay_ && !relay_->has_room()) return false;
    look_at_token();
    if (turn_)
      pass_on(turn_->read(bytes));
    else
      pass_on(bytes);
    return true;
  }

  void on_sent() override {
    look_at_token();
    if (tunnel_) tunnel_->read_on();
  }

  void on_end(UpstreamEnd end, std::string_view detail) override {
    if (turn_ && end == UpstreamEnd::complete && turn_->answers() > 0) {
      calls_ = turn_->end_answer();
      if (!calls_.empty()) return carry_out_calls();
      end_turn();
    }
    finish(is_lost_ && end == UpstreamEnd::complete ? UpstreamEnd::torn : end, detail);
  }

 private:
  void begin_relay(UpstreamHead head) {
    if (turn_) drop_fields(head.fields, "content-length");
    relay_ = exchange_->relay(
        {.status = head.status, .reason = std::move(head.reason), .fields = std::move(head.fields)},
        unsent_bytes_max, [&client = gateway_.client, number = number_] { client.resume(number); });
  }

  void pass_on(std::string_view bytes) {
    if (!first_) return write(bytes);
    write(first_->read(bytes));
  }

  void write(std::string_view bytes) {
    if (bytes.empty()) return;
    if (!relay_) begin_relay(std::exchange(head_, {}));
    relay_->write(bytes);
    bytes_out_ += bytes.size();
    if (recording_) recording_->bytes(bytes);
  }

  // What is no answer of a model, or cannot be read, ends the turn: the client gets it as it is,
  // unless it has the beginning of another answer.
  bool takes_part_in_turn(const UpstreamHead& head) {
    if (head.status == 200 && !has_field(head.fields, "content-encoding")) {
      turn_->begin_answer(form_of(head.fields));
      return true;
    }
    is_lost_ = relay_ != nullptr;
    return false;
  }

  // Where the recorder is: it knows the conversation.
  void carry_out_calls() {
    gateway_.queue.ask([self = shared_from_this(),
                        number = recording_->request().number](ExchangeRecorder& recorder) {
      self->go_on(recorder.conversation_of(number));
    });
  }

  void go_on(const std::shared_ptr<Conversation>& conversation) {
    try {
      set_body(next_, turn_->continued(results_from(conversation)));
      gateway_.client.begin(number_, next_, shared_from_this());
    } catch (...) {
      return finish(UpstreamEnd::torn, "the calls of a model could not be answered");
    }
    // Who left in between has cancelled nothing.
    if (gone_->load()) gateway_.client.cancel(number_);
  }

  std::vector<ContextToolResult> results_from(const std::shared_ptr<Conversation>& conversation) {
    std::vector<ContextToolResult> results;
    for (const RecallCall& call : calls_) {
      ++gateway_.recall_calls;
      results.push_back(
          conversation
              ? call_context_tool(*conversation, call.name, call.arguments_json)
              : ContextToolResult{"Error: not_found: this conversation is not kept.", true});
    }
    return results;
  }

  void end_turn() {
    const std::string rest = turn_->rest();
    if (!relay_) {
      drop_fields(head_.fields, "content-length");
      if (!first_) head_.fields.push_back({"Content-Length", std::to_string(rest.size())});
      turn_.reset();
      begin_relay(std::exchange(head_, {}));
    }
    pass_on(rest);
  }

  void finish(UpstreamEnd end, std::string_view detail) {
    if (first_) write(std::exchange(first_, std::nullopt)->end());
    const ObservedExchange::End how = how_it_ended(end);
    const std::string_view failure =
        how == ObservedExchange::End::complete ? std::string_view() : failure_of(end);
    // Before the client has all of it: its next request finds the answer on its way to the
    // recorder.
    if (relay_ && recording_) recording_->end(how, failure);
    if (relay_ && how == ObservedExchange::End::complete)
      relay_->end();
    else if (relay_)
      relay_->tear();
    else
      answer_failure(end);
    count(how);
    if (how != ObservedExchange::End::complete && !gone_->load() && gateway_.options.on_event)
      gateway_.options.on_event(
          failure, verdict_.route.upstream->name + ": " +
                       (is_revoked_ ? "the token is not good any more" : std::string(detail)));
    if (recording_ && !relay_) {
      recording_->answered_itself(status_);
      recording_->end(how, failure);
    }
    gateway_.answered({.method = method_,
                       .upstream = verdict_.route.upstream->name,
                       .call = name(verdict_.route.call),
                       .tenant = verdict_.caller.tenant,
                       .token = verdict_.caller.token,
                       .peer = peer_,
                       .status = status_,
                       .duration = Clock::now() - began_,
                       .bytes_in = bytes_in_,
                       .bytes_out = bytes_out_,
                       .end = name(how)});
  }

  // A token that was revoked ends what it has begun.
  void look_at_token() {
    const auto now = Clock::now();
    if (verdict_.caller.token.empty() || !gateway_.options.is_still_good ||
        now - looked_ < token_look_every)
      return;
    looked_ = now;
    if (gateway_.options.is_still_good(verdict_.caller.token)) return;
    is_revoked_ = true;
    gateway_.client.cancel(number_);
  }

  void begin_tunnel(UpstreamHead head) {
    tunnel_ = exchange_->tunnel(
        {.status = head.status, .reason = std::move(head.reason), .fields = std::move(head.fields)},
        unsent_bytes_max, [&client = gateway_.client, number = number_] { client.resume(number); },
        [&client = gateway_.client, number = number_](std::string bytes) {
          client.send(number, std::move(bytes));
        });
    relay_ = tunnel_;
  }

  ObservedExchange::End how_it_ended(UpstreamEnd end) const {
    if (end == UpstreamEnd::complete && relay_) return ObservedExchange::End::complete;
    if (end == UpstreamEnd::cancelled && gone_->load()) return ObservedExchange::End::client_left;
    return relay_ ? ObservedExchange::End::torn : ObservedExchange::End::upstream_failed;
  }
  static std::string_view failure_of(UpstreamEnd end) {
    return end == UpstreamEnd::complete ? "upstream_invalid" : name(end);
  }

  void answer_failure(UpstreamEnd end) {
    status_ = gone_->load() ? 499 : status_of(end);
    exchange_->answer(
        gateway_error(error_form(verdict_.route), status_, failure_of(end), why(end)));
  }

  void count(ObservedExchange::End how) {
    if (how == ObservedExchange::End::upstream_failed) ++gateway_.upstream_failed;
    if (how == ObservedExchange::End::torn) ++gateway_.torn;
    if (how == ObservedExchange::End::client_left) ++gateway_.client_left;
  }

  GatewayRep& gateway_;
  const UpstreamClient::Number number_;
  const GatewayVerdict verdict_;
  const std::string method_, peer_;
  const std::uint64_t bytes_in_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point looked_ = began_;
  bool is_revoked_ = false;
  const std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  const std::unique_ptr<http::Exchange> exchange_;
  std::shared_ptr<http::Relay> relay_;
  std::shared_ptr<http::Tunnel> tunnel_;  // the same, where it is one
  std::optional<Recording> recording_;
  std::vector<http::Field> added_;  // to the answer's head
  unsigned status_ = 0;
  std::uint64_t bytes_out_ = 0;

  std::optional<AnswerBlock> first_;

  // A turn with context tools.
  std::optional<RecallTurn> turn_;
  UpstreamRequest next_;           // what the next request of the turn has besides its body
  UpstreamHead head_;              // of a whole answer, which is passed on when it has ended
  std::vector<RecallCall> calls_;  // to be carried out
  bool is_lost_ = false;           // an answer behind the first cannot be passed on
};

// Sends a request, as it came or edited, with what it offers to the model. Any thread.
void send(GatewayRep& gateway, const std::shared_ptr<GatewayCall>& call, UpstreamRequest request,
          RequestEdit edit) noexcept {
  try {
    call->add_to_answer(std::move(edit.answer_fields));
    if (edit.answer) return call->answer(*std::move(edit.answer), edit.answer_body);
    UpstreamRequest changed = request;
    if (edit.body) {
      set_body(changed, *edit.body);
      drop_fields(changed.fields, "content-encoding");
    }
    if (!edit.first_block.empty()) {
      drop_fields(changed.fields, "accept-encoding");
      call->put_before_answer(std::move(edit.first_block));
    }
    if (const std::shared_ptr<const ObservedRequest> observed = call->observed();
        observed && changed.body) {
      const bool is_plain = edit.body || observed->content_encoding.empty();
      std::optional<RecallTurn> turn =
          is_plain ? gateway.offer_recall(*observed, call->route(), *changed.body) : std::nullopt;
      if (turn) {
        set_body(changed, turn->request());
        drop_fields(changed.fields, "accept-encoding");
        call->offer(*std::move(turn), changed);
      }
    }
    request = std::move(changed);
  } catch (...) {  // for want of memory
  }
  if (call->is_gone()) return call->on_end(UpstreamEnd::cancelled, {});
  gateway.client.begin(call->number(), std::move(request), call);
  if (call->is_gone()) gateway.client.cancel(call->number());
}

}  // namespace

std::variant<http::Admission, http::Reply> GatewayRep::admit(const http::Head& head) {
  if (options.is_own_host) {
    const std::string* host = head.find("host");
    if (host == nullptr || !options.is_own_host(*host))
      return gateway_error(Provider::openai, 421, "wrong_host",
                           "the gateway is not known by this name");
  }
  std::optional<GatewayRoute> route = options.upstreams.route(head);
  if (!route)
    return gateway_error(Provider::openai, 400, "invalid_request", "the target must be a path");
  GatewayVerdict verdict{.route = *std::move(route), .caller = {}, .client = {}};
  const Provider form = error_form(verdict.route);
  if (asks_for_websocket(head) && !options.relays_upgrades)
    return gateway_error(form, 426, "no_upgrade",
                         "the gateway does not relay WebSockets: use HTTP");
  if (head.method == "CONNECT" || head.method == "TRACE")
    return gateway_error(form, 405, "invalid_request", "the gateway does not relay this method");
  if (std::optional<http::Reply> no = identify(head, verdict)) {
    if (no->status == 401 && options.on_stranger) no = refuse_stranger(head, form, *std::move(no));
    no->close = true;  // who is not let in keeps no connection
    return *std::move(no);
  }
  const std::string tenant = verdict.caller.tenant;
  if (options.is_over_quota && level_of(tenant) != RecordLevel::none &&
      options.is_over_quota(tenant))
    return gateway_error(form, 429, "quota_reached",
                         "the tenant has stored what it may, and what is not recorded is refused");
  // What is no call of a conversation may be as large as a provider takes it, such as a file.
  const std::uint64_t body_bytes_max =
      verdict.route.call == CallKind::other ? budget->bytes_max_each() : options.body_bytes_max;
  return http::Admission{.body_bytes_max = std::min(body_bytes_max, budget->bytes_max_each()),
                         .share = http::Budget::Share(budget, tenant),
                         .known = std::move(verdict)};
}

// Whoever tries one token after another is told to wait. A good token is let in all the same:
// behind a proxy many come from one address.
http::Reply GatewayRep::refuse_stranger(const http::Head& head, Provider form,
                                        http::Reply reply) const {
  const std::optional<std::chrono::seconds> wait = options.on_stranger(head.peer);
  if (!wait) return reply;
  reply = gateway_error(form, 429, "too_often", "too many requests without a good token");
  reply.fields.push_back({"Retry-After", std::to_string(wait->count())});
  return reply;
}

// Who asks, and with whose key. What is refused is answered.
std::optional<http::Reply> GatewayRep::identify(const http::Head& head,
                                                GatewayVerdict& verdict) const {
  const Provider form = error_form(verdict.route);
  const bool has_key = !verdict.route.upstream->key.empty();
  const std::optional<Credential> credential = credential_of(head);
  if (!options.find_token) {
    if (credential) verdict.client = keyed_digest(options.digest_key, credential->secret);
    // A page of another site could else put words into conversations, and any page spend the
    // operator's key.
    if (is_of_foreign_page(head) || (has_key && head.find("origin") != nullptr))
      return gateway_error(form, 403, "origin_refused",
                           "pages need a token: start the gateway with tokens");
    return std::nullopt;
  }
  std::optional<GatewayCaller> caller =
      credential ? options.find_token(credential->secret) : std::nullopt;
  if (!caller)
    return gateway_error(form, 401, "token_needed", "the API key must be a token of this gateway");
  verdict.caller = *std::move(caller);
  // The token must not go to a provider.
  if (!has_key && !credential->is_ours)
    return gateway_error(
        form, 403, "no_key",
        "the gateway has no key for this upstream: send the token as X-Undertext-Token");
  return std::nullopt;
}

void GatewayRep::handle(http::Request request, std::unique_ptr<http::Exchange> exchange) {
  const std::uint64_t number = ++requests;
  GatewayVerdict verdict = std::any_cast<GatewayVerdict>(std::move(request.admitted));
  const Upstream& upstream = *verdict.route.upstream;
  const bool is_chunked = request.find("transfer-encoding") != nullptr;
  const bool has_body = is_chunked || request.find("content-length") != nullptr;
  if (request.method == "HEAD" && !request.body.empty())
    return exchange->answer(
        gateway_error(error_form(verdict.route), 400, "invalid_request", "a HEAD with a body"));
  UpstreamRequest outgoing{.upstream = &upstream,
                           .method = request.method,
                           .target = outgoing_target(verdict.route.target, upstream),
                           .fields = outgoing_fields(request, upstream),
                           .is_chunked = is_chunked};
  const std::uint64_t body_bytes = request.body.size();
  std::shared_ptr<const std::string> body;
  if (has_body && request.method != "HEAD")
    body = std::make_shared<const std::string>(std::move(request.body));
  outgoing.body = body;
  outgoing.is_upgrade = asks_for_websocket(request);
  if (outgoing.is_upgrade && (has_body || request.method != "GET"))
    return exchange->answer(gateway_error(error_form(verdict.route), 400, "invalid_request",
                                          "a WebSocket is asked for with GET"));
  // What goes through a tunnel is not HTTP, and not recorded.
  std::optional<Recording> recording =
      outgoing.is_upgrade ? std::nullopt : record(number, request, verdict, body);
  const bool is_unrecorded =
      !recording && options.recorder && level_of(verdict.caller.tenant) != RecordLevel::none;
  if (options.is_over_quota && is_unrecorded)
    return exchange->answer(
        gateway_error(error_form(verdict.route), 503, "gateway_busy",
                      "it could not be recorded, and what is not recorded is refused"));
  request.body.clear();
  auto call = std::make_shared<GatewayCall>(*this, request, std::move(verdict), std::move(exchange),
                                            body_bytes, std::move(recording));
  call->watch();
  const std::shared_ptr<const ObservedRequest> observed =
      options.editor ? call->observed() : nullptr;
  if (!observed || !may_edit(*observed)) return send(*this, call, std::move(outgoing), {});
  const auto unedited = std::make_shared<UpstreamRequest>(std::move(outgoing));
  const auto go_on = [this, call, unedited](RequestEdit edit) {
    send(*this, call, std::move(*unedited), std::move(edit));
  };
  if (!editing.submit(observed, go_on)) go_on({});
}

// What goes wrong here leaves the request as it is.
bool GatewayRep::may_edit(const ObservedRequest& request) const noexcept {
  try {
    return options.editor->may_edit(request);
  } catch (...) {
    return false;
  }
}

// The same.
std::optional<RecallTurn> GatewayRep::offer_recall(const ObservedRequest& request,
                                                   const GatewayRoute& route,
                                                   const std::string& body) const noexcept {
  try {
    const bool is_kept = request.body && request.level == RecordLevel::full;
    if (!options.offers_recall || !is_kept || !route.dialect || !may_call_tools(route)) return {};
    if (!options.offers_recall(request)) return {};
    return RecallTurn::begin(*route.dialect, body);
  } catch (...) {
    return {};
  }
}

RecordLevel GatewayRep::level_of(const std::string& tenant) const {
  const auto level = options.record_by_tenant.find(tenant);
  return level == options.record_by_tenant.end() ? options.record : level->second;
}

RecordLevel GatewayRep::level_of(const GatewayVerdict& verdict) const {
  const RecordLevel level = level_of(verdict.caller.tenant);
  const bool is_useful =
      level != RecordLevel::full || options.recorder->keeps_bodies(verdict.route.call);
  return is_useful ? level : RecordLevel::metadata;
}

std::optional<Recording> GatewayRep::record(std::uint64_t number, const http::Request& request,
                                            const GatewayVerdict& verdict,
                                            const std::shared_ptr<const std::string>& body) {
  if (!options.recorder) return std::nullopt;
  ObservedRequest observed{.number = number,
                           .tenant = verdict.caller.tenant,
                           .client = verdict.client,
                           .level = level_of(verdict),
                           .call = verdict.route.call,
                           .upstream = verdict.route.upstream->name,
                           .dialect = verdict.route.dialect,
                           .method = request.method,
                           .target = request.target,
                           .fields = request.fields,
                           .secrets = secrets_of(request),
                           .content_encoding = {},
                           .body = body,
                           .body_bytes = body ? body->size() : 0,
                           .received = std::chrono::system_clock::now()};
  if (const std::string& own = verdict.route.upstream->key; !own.empty())
    observed.secrets.push_back(own);
  return queue.begin(std::move(observed));
}

// What is no request, or too much of one.
http::Reply GatewayRep::refuse(const http::Refused& refused) const {
  const GatewayVerdict* verdict =
      refused.head == nullptr ? nullptr : std::any_cast<GatewayVerdict>(&refused.head->admitted);
  const Provider form = verdict == nullptr ? Provider::openai : error_form(verdict->route);
  // a version of HTTP is the client's
  const bool is_ours = refused.status >= 500 && refused.status != 505;
  return gateway_error(form, refused.status, is_ours ? "gateway_busy" : "invalid_request",
                       refused.why);
}

void GatewayRep::answered(const GatewayLine& line) noexcept {
  try {
    if (options.on_answered) options.on_answered(line);
  } catch (...) {
  }
}

void GatewayRep::stop() {
  const auto deadline = Clock::now() + stop_time_max;
  const std::lock_guard lock(stopping);
  if (server) server->stop();
  editing.stop();
  client.stop();
  queue.stop(deadline);
}

Result<Gateway> Gateway::start(GatewayOptions options) {
  if (!UpstreamClient::available())
    return Error{.code = ErrorCode::unsupported,
                 .message = "built without libcurl, which the gateway reaches providers with"};
  const http::Listening listening = options.listening;
  auto rep = std::make_shared<GatewayRep>(std::move(options));
  http::Calls calls;
  calls.admit = [raw = rep.get()](const http::Head& head) { return raw->admit(head); };
  calls.handle = [raw = rep.get()](http::Request request,
                                   std::unique_ptr<http::Exchange> exchange) {
    raw->handle(std::move(request), std::move(exchange));
  };
  calls.refusal = [raw = rep.get()](const http::Refused& refused) { return raw->refuse(refused); };
  Result<http::Server> server = http::Server::listen(listening, std::move(calls));
  if (!server) return server.error();
  rep->server.emplace(*std::move(server));
  return Gateway(std::move(rep));
}

std::string Gateway::address() const { return rep_->server->address(); }

GatewayCounts Gateway::counts() const {
  const RecordingQueue::Counts recording = rep_->queue.counts();
  return {.requests = rep_->requests,
          .open = rep_->open,
          .upstream_failed = rep_->upstream_failed,
          .torn = rep_->torn,
          .client_left = rep_->client_left,
          .recall_calls = rep_->recall_calls,
          .recorded = recording.recorded,
          .record_dropped = recording.dropped,
          .record_failed = recording.failed,
          .recording_bytes = recording.bytes,
          .edits = rep_->editing.counts(),
          .wire = rep_->server->counts()};
}

void Gateway::stop() { rep_->stop(); }

Gateway::Gateway(std::shared_ptr<GatewayRep> rep) : rep_(std::move(rep)) {}
Gateway::Gateway(Gateway&&) noexcept = default;
Gateway& Gateway::operator=(Gateway&& other) noexcept {
  Gateway old(std::move(*this));
  rep_ = std::move(other.rep_);
  return *this;
}
Gateway::~Gateway() {
  if (rep_) rep_->stop();
}

}  // namespace undertext
