#include <cerrno>
#include <string>

#include "sqlite/place.hpp"
#include "sqlite/sqlite_store.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace undertext {

namespace {

// Where the links of a path end: the store behind a symbolic link is replaced, and the link stays.
Result<std::string> store_behind(const std::string& path) {
  if (file_exists(path)) return followed(path);
  if (!open_file(path, OpenFor::reading_itself) && errno == ELOOP)
    return Error{ErrorCode::not_found,
                 path + " is a symbolic link to a file that is not there: remove or mend it",
                 "url"};
  return path;
}

std::optional<Error> refuse_itself(const std::string& path, const std::string& backup) {
  const std::optional<FileStatus> to = status_of(path), from = status_of(backup);
  if (!to || !from || to->device != from->device || to->inode != from->inode) return std::nullopt;
  return Error{ErrorCode::invalid_argument, backup + " is the store itself: name a backup of it",
               "backup"};
}

}  // namespace

// The copy is whole and on the disk before it takes the name. It has an id of its own, so that what
// is left of the old log, should the power go between the two steps, is refused as another
// database's.
std::optional<Error> restore_sqlite_store(std::string_view given_path, const std::string& backup) {
  const Result<std::string> given = plain_path(given_path);
  if (!given) return given.error();
  const Result<std::string> path = store_behind(*given);
  if (!path) return path.error();
  const Result<std::string> from = plain_path(backup);
  if (!from) return from.error();
  if (auto error = refuse_itself(*path, *from)) return error;
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
