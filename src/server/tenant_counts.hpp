// How many of something each tenant has at the moment, up to a limit: nobody takes what belongs to all. Safe for any number of threads.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <numeric>
#include <string>

namespace undertext {

class TenantCounts {
 public:
  explicit TenantCounts(std::size_t per_tenant) : per_tenant_(per_tenant) {}

  // false: the tenant has as many as it may. Else give_back() has to follow.
  bool take(const std::string& tenant) {
    const std::lock_guard lock(lock_);
    std::size_t& count = counts_[tenant];
    if (count >= per_tenant_) return false;
    ++count;
    return true;
  }
  void give_back(const std::string& tenant) {
    const std::lock_guard lock(lock_);
    const auto found = counts_.find(tenant);
    if (--found->second == 0) counts_.erase(found);
  }
  std::size_t total() const {
    const std::lock_guard lock(lock_);
    return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0},
                           [](std::size_t sum, const auto& one) { return sum + one.second; });
  }

 private:
  const std::size_t per_tenant_;
  mutable std::mutex lock_;
  std::map<std::string, std::size_t> counts_;
};

}  // namespace undertext
