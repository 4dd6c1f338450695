#include "sqlite/page_trailer.hpp"

#include <cstring>
#include <vector>

#include <sqlite3.h>

#include "sqlite/checked_file.hpp"

namespace undertext {
namespace {

constexpr int checksum_bytes = 8;
constexpr std::size_t trailer_size_at = 20;           // in the header of page 1
constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;  // odd, with its bits well spread

std::uint64_t number_at(const unsigned char* bytes) {
  std::uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | bytes[i];
  return number;
}

void put_number(unsigned char* to, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<unsigned char>(number >> (8 * i));
}

// Every step can be undone, so that two pages that differ in one word never have the same checksum;
// others once in 2^64.
std::uint64_t checksum(const unsigned char* page, int size, std::uint64_t number) {
  std::uint64_t sum = (number + 1) * factor;
  for (int at = 0; at < size - checksum_bytes; at += 8) {
    sum = (sum ^ number_at(page + at)) * factor;
    sum ^= sum >> 32;
  }
  return sum == 0 ? 1 : sum;
}

}  // namespace

PageLayout layout_of(std::string_view header) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  if (header.size() < 100 || !header.starts_with(magic)) return {};
  const auto byte = [&](std::size_t at) {
    return static_cast<int>(static_cast<unsigned char>(header[at]));
  };
  const int size = byte(16) << 8 | byte(17);
  return {size == 1 ? 65536 : size, byte(trailer_size_at) == page_trailer_bytes};
}

std::uint32_t change_counter(std::string_view header) {
  constexpr std::size_t write_version_at = 18, counter_at = 24;
  constexpr unsigned char with_log = 2;
  if (layout_of(header).page_bytes == 0) return 0;
  const auto byte = [&](std::size_t at) {
    return std::uint32_t{static_cast<unsigned char>(header[at])};
  };
  if (byte(write_version_at) != with_log) return 0;
  return byte(counter_at) << 24 | byte(counter_at + 1) << 16 | byte(counter_at + 2) << 8 |
         byte(counter_at + 3);
}

bool is_before(std::uint32_t a, std::uint32_t b) {
  return a != 0 && b != 0 && static_cast<std::int32_t>(a - b) < 0;
}

std::uint64_t fresh_file_id() {
  std::uint64_t id = 0;
  while (id == 0) sqlite3_randomness(sizeof id, &id);
  return id;
}

std::uint64_t id_in_trailer(const unsigned char* trailer) { return number_at(trailer); }

void put_trailer(unsigned char* page, int size, std::uint64_t number, std::uint64_t id) {
  put_number(page + size - page_trailer_bytes, id);
  put_number(page + size - checksum_bytes, checksum(page, size, number));
}

void clear_checksum(unsigned char* page, int size) {
  std::memset(page + size - checksum_bytes, 0, checksum_bytes);
}

bool is_page_sound(const unsigned char* page, int size, std::uint64_t number, std::uint64_t id) {
  const std::uint64_t stored = number_at(page + size - checksum_bytes);
  if (stored == 0) return true;
  const std::uint64_t own = id_in_trailer(page + size - page_trailer_bytes);
  return (id == 0 || own == id) && stored == checksum(page, size, number);
}

bool denies_its_trailer(const unsigned char* first_page, int size) {
  std::vector<unsigned char> page(first_page, first_page + size);
  page[trailer_size_at] = page_trailer_bytes;
  return number_at(page.data() + size - checksum_bytes) == checksum(page.data(), size, 0);
}

}  // namespace undertext
