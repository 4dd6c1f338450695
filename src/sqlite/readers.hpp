// Connections for reading, kept for the next one.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sqlite/connection.hpp"

namespace undertext {

class Readers {
 public:
  // Of the file that is `expected`.
  Readers(std::string path, Access access, FileIdentity expected, std::shared_ptr<SeenCounter> seen)
      : path_(std::move(path)), access_(access), expected_(expected), seen_(std::move(seen)) {}

  // One for the caller alone; null: none became free before the deadline. Throws SqliteError.
  std::unique_ptr<Connection> take(Deadline deadline);
  // Null: the one that was taken is broken.
  void give_back(std::unique_ptr<Connection> connection) noexcept;
  const std::shared_ptr<SeenCounter>& seen_counter() const { return seen_; }
  // For a child after fork(), which must not close what its parent uses.
  void abandon() noexcept;

 private:
  static constexpr std::size_t connections_max = 8;

  const std::string path_;
  const Access access_;
  const FileIdentity expected_;
  const std::shared_ptr<SeenCounter> seen_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t taken_ = 0;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace undertext
