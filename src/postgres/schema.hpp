// The tables, and what brings older ones up to date.
#pragma once

#include "postgres/session.hpp"

namespace undertext::postgres {

enum class MakeTables : std::uint8_t {
  if_missing,
  bring_up_to_date,  // those that are there
  never,             // older ones are read as they are
};
inline constexpr std::int64_t version_with_requests = 2;
inline constexpr std::int64_t version_with_words = 3;
inline constexpr std::int64_t newest_version = 4;  // bodies may be packed
inline constexpr std::string_view later_version = "the tables are of a later version of Undertext";

// The version of the tables. Any number of processes may do this at once: the row of
// undertext_schema is their lock, and who comes second finds it done.
// not_found: there are no tables, and none are to be made. unsupported: they are of a later version
// of Undertext, or the role may not make them.
// Tables that a migration makes in a database whose tables are distributed are distributed too.
Result<std::int64_t> make_schema(Session& session, MakeTables make, Deadline deadline);

// Distributes the tables by conversation over the nodes of Citus. What is distributed already stays
// as it is.
// unsupported: the database has no Citus, or the role may not do this.
Result<void> distribute_schema(Session& session, Deadline deadline);

}  // namespace undertext::postgres
