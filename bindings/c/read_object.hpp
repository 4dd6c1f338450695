// Small JSON objects that come in as options, and the time they came.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "handles.hpp"
#include "json/fields.hpp"

namespace undertext::c {

inline std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Reads an object by `read(fields)`; what it leaves over is an error. An empty text is as if the
// object had no members.
template <class Read>
std::optional<Error> read_object(undertext_text json, std::string_view what, Read read) {
  const Result<JsonText> text =
      JsonText::parse(json.size == 0 ? std::string_view("{}") : view_of(json), {});
  if (!text) return text.error();
  if (!text->root().is(JsonType::object))
    return Error{ErrorCode::invalid_argument, std::string(what) + " must be a JSON object"};
  Reading reading;
  Fields fields(text->root(), what, reading);
  read(fields);
  fields.done();
  if (reading.failed()) return reading.take_error();
  return std::nullopt;
}

}  // namespace undertext::c
