// How often somebody may do something: a bucket for each key, which fills at a rate and holds a
// burst. Of bounded memory: what is full is forgotten.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace undertext {

class Rates {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Rates(double per_second, double burst, std::size_t keys_max = 10'000)
      : per_second_(per_second), burst_(burst), keys_max_(keys_max) {}

  // Nothing: go on. Else how long until it may be tried again, in whole seconds from 1. Keys beyond
  // keys_max share one bucket. Any thread may call it.
  std::optional<std::chrono::seconds> take(std::string_view key, Time now);
  std::size_t size() const;

 private:
  struct Bucket {
    double filled = 0;
    Time at;
  };
  double filled(const Bucket& bucket, Time now) const;
  Bucket& bucket_of(std::string_view key, Time now);

  const double per_second_;
  const double burst_;
  const std::size_t keys_max_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Bucket, std::less<>> buckets_;
  std::optional<Bucket> shared_;
  Time cleaned_ = {};
};

}  // namespace undertext
