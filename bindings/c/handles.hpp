// What stands behind the handles of undertext.h, and how C++ ends at this door.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <undertext/conversation.hpp>
#include <undertext/dialect.hpp>
#include <undertext/error.hpp>
#include <undertext/store.hpp>

#include "undertext.h"

struct undertext_store {
  std::shared_ptr<undertext::Store> store;
};

struct undertext_settings {
  undertext::Settings own;            // what JSON cannot hold: summarisers and strategies
  std::optional<std::string> config;  // the JSON that was read
};

struct undertext_conversation {
  undertext::Conversation conversation;
  std::mutex mutex = {};
  std::stop_source waiting =
      // of what waits in undertext_answer(); guarded by the mutex, and taken for a new one when it
      // was used
      {};
};

struct undertext_view {
  undertext::History history;
  undertext::View view;
  undertext::Settings settings = {};
  std::string counting = {};
  std::optional<undertext::Aim> aim = {};
};

struct undertext_cancel {
  std::stop_token token;
};

struct undertext_subscription {
  undertext::Subscription subscription;
};

struct undertext_stream {
  undertext::StreamAssembler assembler;
};

namespace undertext::c {

using Failed = std::optional<Error>;

inline std::string_view view_of(undertext_text text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}
inline undertext_text text_of(std::string_view text) { return {text.data(), text.size()}; }

undertext_status status_of(ErrorCode code);
ErrorCode code_of(undertext_status status);  // of a failure; internal for what is none

void clear(undertext_string* string);                   // whatever it held is not given back
void give(undertext_string* string, std::string text);  // null: nobody wants it

// The status of `error`, and the error itself for whoever wants it.
undertext_status fail(const Error& error, undertext_string* to) noexcept;

// Runs `work`, which answers an error or nothing. Whatever it throws becomes a status.
template <class Work>
undertext_status guarded(undertext_string* error, Work work) noexcept {
  clear(error);
  try {
    if (const Result<void> done = work(); !done) return fail(done.error(), error);
    return UNDERTEXT_OK;
  } catch (const std::bad_alloc&) {
    return UNDERTEXT_OUT_OF_MEMORY;
  } catch (const Failure& failure) {
    return fail(failure.error(), error);
  } catch (const std::exception& exception) {
    return fail({ErrorCode::internal, exception.what()}, error);
  } catch (...) {
    return fail({ErrorCode::internal, "an exception of no known kind"}, error);
  }
}

// The same of work on a handle, which gets what the handle is.
template <class Handle, class Work>
undertext_status guarded(Handle* handle, undertext_string* error, Work work) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (handle == nullptr) return Error{ErrorCode::invalid_argument, "the handle is NULL"};
    return work(*handle);
  });
}

// Of a function of the caller's that is not there. It ends the work that guarded() runs.
template <class Function>
void must_be_function(Function* function, const char* name) {
  if (function == nullptr)
    throw Failure({ErrorCode::invalid_argument, "must be a function, and is NULL", name});
}

// A string that a callback answered with.
struct Answered {
  undertext_string string = {"", 0, nullptr};
  Answered() = default;
  explicit Answered(undertext_string given) : string(given) {}
  Answered(const Answered&) = delete;
  Answered& operator=(const Answered&) = delete;
  ~Answered() { undertext_string_close(&string); }
  std::string_view text() const {
    return string.size == 0 ? std::string_view() : std::string_view(string.data, string.size);
  }
};

// What a callback of the caller's failed with. Throws std::bad_alloc where that is what it says.
Error failure(undertext_status status, const std::string& who, std::string_view said);

// The context of a callback. Its end is called when the last user of it is gone, if the function
// that took it has said that it succeeded.
class Context {
 public:
  Context(void* context, undertext_end end) : context_(context), end_(end) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    if (taken_ && end_ != nullptr) end_(context_);
  }
  void take() { taken_ = true; }
  void* get() const { return context_; }

 private:
  void* context_;
  undertext_end end_;
  bool taken_ = false;
};

}  // namespace undertext::c
