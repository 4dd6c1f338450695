// Indexes what older releases stored (index_store.hpp), one tenant after another, while the server
// works. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include <undertext/index_store.hpp>
#include <undertext/store.hpp>

namespace undertext {

class BackgroundIndex {
 public:
  struct Options {
    std::function<std::shared_ptr<Store>(const std::string& tenant)> store;  // may throw Failure
    // A tenant's conversations are indexed, or could not be. On the thread that does it.
    std::function<void(const std::string& tenant, const Result<IndexProgress>& done)> on_done = {};
  };
  explicit BackgroundIndex(Options options);
  ~BackgroundIndex();  // as stop()
  BackgroundIndex(const BackgroundIndex&) = delete;
  BackgroundIndex& operator=(const BackgroundIndex&) = delete;

  void add(const std::string& tenant);  // once each: a second time does nothing
  void stop();                          // what was committed by then stays

  struct Counts {
    std::uint64_t messages = 0;  // indexed so far
    std::uint64_t waiting = 0;   // tenants, the one at work included
  };
  Counts counts() const;

 private:
  void run(const std::stop_token& stop);
  void index(const std::string& tenant, const std::stop_token& stop);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> waiting_;  // guarded by mutex_
  std::set<std::string> known_;      // guarded by mutex_
  bool is_working_ = false;          // guarded by mutex_
  std::atomic<std::uint64_t> messages_ = 0;
  std::jthread thread_;
};

}  // namespace undertext
