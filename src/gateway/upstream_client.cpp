#include "gateway/upstream_client.hpp"

#include <array>

namespace undertext {

std::string_view name(UpstreamEnd end) {
  constexpr std::array<std::string_view, 7> names = {
      "complete",         "cancelled",     "upstream_unreachable", "upstream_untrusted",
      "upstream_timeout", "upstream_torn", "upstream_invalid"};
  return names[static_cast<std::size_t>(end)];
}

}  // namespace undertext

#if UNDERTEXT_HAVE_CURL

#  include <algorithm>
#  include <atomic>
#  include <mutex>
#  include <new>
#  include <thread>
#  include <unordered_map>
#  include <utility>

#  include <curl/curl.h>

#  include "endpoint/certificates.hpp"
#  include "endpoint/http.hpp"
#  include "gateway/upstream_head.hpp"
#  include "gateway/upstream_sockets.hpp"
#  include "gateway/upstream_tunnel.hpp"
#  include "http/head.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

// What curl copies a body through, and keeps for as long as the call lasts: more where it saves
// many steps, as long as few calls are open.
long upload_buffer_bytes(std::size_t body_bytes, std::size_t open_calls) {
  constexpr std::size_t few_calls_max = 16;
  if (open_calls > few_calls_max) return 16 << 10;
  if (body_bytes > (128 << 10)) return 128 << 10;
  return body_bytes > (32 << 10) ? 32 << 10 : 16 << 10;
}

// how often silence is measured; sockets and commands end the wait before
constexpr int poll_ms = 1'000;

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeHeaders {
  void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};

// One call on an easy handle of its own. Everything happens on the client's thread.
class UpstreamTransfer {
 public:
  UpstreamTransfer(UpstreamRequest request, std::shared_ptr<UpstreamCall> call,
                   const UpstreamLimits& limits, UpstreamSockets& sockets, std::size_t open_calls)
      : request_(std::move(request)),
        call_(std::move(call)),
        sockets_(sockets),
        easy_(curl_easy_init()) {
    if (easy_ == nullptr) throw std::bad_alloc();
    make_headers();
    set_options(limits, open_calls);
  }
  UpstreamTransfer(const UpstreamTransfer&) = delete;
  UpstreamTransfer& operator=(const UpstreamTransfer&) = delete;

  CURL* easy() const { return easy_.get(); }

  void resume() {
    is_paused_ = false;
    moved_ = Clock::now();
    curl_easy_pause(easy(), CURLPAUSE_CONT);
  }

  // Whether nothing has moved for as long as is allowed. A client that does not read is no fault of
  // the upstream's.
  bool is_silent(Clock::time_point now, std::chrono::milliseconds patience) {
    curl_off_t up = 0;
    curl_easy_getinfo(easy(), CURLINFO_SIZE_UPLOAD_T, &up);
    if (up != uploaded_ || is_paused_) moved_ = now;
    uploaded_ = up;
    return now - moved_ > patience;
  }

