#include "handles.hpp"

#include <cstring>

#include <undertext/undertext.hpp>

#include "json/answer_json.hpp"

namespace undertext::c {

// A status is the code's number plus 1, or plus 2 behind UNDERTEXT_OUT_OF_MEMORY, which is no code.
static_assert(static_cast<int>(ErrorCode::invalid_argument) + 1 == UNDERTEXT_INVALID_ARGUMENT);
static_assert(static_cast<int>(ErrorCode::internal) + 1 == UNDERTEXT_INTERNAL);
static_assert(static_cast<int>(ErrorCode::denied) + 2 == UNDERTEXT_DENIED &&
              error_code_count + 1 == UNDERTEXT_DENIED);

undertext_status status_of(ErrorCode code) {
  return static_cast<undertext_status>(code) + (code <= ErrorCode::internal ? 1 : 2);
}

ErrorCode code_of(undertext_status status) {
  if (status >= UNDERTEXT_INVALID_ARGUMENT && status <= UNDERTEXT_INTERNAL)
    return static_cast<ErrorCode>(status - 1);
  if (status > UNDERTEXT_OUT_OF_MEMORY && status <= UNDERTEXT_DENIED)
    return static_cast<ErrorCode>(status - 2);
  return ErrorCode::internal;
}

void clear(undertext_string* string) {
  if (string != nullptr) *string = {"", 0, nullptr};
}

void give(undertext_string* string, std::string text) {
  if (string == nullptr) return;
  auto* owner = new std::string(std::move(text));
  *string = {owner->c_str(), owner->size(), owner};
}

undertext_status fail(const Error& error, undertext_string* to) noexcept {
  try {
    std::string json;
    append_json(json, error);
    give(to, std::move(json));
  } catch (...) {
    clear(to);  // no memory for the words: the status still tells
  }
  return status_of(error.code);
}

Error failure(undertext_status status, const std::string& who, std::string_view said) {
  if (status == UNDERTEXT_OUT_OF_MEMORY) throw std::bad_alloc();
  return {code_of(status), who + (said.empty() ? " failed" : ": " + std::string(said))};
}

}  // namespace undertext::c

using namespace undertext;

undertext_text undertext_text_of(const char* zero_terminated) {
  return {zero_terminated, zero_terminated == nullptr ? 0 : std::strlen(zero_terminated)};
}

void undertext_string_close(undertext_string* string) {
  if (string == nullptr) return;
  delete static_cast<std::string*>(string->owner);
  c::clear(string);
}

undertext_status undertext_string_copy(undertext_text text, undertext_string* string) {
  return c::guarded(string, [&]() -> c::Failed {
    c::give(string, std::string(c::view_of(text)));
    return std::nullopt;
  });
}

uint32_t undertext_abi_version() { return 1; }

// a literal, which ends in a zero
const char* undertext_library_version() { return library_version().data(); }

const char* undertext_status_name(undertext_status status) {
  if (status == UNDERTEXT_OK) return "ok";
  if (status == UNDERTEXT_OUT_OF_MEMORY) return "out_of_memory";
  return name(c::code_of(status)).data();  // literals, too
}
