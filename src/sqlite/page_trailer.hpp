// The last 16 bytes of a page: see checked_file.hpp. Values only; numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace undertext {

inline constexpr int page_trailer_bytes = 16;  // SQLite's "reserved bytes"
inline constexpr std::size_t database_header_bytes = 100;

struct PageLayout {
  int page_bytes = 0;  // 0: no header of a database
  bool has_trailers = false;
};
// database_header_bytes of a database, or of its page 1 in a log
PageLayout layout_of(std::string_view header);

// SQLite's change counter, of the same bytes; 0: the database has no write-ahead log. Where it has,
// page 1 gets it from a checkpoint alone, so that it never goes back in a file.
std::uint32_t change_counter(std::string_view header);
// Counters wrap around. 0 is neither before nor behind any.
bool is_before(std::uint32_t a, std::uint32_t b);

std::uint64_t fresh_file_id();  // not 0
std::uint64_t id_in_trailer(const unsigned char* trailer);

// What a page 1 says of its database. 0: nothing.
struct FirstPage {
  PageLayout layout;
  std::uint64_t id = 0;
  std::uint32_t counter = 0;
};
// `read(at, to, size)` returns how many bytes there were, or nothing where it could not read. An
// empty file has no layout. Nothing is allocated: SQLite asks, in whose callbacks nothing may
// throw.
template <class Read>
std::optional<FirstPage> first_page(const Read& read) {
  unsigned char header[database_header_bytes], trailer[page_trailer_bytes];
  const std::optional<std::size_t> size = read(0, header, sizeof(header));
  if (!size) return std::nullopt;
  const std::string_view bytes(reinterpret_cast<const char*>(header), *size);
  FirstPage page{layout_of(bytes), 0, change_counter(bytes)};
  if (!page.layout.has_trailers) return page;
  const auto at = static_cast<std::size_t>(page.layout.page_bytes - page_trailer_bytes);
  if (read(at, trailer, sizeof(trailer)) != sizeof(trailer)) return std::nullopt;
  page.id = id_in_trailer(trailer);
  return page;
}

void put_trailer(unsigned char* page, int size, std::uint64_t number, std::uint64_t id);
void clear_checksum(unsigned char* page, int size);
// `id` 0: any.
bool is_page_sound(const unsigned char* page, int size, std::uint64_t number, std::uint64_t id);
// Whether page 1, whose header says that there are no trailers, has one: the header is damaged.
bool denies_its_trailer(const unsigned char* first_page, int size);

}  // namespace undertext
