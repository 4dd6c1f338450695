#include "sqlite/scrub.hpp"

#include <algorithm>
#include <string>

namespace undertext {
namespace {

// Above this number of pages (128 GiB), the first byte of an overflow page, which begins with the
// number of the next, could be taken for a kind of tree page.
constexpr std::int64_t page_count_max = 0x02000000;

struct Middle {
  std::size_t first = 0;
  std::size_t end = 0;  // == first: there is none
};

// A page of a tree has its header, the offsets of its cells, the unused middle, and the cells
// (https://www.sqlite.org/fileformat2.html, section 1.6).
Middle unused_middle(std::uint32_t number, std::string_view page) {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(page[at]));
  };
  const std::size_t header = number == 1 ? 100 : 0;
  if (page.size() < header + 12) return {};
  std::size_t header_size = 0;
  switch (byte(header)) {
    case 0x0d:
    case 0x0a: header_size = 8; break;
    case 0x05:
    case 0x02: header_size = 12; break;
    default: return {};
  }
  const std::size_t cells = byte(header + 3) << 8 | byte(header + 4);
  const std::size_t content = byte(header + 5) << 8 | byte(header + 6);
  const std::size_t first = header + header_size + 2 * cells;
  const std::size_t end = content == 0 ? 65536 : content;
  if (first >= end || end > page.size()) return {};
  return {first, end};
}

}  // namespace

std::vector<std::uint32_t> find_remains(Connection& connection) {
  if (connection.number("PRAGMA page_count") >= page_count_max)
    throw SqliteError{SQLITE_TOOBIG,
                      "over 128 GiB: compact the store to have what was deleted overwritten"};
  std::vector<std::uint32_t> pages;
  Statement rows(connection, Sql::read_pages_of_file);
  while (rows.next()) {
    const auto number = static_cast<std::uint32_t>(rows.number_at(0));
    const std::string_view page = rows.bytes_at(1);
    const Middle middle = unused_middle(number, page);
    const std::string_view unused = page.substr(middle.first, middle.end - middle.first);
    if (unused.find_first_not_of('\0') != std::string_view::npos) pages.push_back(number);
  }
  return pages;
}

void scrub(Connection& connection, const std::vector<std::uint32_t>& pages) {
  // Raw pages are out of reach but for this moment.
  struct Undefended {
    explicit Undefended(Connection& of) : connection(of) {
      sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    }
    ~Undefended() { sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr); }
    Connection& connection;
  } const undefended(connection);
  for (const std::uint32_t number : pages) {
    std::string page;
    {
      Statement row(connection, Sql::read_page_of_file);
      if (!row.number(number).next()) continue;
      page = row.bytes_at(0);
    }
    const Middle middle = unused_middle(number, page);
    std::fill(page.begin() + static_cast<std::ptrdiff_t>(middle.first),
              page.begin() + static_cast<std::ptrdiff_t>(middle.end), '\0');
    Statement(connection, Sql::write_page_of_file).number(number).bytes(page).finish();
  }
}

}  // namespace undertext
