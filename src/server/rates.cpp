#include "server/rates.hpp"

#include <algorithm>
#include <cmath>

namespace undertext {

std::optional<std::chrono::seconds> Rates::take(std::string_view key, Time now) {
  const std::lock_guard lock(mutex_);
  Bucket& bucket = bucket_of(key, now);
  bucket = {filled(bucket, now), std::max(bucket.at, now)};
  if (bucket.filled >= 1) {
    bucket.filled -= 1;
    return std::nullopt;
  }
  return std::chrono::seconds(
      std::max<std::int64_t>(1, std::llround(std::ceil((1 - bucket.filled) / per_second_))));
}

std::size_t Rates::size() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

double Rates::filled(const Bucket& bucket, Time now) const {
  const double seconds =
      std::chrono::duration<double>(std::max(now - bucket.at, Time::duration::zero())).count();
  return std::min(burst_, bucket.filled + seconds * per_second_);
}

Rates::Bucket& Rates::bucket_of(std::string_view key, Time now) {
  const auto found = buckets_.find(key);
  if (found != buckets_.end()) return found->second;
  if (buckets_.size() >= keys_max_ && now - cleaned_ >= std::chrono::seconds(1)) {
    cleaned_ = now;
    std::erase_if(buckets_, [&](const auto& one) { return filled(one.second, now) >= burst_; });
  }
  if (buckets_.size() < keys_max_) return buckets_.emplace(key, Bucket{burst_, now}).first->second;
  if (!shared_) shared_ = Bucket{burst_, now};
  return *shared_;
}

}  // namespace undertext
