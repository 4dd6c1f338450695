#include "server/gateway_serving.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <unistd.h>

#include "server/admission.hpp"
#include "server/gateway_recorder.hpp"
#include "server/heap_trim.hpp"
#include "server/process.hpp"
#include "server/wall_clock.hpp"

namespace undertext {
namespace {

// The port that was asked for may be 0: the names are known once it listens, and nobody is let in before.
class GatewayHosts {
 public:
  void open(Hosts hosts) {
    hosts_ = std::make_unique<Hosts>(std::move(hosts));
    is_open_.store(true, std::memory_order_release);
  }
  bool allow(std::string_view authority) const { return is_open_.load(std::memory_order_acquire) && hosts_->allow(authority); }

 private:
  std::unique_ptr<Hosts> hosts_;
  std::atomic<bool> is_open_ = false;
};

std::uint16_t port_in(const std::string& url) { return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1))); }

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

std::optional<GatewayCaller> caller_of(Tokens& tokens, std::string_view secret) {
  const std::optional<Token> token = tokens.find(secret, wall_clock_ms());
  if (!token || !token->rights.write) return std::nullopt;
  return GatewayCaller{.tenant = token->tenant, .token = token->name};
}

}  // namespace

bool is_loopback(const std::string& address) {
  if (address == "localhost" || address == "::1") return true;
  return address.starts_with("127.") && address.find_first_not_of("0123456789.") == std::string::npos;
}

Result<std::unique_ptr<Tokens>> open_tokens(const std::optional<std::string>& file, const ServerLog& log) {
  if (!file) return std::unique_ptr<Tokens>();
  return Tokens::open(*file, [&log](const Error& error) {
    log.event(ServerLog::Level::error, "tokens unreadable: nobody is let in", {{"error", error.message}});
  });
}

Result<Gateway> start_gateway(const GatewayServing& serving, Tokens* tokens, const ServerLog& log) {
  if (!serving.takes_tokens) tokens = nullptr;
  if (!is_loopback(serving.address) && tokens == nullptr)
    return Error{
        ErrorCode::invalid_argument,
        "to listen beyond this machine takes tokens: make one with undertext token make NAME --tenant default --rights write",
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
  // Elsewhere, no address may take all of them; here all clients have one.
  options.listening.limits.connections_per_peer_max =
      is_loopback(serving.address) ? serving.connections_max : std::max(1u, serving.connections_max / 2);
  options.body_bytes_max = serving.body_bytes_max;
  options.memory_bytes = serving.memory_bytes;
  options.recording_bytes = serving.recording_bytes;
  options.relays_upgrades = serving.relays_upgrades;
  const auto quota_watch = serving.enforces_on_traffic ? std::make_shared<QuotaWatch>() : nullptr;
  if (serving.store)
    options.recorder = gateway_recorder({.store = serving.store,
                                         .quota = serving.quota,
                                         .secret = serving.secret,
                                         .one_user = serving.one_user,
                                         .project = serving.project,
                                         .quota_watch = quota_watch},
                                        log);
  if (quota_watch) options.is_over_quota = [quota_watch](const std::string& tenant) { return quota_watch->is_reached(tenant); };
  options.record = serving.record;
  options.record_by_tenant = serving.record_by_tenant;
  options.digest_key = serving.secret;
  if (tokens != nullptr) options.find_token = [tokens](std::string_view secret) { return caller_of(*tokens, secret); };
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
  const auto add = [&](std::string_view name, std::string_view what, std::uint64_t value, Kind kind) {
    numbers.push_back({name, what, value, kind});
  };
  add("gateway_requests_total", "Requests passed on to an upstream.", counts.requests, Kind::counter);
  add("gateway_open", "Requests of the gateway under way.", counts.open, Kind::gauge);
  add("gateway_connections", "Connections of the gateway open now.", counts.wire.connections, Kind::gauge);
  add("gateway_upstream_failed_total", "Requests that no upstream answered.", counts.upstream_failed, Kind::counter);
  add("gateway_torn_total", "Answers that an upstream did not finish.", counts.torn, Kind::counter);
  add("gateway_client_left_total", "Requests whose client left before the end.", counts.client_left, Kind::counter);
  add("gateway_recorded_total", "Exchanges handed to the recorder.", counts.recorded, Kind::counter);
  add("gateway_record_dropped_total", "Exchanges, or answers of them, that were not recorded for want of memory.",
      counts.record_dropped, Kind::counter);
  add("gateway_record_failed_total", "Exchanges that the recorder failed to record.", counts.record_failed, Kind::counter);
  add("gateway_recording_bytes", "Bytes that wait for the recorder.", counts.recording_bytes, Kind::gauge);
}

std::optional<Error> serve_gateway(const GatewayServing& serving) {
  const sigset_t signals = set_up_process({.connections_max = 2 * serving.connections_max, .core_dumps = serving.core_dumps});
  const ServerLog log(STDERR_FILENO, serving.log_requests ? ServerLog::Requests::each : ServerLog::Requests::none);
  const Result<std::unique_ptr<Tokens>> tokens = open_tokens(serving.tokens_file, log);
  if (!tokens) return tokens.error();
  const HeapTrim heap_trim;
  Result<Gateway> gateway = start_gateway(serving, tokens->get(), log);
  if (!gateway) return gateway.error();
  if (!is_loopback(serving.address) && !serving.tls)
    log.event(ServerLog::Level::warning, "tokens travel unencrypted: give a certificate, or let a proxy encrypt");
  if (serving.on_listening) serving.on_listening(gateway->address());
  wait_for(signals);
  log.event(ServerLog::Level::info, "stopping");
  const StopGuard guard(log);
  gateway->stop();
  log.event(ServerLog::Level::info, "stopped");
  return std::nullopt;
}

}  // namespace undertext
