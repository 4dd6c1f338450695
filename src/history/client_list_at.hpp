// What a client had sent at a version of a history.
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/history.hpp>

#include "history/client_list.hpp"

namespace undertext {

// empty: no client was followed
ClientTree client_tree_at(const History& history, Version version);

// Its ordinals, in order.
std::vector<std::uint64_t> client_list_at(const History& history, Version version);
// The same from an index on.
std::vector<std::uint64_t> ordinals_of(const ClientTree& list, std::uint64_t first);

}  // namespace undertext
