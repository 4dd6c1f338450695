#include "server/fair_share.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

namespace undertext {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds burst{50};
constexpr milliseconds slice{2};  // between two looks
constexpr milliseconds pause_max{250};
constexpr milliseconds active_for{1000};  // after its last request a tenant still counts

// Linux: "<ns that the thread ran> <ns that it waited for a processor> <times it ran>". Where there is no such file, what
// it ran is all that is known.
class ScheduleFile {
 public:
  ScheduleFile() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ScheduleFile(const ScheduleFile&) = delete;
  ScheduleFile& operator=(const ScheduleFile&) = delete;
  ~ScheduleFile() {
    if (file_ >= 0) close(file_);
  }

  std::chrono::nanoseconds used() const {
    char text[64];
    const ssize_t size = file_ >= 0 ? pread(file_, text, sizeof text, 0) : -1;
    std::int64_t ran = 0, waited = 0;
    const char* const end = text + std::max<ssize_t>(size, 0);
    const auto [space, error] = std::from_chars(text, end, ran);
    if (size > 0 && error == std::errc() && space != end && std::from_chars(space + 1, end, waited).ec == std::errc())
      return std::chrono::nanoseconds(ran + waited);
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
  }

 private:
  const int file_;
};

}  // namespace

FairShare::Clock::duration FairShare::used_by_thread() {
  static thread_local const ScheduleFile file;
  return file.used();
}

FairShare::FairShare(std::size_t processors) : processors_each_(std::max<std::size_t>(1, processors / 2)) {}

bool FairShare::others_are_active(const std::string& tenant, Clock::time_point now) const {
  return std::any_of(tenants_.begin(), tenants_.end(), [&](const auto& other) {
    return other.first != tenant && (other.second.requests > 0 || now - other.second.last_seen < active_for);
  });
}

void FairShare::charge(Tenant& tenant, Clock::duration used, Clock::time_point now) const {
  tenant.paid_until =
      std::max<Clock::time_point>(tenant.paid_until, now - burst) + used / static_cast<Clock::rep>(processors_each_);
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
  // The requests of a tenant pause one behind another: each has moved the end of the pause of the next one.
  const auto owed = std::chrono::duration_cast<microseconds>(own.paid_until - now);
  const microseconds pause = std::min<microseconds>(owed, pause_max);
  looked_at_ = now + pause;
  return pause;
}

}  // namespace undertext
