// Ids of what nobody is to see: they begin with a dot, which no id of a user's does.
//
//     .1763222470000-3141592653…   staged, since that moment: publish() gives it the id it is for
//     .0-5f4dcc3b5aa765d6…         hidden: kept under a name for a while, and never published
//
// Whoever staged it takes it out again when that comes to nothing. Where a process was killed
// instead, it is left behind, and its moment tells when it is old enough to be nobody's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace undertext {

std::string staged_id(std::int64_t now_ms);  // another one each time
std::string hidden_id(std::string_view name);
bool is_staged_id(std::string_view id);          // or hidden
std::int64_t staged_at_ms(std::string_view id);  // of such an id; 0: it is a hidden one

}  // namespace undertext
