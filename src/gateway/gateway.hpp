// A gateway: a port to which clients of providers are pointed. What they send goes to the provider
// as it came, what it answers comes back as it arrives, and a recorder gets to see both.
//
//     Gateway gateway = Gateway::start({.upstreams = Upstreams::make({}).value(), .recorder = recorder}).value();
//     gateway.address();     // "http://127.0.0.1:8788"
//     gateway.stop();
//
// Fields that belong to a connection (Connection and what it names, Transfer-Encoding, …), Host,
// Expect and X-Undertext-* are not passed on; all others are, as they came. An editor, where there
// is one, may change what is sent (editing.hpp). What the gateway answers itself has a field
// x-undertext-error, and the form of the provider's errors. A torn answer stays torn. WebSockets
// are answered 426, or relayed as they are and not recorded.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <undertext/error.hpp>

#include "gateway/editing.hpp"
#include "gateway/observed.hpp"
#include "gateway/upstream_client.hpp"
#include "gateway/upstreams.hpp"
#include "http/http.hpp"

namespace undertext {

// Who a server's token belongs to.
struct GatewayCaller {
  std::string tenant = "default";
  std::string token = {};  // its name
};

// One request that was answered, for the log: nothing in it came from the client but its method and
// its address.
struct GatewayLine {
  std::string_view method, upstream, call, tenant, token, peer;
  unsigned status = 0;
  std::chrono::nanoseconds duration{};
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::string_view end;  // of ObservedExchange::End, or the failure
};

// As clients of providers need them: long silences, slow readers, large heads.
http::Limits gateway_limits();

struct GatewayOptions {
  http::Listening listening = {.limits = gateway_limits()};
  Upstreams upstreams;
  UpstreamLimits upstream_limits = {};
  std::uint64_t body_bytes_max = std::uint64_t{64} << 20;    // of one request
  std::uint64_t memory_bytes = std::uint64_t{512} << 20;     // of requests under way
  std::uint64_t recording_bytes = std::uint64_t{256} << 20;  // of what waits for the recorder

  bool relays_upgrades = false;  // to WebSockets

  std::shared_ptr<ExchangeRecorder> recorder = {};  // null: nothing is recorded
  std::shared_ptr<ExchangeEditor> editor = {};      // null: every request is sent as it came
  std::chrono::milliseconds edit_patience{2'000};   // for the editor, with one request
  RecordLevel record = RecordLevel::full;
  std::map<std::string, RecordLevel> record_by_tenant = {};
  // Limits stop recording, and no traffic. Set: what a limit keeps from being recorded is refused,
  // 429 where this says that the tenant has stored what it may, 503 where there is no room for it
  // among what waits for the recorder.
  // Any thread; must not wait.
  std::function<bool(const std::string& tenant)> is_over_quota = {};
  // Whether the model is offered the context tools, which the gateway answers itself:
  // recall_tools.hpp. Unset: never.
  // Only of requests that are recorded. Any thread; must not wait.
  std::function<bool(const ObservedRequest& request)> offers_recall = {};
  // of ObservedRequest::client; empty: a random one, so that digests last as long as the process
  std::string digest_key = {};

  // Whose token this is; unset: the gateway takes no tokens. A token stands where the client puts
  // its API key, or in X-Undertext-Token.
  std::function<std::optional<GatewayCaller>(std::string_view secret)> find_token = {};
  // Whether the token of this name is good still: asked now and then while an answer goes on. Any
  // thread; must not wait.
  std::function<bool(std::string_view token)> is_still_good = {};
  // Somebody without a good token came from this address: how long it has to wait before it may try
  // again; none: it need not.
  std::function<std::optional<std::chrono::seconds>(std::string_view peer)> on_stranger = {};
  std::function<bool(std::string_view authority)> is_own_host = {};  // unset: every Host is
  std::function<void(const GatewayLine& line)> on_answered = {};     // any thread
  // Something that an operator should know, such as that exchanges are dropped. Any thread.
  std::function<void(std::string_view event, const std::string& detail)> on_event = {};
};

struct GatewayCounts {
  std::uint64_t requests = 0;         // so far
  std::uint64_t open = 0;             // under way
  std::uint64_t upstream_failed = 0;  // without an answer
  std::uint64_t torn = 0;
  std::uint64_t client_left = 0;
  std::uint64_t recall_calls = 0;     // of context tools, answered by the gateway
  std::uint64_t recorded = 0;         // handed to the recorder
  std::uint64_t record_dropped = 0;   // did not fit
  std::uint64_t record_failed = 0;    // the recorder threw, or reported so
  std::uint64_t recording_bytes = 0;  // held now
  EditingQueue::Counts edits = {};
  http::Counts wire = {};
};

struct GatewayRep;

class Gateway {
 public:
  // invalid_argument, unavailable: as http::Server::listen. unsupported: this build has no libcurl.
  static Result<Gateway> start(GatewayOptions options);
  std::string address() const;  // a URL
  GatewayCounts counts() const;
  // No new requests; waits for answers under way, Limits::stop_patience at most, and for the
  // recorder, 8 s in all.
  void stop();

  Gateway(Gateway&&) noexcept;
  Gateway& operator=(Gateway&&) noexcept;
  ~Gateway();  // as stop()

 private:
  explicit Gateway(std::shared_ptr<GatewayRep> rep);
  std::shared_ptr<GatewayRep> rep_;
};

}  // namespace undertext
