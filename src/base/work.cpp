#include <undertext/work.hpp>

#include <string>
#include <utility>

#include "base/json_size.hpp"

namespace undertext {

void Work::go_on() const {
  if (!limits_.interrupted) return;
  if (Result<void> may_go_on = limits_.interrupted(); !may_go_on)
    throw Failure(std::move(may_go_on.error()));
}

void Work::read(std::string_view message_json) {
  constexpr std::size_t worth_counting = 64 << 10;
  go_on();
  if (limits_.bytes_per_object == 0 || !limits_.reserve || message_json.size() <= worth_counting)
    return;
  const std::uint64_t objects = count_json_objects(message_json);
  const std::uint64_t bytes = objects * limits_.bytes_per_object;
  const std::uint64_t before = bytes_to_read_.load(std::memory_order_relaxed);
  if (bytes <= before) return;
  if (!limits_.reserve(bytes - before))
    throw Failure({ErrorCode::unavailable,
                   "there is too much in memory already to read this message: retry later"});
  bytes_to_read_.store(bytes, std::memory_order_relaxed);
}

void Work::make(std::uint64_t bytes) {
  const std::uint64_t made = bytes_made_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (made > limits_.bytes_made_max || made < bytes) {
    throw Failure({ErrorCode::too_large, "the operations of one call may make messages of " +
                                             std::to_string(limits_.bytes_made_max) +
                                             " bytes together: send fewer at once"});
  }
  if (limits_.reserve && !limits_.reserve(bytes))
    throw Failure({ErrorCode::unavailable, "there is too much in memory already: retry later"});
}

}  // namespace undertext
