#include "base/json_size.hpp"

#include <cstddef>

namespace undertext {
namespace {

// Calls visit(c) for every character that stands in no string.
template <class Visit>
void outside_strings(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    visit(text[at]);
    if (text[at] != '"') continue;
    for (++at; at < text.size() && text[at] != '"'; ++at)
      if (text[at] == '\\') ++at;
  }
}

}  // namespace

std::uint64_t json_reading_bytes(std::string_view text) {
  // 16 bytes of the table, which is there twice while it grows, and as much again for a key of a
  // large object.
  constexpr std::uint64_t bytes_of_value = 64;
  // Every value but the outermost stands behind a bracket, a comma or a colon.
  std::uint64_t values = 1;
  outside_strings(text,
                  [&](char c) { values += c == '[' || c == '{' || c == ',' || c == ':' ? 1 : 0; });
  return values * bytes_of_value;
}

std::uint64_t count_json_objects(std::string_view text) {
  std::uint64_t objects = 0;
  outside_strings(text, [&](char c) { objects += c == '{' ? 1 : 0; });
  return objects;
}

}  // namespace undertext
