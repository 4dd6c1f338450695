#include "sqlite/readers.hpp"

namespace undertext {

std::unique_ptr<Connection> Readers::take(Deadline deadline) {
  std::unique_ptr<Connection> connection;
  {
    std::unique_lock lock(mutex_);
    const auto free = [&] { return taken_ < connections_max; };
    if (deadline == Deadline::max()) {
      freed_.wait(lock, free);
    } else if (!freed_.wait_until(lock, deadline, free)) {
      return nullptr;
    }
    idle_.reserve(connections_max);
    ++taken_;
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!connection) {
    try {
      connection = std::make_unique<Connection>(path_, access_, false, seen_);
      connection->require_file(expected_);
    } catch (...) {
      give_back(nullptr);
      throw;
    }
  }
  connection->set_deadline(deadline);
  return connection;
}

void Readers::give_back(std::unique_ptr<Connection> connection) noexcept {
  {
    const std::lock_guard lock(mutex_);
    --taken_;
    if (connection) idle_.push_back(std::move(connection));
  }
  freed_.notify_one();
}

void Readers::abandon() noexcept {
  for (std::unique_ptr<Connection>& connection : idle_) static_cast<void>(connection.release());
  idle_.clear();
}

}  // namespace undertext
