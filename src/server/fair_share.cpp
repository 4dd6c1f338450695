#include "server/fair_share.hpp"

#include <algorithm>
#include <utility>

namespace undertext {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds slow_after{50};
constexpr milliseconds slice{5};  // of work between two pauses
constexpr milliseconds pause_max{250};
constexpr milliseconds active_for{1000};  // after its last request a tenant still counts

}  // namespace

FairShare::FairShare(std::size_t processors) : slow_at_once_(std::max<std::size_t>(1, processors / 2)) {}

bool FairShare::others_are_active(const std::string& tenant, Clock::time_point now) const {
  return std::any_of(tenants_.begin(), tenants_.end(), [&](const auto& other) {
    return other.first != tenant && (other.second.requests > 0 || now - other.second.last_seen < active_for);
  });
}

FairShare::Part::Part(FairShare& whole, std::string tenant)
    : whole_(whole), tenant_(std::move(tenant)), began_(Clock::now()), worked_since_(began_) {
  const std::lock_guard lock(whole_.lock_);
  ++whole_.tenants_[tenant_].requests;
}

FairShare::Part::~Part() {
  const std::lock_guard lock(whole_.lock_);
  const auto found = whole_.tenants_.find(tenant_);
  --found->second.requests;
  if (is_slow_) --found->second.slow;
  found->second.last_seen = Clock::now();
}

std::chrono::microseconds FairShare::Part::pause(Clock::time_point now) {
  const Clock::duration worked = now - worked_since_;
  if (now - began_ < slow_after || worked < slice) return {};
  std::size_t slow = 0;
  {
    const std::lock_guard lock(whole_.lock_);
    Tenant& own = whole_.tenants_[tenant_];
    if (!std::exchange(is_slow_, true)) ++own.slow;
    if (!whole_.others_are_active(tenant_, now)) {
      worked_since_ = now;
      return {};
    }
    slow = own.slow;
  }
  if (slow <= whole_.slow_at_once_) {
    worked_since_ = now;
    return {};
  }
  const auto share = static_cast<double>(slow) / static_cast<double>(whole_.slow_at_once_) - 1;
  const auto asked = std::chrono::duration_cast<microseconds>(std::min<Clock::duration>(worked, slice * 4)) * share;
  const microseconds pause = std::min(std::chrono::duration_cast<microseconds>(asked), microseconds(pause_max));
  worked_since_ = now + pause;
  return pause;
}

}  // namespace undertext
