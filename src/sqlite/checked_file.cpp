#include "sqlite/checked_file.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "sqlite/page_trailer.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

constexpr int header_bytes = int{database_header_bytes};

struct Named {
  std::uint64_t device = 0, inode = 0, links = 0;  // inode 0: there is none
};

Named named(const char* path) {
  const std::optional<FileStatus> status = path == nullptr ? std::nullopt : status_of(path);
  return status ? Named{status->device, status->inode, status->links} : Named{};
}

bool is_same_file(const Named& a, const Named& b) {
  return a.device == b.device && a.inode == b.inode;
}

// What SQLite has in its hands; the file behind it is on the heap, because its size is that of
// whichever file system is the default.
struct CheckedFile {
  sqlite3_file base;
  sqlite3_file* real;
  const char* path;  // SQLite's, for as long as the file is open; null: a temporary file
  bool is_database;
  Named opened_as;
  Named index_opened_as;  // the -shm
  SeenCounter* seen;      // null: nobody compares
  PageLayout layout;      // of a database, once it has a header
  std::uint64_t id;       // of its pages; 0: not known yet
  int lock;               // that SQLite holds on it
};

CheckedFile& of(sqlite3_file* file) { return *reinterpret_cast<CheckedFile*>(file); }
sqlite3_vfs* beneath() { return sqlite3_vfs_find(nullptr); }

// SQLite takes these for damage, and a disk that fails for a moment is none.
int read_code(int code) { return code == SQLITE_IOERR_CORRUPTFS ? SQLITE_IOERR_READ : code; }

// Looks into the file itself: others may have made it, or given it trailers, since it was opened.
std::optional<FirstPage> first_page_of(sqlite3_file* real) {
  return first_page(
      [real](std::size_t at, unsigned char* to, std::size_t size) -> std::optional<std::size_t> {
        const int code =
            real->pMethods->xRead(real, to, static_cast<int>(size), static_cast<sqlite3_int64>(at));
        if (code == SQLITE_IOERR_SHORT_READ) return 0;
        return code == SQLITE_OK ? std::optional(size) : std::nullopt;
      });
}

void learn(CheckedFile& self) {
  const std::optional<FirstPage> page = first_page_of(self.real);
  if (!page || page->layout.page_bytes == 0) return;
  self.layout = page->layout;
  if (page->id != 0) self.id = page->id;
}

void note_counter(const CheckedFile& self, std::uint32_t counter) {
  if (self.seen == nullptr || counter == 0) return;
  std::uint32_t seen = self.seen->load();
  while ((seen == 0 || is_before(seen, counter)) &&
         !self.seen->compare_exchange_weak(seen, counter)) {
  }
}

// To be taken before the counter that is compared with it is read: a checkpoint may raise both
// meanwhile.
std::uint32_t seen_counter(const CheckedFile& self) {
  return self.seen != nullptr ? self.seen->load() : 0;
}

bool is_page(const CheckedFile& self, int size, sqlite3_int64 at) {
  return self.layout.has_trailers && size == self.layout.page_bytes && at % size == 0;
}

int close_file(sqlite3_file* file) {
  CheckedFile& self = of(file);
  const int code = self.real->pMethods->xClose(self.real);
  sqlite3_free(self.real);
  self.real = nullptr;
  return code;
}

int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  CheckedFile& self = of(file);
  const int code = read_code(self.real->pMethods->xRead(self.real, to, size, at));
  // Without a lock SQLite only guesses the size of a page. What is there may be of a transaction
  // that is not committed, and its id be gone with it: such as that of a store in the making when
  // the power went.
  if (code != SQLITE_OK || !self.is_database || self.lock == SQLITE_LOCK_NONE) return code;
  if (self.id == 0 && (self.layout.page_bytes == 0 || at == 0)) learn(self);
  if (at == 0 && size == self.layout.page_bytes && !self.layout.has_trailers)
    return denies_its_trailer(static_cast<const unsigned char*>(to), size) ? SQLITE_IOERR_DATA
                                                                           : code;
  if (!is_page(self, size, at)) return code;
  auto* const page = static_cast<unsigned char*>(to);
  if (!is_page_sound(page, size, static_cast<std::uint64_t>(at / size), self.id)) {
    sqlite3_log(SQLITE_IOERR_DATA, "page %lld of %s is damaged", at / size + 1, self.path);
    return SQLITE_IOERR_DATA;
  }
  clear_checksum(page, size);  // which would be wrong as soon as the page changes
  return code;
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  CheckedFile& self = of(file);
  if (!self.is_database) return self.real->pMethods->xWrite(self.real, from, size, at);
  if (at == 0 && size >= header_bytes) {
    if (self.id == 0) learn(self);
    self.layout = layout_of({static_cast<const char*>(from), header_bytes});
    if (self.layout.has_trailers && self.id == 0) self.id = fresh_file_id();
  } else if (self.layout.page_bytes == 0) {
    learn(self);
  }
  if (!is_page(self, size, at)) return self.real->pMethods->xWrite(self.real, from, size, at);
  // In place: it is a page of SQLite's cache, of which nobody but this file looks at the trailer,
  // or a copy of one.
  auto* const page = static_cast<unsigned char*>(const_cast<void*>(from));
  if (at == 0) {
    // Its counter would hide for ever that the pages behind it are an older copy's.
    const std::uint32_t seen = seen_counter(self);
    const std::optional<FirstPage> there = first_page_of(self.real);
    if (there && is_before(there->counter, seen)) return SQLITE_IOERR_WRITE;
  }
  put_trailer(page, size, static_cast<std::uint64_t>(at / size), self.id);
  const int code = self.real->pMethods->xWrite(self.real, from, size, at);
  clear_checksum(page, size);
  if (code == SQLITE_OK && at == 0)
    note_counter(self, change_counter({static_cast<const char*>(from), header_bytes}));
  return code;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  CheckedFile& self = of(file);
  const int code = self.real->pMethods->xTruncate(self.real, size);
  if (code == SQLITE_OK && size == 0) {
    // The transaction that made the database was undone: the next one to make it gives it another
    // id.
    self.layout = {};
    self.id = 0;
  }
  return code;
}

