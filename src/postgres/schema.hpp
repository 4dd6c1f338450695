// The tables, and what brings older ones up to date.
#pragma once

#include "postgres/session.hpp"

namespace undertext::postgres {

// Any number of processes may do this at once: the row of undertext_schema is their lock, and who comes second finds it done.
// not_found: there are no tables, and none are to be made. unsupported: they are of a later version of Undertext, or the role may not make them.
std::optional<Error> make_schema(Session& session, bool create, Deadline deadline);

}  // namespace undertext::postgres
