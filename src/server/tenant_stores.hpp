// The store as each tenant sees it. Only tenants of tokens come here, so there are as many as the operator made.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <undertext/store.hpp>

#include "store/tenant.hpp"

namespace undertext {

class TenantStores {
 public:
  explicit TenantStores(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  // Throws Failure: no tenant's name. Any thread may call it.
  std::shared_ptr<Store> of(const std::string& tenant) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Store>& view = views_[tenant];
    if (!view) view = store_of_tenant(store_, tenant).value();
    return view;
  }

 private:
  const std::shared_ptr<Store> store_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Store>, std::less<>> views_;
};

}  // namespace undertext
