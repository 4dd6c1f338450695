// Tenants: one store, seen by each as if nobody else used it.
//
// A kind of store that has tenants of its own makes such a view itself (Store::for_tenant). Around
// every other kind stands a view under whose ids the store keeps its tenant's, as tenant/id: no id
// of a user's has a slash, so that no two tenants ever name the same record. The operator, the
// tenant "" or "default", has the ids without a slash. In the same way keys of requests have an
// unprintable byte, the tenant and a slash before them.
#pragma once

#include <memory>
#include <string_view>

#include <undertext/store.hpp>

namespace undertext {

// its other name, where one is needed
inline constexpr std::string_view operators_tenant = "default";

// 1 to 64 of A-Z a-z 0-9 _ -
bool is_tenant_name(std::string_view name);

// invalid_argument: no tenant's name. The view refuses ids that are none of a user's, answers with
// ids without the tenant, and makes no backup but for the operator: that would hold what others
// own.
Result<std::shared_ptr<Store>> store_of_tenant(std::shared_ptr<Store> store,
                                               std::string_view tenant);

}  // namespace undertext
