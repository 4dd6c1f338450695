#include "recording_vfs.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include <sqlite3.h>

namespace undertext::test {
namespace {

using Kind = DiskEvent::Kind;

constexpr std::size_t sector = 512;

sqlite3_vfs* real_vfs = nullptr;

// In front of the real file, which follows it in memory.
struct RecordedFile {
  sqlite3_file base;
  std::string* name;  // null: a temporary file, which is nobody's concern
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

RecordedFile& of(sqlite3_file* file) { return *reinterpret_cast<RecordedFile*>(file); }

std::string name_in_folder(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int write_error() {
  return RecordingVfs::get().fault() == Fault::disk_full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int close_file(sqlite3_file* file) {
  const int code = of(file).real()->pMethods->xClose(of(file).real());
  delete of(file).name;
  return code;
}
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  // What SQLite's own file system answers for EIO.
  if (of(file).name && RecordingVfs::get().fails(DiskCall::read)) return SQLITE_IOERR_CORRUPTFS;
  return of(file).real()->pMethods->xRead(of(file).real(), to, size, at);
}
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  RecordedFile& self = of(file);
  if (self.name && RecordingVfs::get().fails(DiskCall::change)) {
    // Half of it, as a disk does.
    const int half = size / 2;
    if (half > 0) {
      self.real()->pMethods->xWrite(self.real(), from, half, at);
      RecordingVfs::get().add(
          {Kind::write, *self.name, static_cast<std::uint64_t>(at),
           std::string(static_cast<const char*>(from), static_cast<std::size_t>(half))});
    }
    return write_error();
  }
  const int code = self.real()->pMethods->xWrite(self.real(), from, size, at);
  if (self.name && code == SQLITE_OK)
    RecordingVfs::get().add(
        {Kind::write, *self.name, static_cast<std::uint64_t>(at),
         std::string(static_cast<const char*>(from), static_cast<std::size_t>(size))});
  return code;
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  RecordedFile& self = of(file);
  if (self.name && RecordingVfs::get().fails(DiskCall::change)) return SQLITE_IOERR_TRUNCATE;
  const int code = self.real()->pMethods->xTruncate(self.real(), size);
  if (self.name && code == SQLITE_OK)
    RecordingVfs::get().add({Kind::truncate, *self.name, static_cast<std::uint64_t>(size), {}});
  return code;
}
int sync_file(sqlite3_file* file, int flags) {
  RecordedFile& self = of(file);
  if (self.name && RecordingVfs::get().fails(DiskCall::sync)) {
    if (RecordingVfs::get().fault() == Fault::failed_sync)
      RecordingVfs::get().add({Kind::failed_sync, *self.name, 0, {}});
    return SQLITE_IOERR_FSYNC;
  }
  const int code = self.real()->pMethods->xSync(self.real(), flags);
  if (self.name && code == SQLITE_OK) RecordingVfs::get().add({Kind::sync, *self.name, 0, {}});
  return code;
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return of(file).real()->pMethods->xFileSize(of(file).real(), size);
}
int lock_file(sqlite3_file* file, int level) {
  return of(file).real()->pMethods->xLock(of(file).real(), level);
}
int unlock_file(sqlite3_file* file, int level) {
  return of(file).real()->pMethods->xUnlock(of(file).real(), level);
}
int check_lock(sqlite3_file* file, int* out) {
  return of(file).real()->pMethods->xCheckReservedLock(of(file).real(), out);
}
int control_file(sqlite3_file* file, int what, void* argument) {
  return of(file).real()->pMethods->xFileControl(of(file).real(), what, argument);
}
int sector_size(sqlite3_file* file) {
  return of(file).real()->pMethods->xSectorSize(of(file).real());
}
int characteristics(sqlite3_file* file) {
  return of(file).real()->pMethods->xDeviceCharacteristics(of(file).real());
}
int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  return of(file).real()->pMethods->xShmMap(of(file).real(), region, size, extend, out);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return of(file).real()->pMethods->xShmLock(of(file).real(), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { of(file).real()->pMethods->xShmBarrier(of(file).real()); }
int shm_unmap(sqlite3_file* file, int remove) {
  return of(file).real()->pMethods->xShmUnmap(of(file).real(), remove);
}

const sqlite3_io_methods methods = {
    2,         close_file,  read_file,  write_file,   truncate_file, sync_file,       size_of_file,
    lock_file, unlock_file, check_lock, control_file, sector_size,   characteristics, shm_map,
    shm_lock,  shm_barrier, shm_unmap,  nullptr,      nullptr};

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  RecordedFile& self = of(file);
  self.base.pMethods = nullptr;
  self.name = nullptr;
  constexpr int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
  const bool is_kept = path && (flags & kept) != 0;
  int exists = 1;
  if (is_kept) {
    real_vfs->xAccess(real_vfs, path, SQLITE_ACCESS_EXISTS, &exists);
    if (!exists && RecordingVfs::get().fails(DiskCall::change)) return SQLITE_CANTOPEN;
  }
  const int code = real_vfs->xOpen(real_vfs, path, self.real(), flags, out_flags);
  if (code != SQLITE_OK) return code;
  if (is_kept) {
    self.name = new std::string(name_in_folder(path));
    if (!exists) RecordingVfs::get().add({Kind::create, *self.name, 0, {}});
  }
  self.base.pMethods = &methods;
  return SQLITE_OK;
}
int remove_file(sqlite3_vfs*, const char* path, int sync_folder) {
  if (RecordingVfs::get().fails(DiskCall::change)) return SQLITE_IOERR_DELETE;
  const int code = real_vfs->xDelete(real_vfs, path, sync_folder);
  if (code == SQLITE_OK)
    RecordingVfs::get().add({Kind::remove, name_in_folder(path), sync_folder ? 1u : 0u, {}});
  return code;
}

void write_into(std::string& bytes, std::uint64_t at, std::string_view more) {
  if (bytes.size() < at + more.size()) bytes.resize(at + more.size());
  bytes.replace(at, more.size(), more);
}

}  // namespace

RecordingVfs& RecordingVfs::get() {
  static RecordingVfs vfs;
  return vfs;
}

RecordingVfs::RecordingVfs() {
  static sqlite3_vfs ours;
  real_vfs = sqlite3_vfs_find(nullptr);
  ours = *real_vfs;
  ours.zName = "recording";
  ours.szOsFile = static_cast<int>(sizeof(RecordedFile)) + real_vfs->szOsFile;
  ours.xOpen = open_file;
  ours.xDelete = remove_file;
  sqlite3_vfs_register(&ours, 1);
}

void RecordingVfs::record() {
  events_.clear();
  recording_ = true;
}

void RecordingVfs::answered(std::uint64_t steps) { add({Kind::answered, {}, steps, {}}); }

std::vector<DiskEvent> RecordingVfs::stop() {
  recording_ = false;
  return std::move(events_);
}

void RecordingVfs::fail_at(std::uint64_t n, Fault fault, bool once) {
  calls_ = 0;
  fail_at_ = n;
  fault_ = fault;
  once_ = once;
}

bool RecordingVfs::fails(DiskCall call) {
  const bool counts = fault_ == Fault::read_error ? call == DiskCall::read
                      : fault_ == Fault::failed_sync
                          ? call == DiskCall::sync
                          : fault_ != Fault::none && call != DiskCall::read;
  if (!counts) return false;
  const std::uint64_t number = ++calls_;
  return number == fail_at_ || (number > fail_at_ && !once_);
}

void RecordingVfs::add(DiskEvent event) {
  if (recording_) events_.push_back(std::move(event));
}

void Disk::apply(const DiskEvent& event) {
  if (event.kind == Kind::answered) return;
  File& file = files_[event.file];
  switch (event.kind) {
    case Kind::sync: {
      // The folder is made sure with a new file: SQLite does so with the first sync of a log.
      file.exists = true;
      for (const DiskEvent& done : file.pending) {
        if (done.kind == Kind::write) write_into(file.bytes, done.at, done.bytes);
        if (done.kind == Kind::truncate) file.bytes.resize(done.at);
        if (done.kind == Kind::create || done.kind == Kind::remove) file.bytes.clear();
      }
      file.pending.clear();
      break;
    }
    case Kind::failed_sync: file.pending.clear(); break;
    case Kind::remove:
      if (event.at != 0) {
        file = {};
        break;
      }
      [[fallthrough]];
    default: file.pending.push_back(event);
  }
}

std::map<std::string, std::string> Disk::after_power_cut(Luck luck, std::uint64_t seed) const {
  std::mt19937_64 random(seed);
  const std::uint64_t share = 1 + random() % 99;  // in percent, of this power cut
  const auto reached = [&] {
    return luck == Luck::all || (luck == Luck::some && random() % 100 < share);
  };
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : files_) {
    bool exists = file.exists;
    std::string bytes = file.bytes;
    for (const DiskEvent& event : file.pending) {
      if (event.kind == Kind::create || event.kind == Kind::remove) {
        // Folders change in order: when this did not reach the disk, what was written to a later
        // file of that name is nowhere.
        if (!reached()) break;
        exists = event.kind == Kind::create;
        bytes.clear();
      } else if (event.kind == Kind::truncate) {
        if (reached()) bytes.resize(event.at);
      } else {
        for (std::size_t from = 0; from < event.bytes.size();) {
          const std::size_t to =
              std::min(event.bytes.size(), (event.at + from) / sector * sector + sector - event.at);
          if (reached())
            write_into(bytes, event.at + from,
                       std::string_view(event.bytes).substr(from, to - from));
          from = to;
        }
      }
    }
    if (exists) files[name] = std::move(bytes);
  }
  return files;
}

}  // namespace undertext::test
