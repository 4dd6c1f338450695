#include <string>

#include "sqlite/place.hpp"
#include "sqlite/sqlite_store.hpp"
#include "system/process.hpp"

namespace undertext {

// The copy is whole and on the disk before it takes the name. It has an id of its own, so that what
// is left of the old log, should the power go between the two steps, is refused as another
// database's.
std::optional<Error> restore_sqlite_store(std::string_view given_path, const std::string& backup) {
  const Result<std::string> path = plain_path(given_path);
  if (!path) return path.error();
  const Result<std::shared_ptr<Store>> source =
      open_sqlite_store(backup, {.create = false, .read_only = true});
  if (!source) return source.error();
  if (auto error = refuse_missing_folder(*path)) return error;
  if (auto error = refuse_network_folder(*path)) return error;
  const Result<ExclusiveFile> locked = ExclusiveFile::lock(*path);
  if (!locked) return locked.error();
  const std::string copy = *path + ".restoring-" + std::to_string(process_id());
  remove_file(copy);  // of one that was killed, with the same number
  if (const Result<void> copied = (*source)->backup(copy, {}); !copied) return copied.error();
  if (auto error = replace_file(copy, *path)) {
    remove_file(copy);
    return error;
  }
  for (const char* const beside : {"-wal", "-shm", "-journal"}) remove_file(*path + beside);
  return sync_folder_of(*path);
}

}  // namespace undertext
