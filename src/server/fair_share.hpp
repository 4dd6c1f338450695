// How tenants share the processor. Threads are not enough: forty requests of one tenant that compute would leave others the forty-first part of it.
//
// A request that has worked for a while is slow. While other tenants have something to do, the slow requests of one tenant together get about half of the
// machine: each pauses in proportion to how many they are. Short requests never pause. Safe for any number of threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace undertext {

class FairShare {
 public:
  using Clock = std::chrono::steady_clock;

  explicit FairShare(std::size_t processors);

  // One request's part in it. Must not outlive the whole.
  class Part {
   public:
    Part(FairShare& whole, std::string tenant);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    // Called often by the request's thread; how long to pause now, 0 mostly.
    std::chrono::microseconds pause(Clock::time_point now);

   private:
    FairShare& whole_;
    const std::string tenant_;
    const Clock::time_point began_;
    Clock::time_point worked_since_;
    bool is_slow_ = false;
  };

 private:
  struct Tenant {
    std::size_t requests = 0, slow = 0;
    Clock::time_point last_seen;
  };
  bool others_are_active(const std::string& tenant, Clock::time_point now) const;  // with lock_ held

  const std::size_t slow_at_once_;
  std::mutex lock_;
  std::map<std::string, Tenant> tenants_;  // guarded by lock_; as many as the operator made
};

}  // namespace undertext
