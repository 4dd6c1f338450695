#include "server/serve.hpp"

#include <algorithm>
#include <any>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <variant>

#include "server/admission.hpp"
#include "server/app.hpp"
#include "server/background_index.hpp"
#include "server/gateway_serving.hpp"
#include "server/heap_trim.hpp"
#include "server/log.hpp"
#include "server/metrics.hpp"
#include "server/process.hpp"
#include "server/recorded_exchange.hpp"
#include "server/tenant_stores.hpp"
#include "server/workers.hpp"
#include "system/memory.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

Admission::Now now() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {Clock::now(), std::chrono::duration_cast<std::chrono::milliseconds>(wall).count()};
}

// Those who half sent a request, or do not read their answer, are waited for no longer.
constexpr std::chrono::seconds stop_patience{4};

// Of the memory for bodies and answers, what every tenant may have though others hold all of it.
constexpr std::uint64_t memory_bytes_always = 2 << 20;

// Whom requests belong to that take no token: a tenant cannot be called that, so that they take
// nobody's share.
constexpr std::string_view nobody = "/";

std::string owner_of(const Route& route, const Caller& caller) {
  return route.right == Right::none ? std::string(nobody) : caller.tenant;
}

Workers::Limits worker_limits(std::size_t threads, bool many_tenants) {
  Workers::Limits limits{.threads = threads};
  // Two at least: an export may hold one of them.
  limits.threads_per_tenant = many_tenants ? std::max<std::size_t>(2, threads * 3 / 4) : threads;
  limits.waiting_per_tenant = many_tenants ? limits.waiting / 2 : limits.waiting;
  return limits;
}

// Everything between the wire and the routes.
class Gate {
 public:
  Gate(const ServeOptions& options, std::unique_ptr<Tokens> tokens, const ServerLog& log)
      : log_(log),
        tokens_(std::move(tokens)),
        budget_(std::make_shared<http::Budget>(
            options.memory_bytes, options.memory_bytes / (tokens_ ? 2 : 1), memory_bytes_always)),
        stores_(options.store, options.quota,
                [this, indexes = options.catalog == nullptr](const std::string& tenant) {
                  if (indexes) indexing_.add(tenant);
                }),
        app_(app_options(options)),
        metrics_(app_.routes()),
        workers_(worker_limits(options.threads, tokens_ != nullptr)),
        indexing_(
            {.store =
                 [store = options.store](const std::string& tenant) {
                   return store_of_tenant(store, tenant).value();
                 },
             .on_done = [this](const std::string& tenant,
                               const Result<IndexProgress>& done) { indexed(tenant, done); }}) {
    // what there is without tokens is indexed at once
    if (!tokens_) static_cast<void>(stores_.of({}));
  }

  // Called once the port is known, which is part of the server's names. Earlier requests get "retry
  // later".
  void open(Hosts hosts, const ServeOptions& options, const http::Server& server) {
    server_ = &server;
    const double rate = static_cast<double>(options.requests_per_second);
    AdmissionLimits limits{.requests_per_second = rate};
    limits.open_per_second = std::max(limits.open_per_second, rate / 10);
    admission_ =
        std::make_unique<Admission>(app_.routes(), tokens_.get(), std::move(hosts), limits);
    is_open_.store(true, std::memory_order_release);
  }

  std::variant<http::Admission, http::Reply> admit(const http::Head& head) {
    const auto began = Clock::now();
    if (!is_open_.load(std::memory_order_acquire)) return busy("the server is starting");
    Admission::Verdict verdict = admission_->decide(head, now());
    if (!verdict.refusal) return admission_of(std::move(verdict));
    return recorded(
        *std::move(verdict.refusal), recorder_,
        {verdict.match.route, head.method, head.peer, std::move(verdict.caller), 0, began});
  }

  void handle(http::Request request, std::unique_ptr<http::Exchange> exchange) {
    Admission::Verdict verdict = std::any_cast<Admission::Verdict>(std::move(request.admitted));
    exchange = recorded(std::move(exchange), recorder_,
                        {verdict.match.route, request.method, request.peer, verdict.caller,
                         request.body.size(), Clock::now()});
    // The body may have taken long to come.
    if (is_revoked(verdict)) return exchange->answer(token_needed());
    // A std::function holds only what can be copied.
    auto work = std::make_shared<Work>(std::move(verdict), std::move(request), std::move(exchange));
    // Whether the process answers must not depend on how much it has to do.
    if (work->verdict.match.route->path == "/healthz") return work->run(app_);
    const std::string owner = owner_of(*work->verdict.match.route, work->verdict.caller);
    if (workers_.submit(owner, [this, work] { work->run(app_); })) return;
    work->exchange->answer(busy("the server is busy: retry later"));
  }

