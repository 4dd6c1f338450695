// Where the file lies: its path as SQLite may be given it, its folder, and whether files there can
// be locked at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <undertext/error.hpp>

#include "system/files.hpp"

namespace undertext {

// As a path and nothing else: SQLite would take some names for databases in memory.
// invalid_argument: empty, or with a zero byte.
Result<std::string> plain_path(std::string_view path);

// Without symbolic links, where the file is there; else as it is.
std::string followed(const std::string& path);

bool file_exists(const std::string& path);

// not_found: the folder of a file that is to be made. It is not made: a mistyped path would be a
// second store.
std::optional<Error> refuse_missing_folder(const std::string& path);

// Makes the names in the file's folder last. unavailable: cannot.
std::optional<Error> sync_folder_of(const std::string& path);

// Makes a file's contents last. unavailable: cannot.
std::optional<Error> sync_file(const std::string& path);

// unsupported: a network file system, where locks and shared memory do not work as SQLite needs
// them, and two writers would damage the file.
std::optional<Error> refuse_network_folder(const std::string& path);
// The name of a network file system, by what statfs() or the table of mounts says it is; empty: it
// is none.
std::string network_of_magic(std::uint32_t magic);
std::string network_of_mount(const std::string& kind);

// Gives a complete file its name, where there is none of that name. invalid_argument: there is one.
std::optional<Error> give_name(const std::string& from, const std::string& to);

// Gives it the name `to`, whether or not there is a file of that name, whose mode it then has; else
// it is its owner's alone. unavailable: it could not.
std::optional<Error> replace_file(const std::string& from, const std::string& to);

// The lock that SQLite's writers in journal mode hold, and that every open connection keeps others
// from having (https://www.sqlite.org/lockingv3.html). Held until the object goes.
class ExclusiveFile {
 public:
  // unavailable: somebody has it open. No file: there is nothing to lock.
  static Result<ExclusiveFile> lock(const std::string& path);

 private:
  explicit ExclusiveFile(OpenFile file) : file_(std::move(file)) {}
  OpenFile file_;
};

void remove_file(const std::string& path);

}  // namespace undertext