  // Whether it ended before anything was sent, because a kept connection is not to be used: it may
  // begin again, on another one.
  bool takes_another_connection() {
    if (!std::exchange(has_stray_bytes_, false)) return false;
    detail_[0] = 0;
    return curl_easy_setopt(easy(), CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK;
  }

  void end(CURLcode code) {
    const std::string_view detail = detail_[0] != 0    ? detail_.data()
                                    : code == CURLE_OK ? ""
                                                       : curl_easy_strerror(code);
    report(is_invalid_ ? UpstreamEnd::invalid : upstream_end_of(code), detail);
  }
  void report(UpstreamEnd end, std::string_view detail) noexcept {
    try {
      call_->on_end(end, detail);
    } catch (...) {
      // Memory has run out; the call's own destructor tears what it began.
    }
  }

 private:
  void add_header(const std::string& line) {
    curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(headers_.release());
    headers_.reset(longer);
  }

  bool has_field(std::string_view name) const {
    return std::any_of(
        request_.fields.begin(), request_.fields.end(),
        [&](const http::Field& field) { return http::equal_ignoring_case(field.name, name); });
  }

  // A header without a value is one that curl is not to add by itself.
  void make_headers() {
    for (const http::Field& field : request_.fields)
      add_header(field.value.empty() ? field.name + ";" : field.name + ": " + field.value);
    for (const std::string_view own : {"Accept", "Content-Type", "User-Agent", "Expect"})
      if (!has_field(own)) add_header(std::string(own) + ":");
    if (request_.is_chunked) add_header("Transfer-Encoding: chunked");
  }

  void set_options(const UpstreamLimits& limits, std::size_t open_calls) {
    const auto set = [this](CURLoption option, auto value) {
      curl_easy_setopt(easy(), option, value);
    };
    const Upstream& upstream = *request_.upstream;
    set(CURLOPT_REQUEST_TARGET, request_.target.c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set_connection_options(easy(), upstream, limits);
    set(CURLOPT_HTTP_VERSION,
        static_cast<long>(upstream.is_https ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    forbid_resending();
    set(CURLOPT_HTTPHEADER, headers_.get());
    set_method(open_calls);
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(this));
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    set(CURLOPT_ERRORBUFFER, detail_.data());
    set(CURLOPT_PRIVATE, static_cast<void*>(this));
  }

  void set_method(std::size_t open_calls) {
    const auto set = [this](CURLoption option, auto value) {
      curl_easy_setopt(easy(), option, value);
    };
    if (request_.body) {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDSIZE_LARGE,
          request_.is_chunked ? curl_off_t{-1} : static_cast<curl_off_t>(request_.body->size()));
      set(CURLOPT_UPLOAD_BUFFERSIZE, upload_buffer_bytes(request_.body->size(), open_calls));
      set(CURLOPT_READFUNCTION, &on_send);
      set(CURLOPT_READDATA, static_cast<void*>(this));
    }
    if (request_.method == "HEAD")
      set(CURLOPT_NOBODY, 1L);
    else
      set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }

  // curl sends a request again by itself when a kept connection turns out to be dead. That is right
  // only while nothing of it was sent: the upstream may have read it.
  // What an upstream sent on a kept connection that nobody waited on, such as a 408 before it
  // closes, would be taken for the next answer.
  void forbid_resending() {
#  if LIBCURL_VERSION_NUM >= 0x075000
    curl_easy_setopt(easy(), CURLOPT_PREREQFUNCTION, &on_before_request);
    curl_easy_setopt(easy(), CURLOPT_PREREQDATA, static_cast<void*>(this));
    curl_easy_setopt(easy(), CURLOPT_SOCKOPTFUNCTION, &on_socket);
    curl_easy_setopt(easy(), CURLOPT_SOCKOPTDATA, static_cast<void*>(&sockets_));
    curl_easy_setopt(easy(), CURLOPT_CLOSESOCKETFUNCTION, &on_close);
    curl_easy_setopt(easy(), CURLOPT_CLOSESOCKETDATA, static_cast<void*>(&sockets_));
#  else
    curl_easy_setopt(easy(), CURLOPT_FRESH_CONNECT, 1L);
#  endif
  }

#  if LIBCURL_VERSION_NUM >= 0x075000
  static int on_before_request(void* user, char*, char*, int, int local_port) noexcept {
    UpstreamTransfer& self = *static_cast<UpstreamTransfer*>(user);
    long sent = 0, connections_made = 0;
    curl_easy_getinfo(self.easy(), CURLINFO_REQUEST_SIZE, &sent);
    if (sent > 0 || self.sent_ > 0) return CURL_PREREQFUNC_ABORT;
    curl_easy_getinfo(self.easy(), CURLINFO_NUM_CONNECTS, &connections_made);
    self.has_stray_bytes_ = connections_made == 0 && !self.sockets_.is_silent(local_port);
    return self.has_stray_bytes_ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
  }

  static int on_socket(void* user, curl_socket_t socket, curlsocktype) noexcept {
    try {
      static_cast<UpstreamSockets*>(user)->opened(socket);
      return CURL_SOCKOPT_OK;
    } catch (...) {
      return CURL_SOCKOPT_ERROR;
    }
  }
  static int on_close(void* user, curl_socket_t socket) noexcept {
    return static_cast<UpstreamSockets*>(user)->close(socket);
  }
#  endif

  static std::size_t on_send(char* to, std::size_t size, std::size_t count, void* user) noexcept {
    UpstreamTransfer& self = *static_cast<UpstreamTransfer*>(user);
    if (!self.request_.body) return 0;
    const std::size_t copied = self.request_.body->copy(to, size * count, self.sent_);
    self.sent_ += copied;
    // It is not sent twice, so nobody needs it here any more.
    if (self.sent_ == self.request_.body->size()) self.request_.body = nullptr;
    return copied;
  }

  static std::size_t on_header(char* data, std::size_t size, std::size_t count,
                               void* user) noexcept {
    UpstreamTransfer& self = *static_cast<UpstreamTransfer*>(user);
    try {
      self.moved_ = Clock::now();
      const UpstreamHeadReader::Progress progress = self.head_.read({data, size * count});
      self.is_invalid_ = progress == UpstreamHeadReader::Progress::refused;
      if (progress == UpstreamHeadReader::Progress::done) self.call_->on_head(self.head_.take());
    } catch (...) {
      self.is_invalid_ = true;
    }
    return self.is_invalid_ ? 0 : size * count;
  }

  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) noexcept {
    UpstreamTransfer& self = *static_cast<UpstreamTransfer*>(user);
    try {
      self.moved_ = Clock::now();
      if (self.call_->on_bytes({data, size * count})) return size * count;
      self.is_paused_ = true;
      return CURL_WRITEFUNC_PAUSE;
    } catch (...) {
      return 0;
    }
  }

  UpstreamRequest request_;
  const std::shared_ptr<UpstreamCall> call_;
  UpstreamSockets& sockets_;                          // of all
  std::unique_ptr<curl_slist, FreeHeaders> headers_;  // which the handle borrows
  const std::unique_ptr<CURL, FreeEasy> easy_;
  UpstreamHeadReader head_;
  std::size_t sent_ = 0;  // of the body
  bool is_invalid_ = false;
  bool is_paused_ = false;
  bool has_stray_bytes_ = false;  // the connection
  curl_off_t uploaded_ = 0;
  Clock::time_point moved_ = Clock::now();
  std::array<char, CURL_ERROR_SIZE> detail_ = {};
};

}  // namespace