  // What is no request, or too much of one.
  http::Reply refuse(const http::Refused& refused) {
    const unsigned status = refused.status;
    const ErrorCode code = status == 413 || status == 414 || status == 431 ? ErrorCode::too_large
                           : status == 500                                 ? ErrorCode::internal
                           : status == 503 || status == 408                ? ErrorCode::unavailable
                                                            : ErrorCode::invalid_argument;
    RequestNote note;
    note.peer = refused.peer;
    note.began = Clock::now();
    if (refused.head != nullptr) {
      note.method = refused.head->method;
      if (const auto* verdict = std::any_cast<Admission::Verdict>(&refused.head->admitted)) {
        note.route = verdict->match.route;
        note.caller = verdict->caller;
      }
    }
    return recorded(error_reply({code, std::string(refused.why)}, status), recorder_, note);
  }

  Tokens* tokens() const { return tokens_.get(); }
  // Its counts are among the metrics from now on.
  std::shared_ptr<MoneyCounts> money() const { return money_; }
  void count_in(const Gateway& gateway) { gateway_.store(&gateway, std::memory_order_release); }

  // For good: nobody may make it ready again.
  void begin_to_end() {
    is_ending_ = true;
    draining_ = true;
  }

  // Streams end at once; what is under way is still answered.
  void begin_to_stop() {
    stopping_ = true;
    indexing_.stop();
    app_.stop();
  }
  void stop_workers() { workers_.stop(); }

 private:
  struct Work {
    Work(Admission::Verdict v, http::Request r, std::unique_ptr<http::Exchange> e)
        : verdict(std::move(v)), request(std::move(r)), exchange(std::move(e)) {}
    void run(App& app) {
      const Route& route = *verdict.match.route;
      app.handle(route, std::move(verdict.match), std::move(request), verdict.caller,
                 std::move(exchange));
    }
    Admission::Verdict verdict;
    http::Request request;
    std::unique_ptr<http::Exchange> exchange;
  };

  bool is_revoked(const Admission::Verdict& verdict) const {
    return tokens_ && verdict.match.route->right != Right::none &&
           !tokens_->is_good(verdict.caller.name, now().ms);
  }

  http::Admission admission_of(Admission::Verdict verdict) const {
    const Route& route = *verdict.match.route;
    const std::uint64_t bytes_max =
        route.body == Body::none ? 0 : std::min(route.body_bytes_max, budget_->bytes_max_each());
    http::Budget::Share share(budget_, owner_of(route, verdict.caller));
    return {.body_bytes_max = bytes_max, .share = std::move(share), .known = std::move(verdict)};
  }

  AppOptions app_options(const ServeOptions& given) {
    AppOptions options;
    options.limits.answer_bytes = std::min(given.answer_bytes_max, budget_->bytes_max_each());
    options.limits.request_bytes = budget_->bytes_max_each();
    options.limits.cache_bytes = given.cache_bytes;
    options.limits.request.time = given.request_time;
    options.limits.request.bytes_made_max =
        std::min(given.made_bytes_max, budget_->bytes_max_each());
    // An export holds a thread for as long as its client reads: most stay for those who do not.
    options.limits.exports = std::max<std::size_t>(1, given.threads / 4);
    options.limits.exports_per_tenant =
        std::max<std::size_t>(1, options.limits.exports / (tokens_ ? 2 : 1));
    options.store = [this](const std::string& tenant) { return stores_.of(tenant); };
    options.catalog = given.catalog;
    options.site = given.site;
    if (tokens_ != nullptr)
      options.still_allowed = [this](const Caller& caller) {
        return tokens_->is_good(caller.name, now().ms);
      };
    options.compression_failed = [this](const std::string& job, const Error& error) {
      if (http_status(error.code) != 500) return;
      log_.event(ServerLog::Level::error, "compression failed",
                 {{"job", job}, {"code", std::string(name(error.code))}, {"cause", error.message}});
    };
    options.metrics = [this] { return metrics_text(); };
    options.why_not_ready = [this]() -> std::string {
      return stopping_ ? "the server is stopping" : draining_ ? "the server is draining" : "";
    };
    options.drain = [this](bool begins) { return drain(begins); };
    return options;
  }

