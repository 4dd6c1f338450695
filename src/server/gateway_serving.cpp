#include "server/gateway_serving.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <variant>

#include "gateway/conversation_recorder.hpp"
#include "gateway/request_text.hpp"
#include "server/admission.hpp"
#include "server/gateway_recorder.hpp"
#include "server/heap_trim.hpp"
#include "server/process.hpp"
#include "server/wall_clock.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

// The port that was asked for may be 0: the names are known once it listens, and nobody is let in
// before.
class GatewayHosts {
 public:
  void open(Hosts hosts) {
    hosts_ = std::make_unique<Hosts>(std::move(hosts));
    is_open_.store(true, std::memory_order_release);
  }
  bool allow(std::string_view authority) const {
    return is_open_.load(std::memory_order_acquire) && hosts_->allow(authority);
  }

 private:
  std::unique_ptr<Hosts> hosts_;
  std::atomic<bool> is_open_ = false;
};

std::uint16_t port_in(const std::string& url) {
  return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

void log_line(const ServerLog& log, const GatewayLine& line) {
  // Both are names of tables: nothing that a client sent.
  const std::string route = std::string(line.upstream) + "/" + std::string(line.call);
  log.request({.method = line.method,
               .route = route,
               .status = line.status,
               .duration = line.duration,
               .bytes_in = line.bytes_in,
               .bytes_out = line.bytes_out,
               .tenant = line.tenant,
               .token = line.token,
               .peer = line.peer});
}

// As often as at the server.
class Strangers {
 public:
  std::optional<std::chrono::seconds> came(std::string_view peer) {
    const auto now = std::chrono::steady_clock::now();
    std::optional<std::chrono::seconds> wait = each_.take(peer, now);
    return wait ? wait : all_.take("all", now);
  }

 private:
  static constexpr AdmissionLimits limits = {};
  Rates each_{limits.failures_per_second, limits.failures_at_once};
  Rates all_{limits.all_failures_per_second, 2 * limits.all_failures_per_second, 1};
};

std::optional<GatewayCaller> caller_of(Tokens& tokens, std::string_view secret) {
  const std::optional<Token> token = tokens.find(secret, wall_clock_ms());
  if (!token || !token->rights.write) return std::nullopt;
  return GatewayCaller{.tenant = token->tenant, .token = token->name};
}

// By its policy, as far as that depends on tenant and model. A compressed request is no turn here.
bool offers_recall(const GatewayPolicies& policies, const ObservedRequest& request) {
  if (!policies.offers_recall() || !is_turn(request)) return false;
  const std::string model =
      read_request_text(*request.dialect, *request.body, request.target).model;
  return policies.of({.tenant = request.tenant, .model = model}).tools ==
         GatewayPolicy::Tools::recall;
}

}  // namespace

// Apart from what else the secret is used for.
std::string compaction_key(const std::string& given, const std::string& secret) {
  return !given.empty() || secret.empty() ? given : "undertext compaction items\n" + secret;
}

bool is_loopback(const std::string& address) {
  if (address == "localhost" || address == "::1") return true;
  return address.starts_with("127.") &&
         address.find_first_not_of("0123456789.") == std::string::npos;
}

Result<std::unique_ptr<Tokens>> open_tokens(const std::optional<std::string>& file,
                                            const ServerLog& log) {
  if (!file) return std::unique_ptr<Tokens>();
  return Tokens::open(*file, [&log](const Error& error) {
    log.event(ServerLog::Level::error, "tokens unreadable: all requests are denied",
              {{"error", error.message}});
  });
}

