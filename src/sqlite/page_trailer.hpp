// The last 16 bytes of a page: see checked_file.hpp. Values only; numbers are little-endian.
#pragma once

#include <cstdint>
#include <string_view>

namespace undertext {

struct PageLayout {
  int page_bytes = 0;  // 0: no header of a database
  bool has_trailers = false;
};
// the first 100 bytes of a database, or of its page 1 in a log
PageLayout layout_of(std::string_view header);

// SQLite's change counter, of the same bytes; 0: the database has no write-ahead log. Where it has,
// page 1 gets it from a checkpoint alone, so that it never goes back in a file.
std::uint32_t change_counter(std::string_view header);
// Counters wrap around. 0 is neither before nor behind any.
bool is_before(std::uint32_t a, std::uint32_t b);

std::uint64_t fresh_file_id();  // not 0
std::uint64_t id_in_trailer(const unsigned char* trailer);

void put_trailer(unsigned char* page, int size, std::uint64_t number, std::uint64_t id);
void clear_checksum(unsigned char* page, int size);
// `id` 0: any.
bool is_page_sound(const unsigned char* page, int size, std::uint64_t number, std::uint64_t id);
// Whether page 1, whose header says that there are no trailers, has one: the header is damaged.
bool denies_its_trailer(const unsigned char* first_page, int size);

}  // namespace undertext
