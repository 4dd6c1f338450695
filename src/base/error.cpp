// The names of the error codes.
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

}  // namespace undertext
