// How many of something each tenant has at the moment, up to a limit: nobody takes what belongs to
// all. Safe for any number of threads.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace undertext {

class TenantCounts {
 public:
  explicit TenantCounts(std::size_t per_tenant,
                        std::size_t in_all = std::numeric_limits<std::size_t>::max())
      : per_tenant_(per_tenant), in_all_(in_all) {}

  // One of them, given back when it goes. Must not outlive the counts.
  class Slot {
   public:
    Slot(Slot&& other) noexcept
        : counts_(std::exchange(other.counts_, nullptr)), tenant_(std::move(other.tenant_)) {}
    Slot& operator=(Slot&& other) noexcept {
      std::swap(counts_, other.counts_);
      std::swap(tenant_, other.tenant_);
      return *this;
    }
    ~Slot() {
      if (counts_ != nullptr) counts_->give_back(tenant_);
    }

   private:
    friend class TenantCounts;
    explicit Slot(std::string tenant) : tenant_(std::move(tenant)) {}
    TenantCounts* counts_ = nullptr;
    std::string tenant_;
  };

  // Nothing: the tenant has as many as it may, or all together have.
  std::optional<Slot> take(const std::string& tenant) {
    Slot slot(tenant);
    const std::lock_guard lock(lock_);
    if (total_ >= in_all_) return std::nullopt;
    const auto found = counts_.emplace(tenant, 0).first;
    if (found->second >= per_tenant_) return std::nullopt;
    ++found->second;
    ++total_;
    slot.counts_ = this;
    return slot;
  }
  std::size_t total() const {
    const std::lock_guard lock(lock_);
    return total_;
  }

 private:
  void give_back(const std::string& tenant) {
    const std::lock_guard lock(lock_);
    const auto found = counts_.find(tenant);
    if (--found->second == 0) counts_.erase(found);
    --total_;
  }

  const std::size_t per_tenant_, in_all_;
  mutable std::mutex lock_;
  std::map<std::string, std::size_t> counts_;
  std::size_t total_ = 0;
};

}  // namespace undertext
