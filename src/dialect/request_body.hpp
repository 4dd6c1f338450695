// A request body taken apart: the list of messages, what stands outside of it, and the rest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"

namespace undertext {

struct RequestBody {
  // an array; for Responses also a string, for Gemini also the only object of a list
  std::optional<JsonValue> list = {};
  std::optional<JsonValue> one = {};  // instead of it: a single message
  std::optional<JsonValue> top = {};
  std::string rest = "{}";
  bool is_response = false;    // `one` is a whole answer of Anthropic
  std::size_t candidates = 0;  // of a response: how many there are; `one` is the first
};

// The objects of the list, and whatever else stands in it. Of a text: none.
std::vector<JsonValue> listed_in(const RequestBody& body);

// invalid_argument with the path. Borrows what `root` borrows.
Result<RequestBody> read_body(Dialect dialect, const JsonValue& root);

}  // namespace undertext
