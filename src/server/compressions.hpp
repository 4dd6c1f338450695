// COMPRESS by a strategy in the background, for strategies that take long. Ended ones can be asked
// for until there are too many of them. Safe for any number of threads.
//
// No deadline ends one, and no client that has gone: it may wait for a model for as long as that
// takes. cancel() and stop() do, between two messages.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>
#include <undertext/work.hpp>

#include "json/request.hpp"
#include "server/tenant_counts.hpp"

namespace undertext {

class Compressions {
 public:
  struct Options {
    std::size_t per_tenant = 4;  // under way
    std::size_t kept = 64;       // ended, of each tenant
    // of messages that one makes, as of a request: too_large beyond that
    std::uint64_t bytes_made_max = std::numeric_limits<std::uint64_t>::max();
    // Called when one begins, when it comes to another stage, at most once a second while a summary
    // grows, and when it ends, with what GET answers of it; not from the caller's thread.
    std::function<void(const std::string& tenant, const std::string& id,
                       const std::string& job_json)>
        tell = {};
    // for the log; not from the caller's thread
    std::function<void(const std::string& job, const Error& error)> failed = {};
  };
  struct Order {
    std::string tenant;
    std::shared_ptr<Conversation> conversation;
    std::string line;      // the operation, as a line of the protocol
    std::string strategy;  // as JSON
    // one that has it, of the same conversation, and did not fail, is answered instead of another
    // one
    std::string key = {};
  };

  explicit Compressions(Options options)
      : options_(std::move(options)), running_by_tenant_(options_.per_tenant) {}
  ~Compressions() { stop(); }
  Compressions(const Compressions&) = delete;
  Compressions& operator=(const Compressions&) = delete;

  struct Started {
    std::string job;
    std::string json;
  };
  // unavailable: too many are under way, or stop() was called. conflict: the key is that of another
  // order.
  Result<Started> start(Order order);

  // Of a conversation that was taken out: cancels them, and knows them no longer.
  void forget(const std::string& tenant, const std::string& id);

  // As JSON: {"job":…,"state":"running",…}. Nothing: no such job of that conversation.
  std::optional<std::string> find(const std::string& tenant, const std::string& id,
                                  const std::string& job) const;
  std::optional<std::string> cancel(const std::string& tenant, const std::string& id,
                                    const std::string& job);

  std::size_t count() const { return running_by_tenant_.total(); }  // under way

  void stop();  // cancels all, and waits until they have ended

 private:
  struct Job {
    std::string name, tenant, id, strategy, key;
    Digest line = {};  // what was ordered
    std::int64_t started_at_ms = 0, ended_at_ms = 0;
    std::uint64_t version = 0, messages = 0, tokens = 0;  // of the view when it began
    std::string state = "running";
    CompressionProgress progress = {};
    std::chrono::steady_clock::time_point told_at = {};
    LineAnswer answer = {};  // once it has ended
    std::stop_source cancel = {};
    std::optional<TenantCounts::Slot> slot = {};  // while it runs
  };

  static std::string json_of(const Job& job);
  std::shared_ptr<Job> job_of(const std::string& tenant, const std::string& id,
                              const std::string& name) const;               // with the lock held
  Result<std::optional<Started>> started_before(const Order& order) const;  // with the lock held
  // `last_resort`: the answer, where there is no memory for any other.
  void run(const std::shared_ptr<Job>& job, Order order, LineAnswer last_resort);
  std::shared_ptr<Work> work_of(std::stop_token cancelled) const;
  void advance(Job& job, const CompressionProgress& progress);
  void end(Job& job, LineAnswer answer);
  void tell(const Job& job) const noexcept;

  const Options options_;
  mutable std::mutex lock_;
  std::condition_variable one_ended_;
  std::list<std::shared_ptr<Job>> jobs_;  // the newest first
  TenantCounts running_by_tenant_;
  std::size_t running_ = 0;
  bool stopping_ = false;
};

}  // namespace undertext
