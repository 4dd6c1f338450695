// What import_messages() does, for those that know more.
#pragma once

#include <undertext/dialect.hpp>

namespace undertext {

// Calls without an id get numbers from `made_ids` + 1 on. Of a response of several candidates the
// first is taken.
Result<Imported> import_numbered(Dialect dialect, std::string_view json,
                                 const MessageLimits& limits, const ToolNames& names,
                                 std::uint64_t made_ids);

}  // namespace undertext