void set_connection_options(CURL* easy, const Upstream& upstream, const UpstreamLimits& limits) {
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  // The URL is the configuration's alone; what the client asked for is no part of it.
  set(CURLOPT_URL, (upstream.origin + "/").c_str());
#  if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
#  else
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#  endif
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  trust_system_certificates(easy);
  if (!limits.ca_file.empty()) set(CURLOPT_CAINFO, limits.ca_file.c_str());
  // With a proxy, plain HTTP would take another form of target.
  if (!upstream.is_https || upstream.is_loopback) set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_patience.count()));
#  if LIBCURL_VERSION_NUM >= 0x075700
  set(CURLOPT_QUICK_EXIT, 1L);  // cancelling does not wait for a name lookup to end
#  endif
}

UpstreamEnd upstream_end_of(CURLcode code) {
  switch (code) {
    case CURLE_OK: return UpstreamEnd::complete;
    case CURLE_OPERATION_TIMEDOUT: return UpstreamEnd::timed_out;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR: return UpstreamEnd::not_connected;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return UpstreamEnd::untrusted;
    case CURLE_UNSUPPORTED_PROTOCOL:  // no HTTP at all
    case CURLE_WEIRD_SERVER_REPLY: return UpstreamEnd::invalid;
    default: return UpstreamEnd::torn;
  }
}

