// A conversation's id where the user gave none: the moment, so that they sort by it, and some
// chance.
#pragma once

#include <cstdint>
#include <string>

namespace undertext {

std::string fresh_id(std::int64_t now_ms);  // such as 20261115-162233-k3v9qd, in UTC

}  // namespace undertext
