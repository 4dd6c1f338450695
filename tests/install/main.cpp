// Uses the installed library from outside: prints its version after one call into it.
#include <cstdio>
#include <string>

#include <undertext/undertext.hpp>

int main() {
  const std::string version{undertext::library_version()};
  std::puts(version.c_str());
  return version.empty() ? 1 : 0;
}