struct UpstreamClient::Rep {
  explicit Rep(UpstreamLimits given) : limits(std::move(given)) {
    set_up_http_client();
    multi = curl_multi_init();
    if (multi == nullptr) throw std::bad_alloc();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(limits.kept_connections));
    // Calls that share a connection would wait for each other's readers.
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
    thread = std::thread([this] { run(); });
  }
  ~Rep() {
    stop();
    curl_multi_cleanup(multi);
  }

  struct Command {
    enum class What : std::uint8_t { begin, resume, send, cancel } what;
    Number number = 0;
    UpstreamRequest request = {};
    std::shared_ptr<UpstreamCall> call = {};
    std::string bytes = {};
  };

  bool post(Command command) {
    {
      const std::lock_guard lock(mutex);
      if (is_stopping) return false;
      commands.push_back(std::move(command));
    }
    curl_multi_wakeup(multi);
    return true;
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      is_stopping = true;
    }
    curl_multi_wakeup(multi);
    const std::lock_guard lock(joining);
    if (thread.joinable()) thread.join();
  }

  void run() {
    auto looked = Clock::now();
    while (take_commands()) {
      int running = 0;
      curl_multi_perform(multi, &running);
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi, &left))
        if (message->msg == CURLMSG_DONE) finish(message->easy_handle, message->data.result);
      if (const auto now = Clock::now(); now - looked > std::chrono::milliseconds(poll_ms)) {
        looked = now;
        end_silent(now);
      }
      wait();
    }
    while (!transfers.empty())
      drop(transfers.begin()->first, UpstreamEnd::cancelled, "the gateway stops");
    while (!tunnels.empty())
      end_tunnel(tunnels.begin()->first, UpstreamEnd::cancelled, "the gateway stops");
  }

  void wait() {
    std::vector<Number> waiting;
    std::vector<curl_waitfd> sockets;
    for (const auto& [number, tunnel] : tunnels)
      if (tunnel->is_connected()) {
        waiting.push_back(number);
        sockets.push_back(tunnel->waits_for());
      }
    curl_multi_poll(multi, sockets.data(), static_cast<unsigned>(sockets.size()), poll_ms, nullptr);
    for (std::size_t i = 0; i < sockets.size(); ++i)
      if (sockets[i].revents != 0)
        in_tunnel(waiting[i], [](UpstreamTunnel& tunnel) { tunnel.move(); });
  }

  // Lets something happen in a tunnel, and reports its end where that was one.
  template <class Call>
  void in_tunnel(Number number, Call call) {
    const auto at = tunnels.find(number);
    if (at == tunnels.end()) return;
    try {
      call(*at->second);
    } catch (...) {
      return end_tunnel(number, UpstreamEnd::torn, "no memory");
    }
    if (const UpstreamTunnel::End* const end = at->second->ended())
      end_tunnel(number, end->how, std::string(end->detail));
  }

  void end_tunnel(Number number, UpstreamEnd end, const std::string& detail) {
    const std::unique_ptr<UpstreamTunnel> tunnel = std::move(tunnels.at(number));
    tunnels.erase(number);
    numbers.erase(tunnel->easy());
    try {
      tunnel->call().on_end(end, detail);
    } catch (...) {
      // As UpstreamTransfer::report().
    }
    curl_multi_remove_handle(multi, tunnel->easy());
  }

  // false: it is to stop.
  bool take_commands() {
    std::vector<Command> taken;
    bool stops = false;
    {
      const std::lock_guard lock(mutex);
      taken.swap(commands);
      stops = is_stopping;
    }
    for (Command& command : taken) {
      if (command.what == Command::What::begin) begin(std::move(command), stops);
      if (tunnels.contains(command.number)) {
        take_of_tunnel(command);
        continue;
      }
      const auto at = transfers.find(command.number);
      if (at == transfers.end()) continue;
      if (command.what == Command::What::resume) at->second->resume();
      if (command.what == Command::What::cancel)
        drop(command.number, UpstreamEnd::cancelled, "the client has gone");
    }
    return !stops;
  }

  void take_of_tunnel(Command& command) {
    if (command.what == Command::What::cancel)
      end_tunnel(command.number, UpstreamEnd::cancelled, "the client has gone");
    if (command.what == Command::What::resume)
      in_tunnel(command.number, [](UpstreamTunnel& tunnel) { tunnel.resume(); });
    if (command.what == Command::What::send)
      in_tunnel(command.number,
                [&](UpstreamTunnel& tunnel) { tunnel.send(std::move(command.bytes)); });
  }

  void begin_tunnel(Command& command) {
    auto tunnel =
        std::make_unique<UpstreamTunnel>(std::move(command.request), command.call, limits);
    CURL* const easy = tunnel->easy();
    tunnels.emplace(command.number, std::move(tunnel));
    numbers.emplace(easy, command.number);
    if (curl_multi_add_handle(multi, easy) != CURLM_OK)
      end_tunnel(command.number, UpstreamEnd::torn, "no memory");
  }

  void begin(Command command, bool stops) {
    const std::shared_ptr<UpstreamCall> call = command.call;
    try {
      if (stops) return call->on_end(UpstreamEnd::cancelled, "the gateway stops");
      if (command.request.is_upgrade) return begin_tunnel(command);
      auto transfer = std::make_unique<UpstreamTransfer>(std::move(command.request), call, limits,
                                                         sockets, transfers.size());
      CURL* const easy = transfer->easy();
      UpstreamTransfer& kept =
          *transfers.emplace(command.number, std::move(transfer)).first->second;
      numbers.emplace(easy, command.number);
      if (curl_multi_add_handle(multi, easy) != CURLM_OK)
        forget(command.number), kept.report(UpstreamEnd::torn, "no memory");
    } catch (...) {
      forget(command.number);
      call->on_end(UpstreamEnd::torn, "no memory");
    }
  }

  void forget(Number number) {
    const auto at = transfers.find(number);
    if (at == transfers.end()) return;
    numbers.erase(at->second->easy());
    curl_multi_remove_handle(multi, at->second->easy());
    transfers.erase(at);
  }

  void finish(CURL* easy, CURLcode code) {
    const Number number = numbers.at(easy);
    if (tunnels.contains(number))
      return in_tunnel(number, [code](UpstreamTunnel& tunnel) { tunnel.connected(code); });
    UpstreamTransfer& transfer = *transfers.at(number);
    if (transfer.takes_another_connection()) {
      curl_multi_remove_handle(multi, easy);
      if (curl_multi_add_handle(multi, easy) == CURLM_OK) return;
    }
    transfer.end(code);
    forget(number);
  }

  void drop(Number number, UpstreamEnd end, std::string_view detail) {
    transfers.at(number)->report(end, detail);
    forget(number);
  }

  void end_silent(Clock::time_point now) {
    std::vector<Number> silent;
    for (const auto& [number, transfer] : transfers)
      if (transfer->is_silent(now, limits.idle_patience)) silent.push_back(number);
    for (const Number number : silent)
      drop(number, UpstreamEnd::timed_out, "the upstream was silent for too long");
    silent.clear();
    for (const auto& [number, tunnel] : tunnels)
      if (tunnel->is_silent(now, limits.idle_patience)) silent.push_back(number);
    for (const Number number : silent)
      end_tunnel(number, UpstreamEnd::timed_out, "nothing came for too long");
  }

  const UpstreamLimits limits;
  CURLM* multi = nullptr;
  std::atomic<Number> last = 0;
  std::mutex mutex;  // guards the next two
  std::vector<Command> commands;
  bool is_stopping = false;
  std::mutex joining;
  // Of the thread.
  UpstreamSockets sockets;
  std::unordered_map<Number, std::unique_ptr<UpstreamTransfer>> transfers;
  std::unordered_map<Number, std::unique_ptr<UpstreamTunnel>> tunnels;
  std::unordered_map<CURL*, Number> numbers;
  std::thread thread;
};

