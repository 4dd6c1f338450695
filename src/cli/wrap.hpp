// A command that runs with a gateway of its own, for as long as it runs.
#pragma once

#include <string>
#include <vector>

#include "cli/desk.hpp"
#include "server/serve.hpp"

namespace undertext {

struct Wrapping {
  std::vector<std::string> command;  // not empty
  // store, gateway and its upstreams; where to listen is decided here
  ServeOptions serve;
};

// The exit status of the command, or 128 and the number of the signal that ended it. Throws
// Failure: the servers do not start.
int wrap(Desk& desk, Wrapping wrapping);

}  // namespace undertext