Result<Gateway> start_gateway(const GatewayServing& serving, Tokens* tokens, const ServerLog& log) {
  if (!serving.takes_tokens) tokens = nullptr;
  if (!is_loopback(serving.address) && tokens == nullptr)
    return Error{ErrorCode::invalid_argument,
                 "to listen beyond this machine takes tokens: make one with undertext token make "
                 "NAME --tenant default --rights write",
                 "listen"};
  Result<Upstreams> upstreams = Upstreams::make(serving.upstreams);
  if (!upstreams) return upstreams.error();
  auto hosts = std::make_shared<GatewayHosts>();
  GatewayOptions options;
  options.upstreams = *std::move(upstreams);
  options.upstream_limits = serving.upstream_limits;
  options.listening.address = serving.address == "localhost" ? "127.0.0.1" : serving.address;
  options.listening.port = serving.port;
  options.listening.tls = serving.tls;
  options.listening.limits.connections_max = serving.connections_max;
  options.listening.limits.connections_per_peer_max = serving.connections_per_address_max.value_or(
      is_loopback(serving.address) ? serving.connections_max
                                   : std::max(1u, serving.connections_max / 2));
  options.body_bytes_max = serving.body_bytes_max;
  options.memory_bytes = serving.memory_bytes;
  options.recording_bytes = serving.recording_bytes;
  options.relays_upgrades = serving.relays_upgrades;
  const auto quota_watch = serving.enforces_on_traffic ? std::make_shared<QuotaWatch>() : nullptr;
  if (serving.store) {
    const GatewayRecorder recorder =
        gateway_recorder({.store = serving.store,
                          .quota = serving.quota,
                          .secret = serving.secret,
                          .one_user = serving.one_user,
                          .project = serving.project,
                          .policies = serving.policies,
                          .compaction_key = compaction_key(serving.compaction_key, serving.secret),
                          .quota_watch = quota_watch,
                          .money = serving.money},
                         log);
    options.recorder = recorder.recorder;
    options.editor = recorder.editor;
  }
  if (quota_watch)
    options.is_over_quota = [quota_watch](const std::string& tenant) {
      return quota_watch->is_reached(tenant);
    };
  options.record = serving.record;
  options.record_by_tenant = serving.record_by_tenant;
  if (serving.store)
    options.offers_recall = [policies = serving.policies](const ObservedRequest& request) {
      return offers_recall(policies, request);
    };
  options.digest_key = serving.secret;
  if (tokens != nullptr) {
    options.find_token = [tokens](std::string_view secret) { return caller_of(*tokens, secret); };
    options.is_still_good = [tokens](std::string_view token) {
      return tokens->is_good(token, wall_clock_ms());
    };
    options.on_stranger = [strangers = std::make_shared<Strangers>()](std::string_view peer) {
      return strangers->came(peer);
    };
  }
  options.is_own_host = [hosts](std::string_view authority) { return hosts->allow(authority); };
  options.on_answered = [&log](const GatewayLine& line) { log_line(log, line); };
  options.on_event = [&log](std::string_view event, const std::string& detail) {
    log.event(ServerLog::Level::warning, event, {{"detail", detail}});
  };
  Result<Gateway> gateway = Gateway::start(std::move(options));
  if (!gateway) return gateway;
  const std::string url = gateway->address();
  hosts->open(Hosts(serving.address, port_in(url), serving.tls.has_value(), serving.hosts));
  log.event(ServerLog::Level::info, "gateway listening", {{"address", url}});
  return gateway;
}

void add_gateway_numbers(const GatewayCounts& counts, std::vector<Metrics::Number>& numbers) {
  using Kind = Metrics::Number::Kind;
  const auto add = [&](std::string_view name, std::string_view what, std::uint64_t value,
                       Kind kind) { numbers.push_back({name, what, value, kind}); };
  add("gateway_requests_total", "Requests passed on to an upstream.", counts.requests,
      Kind::counter);
  add("gateway_open", "Requests of the gateway under way.", counts.open, Kind::gauge);
  add("gateway_connections", "Connections of the gateway open now.", counts.wire.connections,
      Kind::gauge);
  add("gateway_upstream_failed_total", "Requests that no upstream answered.",
      counts.upstream_failed, Kind::counter);
  add("gateway_torn_total", "Answers that an upstream did not finish.", counts.torn, Kind::counter);
  add("gateway_client_left_total", "Requests whose client left before the end.", counts.client_left,
      Kind::counter);
  add("gateway_recall_calls_total", "Calls of context tools that the gateway answered.",
      counts.recall_calls, Kind::counter);
  add("gateway_recorded_total", "Exchanges handed to the recorder.", counts.recorded,
      Kind::counter);
  add("gateway_record_dropped_total",
      "Exchanges, or answers of them, that were not recorded for want of memory.",
      counts.record_dropped, Kind::counter);
  add("gateway_record_failed_total", "Exchanges that the recorder failed to record.",
      counts.record_failed, Kind::counter);
  add("gateway_edited_total",
      "Requests that were sent in another form, or answered by the gateway.", counts.edits.edited,
      Kind::counter);
  add("gateway_unedited_total", "Requests that a policy looked at and left as they came.",
      counts.edits.unchanged, Kind::counter);
  add("gateway_edit_failed_total",
      "Requests that were sent as they came because editing failed or took too long.",
      counts.edits.failed + counts.edits.late, Kind::counter);
  add("gateway_recording_bytes", "Bytes that wait for the recorder.", counts.recording_bytes,
      Kind::gauge);
}

