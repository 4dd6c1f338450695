// The two handles by which other threads reach a connection.
#include <atomic>

#include "http/connection.hpp"

namespace undertext::http {
namespace {

class ConnectionStream final : public Stream {
 public:
  ConnectionStream(std::shared_ptr<Connection> connection, std::shared_ptr<StreamState> state)
      : connection_(std::move(connection)), state_(std::move(state)) {}
  ~ConnectionStream() override { finish(true); }

  bool write(std::string bytes, const std::function<bool()>& goes_on) override {
    // The loop's own thread must not wait for itself.
    return add(std::move(bytes),
               connection_->is_on_loop() ? StreamState::Wait::no : StreamState::Wait::yes, goes_on);
  }
  bool offer(std::string bytes) override {
    return add(std::move(bytes), StreamState::Wait::no, {});
  }
  void end() override { finish(false); }
  bool is_open() const override { return state_->is_open(); }

 private:
  bool add(std::string bytes, StreamState::Wait wait, const std::function<bool()>& goes_on) {
    if (bytes.empty()) return state_->is_open();
    const StreamState::Added added = state_->add(std::move(bytes), wait, goes_on);
    if ((added == StreamState::Added::first || added == StreamState::Added::overflow) &&
        !connection_->attend_stream())
      state_->close();
    return added == StreamState::Added::yes ||
           (added == StreamState::Added::first && state_->is_open());
  }
  void finish(bool cut) {
    if (state_->finish(cut) && !connection_->attend_stream()) state_->close();
  }

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<StreamState> state_;
};

// Of a tunnel, the half towards the client is a relay.
class ConnectionRelay final : public Tunnel {
 public:
  ConnectionRelay(std::shared_ptr<Connection> connection, std::shared_ptr<StreamState> state)
      : connection_(std::move(connection)), state_(std::move(state)) {}
  ~ConnectionRelay() override { finish(true); }

  bool has_room() override { return state_->has_room(); }
  void write(std::string_view bytes) override {
    if (!bytes.empty() && state_->add_anyway(bytes) == StreamState::Added::first &&
        !connection_->attend_stream())
      state_->close();
  }
  void end() override { finish(false); }
  void tear() override { finish(true); }
  void read_on() override { connection_->read_on(); }

 private:
  void finish(bool cut) {
    if (state_->finish(cut) && !connection_->attend_stream()) state_->close();
  }

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<StreamState> state_;
};

class ConnectionExchange final : public Exchange {
 public:
  explicit ConnectionExchange(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  ~ConnectionExchange() override {
    if (!is_answered_.exchange(true)) connection_->answer_nothing();
  }

  void answer(Reply reply) override {
    if (!is_answered_.exchange(true)) connection_->answer(std::move(reply));
  }
  std::shared_ptr<Stream> stream(unsigned status, std::string content_type,
                                 std::vector<Field> fields) override {
    auto state = std::make_shared<StreamState>(connection_->unsent_bytes_max());
    auto stream = std::make_shared<ConnectionStream>(connection_, state);
    if (is_answered_.exchange(true))
      state->close();
    else
      connection_->begin_stream(status, std::move(content_type), std::move(fields),
                                std::move(state));
    return stream;
  }
  std::shared_ptr<Relay> relay(RelayedHead head, std::uint64_t unsent_max,
                               std::function<void()> on_drained) override {
    auto state = std::make_shared<StreamState>(unsent_max, std::move(on_drained));
    auto relay = std::make_shared<ConnectionRelay>(connection_, state);
    if (is_answered_.exchange(true))
      state->close();
    else
      connection_->begin_relay(std::move(head), std::move(state));
    return relay;
  }
  std::shared_ptr<Tunnel> tunnel(RelayedHead head, std::uint64_t unsent_max,
                                 std::function<void()> on_drained,
                                 std::function<void(std::string)> on_bytes) override {
    auto state = std::make_shared<StreamState>(unsent_max, std::move(on_drained));
    auto tunnel = std::make_shared<ConnectionRelay>(connection_, state);
    if (is_answered_.exchange(true))
      state->close();
    else
      connection_->begin_tunnel(std::move(head), std::move(state), std::move(on_bytes));
    return tunnel;
  }
  void on_gone(std::function<void()> call) override { connection_->watch(std::move(call)); }
  bool is_open() const override { return connection_->is_open(); }
  bool reserve(std::uint64_t bytes) override { return is_answered_ || connection_->reserve(bytes); }

 private:
  const std::shared_ptr<Connection> connection_;
  std::atomic<bool> is_answered_ = false;
};

}  // namespace

std::unique_ptr<Exchange> make_exchange(std::shared_ptr<Connection> connection) {
  return std::make_unique<ConnectionExchange>(std::move(connection));
}

}  // namespace undertext::http
