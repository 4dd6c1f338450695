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

#include "gateway/error_reply.hpp"
#include "gateway/fields.hpp"
#include "gateway/recording.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

// What a client may have unread before its call pauses; what curl hands over at a time, at most 16 kB, comes on top.
constexpr std::uint64_t unsent_bytes_max = 32 << 10;

// Whoever stops services mostly kills them after 10 s.
constexpr std::chrono::seconds stop_time_max{8};

// Of the memory for bodies, what every tenant may have though others hold all of it.
constexpr std::uint64_t memory_bytes_always = 2 << 20;

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
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           digest, &size) == nullptr)
    return {};
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hexadecimal;
  for (unsigned i = 0; i < 16; ++i) {
    hexadecimal += digits[digest[i] >> 4];
    hexadecimal += digits[digest[i] & 15];
  }
  return hexadecimal;
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
        budget(std::make_shared<http::Budget>(options.memory_bytes, options.memory_bytes / (options.find_token ? 2 : 1),
                                              memory_bytes_always)),
        queue(options.recorder, options.recording_bytes, options.on_event),
        client(options.upstream_limits) {
    if (options.digest_key.empty()) options.digest_key = random_key();
  }

  std::variant<http::Admission, http::Reply> admit(const http::Head& head);
  std::optional<http::Reply> identify(const http::Head& head, GatewayVerdict& verdict) const;
  void handle(http::Request request, std::unique_ptr<http::Exchange> exchange);
  http::Reply refuse(const http::Refused& refused) const;
  std::optional<Recording> record(std::uint64_t number, const http::Request& request, const GatewayVerdict& verdict,
                                  const std::shared_ptr<const std::string>& body);
  RecordLevel level_of(const std::string& tenant) const;
  void answered(const GatewayLine& line) noexcept;
  void stop();

  GatewayOptions options;
  const std::shared_ptr<http::Budget> budget;
  std::atomic<std::uint64_t> requests = 0, open = 0, upstream_failed = 0, torn = 0, client_left = 0;
  RecordingQueue queue;
  UpstreamClient client;
  std::optional<http::Server> server;
  std::mutex stopping;
};

namespace {

// One request from its body's last byte to its answer's. on_head, on_bytes and on_end come from the upstream thread, one after another.
class GatewayCall final : public UpstreamCall {
 public:
  GatewayCall(GatewayRep& gateway, const http::Request& request, GatewayVerdict verdict, std::unique_ptr<http::Exchange> exchange,
              std::uint64_t body_bytes, std::optional<Recording> recording)
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

  // Before anything can come back.
  void watch() {
    exchange_->on_gone([&client = gateway_.client, number = number_, gone = gone_] {
      gone->store(true);
      client.cancel(number);
    });
  }

  void on_head(UpstreamHead head) override {
    status_ = head.status;
    if (recording_) recording_->head(head.status, head.fields);
    if (head.status == 101) return begin_tunnel(std::move(head));
    relay_ = exchange_->relay({.status = head.status, .reason = std::move(head.reason), .fields = std::move(head.fields)},
                              unsent_bytes_max, [&client = gateway_.client, number = number_] { client.resume(number); });
  }

  bool on_bytes(std::string_view bytes) override {
    if (!relay_->has_room()) return false;
    relay_->write(bytes);
    bytes_out_ += bytes.size();
    if (recording_) recording_->bytes(bytes);
    return true;
  }

  void on_sent() override {
    if (tunnel_) tunnel_->read_on();
  }