namespace {

// GET /metrics, of a gateway beside which there is no server.
Result<http::Server> serve_numbers(const GatewayServing::NumbersAt& at, const Gateway& gateway) {
  if (!is_loopback(at.address))
    return Error{ErrorCode::invalid_argument, "the metrics are for this machine alone", "metrics"};
  auto hosts = std::make_shared<GatewayHosts>();
  http::Calls calls;
  calls.admit = [hosts](const http::Head& head) -> std::variant<http::Admission, http::Reply> {
    const std::string* const host = head.find("host");
    if (host == nullptr || !hosts->allow(*host))
      return http::Reply{.status = 421, .content_type = "text/plain", .body = "wrong host\n"};
    return http::Admission{.body_bytes_max = 0};
  };
  calls.handle = [&gateway](const http::Request& request,
                            std::unique_ptr<http::Exchange> exchange) {
    const bool is_get = request.method == "GET" || request.method == "HEAD";
    if (!is_get || request.target.substr(0, request.target.find('?')) != "/metrics")
      return exchange->answer(
          {.status = 404, .content_type = "text/plain", .body = "GET /metrics\n"});
    std::vector<Metrics::Number> numbers;
    add_gateway_numbers(gateway.counts(), numbers);
    exchange->answer(
        {.content_type = std::string(Metrics::content_type), .body = Metrics::text_of(numbers)});
  };
  Result<http::Server> server = http::Server::listen(
      {.address = at.address == "localhost" ? "127.0.0.1" : at.address, .port = at.port},
      std::move(calls));
  if (server) hosts->open(Hosts(at.address, port_in(server->address()), false, {}));
  return server;
}

}  // namespace

std::optional<Error> serve_gateway(const GatewayServing& serving) {
  const sigset_t signals = set_up_process(
      {.connections_max = 2 * serving.connections_max, .core_dumps = serving.core_dumps});
  const ServerLog log(standard_error,
                      serving.log_requests ? ServerLog::Requests::each : ServerLog::Requests::none);
  const Result<std::unique_ptr<Tokens>> tokens = open_tokens(serving.tokens_file, log);
  if (!tokens) return tokens.error();
  const HeapTrim heap_trim;
  Result<Gateway> gateway = start_gateway(serving, tokens->get(), log);
  if (!gateway) return gateway.error();
  if (!is_loopback(serving.address) && !serving.tls)
    log.event(ServerLog::Level::warning,
              "tokens travel unencrypted: give a certificate, or let a proxy encrypt");
  std::optional<http::Server> numbers;
  if (serving.numbers) {
    Result<http::Server> served = serve_numbers(*serving.numbers, *gateway);
    if (!served) return served.error();
    numbers.emplace(*std::move(served));
  }
  if (serving.on_listening)
    serving.on_listening(gateway->address(),
                         numbers ? numbers->address() + "/metrics" : std::string());
  wait_for(signals);
  log.event(ServerLog::Level::info, "stopping");
  const StopGuard guard(log);
  if (numbers) numbers->stop();
  gateway->stop();
  log.event(ServerLog::Level::info, "stopped");
  return std::nullopt;
}

}  // namespace undertext
