// What SQLite's secure_delete leaves behind. It overwrites what is deleted; but when pages are
// rebalanced, copies of the records that moved stay in the unused middle of the page they were on,
// and nothing overwrites those. So after something was taken out, that middle is filled with zeroes
// everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "sqlite/connection.hpp"

namespace undertext {

// The pages with something in their unused middle. Reads the whole file; throws SqliteError.
std::vector<std::uint32_t> find_remains(Connection& connection);

// Within a transaction of the writer.
void scrub(Connection& connection, const std::vector<std::uint32_t>& pages);

}  // namespace undertext
