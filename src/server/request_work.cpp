#include "server/request_work.hpp"

#include <string>
#include <thread>

#include "base/json_size.hpp"
#include "message/turn.hpp"

namespace undertext {
namespace {

// In the log, in the record that is stored, and in the same of a tenant.
constexpr std::uint64_t copies_of_made = 3;

// A block of a list that grows is there twice.
constexpr std::uint64_t bytes_per_object = 2 * sizeof(Block);

Error interrupted(std::string why) { return {ErrorCode::unavailable, std::move(why)}; }

}  // namespace

std::uint64_t blocks_bytes(std::string_view body) {
  return count_json_objects(body) * bytes_per_object;
}

std::shared_ptr<Work> work_of_request(http::Exchange& exchange, const std::string& tenant,
                                      const Stopping& stopping, FairShare& processors,
                                      const RequestLimits& limits) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  auto part = std::make_shared<FairShare::Part>(processors, tenant);
  return std::make_shared<Work>(WorkLimits{
      .interrupted = [&exchange, &stopping, limits, began,
                      part = std::move(part)]() -> Result<void> {
        const Clock::time_point now = Clock::now();
        if (const auto pause = part->pause(now); pause.count() > 0)
          std::this_thread::sleep_for(pause);
        const auto passed = now - began;
        if (passed >= limits.time) {
          const auto seconds =
              std::chrono::duration_cast<std::chrono::seconds>(limits.time).count();
          return interrupted("it took longer than " + std::to_string(seconds) +
                             " s: ask for less at once");
        }
        if (passed >= limits.time_after_gone && !exchange.is_open())
          return interrupted("the client has gone");
        if (stopping.is_over(limits.time_after_stop)) return interrupted("the server is stopping");
        return {};
      },
      .bytes_made_max = limits.bytes_made_max,
      .bytes_per_object = bytes_per_object,
      .reserve =
          [&exchange](std::uint64_t bytes) { return exchange.reserve(copies_of_made * bytes); }});
}

}  // namespace undertext
