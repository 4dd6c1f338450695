// Calls code that a user may have written: strategies and summarisers.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <undertext/compression.hpp>

namespace undertext {

// Returns what `call` returns. A Failure becomes its error, with its code. Any other exception
// becomes invalid_argument: the caller has to fix its code, which `kind` ("strategy", "summariser")
// and `name` identify. Throws only std::bad_alloc.
template <class Call>
auto call_user_code(const char* kind, std::string_view name, Call call) -> decltype(call()) {
  const auto threw = [&](const std::string& what) {
    return Error{ErrorCode::invalid_argument,
                 "the " + std::string(kind) + " " + std::string(name) + " threw" + what, kind};
  };
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Failure& failure) {
    return failure.error();
  } catch (const std::exception& exception) {
    return threw(std::string(": ") + exception.what());
  } catch (...) {
    return threw(" something that is no exception");
  }
}

// The plan of a strategy, with its tokens counted and the target of the aim; what it throws is an
// error, as above.
Result<Plan> plan_by(const Strategy& strategy, const History& history, const Aim& aim);

// Why a plan is refused by the survival policy of the aim, if it is: cannot_fit with the field
// "survival".
std::optional<Error> lacking_survival(const Plan& plan, const History& history, const Aim& aim);

// plan_by(); a plan that the survival policy refuses is its error. A plan that falls short is
// refused, or accepted if it frees something. cannot_fit: the aim cannot be reached; tokens_minimum
// is the least that can.
enum class IfShort : std::uint8_t { refuse, accept };
Result<Plan> plan_reaching(const Strategy& strategy, const History& history, const Aim& aim,
                           IfShort if_short);

}  // namespace undertext
