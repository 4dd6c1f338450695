// SQLite's file system, with what SQLite leaves to others:
//
//     a page of a database file ends with    | the file's id, 8 bytes | a checksum, 8 bytes |
//
// - Every page is verified when it is read from the file: SQLITE_IOERR_DATA where the checksum is
//   not that of its bytes and its number, or the id is another file's. A checksum of 0 is none: a
//   page that another program moved from the log into the file. Files of the first release have
//   none at all.
// - An error of the disk is SQLITE_IOERR_READ. SQLite itself takes EIO for a damaged file.
// - Whether the names of a database, of its log and of its index still belong to the files that
//   were opened, and whether the database still has what was moved into it from the log.
//
// In the log, page 1 has the id and no checksum (the log has its own). So a log that belongs to
// another database can be told.
//
// A copy of a file has its id. SQLite's change counter tells an older copy: the writer raises it
// with the first commit behind each checkpoint (Connection::forget_pages), and so
//
//     counter in the file   c      c          c + 1        c + 1      c + 2
//     counters in the log      c + 1  c + 1         c + 2      c + 2
//                                     checkpoint               checkpoint
//
// - a file whose counter is lower than one that was seen in it is a copy put over it;
// - a log that begins with counter c belongs to a file that has at least c - 1, and at most what
//   the log ends with.
//
// Not told: a copy that others made of the log, put over a file into which the rest of the same log
// was moved since.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sqlite3.h>

#include <undertext/error.hpp>

#include "sqlite/page_trailer.hpp"

namespace undertext {

// The name to open databases with. Works on SQLite's default file system of the moment in which a
// file is opened.
const char* checked_file_system();

// Of a file: which one it is, whatever its name.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;  // 0: not known
  std::uint64_t id = 0;                 // of its pages; 0: they have none
};
FileIdentity identity_of(sqlite3* database);

// The highest change counter that was seen in a file: of all connections of a store, and of those
// that were closed. 0: none yet.
using SeenCounter = std::atomic<std::uint32_t>;
// `seen` outlives the connection.
void remember_counter(sqlite3* database, SeenCounter& seen);
bool is_older_copy(sqlite3* database);
inline constexpr const char* older_copy = "an older copy was written over it";

// How the files of an open database are no longer what they were.
struct FilesChanged {
  std::string how;
  bool only_log =
      // the database itself is in its place, and what was committed can still be moved into it by
      // those who have the log open
      false;
};
// Nothing: they are. `given` is the whole path that the database was opened by, in which there may
// be symbolic links; SQLite itself knows only where they led.
std::optional<FilesChanged> changed_underneath(sqlite3* database, const std::string& given);

// unavailable: there is a write-ahead log beside `path` that belongs to another database, to another
// state of it, or to one that is gone.
// `path` is without symbolic links, as SQLite puts the log beside the file itself.
std::optional<Error> refuse_foreign_log(const std::string& path);

// corrupt: the write-ahead log beside `path` has acknowledged commits behind a frame that is not
// what was written. Of a log of which each commit was synced: without that, a power cut does the
// same. `path` as above.
std::optional<Error> find_damage_of_log(const std::string& path);

}  // namespace undertext
