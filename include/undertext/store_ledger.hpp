// What the requests of all conversations of a store cost.
//
//     for (const LedgerRow& row : store_ledger(store, {.from_ms = midnight}).value()) print(row.day, row.model, row.totals.dollars);
//
// The store of a tenant (docs/server.md) has that tenant's totals.
#pragma once

#include <memory>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/ledger.hpp>
#include <undertext/store.hpp>
#include <undertext/work.hpp>

namespace undertext {

// By day and model, the oldest first. Opens every conversation with records in that time, one after
// another. Errors: as Store; a conversation that is purged meanwhile is skipped. With `work` (null:
// without limits), also what that throws.
UNDERTEXT_API Result<std::vector<LedgerRow>> store_ledger(const std::shared_ptr<Store>& store,
                                                          const LedgerQuery& query = {},
                                                          const std::shared_ptr<Work>& work = {});

}  // namespace undertext
