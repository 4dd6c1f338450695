// A tenant's store that takes no more than its quota: so many conversations, and so many bytes of
// records.
//
// What is stored is counted when the tenant first writes, and after something was taken out;
// commits add to it. Other processes' writes are seen by the next count, which comes before
// anything is refused, at most every 10 s.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include <undertext/store.hpp>

namespace undertext {

struct Quota {
  std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t conversations_max = std::numeric_limits<std::uint64_t>::max();
  bool is_set() const { return *this != Quota(); }
  friend bool operator==(const Quota&, const Quota&) = default;
};

// What would go beyond the quota is too_large with the field "quota", and counts in `refused`. The
// store itself where there is no quota.
std::shared_ptr<Store> within_quota(std::shared_ptr<Store> store, Quota quota,
                                    std::shared_ptr<std::atomic<std::uint64_t>> refused);

}  // namespace undertext
