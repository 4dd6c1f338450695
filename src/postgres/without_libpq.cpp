#include "postgres/postgres_store.hpp"

#if !UNDERTEXT_HAVE_POSTGRES

namespace undertext {

Result<std::shared_ptr<Store>> open_postgres_store(std::string_view, const StoreOptions&) {
  return Error{.code = ErrorCode::unsupported,
               .message = "this build of Undertext was made without libpq, and knows no PostgreSQL"};
}

}  // namespace undertext

#endif
