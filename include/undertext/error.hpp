// How Undertext fails: an Error value with a code that tells the caller what to do next.
//
//     Result<Message> message = Message::parse(text);
//     if (!message) std::cerr << name(message.error().code) << ": " << message.error().message;
//     use(*message);            // or message.value(), which throws Failure instead
//
// A function that returns Result has changed nothing when it returns an error; where it answers
// nothing else, it returns Result<void>. Running out of memory is not an Error: std::bad_alloc
// passes through, and the value the function was called on is as it was before. The headers compile
// without exceptions too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <undertext/export.hpp>

namespace undertext {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // fix the call; `field` says which part of it
  not_found,         // what was named never existed
  conflict,          // another writer was first: reload and retry
  cannot_fit,        // no legal result is small enough
  corrupt,           // stored data fails its checks
  unavailable,       // retry later
  unsupported,       // this build or version does not do that
  too_large,         // over a configured limit
  internal,          // a bug in Undertext
  denied,            // no or not enough rights: another token, name or origin is needed
};
inline constexpr std::size_t error_code_count = 10;

// The code's name on every wire and in every language, such as "invalid_argument".
UNDERTEXT_API std::string_view name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // for a person: what is wrong and what to do
  // the field at fault, such as "content"; empty when none is
  std::string field = {};
  // where it stands, such as "messages[2].content"; empty at the top
  std::string path = {};
  std::optional<std::uint64_t> operation_index = {};  // which operation of an atomic list
  // where in the text, for malformed JSON and UTF-8
  std::optional<std::uint64_t> byte_offset = {};
  // the least that could be reached, for cannot_fit
  std::optional<std::uint64_t> tokens_minimum = {};
};

// What Result::value() throws when there is none.
class UNDERTEXT_API Failure : public std::runtime_error {
 public:
  explicit Failure(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

[[noreturn]] UNDERTEXT_API void throw_failure(Error error);

// Either a T or an Error. Test it before `*`; value() tests for you and throws.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : either_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : either_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const noexcept { return either_.index() == 0; }
  T& operator*() & { return std::get<0>(either_); }
  const T& operator*() const& { return std::get<0>(either_); }
  T operator*() && { return std::get<0>(std::move(either_)); }
  T* operator->() & { return &std::get<0>(either_); }
  const T* operator->() const& { return &std::get<0>(either_); }
  T* operator->() && = delete;  // would point into a Result that is gone at the end of the line
  const Error& error() const { return std::get<1>(either_); }
  Error& error() { return std::get<1>(either_); }

  T value() && {
    if (!*this) throw_failure(std::move(error()));
    return std::get<0>(std::move(either_));
  }
  const T& value() const& {
    if (!*this) throw_failure(error());
    return std::get<0>(either_);
  }

 private:
  std::variant<T, Error> either_;
};

// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  Result(std::optional<Error> error) : error_(std::move(error)) {}

  explicit operator bool() const noexcept { return !error_; }
  const Error& error() const { return *error_; }
  Error& error() { return *error_; }
  void value() const {
    if (error_) throw_failure(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace undertext
