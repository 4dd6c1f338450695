#include "cli/editor.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/desk.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace undertext {
namespace {

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

std::string editor() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  }
  return "vi";
}

}  // namespace

std::string edited_by_user(std::string_view text, std::string_view suffix) {
  const PrivateFile file(text, suffix);
  // EDITOR may be a command with arguments, as everywhere; the file's name is not part of what the
  // shell reads.
  const int status = run_shell(editor() + " \"$1\"", file.path());
  if (status < 0)
    fail(ErrorCode::unavailable,
         std::string("the editor cannot be started: ") + std::strerror(errno));
  if (status != 0) fail(ErrorCode::unavailable, "the editor failed: " + editor());
  std::string edited = read_whole(file.path());
  if (!text.ends_with('\n') && edited.ends_with('\n')) edited.pop_back();
  return edited;
}

}  // namespace undertext
