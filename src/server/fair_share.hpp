// How tenants share the processors. Threads are not enough: forty requests of one tenant that
// compute would leave others the forty-first part of them, and so would thousands of short ones.
//
// While other tenants are active, the requests of one tenant together get half of the processors,
// and pause in between. What counts is how long their threads ran or waited for a processor: where
// others take these, a share is smaller. What a tenant did not use lasts for a burst of 50 ms, so
// that requests now and then never pause.
// Safe for any number of threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace undertext {

class FairShare {
 public:
  using Clock = std::chrono::steady_clock;
  // How long the calling thread has run, or waited to.
  using Used = std::function<Clock::duration()>;
  static Clock::duration used_by_thread();

  explicit FairShare(std::size_t processors);

  // One request's part in it. Must not outlive the whole.
  class Part {
   public:
    Part(FairShare& whole, std::string tenant, Used used = used_by_thread);
    ~Part();  // by the request's own thread, also charges what it used since the last pause()
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    // Called often by the request's thread; how long to pause now, 0 mostly.
    std::chrono::microseconds pause(Clock::time_point now);

   private:
    Clock::duration take_used();

    FairShare& whole_;
    const std::string tenant_;
    const Used used_;
    const std::thread::id thread_ = std::this_thread::get_id();
    // of what used_ returns; unset: nothing, while the tenant is the only one
    std::optional<Clock::duration> charged_;
    Clock::time_point looked_at_ = {};  // when it last paused, or might have
  };

 private:
  struct Tenant {
    std::size_t requests = 0;
    Clock::time_point last_seen = {};
    // when its share will have paid for what its requests have used
    Clock::time_point paid_until = {};
  };
  void charge(Tenant& tenant, Clock::duration used, Clock::time_point now) const;
  // with lock_ held
  bool others_are_active(const std::string& tenant, Clock::time_point now) const;

  const std::size_t processors_each_;
  std::mutex lock_;
  std::map<std::string, Tenant> tenants_;  // guarded by lock_; as many as the operator made
};

}  // namespace undertext
