// Between SQLite and its files: writes down what would reach a disk and when it was made sure, and
// fails on demand.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace undertext::test {

// What happened to the files of one folder, in order.
struct DiskEvent {
  enum class Kind : std::uint8_t {
    create,
    write,
    truncate,
    sync,
    // as Linux has it: what was not yet on the disk never will be, though reading still shows it
    failed_sync,
    remove,    // `at` is 1: for sure
    answered,  // the caller of the store was told that a step is done
  };
  Kind kind = Kind::write;
  std::string file = {};  // its name in the folder
  // of a write: where; of a truncate: the size; of an answer: how many steps are done
  std::uint64_t at = 0;
  std::string bytes = {};
};

enum class Fault : std::uint8_t { none, io_error, disk_full, failed_sync, read_error };
enum class DiskCall : std::uint8_t { read, change, sync };

// The one VFS, SQLite's default from the first use on. Only one thread at a time writes while it
// records or fails.
class RecordingVfs {
 public:
  static RecordingVfs& get();

  void record();                       // from now on, from nothing
  void answered(std::uint64_t steps);  // a mark in the record
  std::vector<DiskEvent> stop();

  // The n-th call that writes, cuts, syncs, makes or removes a file fails, counted from 1; and all
  // after it unless `once`. failed_sync counts and fails syncs only, read_error reads only.
  void fail_at(std::uint64_t n, Fault fault, bool once);
  std::uint64_t calls() const { return calls_; }
  void heal() { fault_ = Fault::none; }

  // For the methods of files.
  bool fails(DiskCall call);
  Fault fault() const { return fault_; }
  void add(DiskEvent event);

 private:
  RecordingVfs();
  bool recording_ = false;
  std::vector<DiskEvent> events_;
  Fault fault_ = Fault::none;
  std::uint64_t fail_at_ = 0;
  std::uint64_t calls_ = 0;
  bool once_ = true;
};

// The disk after a power cut: what was made sure is there; of the rest some, in any combination of
// 512-byte sectors.
class Disk {
 public:
  void apply(const DiskEvent& event);

  // One possible state of every file.
  enum class Luck : std::uint8_t { none, all, some };
  std::map<std::string, std::string> after_power_cut(Luck luck, std::uint64_t seed) const;

 private:
  struct File {
    bool exists = false;  // for sure
    std::string bytes;    // for sure
    std::vector<DiskEvent> pending;
  };
  std::map<std::string, File> files_;
};

}  // namespace undertext::test
