// Optimistic concurrency: OperationOptions::expected_version.
#pragma once

#include <optional>
#include <string>

#include <undertext/operation.hpp>

namespace undertext {

// conflict: the operation expects another version than `head`.
inline std::optional<Error> check_expected_version(const OperationOptions& options, Version head) {
  if (!options.expected_version || *options.expected_version == head) return {};
  return Error{ErrorCode::conflict,
               "expected version " + std::to_string(options.expected_version->value) +
                   ", but the head is " + std::to_string(head.value),
               "expectedVersion"};
}

}  // namespace undertext
