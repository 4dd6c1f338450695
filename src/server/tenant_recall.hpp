// The search over all conversations of a tenant (store_recall.hpp), kept for the tenants that asked
// last: its index is in memory.
// Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <undertext/store_recall.hpp>

namespace undertext {

class TenantRecall {
 public:
  using StoreOf = std::function<std::shared_ptr<Store>(const std::string& tenant)>;
  explicit TenantRecall(StoreOf store_of) : store_of_(std::move(store_of)) {}

  // Throws Failure: no such tenant.
  std::shared_ptr<StoreRecall> of(const std::string& tenant) {
    const std::lock_guard guard(lock_);
    Kept& kept = kept_[tenant];
    kept.used = ++uses_;
    if (!kept.recall)
      kept.recall = std::make_shared<StoreRecall>(store_of_(tenant),
                                                  StoreRecallOptions{.bytes_max = bytes_each});
    const std::shared_ptr<StoreRecall> found = kept.recall;
    if (kept_.size() > kept_max)
      kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
        return a.second.used < b.second.used;
      }));
    return found;
  }

 private:
  static constexpr std::size_t kept_max = 4;
  static constexpr std::uint64_t bytes_each = std::uint64_t{128} << 20;
  struct Kept {
    std::shared_ptr<StoreRecall> recall;
    std::uint64_t used = 0;
  };
  const StoreOf store_of_;
  std::mutex lock_;
  std::map<std::string, Kept> kept_;  // guarded by lock_
  std::uint64_t uses_ = 0;            // guarded by lock_
};

}  // namespace undertext
