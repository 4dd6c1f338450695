#include "server/readiness.hpp"

#include <exception>

namespace undertext {
namespace {

constexpr std::chrono::seconds between_questions{1};
constexpr std::chrono::seconds patience{5};

Error silent() { return {ErrorCode::unavailable, "the store does not answer"}; }

}  // namespace

std::optional<Error> Readiness::look(Clock::time_point now) {
  {
    const std::lock_guard lock(lock_);
    if (is_asking_) return now - *asked_at_ > patience ? silent() : said_;
    if (asked_at_ && now - *asked_at_ < between_questions) return said_;
    if (!asked_at_) said_ = silent();
    is_asking_ = true;
    asked_at_ = now;
  }
  std::optional<Error> says;
  try {
    says = ask_();
  } catch (const Failure& failure) {
    says = failure.error();
  } catch (const std::exception&) {
    says = silent();
  }
  const std::lock_guard lock(lock_);
  is_asking_ = false;
  said_ = says;
  return says;
}

}  // namespace undertext
