#include "server/fair_share.hpp"

#include <algorithm>
#include <utility>

#include "system/thread_time.hpp"

namespace undertext {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds burst{50};
constexpr milliseconds slice{2};  // between two looks
constexpr milliseconds pause_max{250};
constexpr milliseconds active_for{1000};  // after its last request a tenant still counts

}  // namespace

FairShare::Clock::duration FairShare::used_by_thread() { return thread_time(); }

FairShare::FairShare(std::size_t processors)
    : processors_each_(std::max<std::size_t>(1, processors / 2)) {}

bool FairShare::others_are_active(const std::string& tenant, Clock::time_point now) const {
  return std::any_of(tenants_.begin(), tenants_.end(), [&](const auto& other) {
    return other.first != tenant &&
           (other.second.requests > 0 || now - other.second.last_seen < active_for);
  });
}

void FairShare::charge(Tenant& tenant, Clock::duration used, Clock::time_point now) const {
  tenant.paid_until = std::max<Clock::time_point>(tenant.paid_until, now - burst) +
                      used / static_cast<Clock::rep>(processors_each_);
}

FairShare::Part::Part(FairShare& whole, std::string tenant, Used used)
    : whole_(whole), tenant_(std::move(tenant)), used_(std::move(used)) {
  bool has_others = false;
  {
    const std::lock_guard lock(whole_.lock_);
    ++whole_.tenants_[tenant_].requests;
    has_others = whole_.tenants_.size() > 1;
  }
  if (has_others) charged_ = used_();
}

FairShare::Part::~Part() {
  const bool is_charged = charged_ && std::this_thread::get_id() == thread_;
  const Clock::duration used = is_charged ? take_used() : Clock::duration();
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(whole_.lock_);
  Tenant& own = whole_.tenants_.find(tenant_)->second;
  --own.requests;
  own.last_seen = now;
  whole_.charge(own, used, now);
}

FairShare::Clock::duration FairShare::Part::take_used() {
  const Clock::duration used = used_();
  return std::max(used - std::exchange(charged_, used).value_or(used), Clock::duration());
}

std::chrono::microseconds FairShare::Part::pause(Clock::time_point now) {
  if (now - looked_at_ < slice) return {};
  looked_at_ = now;
  {
    const std::lock_guard lock(whole_.lock_);
    if (whole_.tenants_.size() == 1) return {};
  }
  const Clock::duration used = take_used();
  const std::lock_guard lock(whole_.lock_);
  Tenant& own = whole_.tenants_.find(tenant_)->second;
  whole_.charge(own, used, now);
  // Who is alone owes nobody.
  if (!whole_.others_are_active(tenant_, now)) own.paid_until = std::min(own.paid_until, now);
  if (own.paid_until <= now) return {};
  // The requests of a tenant pause one behind another: each has moved the end of the pause of the
  // next one.
  const auto owed = std::chrono::duration_cast<microseconds>(own.paid_until - now);
  const microseconds pause = std::min<microseconds>(owed, pause_max);
  looked_at_ = now + pause;
  return pause;
}

}  // namespace undertext
