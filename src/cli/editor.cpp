#include "cli/editor.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include "cli/desk.hpp"

namespace undertext {
namespace {

// Gone when this is.
class PrivateFile {
 public:
  PrivateFile(std::string_view text, std::string_view suffix) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/undertext-XXXXXX" + std::string(suffix);
    const int descriptor = mkstemps(path_.data(), static_cast<int>(suffix.size()));  // mode 0600
    if (descriptor < 0) fail(ErrorCode::unavailable, path_ + ": " + std::strerror(errno));
    while (!text.empty()) {
      const ssize_t written = write(descriptor, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (close(descriptor) != 0 || !text.empty()) {
      unlink(path_.c_str());
      fail(ErrorCode::unavailable, path_ + ": " + std::strerror(errno));
    }
  }
  ~PrivateFile() { unlink(path_.c_str()); }
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
  const pid_t child = fork();
  if (child < 0) fail(ErrorCode::unavailable, std::string("the editor cannot be started: ") + std::strerror(errno));
  if (child == 0) {
    // EDITOR may be a command with arguments, as everywhere; the file's name is not part of what the shell reads.
    const std::string command = editor() + " \"$1\"";
    execl("/bin/sh", "sh", "-c", command.c_str(), "sh", file.path().c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail(ErrorCode::unavailable, "the editor failed: " + editor());
  std::string edited = read_whole(file.path());
  if (!text.ends_with('\n') && edited.ends_with('\n')) edited.pop_back();
  return edited;
}

}  // namespace undertext
