// Write-ahead logs that SQLite would take as they are. One is not bound to its database: SQLite
// would move its pages into any other. And SQLite reads a log up to the first frame whose checksum
// is wrong, which is where a crash ended it, and takes no notice of commits behind that frame.
// (https://www.sqlite.org/fileformat2.html, section 4)
//
//     | header: magic … salts, checksum | frame: page, commit, salts, checksum | its page | frame …
//
// A checksum goes on from the one before it, so it is over all that comes before.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "sqlite/checked_file.hpp"
#include "sqlite/page_trailer.hpp"
#include "sqlite/place.hpp"

namespace undertext {
namespace {

constexpr std::size_t log_header_bytes = 32, frame_header_bytes = 24, file_header_bytes = 100,
                      salt_bytes = 8;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// Read through SQLite: closing a file that was opened past it would take away the locks that this
// process has on the database.
class ReadFile {
 public:
  ReadFile(const std::string& path, int kind)
      : vfs_(sqlite3_vfs_find(nullptr)),
        memory_(new char[static_cast<std::size_t>(vfs_->szOsFile)]()) {
    // SQLite wants the name to end with two zeros.
    name_ = path + std::string(1, '\0');
    is_open_ =
        vfs_->xOpen(vfs_, name_.c_str(), file(), SQLITE_OPEN_READONLY | kind, nullptr) == SQLITE_OK;
  }
  ~ReadFile() {
    if (file()->pMethods != nullptr) file()->pMethods->xClose(file());
  }
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  // Shorter at the end of the file; empty where it cannot be read.
  std::string at(std::uint64_t offset, std::size_t size) const {
    sqlite3_int64 bytes_there = 0;
    if (!is_open_ || file()->pMethods->xFileSize(file(), &bytes_there) != SQLITE_OK) return {};
    const auto end = static_cast<std::uint64_t>(bytes_there);
    std::string bytes(
        static_cast<std::size_t>(std::min<std::uint64_t>(size, end - std::min(end, offset))), '\0');
    if (bytes.empty()) return bytes;
    const int status = file()->pMethods->xRead(file(), bytes.data(), static_cast<int>(bytes.size()),
                                               static_cast<sqlite3_int64>(offset));
    return status == SQLITE_OK ? bytes : std::string();
  }

 private:
  sqlite3_file* file() const { return reinterpret_cast<sqlite3_file*>(memory_.get()); }

  sqlite3_vfs* const vfs_;
  const std::unique_ptr<char[]> memory_;
  std::string name_;
  bool is_open_ = false;
};

// The id of the page 1 that begins at `at`; 0: it has none.
std::uint64_t id_of_first_page(const ReadFile& file, std::uint64_t at) {
  const PageLayout layout = layout_of(file.at(at, file_header_bytes));
  if (!layout.has_trailers) return 0;
  const std::string trailer = file.at(
      at + static_cast<std::uint64_t>(layout.page_bytes - page_trailer_bytes), page_trailer_bytes);
  if (trailer.size() != page_trailer_bytes) return 0;
  return id_in_trailer(reinterpret_cast<const unsigned char*>(trailer.data()));
}

// Of the first frame with page 1 that counts; 0: there is none.
std::uint64_t id_in_log(const ReadFile& log) {
  const std::string header = log.at(0, log_header_bytes);
  if (header.size() != log_header_bytes) return 0;
  const std::uint32_t page_bytes = big_endian(header, 8);
  const std::string_view salt = std::string_view(header).substr(16, salt_bytes);
  for (std::uint64_t at = log_header_bytes;; at += frame_header_bytes + page_bytes) {
    const std::string frame = log.at(at, frame_header_bytes);
    if (frame.size() != frame_header_bytes || std::string_view(frame).substr(8, salt_bytes) != salt)
      return 0;
    if (big_endian(frame, 0) != 1) continue;
    if (const std::uint64_t id = id_of_first_page(log, at + frame_header_bytes)) return id;
  }
}

// A log is read in pieces of about this size.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

// The header's numbers, and those at the end of a frame's.
struct Checksum {
  std::uint32_t a = 0, b = 0;

