// `undertext demo`: a short conversation played in the terminal, so that a newcomer sees what
// Undertext is.
#pragma once

namespace undertext {

struct DemoOptions {
  bool color = false;    // the output understands ANSI colours
  bool animate = false;  // somebody is watching: pause between the scenes
};

// The exit status.
int run_demo(const DemoOptions& options);

}  // namespace undertext
