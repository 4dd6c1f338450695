// What carries calls out: the conversations of all tenants behind the table of routes. Knows no
// token, no socket and no queue.
//
//     App app({.store = [&](const std::string& tenant) { return tenant_store(store, tenant); }});
//     RouteMatch match = find_route(app.routes(), "GET", "/v1/conversations/a/messages?last=3");
//     app.handle(*match.route, match, request, caller, std::move(exchange));
//
// Safe for any number of threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <undertext/store.hpp>

#include "http/http.hpp"
#include "server/catalog.hpp"
#include "server/request_work.hpp"
#include "server/route.hpp"
#include "server/site_files.hpp"

namespace undertext {

struct AppLimits {
  // kept open while nobody uses them; those in use come on top
  std::size_t conversations_open = 1024;
  // about what each of them keeps in memory
  std::uint64_t conversation_bytes = std::uint64_t{8} << 20;
  std::uint64_t cache_bytes = std::uint64_t{512} << 20;  // about what all of them do
  std::uint64_t answer_bytes = std::uint64_t{64} << 20;  // of one answer: 413 beyond that
  // a body, and what it takes to read it: 413 beyond that
  std::uint64_t request_bytes = std::numeric_limits<std::uint64_t>::max();
  RequestLimits request = {};  // 503 where it takes too long, 413 where it makes too much
  std::size_t operations_per_list = 1'000;
  std::size_t messages_per_operation = 10'000;
  std::size_t messages_per_client_list = 200'000;
  std::size_t streams_per_tenant = 64;  // of events
  std::size_t exports = 16;             // under way: each holds a thread while its client reads
  std::size_t exports_per_tenant = 8;
  std::size_t compressions_per_tenant = 4;  // under way in the background
  // ended ones of a tenant that can still be asked for
  std::size_t compressions_kept = 64;
  std::chrono::milliseconds heartbeat{15'000};  // of an event stream
  // how often the store is asked what other processes did
  std::chrono::milliseconds watch{500};
};

// A server that is to be stopped without anybody noticing: it answers everything, and tells load
// balancers to send nothing more.
struct Draining {
  bool is_draining = false;
  std::uint64_t requests = 0;  // under way, but for the one that asks
  std::uint64_t streams = 0;   // open, of events and exports
};

struct AppOptions {
  // The store as this tenant sees it. May throw Failure.
  std::function<std::shared_ptr<Store>(const std::string& tenant)> store;
  // Whether who opened a stream of events, or an export, may still read it; asked before each piece
  // of it, and now and then while there is none. Unset: yes.
  std::function<bool(const Caller& caller)> still_allowed = {};
  // one in the background, for the log
  std::function<void(const std::string& job, const Error& error)> compression_failed = {};
  std::function<std::string()> metrics = {};  // what GET /metrics answers; unset: nothing
  // What GET /readyz asks besides the store: why the server should get no more requests; empty:
  // it should.
  std::function<std::string()> why_not_ready = {};
  std::function<Draining(bool begins)> drain = {};  // begins or ends it; unset: it cannot be
  std::shared_ptr<const Catalog> catalog = {};      // unset: the store has read all it has
  SiteFiles site = {};                              // what is served at /docs/
  AppLimits limits = {};
};

class App {
 public:
  explicit App(AppOptions options);
  ~App();  // as stop()
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  const std::vector<Route>& routes() const;

  // Answers `exchange`, before it returns or later (streams, background work). `route` is one of
  // routes(). Never throws. May wait for the store, so it is for threads that may wait.
  void handle(const Route& route, RouteMatch match, http::Request request, const Caller& caller,
              std::unique_ptr<http::Exchange> exchange);

  struct Counts {
    std::size_t conversations = 0;  // kept open
    std::uint64_t cache_bytes = 0;  // about what these have in memory
    std::size_t event_streams = 0;
    std::size_t compressions = 0;  // under way
  };
  Counts counts() const;

  // Ends streams and background work, and waits until they have ended. Calls under way have
  // RequestLimits::time_after_stop left, and are then answered `unavailable`. Calls may still come
  // in: they are answered, but begin nothing that lasts.
  void stop();

  struct Rep;

 private:
  std::unique_ptr<Rep> rep_;
};

}  // namespace undertext
