// Conversations in a PostgreSQL database, 15 or later: many processes on many machines over the
// same tables, with the compare-and-swap of commit() as their only coordination. docs/postgres.md
// says how to set it up and what it promises; sql.hpp holds every statement.
#pragma once

#include <memory>
#include <string_view>

#include <undertext/error.hpp>
#include <undertext/store.hpp>

namespace undertext {

// The URL is libpq's, several hosts and target_session_attrs included, and may also carry
//     undertext_prepare=off     no named prepared statements, for poolers that hand out another connection for each transaction
// Connecting waits up to connect_timeout for each host, 2 s where the URL does not say, even where
// a call's deadline is sooner.
// invalid_argument: the URL or the tenant. not_found: no tables, and options.create is unset.
// unsupported: tables of a later version.
Result<std::shared_ptr<Store>> open_postgres_store(std::string_view url,
                                                   const StoreOptions& options);

}  // namespace undertext
