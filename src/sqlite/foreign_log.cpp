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

constexpr std::size_t log_header_bytes = 32, frame_header_bytes = 24, salt_bytes = 8;

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

struct Frame {
  std::uint64_t at = 0;
  std::string_view bytes;  // with its header; until the next one
  bool is_sound = false;   // of this generation of the log, and goes on from the one before
  std::uint32_t page() const { return big_endian(bytes, 0); }
  bool is_commit() const { return big_endian(bytes, 4) != 0; }
  std::string_view body() const { return bytes.substr(frame_header_bytes); }
};

// The frames of a log, one after another, sound or not.
class Frames {
 public:
  explicit Frames(const ReadFile& log) : log_(log), header_(log.at(0, log_header_bytes)) {
    if (header_.size() != log_header_bytes) return;
    is_big_endian_ = (big_endian(header_, 0) & 1) != 0;
    const std::uint32_t page_bytes = big_endian(header_, 8);
    if (page_bytes < 512 || page_bytes > 65536 || page_bytes % 512 != 0) return;
    frame_bytes_ = frame_header_bytes + page_bytes;
    before_ = Checksum::at(header_, 24);
    Checksum of_header;
    of_header.add(std::string_view(header_).substr(0, 24), is_big_endian_);
    has_sound_header_ = before_ == of_header;
  }

  bool has_sound_header() const { return has_sound_header_; }

  std::optional<Frame> next() {
    if (frame_bytes_ == 0) return std::nullopt;
    if (at_ + frame_bytes_ > piece_.size()) {
      constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;  // about
      piece_at_ += at_;
      at_ = 0;
      piece_ = log_.at(piece_at_,
                       static_cast<std::size_t>(
                           std::max<std::uint64_t>(1, piece_bytes / frame_bytes_) * frame_bytes_));
      if (frame_bytes_ > piece_.size()) return std::nullopt;
    }
    Frame frame{piece_at_ + at_, std::string_view(piece_).substr(at_, frame_bytes_)};
    at_ += frame_bytes_;
    before_.add(frame.bytes.substr(0, 8), is_big_endian_);
    before_.add(frame.body(), is_big_endian_);
    const Checksum written = Checksum::at(frame.bytes, 16);
    frame.is_sound = before_ == written && frame.bytes.substr(8, salt_bytes) ==
                                               std::string_view(header_).substr(16, salt_bytes);
    before_ = written;
    return frame;
  }

 private:
  const ReadFile& log_;
  const std::string header_;
  bool is_big_endian_ = false, has_sound_header_ = false;
  std::uint64_t frame_bytes_ = 0;  // 0: the header is none
  std::string piece_;
  std::uint64_t piece_at_ = log_header_bytes, at_ = 0;
  Checksum before_;
};

// `read(at, size)` returns the bytes that are there.
template <class Read>
FirstPage first_page_in(const Read& read) {
  const auto copy = [&](std::size_t at, unsigned char* to, std::size_t size) {
    const auto bytes = read(at, size);
    std::copy(bytes.begin(), bytes.end(), to);
    return std::optional(bytes.size());
  };
  return first_page(copy).value_or(FirstPage{});
}

// Of the commits in a log, as far as SQLite reads it.
struct Logged {
  std::uint64_t id = 0;
  std::uint32_t first_counter = 0, last_counter = 0;

  // The file has commits that come after the last one.
  bool is_behind(const FirstPage& file) const { return is_before(last_counter, file.counter); }
  // The file lacks commits that came before the first one, which has raised the counter by one.
  bool begins_behind(const FirstPage& file) const {
    return first_counter > 1 && is_before(file.counter, first_counter - 1);
  }
};

Logged logged(const ReadFile& log) {
  Logged all, with_open_commit;
  Frames frames(log);
  if (!frames.has_sound_header()) return all;
  while (const std::optional<Frame> frame = frames.next()) {
    if (!frame->is_sound) break;
    if (frame->page() == 1) {
      const FirstPage page = first_page_in(
          [&](std::size_t at, std::size_t size) { return frame->body().substr(at, size); });
      if (page.id != 0) with_open_commit.id = page.id;
      if (with_open_commit.first_counter == 0) with_open_commit.first_counter = page.counter;
      with_open_commit.last_counter = page.counter;
    }
    if (frame->is_commit()) all = with_open_commit;
  }
  return all;
}

// Where the first frame stands that is not what was written, although commits follow it. Nothing:
// all are, or the log ends as a crash leaves it.
//
// A commit is on the disk before the next one begins. So a crash spoils frames of one commit at
// most, the last; an older generation of the log has other salts; and what is left of a commit that
// was given up, behind shorter ones that came later, has one commit frame. Two of them that go on
// from each other show that those before them were whole once.
constexpr int commits_behind_damage = 2;

std::optional<std::uint64_t> damaged_frame(const ReadFile& log) {
  Frames frames(log);
  std::optional<std::uint64_t> first;
  if (!frames.has_sound_header()) first = 0;
  int commits = 0;
  while (const std::optional<Frame> frame = frames.next()) {
    if (!frame->is_sound) {
      if (!first) first = frame->at;
      commits = 0;
    } else if (first && frame->is_commit() && ++commits == commits_behind_damage) {
      return first;
    }
  }
  return std::nullopt;
}

constexpr int looks_max = 3;  // while others write

Error refuse(const std::string& path, const std::string& why) {
  return {
      ErrorCode::unavailable,
      path + "-wal " + why +
          ": put the database that it belongs to in its place, or let `undertext restore` do that"};
}

}  // namespace

std::optional<Error> refuse_foreign_log(const std::string& path) {
  const ReadFile log(path + "-wal", SQLITE_OPEN_WAL);
  const ReadFile file(path, SQLITE_OPEN_MAIN_DB);
  for (int look = 0; look < looks_max; ++look) {
    const std::string header = log.at(0, log_header_bytes);
    if (header.size() != log_header_bytes) return std::nullopt;
    if (file.at(0, database_header_bytes).empty())
      return refuse(path, "is the log of a database that is gone");
    // Others may move commits into the file meanwhile: its counter is at most what the log ends
    // with before that is read, and at least what the log begins with after that.
    const auto read = [&](std::size_t at, std::size_t size) { return file.at(at, size); };
    const FirstPage before = first_page_in(read);
    const Logged commits = logged(log);
    const FirstPage after = first_page_in(read);
    const bool is_of_other = commits.id != 0 && commits.id != after.id;
    if (!is_of_other && !commits.is_behind(before) && !commits.begins_behind(after))
      return std::nullopt;
    if (log.at(0, log_header_bytes) != header) continue;  // restarted
    return refuse(path, is_of_other ? "is the log of another database"
                                    : "is the log of another state of the database: an older or a "
                                      "newer copy of one of the two was put in its place");
  }
  return std::nullopt;  // it is in use
}

std::optional<Error> find_damage_of_log(const std::string& path) {
  const ReadFile log(path + "-wal", SQLITE_OPEN_WAL);
  // Others may append to it meanwhile, or begin it anew: what they are at is not there twice.
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