int lock_file(sqlite3_file* file, int kind) {
  CheckedFile& self = of(file);
  const int code = self.real->pMethods->xLock(self.real, kind);
  if (code == SQLITE_OK) self.lock = kind;
  return code;
}

int unlock_file(sqlite3_file* file, int kind) {
  CheckedFile& self = of(file);
  self.lock = kind;
  return self.real->pMethods->xUnlock(self.real, kind);
}

int sync_file(sqlite3_file* file, int flags) {
  return of(file).real->pMethods->xSync(of(file).real, flags);
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return of(file).real->pMethods->xFileSize(of(file).real, size);
}
int is_reserved(sqlite3_file* file, int* answer) {
  return of(file).real->pMethods->xCheckReservedLock(of(file).real, answer);
}
int sector_bytes(sqlite3_file* file) { return of(file).real->pMethods->xSectorSize(of(file).real); }
int traits_of_device(sqlite3_file* file) {
  return of(file).real->pMethods->xDeviceCharacteristics(of(file).real);
}
int unlock_index(sqlite3_file* file, int offset, int n, int flags) {
  return of(file).real->pMethods->xShmLock(of(file).real, offset, n, flags);
}
void barrier(sqlite3_file* file) { of(file).real->pMethods->xShmBarrier(of(file).real); }
int unmap_index(sqlite3_file* file, int remove) {
  return of(file).real->pMethods->xShmUnmap(of(file).real, remove);
}

int map_index(sqlite3_file* file, int region, int size, int extend, void volatile** to) {
  CheckedFile& self = of(file);
  const int code = self.real->pMethods->xShmMap(self.real, region, size, extend, to);
  if (self.index_opened_as.inode == 0 && self.path != nullptr && *to != nullptr) {
    try {
      self.index_opened_as = named((std::string(self.path) + "-shm").c_str());
    } catch (const std::bad_alloc&) {
      return SQLITE_NOMEM;
    }
  }
  return code;
}

int control_file(sqlite3_file* file, int what, void* argument) {
  CheckedFile& self = of(file);
  if (what == SQLITE_FCNTL_CKPT_START && self.is_database && !self.layout.has_trailers) learn(self);
  return self.real->pMethods->xFileControl(self.real, what, argument);
}

const sqlite3_io_methods with_index = {2,
                                       close_file,
                                       read_file,
                                       write_file,
                                       truncate_file,
                                       sync_file,
                                       size_of_file,
                                       lock_file,
                                       unlock_file,
                                       is_reserved,
                                       control_file,
                                       sector_bytes,
                                       traits_of_device,
                                       map_index,
                                       unlock_index,
                                       barrier,
                                       unmap_index,
                                       nullptr,
                                       nullptr};
const sqlite3_io_methods without_index = {1,
                                          close_file,
                                          read_file,
                                          write_file,
                                          truncate_file,
                                          sync_file,
                                          size_of_file,
                                          lock_file,
                                          unlock_file,
                                          is_reserved,
                                          control_file,
                                          sector_bytes,
                                          traits_of_device,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          nullptr};

int open_file(sqlite3_vfs*, sqlite3_filename path, sqlite3_file* file, int flags, int* flags_out) {
  file->pMethods = nullptr;
  sqlite3_vfs* const vfs = beneath();
  auto* const real = static_cast<sqlite3_file*>(sqlite3_malloc(vfs->szOsFile));
  if (real == nullptr) return SQLITE_NOMEM;
  std::memset(real, 0, static_cast<std::size_t>(vfs->szOsFile));
  const int code = vfs->xOpen(vfs, path, real, flags, flags_out);
  if (real->pMethods == nullptr) {
    sqlite3_free(real);
    return code;
  }
  CheckedFile& self = *new (file) CheckedFile{};
  self.real = real;
  self.path = path;
  self.is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  self.opened_as = named(path);
  self.base.pMethods = real->pMethods->iVersion >= 2 ? &with_index : &without_index;
  if (code != SQLITE_OK) {
    close_file(file);
    file->pMethods = nullptr;
  }
  return code;
}

