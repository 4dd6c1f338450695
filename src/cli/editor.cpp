#include "cli/editor.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/desk.hpp"
#include "cli/private_file.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace undertext {
namespace {

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
