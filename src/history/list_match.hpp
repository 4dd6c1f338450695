// Which messages of one list are those of another, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <undertext/identity.hpp>
#include <undertext/work.hpp>

namespace undertext {

struct IdentityHash {
  std::size_t operator()(const Identity& identity) const {
    return static_cast<std::size_t>(identity.low);
  }
};

using Matches = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Pairs of indices with equal identities, rising on both sides: a long common subsequence. Messages
// that stand once in each list lead, as in a patience diff, and their neighbours follow; so equal
// texts at other positions are not taken for one another. O(n log n), and O(n * m) between short
// stretches. Throws Failure: that of `work`, which may be null.
Matches match_lists(std::span<const Identity> a, std::span<const Identity> b, const Work* work);

}  // namespace undertext
