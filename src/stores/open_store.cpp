// The only place that knows which kinds of store there are.
#include <string>

#include <undertext/store.hpp>

#include "store/tenant.hpp"

#if UNDERTEXT_HAVE_SQLITE
#  include "sqlite/sqlite_store.hpp"
#endif

namespace undertext {

#if UNDERTEXT_HAVE_POSTGRES
// of the room postgres
Result<std::shared_ptr<Store>> open_postgres_store(std::string_view url,
                                                   const StoreOptions& options);
#endif

namespace {

bool cut(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Result<std::shared_ptr<Store>> open_sqlite([[maybe_unused]] std::string_view path,
                                           [[maybe_unused]] const StoreOptions& options) {
#if UNDERTEXT_HAVE_SQLITE
  return open_sqlite_store(path, options);
#else
  return Error{ErrorCode::unsupported,
               "built without SQLite: run scripts/sqlite, which gets its source, and build again",
               "url"};
#endif
}

Result<std::shared_ptr<Store>> open_postgres([[maybe_unused]] std::string_view url,
                                             [[maybe_unused]] const StoreOptions& options) {
#if UNDERTEXT_HAVE_POSTGRES
  return open_postgres_store(url, options);
#else
  return Error{ErrorCode::unsupported, "built without PostgreSQL", "url"};
#endif
}

Result<std::shared_ptr<Store>> seen_by(std::string_view tenant,
                                       Result<std::shared_ptr<Store>> store) {
  if (!store) return store;
  return store_of_tenant(*std::move(store), tenant);
}

}  // namespace

Result<std::shared_ptr<Store>> open_store(std::string_view url, const StoreOptions& options) {
  std::string_view rest = url;
  if (cut(rest, "sqlite:")) return seen_by(options.tenant, open_sqlite(rest, options));
  if (url.starts_with("postgres://") || url.starts_with("postgresql://"))
    return open_postgres(url, options);
  if (url == "memory:") return seen_by(options.tenant, memory_store());
  return Error{ErrorCode::invalid_argument,
               "a store is sqlite:PATH, postgres://… or memory:", "url"};
}

Result<void> restore_store(std::string_view url, [[maybe_unused]] const std::string& backup) {
  std::string_view rest = url;
#if UNDERTEXT_HAVE_SQLITE
  if (cut(rest, "sqlite:")) return restore_sqlite_store(rest, backup);
#else
  if (cut(rest, "sqlite:")) return open_sqlite(rest, {}).error();
#endif
  return Error{ErrorCode::unsupported,
               "only a SQLite store is restored from a file: PostgreSQL has pg_restore", "url"};
}

}  // namespace undertext
