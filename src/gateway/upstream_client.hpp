// HTTP to upstreams: many calls at once on one thread, over connections that are kept. All that
// knows libcurl is in upstream_client.cpp and upstream_tunnel.cpp.
//
// Nothing is added to a request but Host, and Content-Length where the client sent none. No
// redirect is followed, nothing is decompressed, certificates are checked.
// HTTP/2 is spoken where the upstream offers it over TLS, with a connection for each call at a
// time: a client that does not read holds up nobody else's. A call whose first byte was sent is
// never sent again. Proxies are those of the environment, for https and never for this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/upstreams.hpp"
#include "http/http.hpp"

namespace undertext {

struct UpstreamRequest {
  const Upstream* upstream = nullptr;  // outlives the call
  std::string method;
  std::string target;
  std::vector<http::Field> fields;  // sent as they are, in this order
  // Null: a request without a body, and without Content-Length.
  std::shared_ptr<const std::string> body = {};
  bool is_chunked = false;  // as the client sent it
  bool is_upgrade = false;  // to a WebSocket: see upstream_tunnel.hpp
};

struct UpstreamHead {
  unsigned status = 0;
  std::string reason;  // "" in HTTP/2
  // as they came, without those that belong to the connection; of 101 with Connection and Upgrade
  std::vector<http::Field> fields;
  bool is_chunked = false;  // it came so
};

enum class UpstreamEnd : std::uint8_t {
  complete,
  cancelled,
  not_connected,  // also when a name is not known
  untrusted,      // the certificate cannot be verified
  timed_out,
  torn,     // the connection ended early
  invalid,  // what came is no HTTP, or could be read in two ways
};
std::string_view name(UpstreamEnd end);  // "upstream_timeout", …

// Whom a call reports to, on the client's thread: no function may wait. on_end comes last, once.
class UpstreamCall {
 public:
  virtual ~UpstreamCall() = default;
  virtual void on_head(UpstreamHead head) = 0;
  // false: not now. The bytes come again after resume().
  virtual bool on_bytes(std::string_view bytes) = 0;
  virtual void on_sent() {}  // what send() was given has gone
  virtual void on_end(UpstreamEnd end, std::string_view detail) = 0;
};

struct UpstreamLimits {
  std::chrono::milliseconds connect_patience{10'000};
  // without a byte in either direction: models think for minutes
  std::chrono::milliseconds idle_patience{900'000};
  std::uint32_t kept_connections = 256;
  std::string ca_file = {};  // PEM; default: the system's
};

// Any thread may call it.
class UpstreamClient {
 public:
  using Number = std::uint64_t;

  static bool available();  // whether this build has libcurl
  explicit UpstreamClient(UpstreamLimits limits);
  ~UpstreamClient();  // as stop()
  UpstreamClient(const UpstreamClient&) = delete;
  UpstreamClient& operator=(const UpstreamClient&) = delete;

  // Two steps, so that a call knows its number before it can be called.
  Number next_number();
  void begin(Number number, UpstreamRequest request, std::shared_ptr<UpstreamCall> call);
  void resume(Number number);  // after on_bytes said no
  // behind the request, of a call whose answer was 101
  void send(Number number, std::string bytes);
  // also while nothing comes; on_end follows, unless it came before
  void cancel(Number number);
  void stop();  // cancels all

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace undertext
