// A request body taken apart: the list of messages, what stands outside of it, and the rest.
#pragma once

#include <optional>
#include <string>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"

namespace undertext {

struct RequestBody {
  std::optional<JsonValue> list = {};  // an array; for Responses also a string
  std::optional<JsonValue> one = {};   // instead of it: a single message
  std::optional<JsonValue> top = {};
  std::string rest = "{}";
  bool is_response = false;  // `one` is a whole answer of Anthropic
};

// invalid_argument with the path. Borrows what `root` borrows.
Result<RequestBody> read_body(Dialect dialect, const JsonValue& root);

}  // namespace undertext