int delete_file(sqlite3_vfs*, const char* path, int sync) {
  return beneath()->xDelete(beneath(), path, sync);
}
int access_file(sqlite3_vfs*, const char* path, int what, int* answer) {
  return beneath()->xAccess(beneath(), path, what, answer);
}
int full_path(sqlite3_vfs*, const char* path, int size, char* to) {
  return beneath()->xFullPathname(beneath(), path, size, to);
}
int randomness(sqlite3_vfs*, int size, char* to) {
  return beneath()->xRandomness(beneath(), size, to);
}
int sleep(sqlite3_vfs*, int microseconds) { return beneath()->xSleep(beneath(), microseconds); }
int current_time(sqlite3_vfs*, double* to) { return beneath()->xCurrentTime(beneath(), to); }
int last_error(sqlite3_vfs*, int size, char* to) {
  return beneath()->xGetLastError(beneath(), size, to);
}
int current_time_int64(sqlite3_vfs*, sqlite3_int64* to) {
  return beneath()->xCurrentTimeInt64(beneath(), to);
}

// Null: not one of ours, or not open.
CheckedFile* file_of(sqlite3* database, int which) {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(database, "main", which, &file) != SQLITE_OK || file == nullptr)
    return nullptr;
  if (file->pMethods != &with_index && file->pMethods != &without_index) return nullptr;
  return &of(file);
}

// Through the file itself, whose name may be another's by now. Null: nothing.
const char* written_over(const CheckedFile& self) {
  const std::uint32_t seen = seen_counter(self);
  const std::optional<FirstPage> page = first_page_of(self.real);
  if (!page) return nullptr;
  if (self.id != 0 && page->id != self.id) return "another database was written over it";
  if (is_before(page->counter, seen)) return older_copy;
  note_counter(self, page->counter);
  return nullptr;
}

}  // namespace

const char* checked_file_system() {
  static sqlite3_vfs vfs = [] {
    sqlite3_initialize();
    sqlite3_vfs made = {};
    made.iVersion = 2;
    made.szOsFile = static_cast<int>(sizeof(CheckedFile));
    made.mxPathname = beneath()->mxPathname;
    made.zName = "undertext";
    made.xOpen = open_file;
    made.xDelete = delete_file;
    made.xAccess = access_file;
    made.xFullPathname = full_path;
    made.xRandomness = randomness;
    made.xSleep = sleep;
    made.xCurrentTime = current_time;
    made.xGetLastError = last_error;
    made.xCurrentTimeInt64 = current_time_int64;
    return made;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  if (registered != SQLITE_OK) throw std::bad_alloc();
  return vfs.zName;
}

FileIdentity identity_of(sqlite3* database) {
  CheckedFile* const file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
  if (file == nullptr) return {};
  if (file->id == 0) learn(*file);
  return {file->opened_as.device, file->opened_as.inode, file->id};
}

void remember_counter(sqlite3* database, SeenCounter& seen) {
  if (CheckedFile* const file = file_of(database, SQLITE_FCNTL_FILE_POINTER)) file->seen = &seen;
}

bool is_older_copy(sqlite3* database) {
  const CheckedFile* const file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
  if (file == nullptr) return false;
  const std::uint32_t seen = seen_counter(*file);
  char header[header_bytes];
  return file->real->pMethods->xRead(file->real, header, header_bytes, 0) == SQLITE_OK &&
         is_before(change_counter({header, header_bytes}), seen);
}

std::optional<FilesChanged> changed_underneath(sqlite3* database, const std::string& given) {
  const CheckedFile* const file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
  if (file == nullptr || file->opened_as.inode == 0) return std::nullopt;
  const Named now = named(file->path);
  if (now.inode == 0) return FilesChanged{"it was moved or removed"};
  if (!is_same_file(now, file->opened_as)) return FilesChanged{"another file has its name"};
  if (!given.empty() && given != file->path) {
    const Named at_given = named(given.c_str());
    if (at_given.inode == 0)
      return FilesChanged{"a symbolic link of its path leads nowhere any more"};
    if (!is_same_file(at_given, file->opened_as))
      return FilesChanged{"a symbolic link of its path leads to another file"};
  }
  if (now.links > 1)
    return FilesChanged{"it has a second name (a hard link), under which others may write to it"};
  if (const char* const how = written_over(*file)) return FilesChanged{how};
  if (file->index_opened_as.inode != 0 &&
      !is_same_file(named((std::string(file->path) + "-shm").c_str()), file->index_opened_as))
    return FilesChanged{"its -shm file was removed or replaced", true};
  const CheckedFile* const log = file_of(database, SQLITE_FCNTL_JOURNAL_POINTER);
  if (log != nullptr && log->opened_as.inode != 0 &&
      !is_same_file(named(log->path), log->opened_as))
    return FilesChanged{"its write-ahead log was removed or replaced", true};
  return std::nullopt;
}

}  // namespace undertext