  static Checksum at(std::string_view bytes, std::size_t place) {
    return {big_endian(bytes, place), big_endian(bytes, place + 4)};
  }
  void add(std::string_view bytes, bool is_big_endian) {
    const auto word = [&](std::size_t at) {
      const std::uint32_t number = big_endian(bytes, at);
      return is_big_endian ? number : __builtin_bswap32(number);
    };
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      a += word(i) + b;
      b += word(i + 4) + a;
    }
  }
  friend bool operator==(const Checksum&, const Checksum&) = default;
};

// Where the first frame stands that is not what was written, although commits follow it. Nothing:
// all are, or the log ends as a crash leaves it.
//
// A commit is on the disk before the next one begins. So a crash spoils frames of one commit at
// most, the last; an older generation of the log has other salts; and what is left of a commit that
// was given up, behind shorter ones that came later, has one commit frame. Two of them that go on
// from each other show that those before them were whole once.
constexpr int commits_behind_damage = 2;

std::optional<std::uint64_t> damaged_frame(const ReadFile& log) {
  const std::string header = log.at(0, log_header_bytes);
  if (header.size() != log_header_bytes) return std::nullopt;
  const bool is_big_endian = (big_endian(header, 0) & 1) != 0;
  const std::uint32_t page_bytes = big_endian(header, 8);
  if (page_bytes < 512 || page_bytes > 65536 || page_bytes % 512 != 0) return std::nullopt;
  const std::string_view salts = std::string_view(header).substr(16, salt_bytes);
  Checksum before = Checksum::at(header, 24), of_header;
  of_header.add(std::string_view(header).substr(0, 24), is_big_endian);
  std::optional<std::uint64_t> first;
  if (before != of_header) first = 0;
  int commits = 0;
  const std::uint64_t frame_bytes = frame_header_bytes + page_bytes;
  const std::uint64_t frames_at_once = std::max<std::uint64_t>(1, piece_bytes / frame_bytes);
  for (std::uint64_t piece_at = log_header_bytes;; piece_at += frames_at_once * frame_bytes) {
    const std::string piece =
        log.at(piece_at, static_cast<std::size_t>(frames_at_once * frame_bytes));
    for (std::uint64_t at = 0; at + frame_bytes <= piece.size(); at += frame_bytes) {
      const std::string_view frame = std::string_view(piece).substr(at, frame_bytes);
      before.add(frame.substr(0, 8), is_big_endian);
      before.add(frame.substr(frame_header_bytes), is_big_endian);
      const Checksum written = Checksum::at(frame, 16);
      if (frame.substr(8, salt_bytes) == salts && before == written) {
        const bool is_commit = big_endian(frame, 4) != 0;
        if (first && is_commit && ++commits == commits_behind_damage) return first;
      } else {
        if (!first) first = piece_at + at;
        commits = 0;
      }
      before = written;
    }
    if (piece.size() < frames_at_once * frame_bytes) return std::nullopt;
  }
}

Error refuse(const std::string& path, const std::string& why) {
  return {
      ErrorCode::unavailable,
      path + "-wal " + why +
          ": put the database that it belongs to in its place, or let `undertext restore` do that"};
}

}  // namespace

std::optional<Error> refuse_foreign_log(const std::string& path) {
  const ReadFile log(path + "-wal", SQLITE_OPEN_WAL);
  if (log.at(0, log_header_bytes).size() != log_header_bytes) return std::nullopt;
  const ReadFile file(path, SQLITE_OPEN_MAIN_DB);
  if (file.at(0, file_header_bytes).empty())
    return refuse(path, "is the log of a database that is gone");
  const std::uint64_t logged = id_in_log(log);
  if (logged == 0 || logged == id_of_first_page(file, 0)) return std::nullopt;
  return refuse(path, "is the log of another database");
}

std::optional<Error> find_damage_of_log(const std::string& path) {
  const ReadFile log(path + "-wal", SQLITE_OPEN_WAL);
  // Others may append to it meanwhile, or begin it anew: what they are at is not there twice.
  constexpr int looks_max = 3;
  for (int look = 0; look < looks_max; ++look) {
    const std::string header = log.at(0, log_header_bytes);
    const std::optional<std::uint64_t> first = damaged_frame(log);
    if (!first) return std::nullopt;
    if (damaged_frame(log) != first || log.at(0, log_header_bytes) != header) continue;
    return Error{ErrorCode::corrupt,
                 path + "-wal is damaged at byte " + std::to_string(*first) +
                     ", and commits stand behind it, which SQLite would drop: restore a backup"};
  }
  return std::nullopt;
}

}  // namespace undertext
