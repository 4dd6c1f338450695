// Files and folders by descriptor and by name. What fails leaves its reason in errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace undertext {

constexpr int standard_input = 0, standard_output = 1, standard_error = 2;

// Closed with the object. No other program that this process starts has it.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(other.release()) {}
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile() { close(); }

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }
  bool close();  // whether all that was written was taken

 private:
  int descriptor_ = -1;
};

// What is made is for its owner alone.
enum class OpenFor {
  reading,
  reading_itself,   // reading; ELOOP: the path ends in a symbolic link
  changing,         // reading and writing what is there
  making,           // writing what is not there yet
  replacing,        // writing, from nothing
  appending,        // writing behind what is there, if anything is
  keeping,          // reading and writing; made where it is missing
  folder,           // syncing and locking
  writing_nothing,  // what is there takes all and keeps none, as /dev/null does
};
OpenFile open_file(const std::string& path, OpenFor purpose);

// They begin again when a signal interrupts them.
std::int64_t read_some(int descriptor, char* to,
                       std::size_t bytes_max);  // how many; 0: the end; below 0: it failed
bool write_all(int descriptor, std::string_view bytes);
// All of the file from `offset` on, at most `bytes_max`; fewer: it ended there, or could not be
// read.
std::string read_from(int descriptor, std::uint64_t offset, std::size_t bytes_max);

OpenFile second_descriptor(int descriptor);  // of the same open file
std::FILE* stream_to(OpenFile file);         // for writing; null: it failed, and the file is closed

bool sync_to_disk(int descriptor);
bool lock_whole(int descriptor);  // waits until nobody else has it
// For writing, without waiting. Against every other opening of the file, where the system has such
// locks; else against other processes.
bool lock_range(int descriptor, std::int64_t begin, std::int64_t bytes);
bool begin_again(int descriptor);  // the next read is of the first byte
bool is_at_begin(int descriptor);  // of a file: it would be

struct FileStatus {
  bool is_regular = false, is_folder = false;
  bool others_may_write = false;
  bool is_own = false;  // of the user who runs this, or of root
  std::uint32_t permissions = 0;
  std::uint64_t device = 0, inode = 0, links = 0, size_bytes = 0;
  std::int64_t changed_ns = 0;  // its contents or its properties, since 1970
  std::int64_t written_ns = 0;  // its contents alone
};
std::optional<FileStatus> status_of(const char* path) noexcept;
inline std::optional<FileStatus> status_of(const std::string& path) {
  return status_of(path.c_str());
}
std::optional<FileStatus> status_of(int descriptor);

bool is_there(const std::string& path);
bool set_permissions(const std::string& path, std::uint32_t permissions);
bool set_permissions(int descriptor, std::uint32_t permissions);
bool give_second_name(const std::string& path, const std::string& name);  // EEXIST: it is taken
bool rename_over(const std::string& from, const std::string& to);
bool remove_name(const std::string& path);
bool make_private_folder(const std::string& path);

// without links; empty: there is no such file
std::string whole_path(const std::string& path);
// its path is `begin` and more; empty: it failed
std::string make_temporary_folder(const std::string& begin);

// `path` is what precedes a name of six letters, and becomes the whole.
OpenFile make_temporary_file(std::string& path, std::string_view suffix);

}  // namespace undertext
