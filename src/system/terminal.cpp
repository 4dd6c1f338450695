#include "system/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace undertext {

bool leads_to_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

std::size_t terminal_width() {
  winsize size = {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace undertext
