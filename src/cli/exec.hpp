// `undertext exec`: JSON lines in, one JSON line out for each, in order and at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <undertext/conversation.hpp>

namespace undertext {

struct ExecOptions {
  std::string store = "memory:";  // a URL, as open_store() takes it
  std::string conversation =
      // which one of the store's, made where there is none; in memory there is one, whatever its
      // name
      "default";
  std::uint64_t checkpoint_versions = 512;  // see OpenOptions
  std::optional<std::string> config = {};   // settings as JSON; unset for the defaults
  std::optional<std::string> model = {};    // one of these settings
  std::optional<std::string> models = {};   // a file, for add_models()
};

// Reads standard input to its end. The exit status: 0; 1 when input or output fails; 2 for options
// that are no good, with one JSON line on standard error.
int run_exec(const ExecOptions& options);

// The loop itself, over file descriptors. Lines end with a newline; the last one may lack it. A
// line of more than `line_bytes` is read to its end without being stored, and answered with
// too_large.
int exec_lines(Conversation& conversation, int in, int out, std::uint64_t line_bytes);

}  // namespace undertext
