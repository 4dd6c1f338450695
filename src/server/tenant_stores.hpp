// The store as each tenant sees it. Only tenants of tokens come here, so there are as many as the
// operator made.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <undertext/store.hpp>

#include "server/quota_store.hpp"
#include "store/tenant.hpp"

namespace undertext {

class TenantStores {
 public:
  // `on_first` is called for each tenant once, when it is first asked for.
  TenantStores(std::shared_ptr<Store> store, Quota quota,
               std::function<void(const std::string& tenant)> on_first = {})
      : store_(std::move(store)), quota_(quota), on_first_(std::move(on_first)) {}
  std::uint64_t refused() const { return refused_->load(std::memory_order_relaxed); }  // by a quota

  // Throws Failure: no tenant's name. Any thread may call it.
  std::shared_ptr<Store> of(const std::string& tenant) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Store>& view = views_[tenant];
    if (view) return view;
    view = within_quota(store_of_tenant(store_, tenant).value(), quota_, refused_);
    if (on_first_) on_first_(tenant);
    return view;
  }

 private:
  const std::shared_ptr<Store> store_;
  const Quota quota_;
  const std::function<void(const std::string& tenant)> on_first_;
  const std::shared_ptr<std::atomic<std::uint64_t>> refused_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Store>, std::less<>> views_;
};

}  // namespace undertext
