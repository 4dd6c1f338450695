#include <algorithm>
#include <system_error>
#include <thread>

#include "http/connection.hpp"

namespace undertext::http {
namespace {

// Whoever is one too many. Plain connections are told; what the client has sent by then may cost it
// the answer.
constexpr std::string_view too_many =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: "
    "close\r\n\r\n";

std::chrono::milliseconds tick_of(const Limits& limits) {
  const auto shortest = std::min({limits.head_patience, limits.idle_patience, limits.body_grace});
  return std::clamp(shortest / 8, std::chrono::milliseconds(5), std::chrono::milliseconds(500));
}

}  // namespace

bool Shared::enter(const std::string& peer) {
  const std::lock_guard lock(mutex_);
  if (connections_ >= limits.connections_max) return false;
  std::uint32_t& of_peer = peers_[peer];
  if (of_peer >= limits.connections_per_peer_max) {
    if (of_peer == 0) peers_.erase(peer);
    return false;
  }
  ++of_peer;
  ++connections_;
  ++connections_total;
  return true;
}

void Shared::leave(const std::string& peer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = peers_.find(peer);
  if (--at->second == 0) peers_.erase(at);
  if (--connections_ == 0) emptied_.notify_all();
}

std::uint64_t Shared::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void Shared::wait_until_empty(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  emptied_.wait_for(lock, patience, [&] { return connections_ == 0; });
}

std::optional<Seat> Seat::take(std::shared_ptr<Shared> shared, std::string peer) {
  if (!shared->enter(peer)) return std::nullopt;
  return Seat(std::move(shared), std::move(peer));
}

void Lane::add(const std::shared_ptr<Connection>& connection) {
  connections.push_back(connection);
  connection->place_in_lane = connections.size() - 1;
  ++open;
}

void Lane::remove(Connection& connection) {
  if (!connection.place_in_lane) return;
  const std::size_t place = *std::exchange(connection.place_in_lane, std::nullopt);
  std::swap(connections[place], connections.back());
  if (place + 1 < connections.size()) connections[place]->place_in_lane = place;
  connections.pop_back();
  --open;
}

struct Server::Rep {
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::vector<std::shared_ptr<Lane>> lanes;
  std::shared_ptr<Acceptor> acceptor;
  std::string address;
  std::vector<std::thread> threads;
  std::mutex stopping;
  bool has_stopped = false;

  void start();
  void take(const std::shared_ptr<Loop>& loop, std::unique_ptr<Wire> wire, std::string peer);
  void stop();
  // In every lane, on its thread, for every connection that is open. From the last to the first: a
  // call may take its connection out of the lane.
  template <class Call>
  void for_each(Call call) {
    for (const std::shared_ptr<Lane>& lane : lanes)
      lane->loop->post([lane, call] { for_each(*lane, call); });
  }
  template <class Call>
  static void for_each(Lane& lane, Call call) {
    for (std::size_t i = lane.connections.size(); i-- > 0;)
      call(*std::shared_ptr<Connection>(lane.connections[i]));
  }
};

void Server::Rep::start() {
  for (const std::shared_ptr<Lane>& lane : lanes) {
    lane->loop->every(tick_of(shared->limits), [this, raw = lane.get()] {
      const Time now = std::chrono::steady_clock::now();
      for_each(*raw, [now](Connection& connection) { connection.check_deadline(now); });
      if (raw == lanes[0].get()) acceptor->go_on();
    });
  }
  const auto least = [this] {
    const auto at = std::min_element(
        lanes.begin(), lanes.end(), [](const auto& a, const auto& b) { return a->open < b->open; });
    return (*at)->loop;
  };
  acceptor->start(least,
                  [this](std::shared_ptr<Loop> loop, std::unique_ptr<Wire> wire, std::string peer) {
                    take(loop, std::move(wire), std::move(peer));
                  });
  for (const std::shared_ptr<Lane>& lane : lanes)
    threads.emplace_back([lane] { lane->loop->run(); });
}

void Server::Rep::take(const std::shared_ptr<Loop>& loop, std::unique_ptr<Wire> wire,
                       std::string peer) {
  std::optional<Seat> seat = Seat::take(shared, std::move(peer));
  if (!seat) {
    ++shared->connections_refused;
    return wire->turn_away(too_many);
  }
  const auto lane =
      *std::find_if(lanes.begin(), lanes.end(), [&](const auto& l) { return l->loop == loop; });
  auto connection = std::make_shared<Connection>(shared, lane, std::move(wire), std::move(*seat));
  loop->post([connection = std::move(connection)] { connection->start(); });
}

void Server::Rep::stop() {
  const std::lock_guard lock(stopping);
  if (std::exchange(has_stopped, true)) return;
  shared->is_stopping = true;
  lanes[0]->loop->post([closing = acceptor] { closing->close(); });
  for_each([](Connection& connection) { connection.stop_soon(); });
  shared->wait_until_empty(shared->limits.stop_patience);
  for_each([](Connection& connection) { connection.abort(); });
  for (const std::shared_ptr<Lane>& lane : lanes) lane->loop->finish();
  for (std::thread& thread : threads) thread.join();
  shared->calls = {};
}

Result<Server> Server::listen(Listening listening, Calls calls) {
  auto rep = std::make_shared<Rep>();
  rep->shared->limits = listening.limits;
  rep->shared->calls = std::move(calls);
  rep->shared->is_secure = listening.tls.has_value();
  for (std::uint32_t i = 0; i < std::max(listening.threads, 1u); ++i)
    rep->lanes.push_back(std::make_shared<Lane>());
  Result<std::shared_ptr<Acceptor>> acceptor = Acceptor::open(rep->lanes[0]->loop, listening);
  if (!acceptor) return acceptor.error();
  rep->acceptor = std::move(*acceptor);
  rep->address = rep->acceptor->address();
  try {
    rep->start();
  } catch (const std::system_error& error) {
    rep->stop();
    return Error{.code = ErrorCode::unavailable,
                 .message = std::string("no threads to serve with: ") + error.what()};
  }
  return Server(std::move(rep));
}

std::string Server::address() const { return rep_->address; }

Counts Server::counts() const {
  const Shared& shared = *rep_->shared;
  Counts counts{.connections = shared.connections(),
                .connections_total = shared.connections_total,
                .connections_refused = shared.connections_refused,
                .refused = shared.refused,
                .malformed = shared.malformed,
                .timed_out = shared.timed_out};
  for (const std::shared_ptr<Lane>& lane : rep_->lanes) {
    counts.bytes_in += lane->bytes_in;
    counts.bytes_out += lane->bytes_out;
  }
  return counts;
}

void Server::stop() { rep_->stop(); }

Server::Server(std::shared_ptr<Rep> rep) : rep_(std::move(rep)) {}
Server::Server(Server&&) noexcept = default;

Server& Server::operator=(Server&& other) noexcept {
  Server old(std::move(*this));
  rep_ = std::move(other.rep_);
  return *this;
}

Server::~Server() {
  if (rep_) rep_->stop();
}

}  // namespace undertext::http
