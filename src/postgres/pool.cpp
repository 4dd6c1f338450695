#include "postgres/pool.hpp"

#include <algorithm>

#include "system/process.hpp"

namespace undertext::postgres {

Pool::Pool(ConnectionSettings settings, std::uint32_t connections_max)
    : settings_(std::move(settings)),
      connections_max_(std::max(connections_max, 1u)),
      process_(process_id()) {}

Pool::~Pool() {
  if (process_id() == process_) return;
  for (std::unique_ptr<Connection>& connection : idle_) (void)connection.release();
}

Pool::Lease::~Lease() {
  if (connection_) pool_->give_back(std::move(connection_), good_);
}

void Pool::Lease::discard() { good_ = false; }

Result<Pool::Lease> Pool::take(Deadline deadline) {
  if (process_id() != process_)
    return Error{.code = ErrorCode::unavailable,
                 .message = "a store belongs to the process that opened it; open another one here"};
  std::unique_lock lock(mutex_);
  while (idle_.empty() && open_ >= connections_max_)
    if (returned_.wait_until(lock, deadline) == std::cv_status::timeout && idle_.empty() &&
        open_ >= connections_max_)
      return Error{.code = ErrorCode::unavailable,
                   .message = "all connections to PostgreSQL are in use"};
  std::vector<std::unique_ptr<Connection>> stale;  // closed when the lock is not held
  std::unique_ptr<Connection> connection;
  while (!idle_.empty() && !connection) {
    std::unique_ptr<Connection> last = std::move(idle_.back());
    idle_.pop_back();
    if (last->is_stale()) {
      --open_;
      stale.push_back(std::move(last));
    } else {
      connection = std::move(last);
    }
  }
  if (connection) {
    lock.unlock();
    return Lease(*this, std::move(connection));
  }
  ++open_;
  lock.unlock();
  stale.clear();
  Result<std::unique_ptr<Connection>> opened = Connection::open(settings_);
  if (opened) return Lease(*this, std::move(*opened));
  give_back(nullptr, false);
  return opened.error();
}

void Pool::give_back(std::unique_ptr<Connection> connection, bool good) {
  std::vector<std::unique_ptr<Connection>> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (good) {
      idle_.push_back(std::move(connection));
    } else {
      if (connection) dropped.swap(idle_);
      open_ -= 1 + static_cast<std::uint32_t>(dropped.size());
      dropped.push_back(std::move(connection));
    }
  }
  returned_.notify_all();
}

}  // namespace undertext::postgres
