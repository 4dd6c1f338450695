// Conversations in one SQLite file, beside which SQLite keeps FILE-wal and FILE-shm while it is
// open.
//
// Several processes may use one file. A store is not carried across fork(): in the child every call
// answers `unavailable`, and it opens its own.
#pragma once

#include <memory>
#include <string_view>

#include <undertext/store.hpp>

namespace undertext {

// What open_store("sqlite:PATH") does.
Result<std::shared_ptr<Store>> open_sqlite_store(std::string_view path,
                                                 const StoreOptions& options);

// What restore_store("sqlite:PATH") does.
std::optional<Error> restore_sqlite_store(std::string_view path, const std::string& backup);

}  // namespace undertext