bool UpstreamClient::available() { return true; }
UpstreamClient::UpstreamClient(UpstreamLimits limits)
    : rep_(std::make_unique<Rep>(std::move(limits))) {}
UpstreamClient::~UpstreamClient() = default;
UpstreamClient::Number UpstreamClient::next_number() { return ++rep_->last; }
void UpstreamClient::begin(Number number, UpstreamRequest request,
                           std::shared_ptr<UpstreamCall> call) {
  if (!rep_->post({Rep::Command::What::begin, number, std::move(request), call}))
    call->on_end(UpstreamEnd::cancelled, "the gateway stops");
}
void UpstreamClient::resume(Number number) { rep_->post({Rep::Command::What::resume, number}); }
void UpstreamClient::send(Number number, std::string bytes) {
  rep_->post({.what = Rep::Command::What::send, .number = number, .bytes = std::move(bytes)});
}
void UpstreamClient::cancel(Number number) { rep_->post({Rep::Command::What::cancel, number}); }
void UpstreamClient::stop() { rep_->stop(); }

}  // namespace undertext

#else

namespace undertext {

struct UpstreamClient::Rep {};
bool UpstreamClient::available() { return false; }
UpstreamClient::UpstreamClient(UpstreamLimits) {}
UpstreamClient::~UpstreamClient() = default;
UpstreamClient::Number UpstreamClient::next_number() { return 0; }
void UpstreamClient::begin(Number, UpstreamRequest, std::shared_ptr<UpstreamCall> call) {
  call->on_end(UpstreamEnd::not_connected, "this build has no libcurl");
}
void UpstreamClient::resume(Number) {}
void UpstreamClient::send(Number, std::string) {}
void UpstreamClient::cancel(Number) {}
void UpstreamClient::stop() {}

}  // namespace undertext

#endif
