// What JSON text takes to be read.
#pragma once

#include <cstdint>
#include <string_view>

namespace undertext {

// About the most that JsonText::parse allocates for the text, which may be many times its size;
// linear, and allocates nothing itself.
std::uint64_t json_reading_bytes(std::string_view text);
std::uint64_t count_json_objects(std::string_view text);

}  // namespace undertext