  // Called by a request, which is no part of what it counts.
  Draining drain(bool begins) {
    const bool wanted = begins || is_ending_;
    if (draining_.exchange(wanted) != wanted)
      log_.event(ServerLog::Level::info, wanted ? "draining" : "ready again");
    if (is_ending_) draining_ = true;  // which it may have begun to do in between
    const Workers::Counts work = workers_.counts();
    const Gateway* const gateway = gateway_.load(std::memory_order_acquire);
    return {.is_draining = draining_,
            .requests =
                work.running + work.waiting - 1 + (gateway == nullptr ? 0 : gateway->counts().open),
            .streams = streams_.load(std::memory_order_relaxed)};
  }

  void indexed(const std::string& tenant, const Result<IndexProgress>& done) const {
    if (!done)
      log_.event(ServerLog::Level::warning, "index not written",
                 {{"tenant", tenant},
                  {"code", std::string(name(done.error().code))},
                  {"cause", done.error().message}});
    else if (done->messages > 0)
      log_.event(ServerLog::Level::info, "index written",
                 {{"tenant", tenant}, {"messages", std::to_string(done->messages)}});
  }

  static http::Reply busy(std::string message) {
    return error_reply({ErrorCode::unavailable, std::move(message)}, 503);
  }

  std::string metrics_text() const {
    using Number = Metrics::Number;
    const http::Counts wire = server_->counts();
    const Workers::Counts work = workers_.counts();
    const App::Counts open = app_.counts();
    const http::Budget::Counts memory = budget_->counts();
    const BackgroundIndex::Counts indexing = indexing_.counts();
    std::vector<Number> numbers = {
        {"connections", "Connections open now.", wire.connections},
        {"connections_total", "Connections so far.", wire.connections_total, Number::Kind::counter},
        {"connections_refused_total", "Connections refused because there were too many.",
         wire.connections_refused, Number::Kind::counter},
        {"requests_refused_total",
         "Requests refused on the wire, over a limit of bytes (413, 414, 431, 503).", wire.refused,
         Number::Kind::counter},
        {"request_memory_bytes", "Bytes of bodies and of answers that are not read yet.",
         memory.bytes},
        {"resident_memory_bytes", "Memory of the process.", resident_bytes()},
        {"request_memory_refused_total", "How often there was no room for a body or an answer.",
         memory.refused, Number::Kind::counter},
        {"malformed_total", "Requests that were no proper HTTP.", wire.malformed,
         Number::Kind::counter},
        {"timed_out_total", "Connections closed because they were too slow.", wire.timed_out,
         Number::Kind::counter},
        {"wire_bytes_in_total", "Bytes received.", wire.bytes_in, Number::Kind::counter},
        {"wire_bytes_out_total", "Bytes sent.", wire.bytes_out, Number::Kind::counter},
        {"queue_waiting", "Requests that wait for a thread.", work.waiting},
        {"queue_running", "Requests at work.", work.running},
        {"queue_refused_total", "Requests refused because the queue was full.", work.refused,
         Number::Kind::counter},
        {"streams", "Streams open now, of events and exports.",
         streams_.load(std::memory_order_relaxed)},
        {"event_streams", "Streams of events open now.", open.event_streams},
        {"open_conversations", "Conversations kept open.", open.conversations},
        {"open_conversations_bytes", "About what they have in memory.", open.cache_bytes},
        {"quota_refused_total", "Writes refused because a tenant has stored what it may.",
         stores_.refused(), Number::Kind::counter},
        {"draining", "1 while the server drains.", draining_ ? std::uint64_t{1} : 0},
        {"compressions", "Compressions under way in the background.", open.compressions},
        {"index_messages_total", "Messages of older releases that were indexed for search.",
         indexing.messages, Number::Kind::counter},
        {"index_tenants_waiting", "Tenants whose messages are being indexed, or wait for it.",
         indexing.waiting},
    };
    if (const Gateway* gateway = gateway_.load(std::memory_order_acquire))
      add_gateway_numbers(gateway->counts(), numbers);
    return metrics_.text(numbers) + money_->text();
  }

