// One connection to a server, and batches of statements that go down it in one round trip.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <libpq-fe.h>

#include <undertext/error.hpp>
#include <undertext/store.hpp>

#include "postgres/sql.hpp"

namespace undertext::postgres {

using Deadline = std::chrono::steady_clock::time_point;

// A parameter. Texts and bytes but own_bytes() are borrowed, and must outlive the batch.
struct Value {
  unsigned type = 0;
  bool is_null = false;
  bool is_binary = false;
  std::string_view borrowed = {};
  std::string own = {};

  std::string_view data() const {
    return borrowed.data() != nullptr ? borrowed : std::string_view(own);
  }
};

Value number(std::uint64_t value);
Value number(std::int64_t value);
Value text(std::string_view value);
Value bytes(std::string_view value);
Value own_bytes(std::string value);
Value digest(const Digest& value);
Value numbers(std::span<const std::uint64_t> values);
Value null_number();
Value null_text();
Value null_bytes();

class Batch {
 public:
  struct Entry {
    const Statement* statement;
    std::vector<Value> values;
    std::optional<Error> when_false;
  };

  // Returns its place, by which its rows are found in the answers.
  std::size_t add(const Statement& statement, std::vector<Value> values = {}) {
    entries_.push_back({&statement, std::move(values), std::nullopt});
    return entries_.size() - 1;
  }
  // A statement that divides by zero where something does not hold, and what the caller is told
  // then.
  void require(const Statement& statement, std::vector<Value> values, ErrorCode code,
               std::string message) {
    entries_.push_back(
        {&statement, std::move(values), Error{.code = code, .message = std::move(message)}});
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// What one statement answered.
class Rows {
 public:
  explicit Rows(PGresult* result) : result_(result) {}
  std::size_t size() const { return static_cast<std::size_t>(PQntuples(result_.get())); }
  bool is_null(std::size_t row, int column) const {
    return PQgetisnull(result_.get(), static_cast<int>(row), column) == 1;
  }
  std::int64_t number(std::size_t row, int column) const;
  std::string bytes(std::size_t row, int column) const;
  // As a parameter that borrows the bytes of these rows.
  Value value(std::size_t row, int column) const;
  int columns() const { return PQnfields(result_.get()); }
  // Nothing, where it is no digest.
  std::optional<Digest> digest(std::size_t row, int column) const;
  std::string_view command() const { return PQcmdStatus(result_.get()); }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

struct Fault {
  // the server said no, and nothing of the batch happened; else nobody knows
  bool is_refusal = false;
  std::size_t at = 0;      // which statement
  std::string state = {};  // SQLSTATE; empty where the server said nothing
  std::string constraint = {};
  std::string message = {};
};

struct Answers {
  std::vector<Rows> rows = {};  // up to the fault
  std::optional<Fault> fault = {};
  std::string warning = {};  // the first one
};

struct ConnectionSettings {
  std::vector<std::pair<std::string, std::string>> parameters;  // libpq's
  bool prepare = true;                                          // by name, once a connection
};

class Connection {
 public:
  // unavailable, with the server's words.
  static Result<std::unique_ptr<Connection>> open(const ConnectionSettings& settings);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // A batch that begins a transaction must end it: where it was refused in the middle, reset()
  // before the next one.
  Answers run(const Batch& batch, Deadline deadline);
  // Whether the connection may be used again.
  bool reset(Deadline deadline);
  // Whether the server has gone or has said something that nobody asked for, as far as is known
  // here without asking it.
  bool is_stale() const;
  // Its name, quoted as an identifier.
  std::string database() const;
  int server_version() const { return PQserverVersion(connection_); }

 private:
  Connection(PGconn* connection, bool prepare);
  bool send(const Batch& batch);
  bool wait(Deadline deadline);
  Fault lost(std::size_t at) const;
  static void on_notice(void* self, const PGresult* notice);

  PGconn* connection_;
  const bool prepare_;
  std::string warning_;              // the first one since the batch was sent
  std::set<std::string> prepared_;   // names the server has answered
  std::vector<bool> sent_prepares_;  // of this batch: whether a PREPARE goes before each statement
};

}  // namespace undertext::postgres
