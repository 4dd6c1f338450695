// Connections that are open and not in use. Each is used by one call at a time; one whose call was
// cut off in the middle never comes back, so that no answer can reach another call.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "postgres/connection.hpp"

namespace undertext::postgres {

class Pool {
 public:
  Pool(ConnectionSettings settings, std::uint32_t connections_max);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // A connection for one call, given back when this ends unless discard() was called.
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Connection* operator->() { return connection_.get(); }
    // The server may be gone, and then every idle connection is: they are dropped too.
    void discard();

   private:
    Pool* pool_;
    std::unique_ptr<Connection> connection_;
    bool good_ = true;
  };

  // unavailable: all are in use until the deadline, or none can be opened, or this is another
  // process than the one that made the pool.
  Result<Lease> take(Deadline deadline);

 private:
  void give_back(std::unique_ptr<Connection> connection, bool good);

  const ConnectionSettings settings_;
  const std::uint32_t connections_max_;
  // After a fork() the connections are the parent's: the child may neither use nor close them.
  const std::int64_t process_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::uint32_t open_ = 0;  // idle and in use
};

}  // namespace undertext::postgres
