#include "http/wire.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "system/sockets.hpp"

namespace undertext::http {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using SecureSocket = asio::ssl::stream<Socket>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Loop::Rep {
  asio::io_context context{1};  // one thread runs it
  asio::executor_work_guard<Executor> work{context.get_executor()};
  Timer timer{context};
  std::chrono::milliseconds interval{};
  std::function<void()> tick;
  bool is_waiting = false;
  std::atomic<std::thread::id> thread{};

  std::mutex mutex;
  std::vector<std::function<void()>> tasks;
  bool has_ended = false;

  void run_tasks();
  void wait_for_tick();
  void run();
};

namespace {

// An exception that reaches a loop has left no more than one handler undone; whoever it belonged to
// has closed its connection.
template <class Call>
void swallow(Call&& call) {
  try {
    call();
  } catch (...) {
  }
}

}  // namespace

void Loop::Rep::run_tasks() {
  std::vector<std::function<void()>> taken;
  {
    const std::lock_guard lock(mutex);
    taken.swap(tasks);
  }
  for (std::function<void()>& task : taken) swallow(task);
}

void Loop::Rep::wait_for_tick() {
  timer.expires_after(interval);
  timer.async_wait([this](error_code error) {
    is_waiting = false;
    if (error || !tick) return;
    swallow(tick);
    wait_for_tick();
  });
  is_waiting = true;
}

void Loop::Rep::run() {
  for (bool running = true; running;) {
    swallow([&] {
      if (tick && !is_waiting) wait_for_tick();  // memory had run out
      context.run();
      running = false;
    });
  }
}

Loop::Loop(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Loop::~Loop() = default;

std::shared_ptr<Loop> Loop::make() {
  return std::shared_ptr<Loop>(new Loop(std::make_unique<Rep>()));
}

bool Loop::is_current() const {
  return rep_->thread.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

bool Loop::post(std::function<void()> task) {
  const std::lock_guard lock(rep_->mutex);
  if (rep_->has_ended) return false;
  if (rep_->tasks.empty()) {
    asio::post(rep_->context, [rep = rep_.get()] { rep->run_tasks(); });
    // Woken for a task that the next line then fails to add, the loop finds nothing, which does no
    // harm.
  }
  rep_->tasks.push_back(std::move(task));
  return true;
}

void Loop::every(std::chrono::milliseconds interval, std::function<void()> tick) {
  rep_->interval = interval;
  rep_->tick = std::move(tick);
}

void Loop::run() {
  rep_->thread = std::this_thread::get_id();
  rep_->run();
  {
    // From here on post() refuses, so nothing can be left in the queue that would keep this loop
    // alive through its own tasks.
    const std::lock_guard lock(rep_->mutex);
    rep_->has_ended = true;
  }
  rep_->context.restart();
  rep_->run();
  rep_->thread = std::thread::id();
}

void Loop::finish() {
  post([rep = rep_.get()] {
    rep->tick = nullptr;
    rep->timer.cancel();
    rep->work.reset();
  });
}

namespace {

// The library's errors as the two things a connection wants to know: how far, and whether it goes
// on.
struct OnRead {
  std::shared_ptr<WireUser> user;
  void operator()(error_code error, std::size_t bytes) {
    const bool at_end = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
    user->on_read(at_end ? 0 : bytes, error && !at_end);
  }
};

struct OnWritten {
  std::shared_ptr<WireUser> user;
  void operator()(error_code error, std::size_t bytes) { user->on_written(bytes, bool(error)); }
};

template <class Stream>
class StreamWire final : public Wire {
 public:
  template <class... Arguments>
  explicit StreamWire(Arguments&&... arguments) : stream_(std::forward<Arguments>(arguments)...) {
    error_code ignored;
    socket().set_option(tcp::no_delay(true), ignored);
    // whether a client reads is seen while it does
    limit_unsent(socket().native_handle(), 64 << 10);
  }

  void open(std::shared_ptr<WireUser> user) override {
    if constexpr (is_secure)
      stream_.async_handshake(SecureSocket::server, [user = std::move(user)](error_code error) {
        user->on_open(bool(error));
      });
    else
      user->on_open(false);
  }
  void read(std::shared_ptr<WireUser> user, char* to, std::size_t bytes_max) override {
    stream_.async_read_some(asio::buffer(to, bytes_max), OnRead{std::move(user)});
  }
  void write(std::shared_ptr<WireUser> user, std::string_view first,
             std::string_view second) override {
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(first.data(), first.size()),
                                                    asio::buffer(second.data(), second.size())};
    stream_.async_write_some(buffers, OnWritten{std::move(user)});
  }
  std::uint64_t untaken_bytes() override { return unsent_bytes(socket().native_handle()); }
  void end_writing([[maybe_unused]] std::shared_ptr<WireUser> user) override {
    if constexpr (is_secure) {
      stream_.async_shutdown([user = std::move(user)](error_code) {});
    } else {
      error_code ignored;
      socket().shutdown(tcp::socket::shutdown_send, ignored);
    }
  }
  void turn_away([[maybe_unused]] std::string_view bytes) override {
    error_code ignored;
    if constexpr (!is_secure) {
      socket().non_blocking(true, ignored);
      if (!ignored) socket().send(asio::buffer(bytes.data(), bytes.size()), 0, ignored);
      socket().shutdown(tcp::socket::shutdown_send, ignored);
    }
    socket().close(ignored);
  }
  void close() override {
    error_code ignored;
    socket().close(ignored);
  }
  void reset() override {
    error_code ignored;
    socket().set_option(asio::socket_base::linger(true, 0), ignored);
    close();
  }

 private:
  static constexpr bool is_secure = std::is_same_v<Stream, SecureSocket>;
  Socket& socket() {
    if constexpr (is_secure)
      return stream_.next_layer();
    else
      return stream_;
  }
  Stream stream_;
};

Error fault(ErrorCode code, std::string message, std::string field) {
  return Error{.code = code, .message = std::move(message), .field = std::move(field)};
}

// TLS 1.2 with forward secrecy and authenticated ciphers, or 1.3.
Result<std::unique_ptr<asio::ssl::context>> make_tls(const Tls& tls) {
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                                    SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(context->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  // Buffers of an idle connection would be 34 kB.
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  error_code error;
  context->use_certificate_chain_file(tls.certificate_file, error);
  if (error)
    return fault(ErrorCode::invalid_argument,
                 "no certificate in " + tls.certificate_file + ": " + error.message(),
                 "certificate");
  context->use_private_key_file(tls.key_file, asio::ssl::context::pem, error);
  if (error)
    return fault(ErrorCode::invalid_argument,
                 "no key for the certificate in " + tls.key_file + ": " + error.message(), "key");
  return context;
}

std::string peer_name(const tcp::endpoint& endpoint) {
  const asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  return address.to_string();
}

class TcpAcceptor final : public Acceptor, public std::enable_shared_from_this<TcpAcceptor> {
 public:
  explicit TcpAcceptor(std::shared_ptr<Loop> loop)
      : loop_(std::move(loop)), acceptor_(loop_->rep().context) {}

  Result<bool> listen(const Listening& listening) {
    if (listening.tls) {
      Result<std::unique_ptr<asio::ssl::context>> tls = make_tls(*listening.tls);
      if (!tls) return tls.error();
      tls_ = std::move(*tls);
    }
    error_code error;
    const asio::ip::address address = asio::ip::make_address(listening.address, error);
    if (error)
      return fault(ErrorCode::invalid_argument, listening.address + " is not an IP address",
                   "address");
    const tcp::endpoint endpoint(address, listening.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) return true;
    const bool is_taken = error == asio::error::address_in_use;
    return fault(is_taken ? ErrorCode::unavailable : ErrorCode::invalid_argument,
                 "cannot listen on " + listening.address + ":" + std::to_string(listening.port) +
                     ": " + error.message(),
                 "address");
  }

  std::string address() const override {
    error_code ignored;
    const tcp::endpoint endpoint = acceptor_.local_endpoint(ignored);
    const std::string host = endpoint.address().is_v6() ? "[" + endpoint.address().to_string() + "]"
                                                        : endpoint.address().to_string();
    return (tls_ ? "https://" : "http://") + host + ":" + std::to_string(endpoint.port());
  }

  void start(Pick pick, Take take) override {
    pick_ = std::move(pick);
    take_ = std::move(take);
    go_on();
  }

  void go_on() override {
    if (is_accepting_ || !acceptor_.is_open()) return;
    std::shared_ptr<Loop> loop = pick_();
    asio::io_context& context = loop->rep().context;
    acceptor_.async_accept(
        context, [self = shared_from_this(), loop](error_code error, Socket socket) mutable {
          self->is_accepting_ = false;
          if (!error) swallow([&] { self->take(std::move(loop), std::move(socket)); });
          if (!error || error == asio::error::connection_aborted) self->go_on();
        });
    is_accepting_ = true;
  }

  void close() override {
    error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  void take(std::shared_ptr<Loop> loop, Socket socket) {
    error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;
    std::unique_ptr<Wire> wire;
    if (tls_)
      wire = std::make_unique<StreamWire<SecureSocket>>(std::move(socket), *tls_);
    else
      wire = std::make_unique<StreamWire<Socket>>(std::move(socket));
    take_(std::move(loop), std::move(wire), peer_name(peer));
  }

  std::shared_ptr<Loop> loop_;
  asio::basic_socket_acceptor<tcp, Executor> acceptor_;
  bool is_accepting_ = false;
  std::unique_ptr<asio::ssl::context> tls_;
  Pick pick_;
  Take take_;
};

}  // namespace

Result<std::shared_ptr<Acceptor>> Acceptor::open(std::shared_ptr<Loop> loop,
                                                 const Listening& listening) {
  auto acceptor = std::make_shared<TcpAcceptor>(std::move(loop));
  const Result<bool> listens = acceptor->listen(listening);
  if (!listens) return listens.error();
  return std::shared_ptr<Acceptor>(std::move(acceptor));
}

}  // namespace undertext::http
