// The server as a whole: listens, lets in, hands out, until it is told to stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/store.hpp>

#include "http/http.hpp"
#include "server/catalog.hpp"
#include "server/gateway_serving.hpp"
#include "server/quota_store.hpp"
#include "server/site_files.hpp"

namespace undertext {

struct ServeOptions {
  std::shared_ptr<Store> store;
  // Of a store that reads conversations when they are asked for: nothing is indexed then, for that
  // would read them all.
  std::shared_ptr<const Catalog> catalog = {};
  std::string address = "127.0.0.1";
  std::uint16_t port = 8777;
  std::optional<std::string> tokens_file = {};  // unset: whoever reaches it may do everything
  std::vector<std::string> hosts = {};          // further names it goes by
  std::optional<http::Tls> tls = {};
  std::size_t threads = 64;
  std::uint64_t requests_per_second = 2000;  // of one token
  // of bodies and answers together; of one tenant half of it
  std::uint64_t memory_bytes = std::uint64_t{512} << 20;
  std::uint64_t answer_bytes_max = std::uint64_t{64} << 20;  // of one answer
  // of all conversations that are kept open
  std::uint64_t cache_bytes = std::uint64_t{512} << 20;
  // for one request, without exports and streams
  std::chrono::seconds request_time{60};
  // How long it drains before it stops: see serve()
  std::chrono::seconds drain{0};
  // of messages that the operations of one request make
  std::uint64_t made_bytes_max = std::uint64_t{32} << 20;
  Quota quota = {};     // of each tenant
  SiteFiles site = {};  // what is served at /docs/
  std::uint32_t connections_max = 4096;
  std::uint32_t connections_per_address_max = 2048;  // behind a proxy all come from one address
  bool log_requests = true;
  int log_descriptor = 2;                      // of the log: standard error
  bool core_dumps = false;                     // else off: they would hold messages
  std::optional<GatewayServing> gateway = {};  // on a port of its own, beside
  // Called once. `gateway` is empty where there is none.
  std::function<void(const std::string& url, const std::string& gateway)> on_listening = {};
  // What to wait for instead of SIGINT and SIGTERM, which are blocked while it runs.
  std::function<void()> until = {};
};

// Serves until SIGINT or SIGTERM, drains for as long as it is to (GET /readyz is 503, and everything
// is still answered), answers what is under way, and returns within 10 s more; where it could not,
// the process ends (exit 1). Call it from the only thread there is: signals are blocked
// for those it starts.
// invalid_argument: an address beyond this machine without tokens, an address or certificate that
// is none. not_found, corrupt: the tokens file. unavailable:
// the port is taken.
std::optional<Error> serve(const ServeOptions& options);

}  // namespace undertext
