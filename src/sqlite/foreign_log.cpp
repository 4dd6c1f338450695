// A write-ahead log is not bound to its database: SQLite would move the pages of one into any other. (https://www.sqlite.org/fileformat2.html, section 4)
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "sqlite/checked_file.hpp"
#include "sqlite/page_trailer.hpp"
#include "sqlite/place.hpp"

namespace undertext {
namespace {

constexpr std::size_t log_header_bytes = 32, frame_header_bytes = 24, file_header_bytes = 100, salt_bytes = 8;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::string read_at(std::ifstream& file, std::uint64_t at, std::size_t size) {
  std::string bytes(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// The id of the page 1 that begins at `at`; 0: it has none.
std::uint64_t id_of_first_page(std::ifstream& file, std::uint64_t at) {
  const PageLayout layout = layout_of(read_at(file, at, file_header_bytes));
  if (!layout.has_trailers) return 0;
  const std::string trailer =
      read_at(file, at + static_cast<std::uint64_t>(layout.page_bytes - page_trailer_bytes), page_trailer_bytes);
  if (trailer.size() != page_trailer_bytes) return 0;
  return id_in_trailer(reinterpret_cast<const unsigned char*>(trailer.data()));
}

// Of the first frame with page 1 that counts; 0: there is none.
std::uint64_t id_in_log(std::ifstream& log) {
  const std::string header = read_at(log, 0, log_header_bytes);
  if (header.size() != log_header_bytes) return 0;
  const std::uint32_t page_bytes = big_endian(header, 8);
  const std::string_view salt = std::string_view(header).substr(16, salt_bytes);
  for (std::uint64_t at = log_header_bytes;; at += frame_header_bytes + page_bytes) {
    const std::string frame = read_at(log, at, frame_header_bytes);
    if (frame.size() != frame_header_bytes || std::string_view(frame).substr(8, salt_bytes) != salt) return 0;
    if (big_endian(frame, 0) != 1) continue;
    if (const std::uint64_t id = id_of_first_page(log, at + frame_header_bytes)) return id;
  }
}

Error refuse(const std::string& path, const std::string& why) {
  return {ErrorCode::unavailable,
          path + "-wal " + why + ": put the database that it belongs to in its place, or let `undertext restore` do that"};
}

}  // namespace

std::optional<Error> refuse_foreign_log(const std::string& path) {
  std::ifstream log(path + "-wal", std::ios::binary);
  if (!log || read_at(log, 0, log_header_bytes).size() != log_header_bytes) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file || read_at(file, 0, file_header_bytes).empty()) return refuse(path, "is the log of a database that is gone");
  const std::uint64_t logged = id_in_log(log);
  if (logged == 0 || logged == id_of_first_page(file, 0)) return std::nullopt;
  return refuse(path, "is the log of another database");
}

}  // namespace undertext
