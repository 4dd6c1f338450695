// Transactions on a pool of connections, tried again for as long as that is safe and there is time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "postgres/pool.hpp"

namespace undertext::postgres {

// A transaction's statements.
class Transaction {
 public:
  enum class Kind { reading, writing };
  // Without a tenant it sees no rows of any.
  Transaction(Kind kind, const Statement* set_tenant, Deadline deadline);

  Batch& batch() { return batch_; }
  const Batch& ended();  // with its COMMIT
  Deadline deadline() const { return deadline_; }

 private:
  Batch batch_;
  Deadline deadline_;
  bool ended_ = false;
};

struct Outcome {
  std::vector<Rows> rows = {};      // by place in the batch
  std::optional<Error> error = {};  // what became of the last try
  bool was_lost = false;            // a try was cut off, and may have happened all the same
};

class Session {
 public:
  Session(ConnectionSettings settings, std::uint32_t connections_max)
      : pool_(std::move(settings), connections_max) {}

  // Runs it until it is done, or surely refused for a reason that lasts, or the time is up. What is
  // refused because of another transaction (a serialisation failure, a deadlock) surely did not
  // happen and is tried again. What was cut off is tried again too: a caller whose transaction must
  // not happen twice writes it so that the second time is refused, and looks at `was_lost`.
  Outcome run(Transaction& transaction);
  // One statement outside of any transaction, tried once. unsupported: the server warned, as it
  // does where it leaves out what the role may not touch.
  std::optional<Error> run_alone(const Statement& statement, Deadline deadline);

  Pool& pool() { return pool_; }

 private:
  Pool pool_;
};

}  // namespace undertext::postgres
