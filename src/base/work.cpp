#include <undertext/work.hpp>

#include <string>
#include <utility>

namespace undertext {

void Work::go_on() const {
  if (!limits_.interrupted) return;
  if (std::optional<Error> why = limits_.interrupted()) throw Failure(std::move(*why));
}

void Work::make(std::uint64_t bytes) {
  const std::uint64_t made = bytes_made_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (made > limits_.bytes_made_max || made < bytes) {
    throw Failure({ErrorCode::too_large, "the operations of one call may make messages of " +
                                             std::to_string(limits_.bytes_made_max) + " bytes together: send fewer at once"});
  }
  if (limits_.reserve && !limits_.reserve(bytes))
    throw Failure({ErrorCode::unavailable, "there is too much in memory already: retry later"});
}

}  // namespace undertext