  void on_end(UpstreamEnd end, std::string_view detail) override {
    const ObservedExchange::End how = how_it_ended(end);
    const std::string_view failure = how == ObservedExchange::End::complete ? std::string_view() : failure_of(end);
    if (relay_ && how == ObservedExchange::End::complete)
      relay_->end();
    else if (relay_)
      relay_->tear();
    else
      answer_failure(end);
    count(how);
    if (how != ObservedExchange::End::complete && !gone_->load() && gateway_.options.on_event)
      gateway_.options.on_event(failure, verdict_.route.upstream->name + ": " + std::string(detail));
    if (recording_ && !relay_) recording_->answered_itself(status_);
    if (recording_) recording_->end(how, failure);
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

 private:
  void begin_tunnel(UpstreamHead head) {
    tunnel_ = exchange_->tunnel(
        {.status = head.status, .reason = std::move(head.reason), .fields = std::move(head.fields)}, unsent_bytes_max,
        [&client = gateway_.client, number = number_] { client.resume(number); },
        [&client = gateway_.client, number = number_](std::string bytes) { client.send(number, std::move(bytes)); });
    relay_ = tunnel_;
  }

  ObservedExchange::End how_it_ended(UpstreamEnd end) const {
    if (end == UpstreamEnd::complete && relay_) return ObservedExchange::End::complete;
    if (end == UpstreamEnd::cancelled && gone_->load()) return ObservedExchange::End::client_left;
    return relay_ ? ObservedExchange::End::torn : ObservedExchange::End::upstream_failed;
  }
  static std::string_view failure_of(UpstreamEnd end) { return end == UpstreamEnd::complete ? "upstream_invalid" : name(end); }

  void answer_failure(UpstreamEnd end) {
    status_ = gone_->load() ? 499 : status_of(end);
    exchange_->answer(gateway_error(error_form(verdict_.route), status_, failure_of(end), why(end)));
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
  const std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  const std::unique_ptr<http::Exchange> exchange_;
  std::shared_ptr<http::Relay> relay_;
  std::shared_ptr<http::Tunnel> tunnel_;  // the same, where it is one
  std::optional<Recording> recording_;
  unsigned status_ = 0;
  std::uint64_t bytes_out_ = 0;
};

}  // namespace

std::variant<http::Admission, http::Reply> GatewayRep::admit(const http::Head& head) {
  if (options.is_own_host) {
    const std::string* host = head.find("host");
    if (host == nullptr || !options.is_own_host(*host))
      return gateway_error(Provider::openai, 421, "wrong_host", "the gateway is not known by this name");
  }
  std::optional<GatewayRoute> route = options.upstreams.route(head);
  if (!route) return gateway_error(Provider::openai, 400, "invalid_request", "the target must be a path");
  GatewayVerdict verdict{.route = *std::move(route), .caller = {}, .client = {}};
  const Provider form = error_form(verdict.route);
  if (asks_for_websocket(head) && !options.relays_upgrades)
    return gateway_error(form, 426, "no_upgrade", "the gateway does not relay WebSockets: use HTTP");
  if (head.method == "CONNECT" || head.method == "TRACE")
    return gateway_error(form, 405, "invalid_request", "the gateway does not relay this method");
  if (std::optional<http::Reply> no = identify(head, verdict)) {
    no->close = true;  // who is not let in keeps no connection
    return *std::move(no);
  }
  const std::string tenant = verdict.caller.tenant;
  if (options.is_over_quota && level_of(tenant) != RecordLevel::none && options.is_over_quota(tenant))
    return gateway_error(form, 429, "quota_reached", "the tenant has stored what it may, and what is not recorded is refused");
  return http::Admission{.body_bytes_max = std::min(options.body_bytes_max, budget->bytes_max_each()),
                         .share = http::Budget::Share(budget, tenant),
                         .known = std::move(verdict)};
}

// Who asks, and with whose key. What is refused is answered.
std::optional<http::Reply> GatewayRep::identify(const http::Head& head, GatewayVerdict& verdict) const {
  const Provider form = error_form(verdict.route);
  const bool has_key = !verdict.route.upstream->key.empty();
  const std::optional<Credential> credential = credential_of(head);
  if (!options.find_token) {
    if (credential) verdict.client = keyed_digest(options.digest_key, credential->secret);
    // A page of another site could else spend the operator's key.
    if (has_key && head.find("origin") != nullptr)
      return gateway_error(form, 403, "origin_refused", "pages need a token: start the gateway with tokens");
    return std::nullopt;
  }
  std::optional<GatewayCaller> caller = credential ? options.find_token(credential->secret) : std::nullopt;
  if (!caller) return gateway_error(form, 401, "token_needed", "the API key must be a token of this gateway");
  verdict.caller = *std::move(caller);
  // The token must not go to a provider.
  if (!has_key && !credential->is_ours)
    return gateway_error(form, 403, "no_key", "the gateway has no key for this upstream: send the token as X-Undertext-Token");
  return std::nullopt;
}

void GatewayRep::handle(http::Request request, std::unique_ptr<http::Exchange> exchange) {
  const std::uint64_t number = ++requests;
  GatewayVerdict verdict = std::any_cast<GatewayVerdict>(std::move(request.admitted));
  const Upstream& upstream = *verdict.route.upstream;
  const bool is_chunked = request.find("transfer-encoding") != nullptr;
  const bool has_body = is_chunked || request.find("content-length") != nullptr;
  if (request.method == "HEAD" && !request.body.empty())
    return exchange->answer(gateway_error(error_form(verdict.route), 400, "invalid_request", "a HEAD with a body"));
  UpstreamRequest outgoing{.upstream = &upstream,
                           .method = request.method,
                           .target = outgoing_target(verdict.route.target, upstream),
                           .fields = outgoing_fields(request, upstream),
                           .is_chunked = is_chunked};
  const std::uint64_t body_bytes = request.body.size();
  std::shared_ptr<const std::string> body;
  if (has_body && request.method != "HEAD") body = std::make_shared<const std::string>(std::move(request.body));
  outgoing.body = body;
  outgoing.is_upgrade = asks_for_websocket(request);
  if (outgoing.is_upgrade && (has_body || request.method != "GET"))
    return exchange->answer(gateway_error(error_form(verdict.route), 400, "invalid_request", "a WebSocket is asked for with GET"));
  // What goes through a tunnel is not HTTP, and not recorded.
  std::optional<Recording> recording = outgoing.is_upgrade ? std::nullopt : record(number, request, verdict, body);
  const bool is_unrecorded = !recording && options.recorder && level_of(verdict.caller.tenant) != RecordLevel::none;
  if (options.is_over_quota && is_unrecorded)
    return exchange->answer(gateway_error(error_form(verdict.route), 503, "gateway_busy",
                                          "it could not be recorded, and what is not recorded is refused"));
  request.body.clear();
  auto call =
      std::make_shared<GatewayCall>(*this, request, std::move(verdict), std::move(exchange), body_bytes, std::move(recording));
  call->watch();
  client.begin(call->number(), std::move(outgoing), call);
}

RecordLevel GatewayRep::level_of(const std::string& tenant) const {
  const auto level = options.record_by_tenant.find(tenant);
  return level == options.record_by_tenant.end() ? options.record : level->second;
}

std::optional<Recording> GatewayRep::record(std::uint64_t number, const http::Request& request, const GatewayVerdict& verdict,
                                            const std::shared_ptr<const std::string>& body) {
  if (!options.recorder) return std::nullopt;
  ObservedRequest observed{.number = number,
                           .tenant = verdict.caller.tenant,
                           .client = verdict.client,
                           .level = level_of(verdict.caller.tenant),
                           .call = verdict.route.call,
                           .upstream = verdict.route.upstream->name,
                           .dialect = verdict.route.dialect,
                           .method = request.method,
                           .target = request.target,
                           .fields = request.fields,
                           .content_encoding = {},
                           .body = body,
                           .body_bytes = body ? body->size() : 0,
                           .received = std::chrono::system_clock::now()};
  return queue.begin(std::move(observed));
}

// What is no request, or too much of one.
http::Reply GatewayRep::refuse(const http::Refused& refused) const {
  const GatewayVerdict* verdict = refused.head == nullptr ? nullptr : std::any_cast<GatewayVerdict>(&refused.head->admitted);
  const Provider form = verdict == nullptr ? Provider::openai : error_form(verdict->route);
  return gateway_error(form, refused.status, refused.status >= 500 ? "gateway_busy" : "invalid_request", refused.why);
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
  client.stop();
  queue.stop(deadline);
}

Result<Gateway> Gateway::start(GatewayOptions options) {
  if (!UpstreamClient::available())
    return Error{.code = ErrorCode::unsupported, .message = "built without libcurl, which the gateway reaches providers with"};
  const http::Listening listening = options.listening;
  auto rep = std::make_shared<GatewayRep>(std::move(options));
  http::Calls calls;
  calls.admit = [raw = rep.get()](const http::Head& head) { return raw->admit(head); };
  calls.handle = [raw = rep.get()](http::Request request, std::unique_ptr<http::Exchange> exchange) {
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
          .recorded = recording.recorded,
          .record_dropped = recording.dropped,
          .record_failed = recording.failed,
          .recording_bytes = recording.bytes,
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
