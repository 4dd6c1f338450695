// The names of the error codes, and the one place that throws for Result::value().
#include <undertext/error.hpp>

namespace undertext {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::cannot_fit: return "cannot_fit";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::too_large: return "too_large";
    case ErrorCode::internal: return "internal";
    case ErrorCode::denied: return "denied";
  }
  return "internal";
}

void throw_failure(Error error) { throw Failure(std::move(error)); }

}  // namespace undertext
