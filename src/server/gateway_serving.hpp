// The gateway as a part of the server, and as a server of its own: with tokens, names, a log and
// numbers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/store.hpp>

#include "gateway/gateway.hpp"
#include "http/http.hpp"
#include "policy/policy.hpp"
#include "server/gateway_recorder.hpp"
#include "server/log.hpp"
#include "server/metrics.hpp"
#include "server/money_counts.hpp"
#include "server/quota_store.hpp"
#include "server/tokens.hpp"

namespace undertext {

struct GatewayServing {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8788;
  std::vector<std::string> hosts = {};  // further names it goes by
  std::optional<http::Tls> tls = {};
  UpstreamSettings upstreams = {};
  UpstreamLimits upstream_limits = {};
  std::uint64_t body_bytes_max = std::uint64_t{64} << 20;
  std::uint64_t memory_bytes = std::uint64_t{512} << 20;
  std::uint64_t recording_bytes = std::uint64_t{256} << 20;
  std::uint32_t connections_max = 4096;
  // unset: on loopback all of them, elsewhere half: no address may take all
  std::optional<std::uint32_t> connections_per_address_max = {};
  bool relays_upgrades = false;
  RecordLevel record = RecordLevel::full;
  std::map<std::string, RecordLevel> record_by_tenant = {};
  GatewayPolicies policies = {};      // what may be changed in requests; tools need a store
  std::string compaction_key = {};    // of opaque compaction items; empty: made from `secret`
  std::shared_ptr<Store> store = {};  // where exchanges are recorded; null: nowhere
  Quota quota = {};                   // of each tenant
  bool enforces_on_traffic = false;   // a limit of recording stops traffic too
  // of this installation, by which users are told apart; empty: a random one
  std::string secret = {};
  bool one_user = false;  // all credentials are one user's
  // of conversations that are recorded: Settings::project; empty: none
  std::string project = {};
  std::shared_ptr<MoneyCounts> money = {};  // what recorded requests cost; null: it is not counted

  // else whoever reaches it may use it, though the server beside it takes some
  bool takes_tokens = true;

  // As a server of its own.
  std::optional<std::string> tokens_file = {};  // unset: whoever reaches it may use it
  bool log_requests = true;
  bool core_dumps = false;
  struct NumbersAt {
    std::string address;
    std::uint16_t port = 0;
  };
  std::optional<NumbersAt> numbers = {};  // GET /metrics, on this machine alone; unset: nowhere
  // the latter is empty where unset
  std::function<void(const std::string& url, const std::string& numbers)> on_listening = {};
};

// `tokens` null: there are none, and it must listen on this machine alone. Borrows both.
// invalid_argument, unavailable, unsupported: as Upstreams::make() and Gateway::start().
Result<Gateway> start_gateway(const GatewayServing& serving, Tokens* tokens, const ServerLog& log);

// Until SIGINT or SIGTERM, as serve().
std::optional<Error> serve_gateway(const GatewayServing& serving);

// The key of compaction items: the one that is given, else one made from the installation's secret;
// empty: there is neither.
std::string compaction_key(const std::string& given, const std::string& secret);

void add_gateway_numbers(const GatewayCounts& counts, std::vector<Metrics::Number>& numbers);

// Null for no file. not_found, unavailable, corrupt: as Tokens::open().
Result<std::unique_ptr<Tokens>> open_tokens(const std::optional<std::string>& file,
                                            const ServerLog& log);

bool is_loopback(const std::string& address);

}  // namespace undertext
