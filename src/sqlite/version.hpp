// Releases of SQLite that can damage a database in WAL mode: a checkpoint and a commit at the wrong
// moment lose each other's pages.
#pragma once

namespace undertext {

// As sqlite3_libversion_number() has them: 3.51.3 is 3051003.
constexpr bool is_known_bad_sqlite(int version) {
  constexpr int first_with_wal = 3007000, last_bad = 3051002;
  constexpr int mended[] = {3044006, 3050007};
  if (version < first_with_wal || version > last_bad) return version < first_with_wal;
  for (const int good : mended)
    if (version == good) return false;
  return true;
}

}  // namespace undertext
