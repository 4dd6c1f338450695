// A file with a text for another program, which only the user can read.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "cli/desk.hpp"
#include "system/files.hpp"

namespace undertext {

// Gone when this is.
class PrivateFile {
 public:
  PrivateFile(std::string_view text, std::string_view suffix) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/undertext-";
    OpenFile file = make_temporary_file(path_, suffix);  // for its owner alone
    if (!file) fail(ErrorCode::unavailable, path_ + ": " + std::strerror(errno));
    if (!write_all(file.descriptor(), text) || !file.close()) {
      const int why = errno;
      remove_name(path_);
      errno = why;
      fail(ErrorCode::unavailable, path_ + ": " + std::strerror(errno));
    }
  }
  ~PrivateFile() { remove_name(path_); }
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace undertext