  const ServerLog& log_;
  std::atomic<bool> stopping_ = false, is_open_ = false, draining_ = false, is_ending_ = false;
  std::atomic<std::uint64_t> streams_ = 0;
  const std::unique_ptr<Tokens> tokens_;
  const std::shared_ptr<http::Budget> budget_;
  TenantStores stores_;
  App app_;
  Metrics metrics_;
  Recorder recorder_{log_, metrics_, streams_, draining_};
  std::unique_ptr<Admission> admission_;
  const http::Server* server_ = nullptr;
  std::atomic<const Gateway*> gateway_ = nullptr;
  const std::shared_ptr<MoneyCounts> money_ = std::make_shared<MoneyCounts>();
  Workers workers_;
  BackgroundIndex indexing_;
};

// What works, and is probably not what was meant.
void warn(const ServeOptions& options, const ServerLog& log) {
  if (!is_loopback(options.address) && !options.tls)
    log.event(ServerLog::Level::warning,
              "tokens travel unencrypted: give a certificate, or let a proxy encrypt");
  if (is_wildcard(options.address) && options.hosts.empty())
    log.event(ServerLog::Level::warning,
              "clients elsewhere are refused: say by which name they call, with --host");
}

std::uint16_t port_of(const std::string& url) {
  return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

}  // namespace

std::optional<Error> serve(const ServeOptions& options) {
  if (!is_loopback(options.address) && !options.tokens_file)
    return Error{ErrorCode::invalid_argument,
                 "to listen beyond this machine takes tokens: make one with undertext token make "
                 "NAME --tenant default --rights read,write",
                 "listen"};
  const sigset_t signals = set_up_process(
      {.connections_max = options.connections_max, .core_dumps = options.core_dumps});
  const ServerLog log(options.log_descriptor,
                      options.log_requests ? ServerLog::Requests::each : ServerLog::Requests::none);
  Result<std::unique_ptr<Tokens>> tokens = open_tokens(options.tokens_file, log);
  if (!tokens) return tokens.error();
  const HeapTrim heap_trim;
  Gate gate(options, *std::move(tokens), log);
  http::Listening listening{
      .address = options.address == "localhost" ? "127.0.0.1" : options.address,
      .port = options.port,
      .tls = options.tls};
  listening.limits.stop_patience = stop_patience;
  listening.limits.connections_max = options.connections_max;
  listening.limits.connections_per_peer_max = options.connections_per_address_max;
  http::Calls calls;
  calls.admit = [&](const http::Head& head) { return gate.admit(head); };
  calls.handle = [&](http::Request request, std::unique_ptr<http::Exchange> exchange) {
    gate.handle(std::move(request), std::move(exchange));
  };
  calls.refusal = [&](const http::Refused& refused) { return gate.refuse(refused); };
  Result<http::Server> server = http::Server::listen(std::move(listening), std::move(calls));
  if (!server) return server.error();
  const std::string url = server->address();
  gate.open(Hosts(options.address, port_of(url), options.tls.has_value(), options.hosts), options,
            *server);
  log.event(ServerLog::Level::info, "listening",
            {{"address", url}, {"store", options.store->name()}});
  warn(options, log);
  std::optional<Gateway> gateway;
  if (options.gateway) {
    GatewayServing serving = *options.gateway;
    serving.money = gate.money();
    serving.store = options.store;
    serving.quota = options.quota;
    Result<Gateway> started = start_gateway(serving, gate.tokens(), log);
    if (!started) return started.error();
    gateway.emplace(*std::move(started));
    gate.count_in(*gateway);
  }
  if (options.on_listening) options.on_listening(url, gateway ? gateway->address() : std::string());
  if (options.until)
    options.until();
  else
    wait_for(signals);
  if (options.drain.count() > 0) {
    log.event(ServerLog::Level::info, "draining");
    gate.begin_to_end();
    std::this_thread::sleep_for(options.drain);  // a second signal ends it
  }
  log.event(ServerLog::Level::info, "stopping");
  const StopGuard guard(log);
  if (gateway) gateway->stop();
  gate.begin_to_stop();
  server->stop();
  gate.stop_workers();
  log.event(ServerLog::Level::info, "stopped");
  return std::nullopt;
}

}  // namespace undertext
