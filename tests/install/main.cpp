// Uses the installed library from outside: prints its version after one call into it, and one that
// reaches what it links.
#include <cstdio>
#include <string>

#include <undertext/summariser.hpp>
#include <undertext/undertext.hpp>

int main() {
  const std::string version{undertext::library_version()};
  std::puts(version.c_str());
  const auto summariser =
      undertext::endpoint_summariser({.base_url = "https://example.com", .model = "m"});
  const bool links = summariser || summariser.error().code == undertext::ErrorCode::unsupported;
  return version.empty() || !links ? 1 : 0;
}
