// Bytes that requests have in memory, as bodies and as answers that nobody has read yet: how many
// there may be at once, in all, and of each of those who share them; and how few each may always
// have, so that nobody is kept out by those who hold all there is. Safe for any number of threads.
//
//     auto budget = std::make_shared<Budget>(512 << 20, 256 << 20, 2 << 20);
//     Budget::Share share(budget, "acme");
//     if (!share.resize(content_length)) …     // there is no room now
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace undertext::http {

class Budget {
 public:
  Budget(std::uint64_t bytes_max, std::uint64_t bytes_max_each, std::uint64_t bytes_always_each = 0)
      : bytes_max_(bytes_max),
        bytes_max_each_(bytes_max_each),
        bytes_always_each_(bytes_always_each) {}

  // What one request has of it, given back when it goes. One thread at a time may use it.
  class Share {
   public:
    Share() = default;  // of no budget: there is always room
    Share(std::shared_ptr<Budget> budget, std::string owner)
        : budget_(std::move(budget)), owner_(std::move(owner)) {}
    Share(Share&& other) noexcept;
    Share& operator=(Share&& other) noexcept;
    ~Share() { release(); }

    // So many instead of what it has. false: there is no room for them, and it has what it had.
    bool resize(std::uint64_t bytes);
    // The same of what is in memory already, whether there is room or not: those who come later
    // have less.
    void count(std::uint64_t bytes);
    void release() noexcept;
    std::uint64_t bytes() const { return bytes_; }

   private:
    std::shared_ptr<Budget> budget_;
    std::string owner_;
    std::uint64_t bytes_ = 0;
  };

  std::uint64_t bytes_max_each() const { return bytes_max_each_; }
  struct Counts {
    std::uint64_t bytes = 0;    // held now
    std::uint64_t refused = 0;  // how often there was no room
  };
  Counts counts() const;

 private:
  enum class Room : std::uint8_t { asked_for, not_asked_for };
  bool change(const std::string& owner, std::uint64_t from, std::uint64_t to, Room room);

  const std::uint64_t bytes_max_, bytes_max_each_, bytes_always_each_;
  mutable std::mutex lock_;
  std::map<std::string, std::uint64_t> owners_;  // those who hold some
  Counts counts_;
};

}  // namespace undertext::http
