// What crosses between JavaScript and undertext.h: texts, numbers, failures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <node_api.h>
#include <undertext.h>

#include "env.hpp"

namespace undertext::node {

inline undertext_text text_of(std::string_view text) { return {text.data(), text.size()}; }

// A string that the library gave.
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& other) noexcept : string_(std::exchange(other.string_, {"", 0, nullptr})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(string_, other.string_);
    return *this;
  }
  ~Owned() { undertext_string_close(&string_); }
  undertext_string* out() { return &string_; }
  std::string_view view() const { return {string_.data, string_.size}; }

 private:
  undertext_string string_ = {"", 0, nullptr};
};

// What is thrown within the addon where JavaScript is to see a failure; `json` is the error object
// of the protocol.
struct Refused {
  undertext_status status;
  std::string json;
};
// `field` is what `message` speaks of ("id", "must be a string"). Both are ours, and need no
// escapes.
Refused refused(undertext_status status, std::string_view field, std::string_view message);
// JavaScript has thrown already.
struct Pending {};

// An Error whose `code` is the name of the status and whose `message` is the error object of the
// protocol.
napi_value error_value(napi_env env, undertext_status status, std::string_view json);

inline void check(napi_status status) {
  if (status == napi_pending_exception) throw Pending();
  if (status != napi_ok) throw refused(UNDERTEXT_INTERNAL, "", "Node-API refused a call");
}

// A string of JavaScript in UTF-8, or the bytes of a Uint8Array. Short ones need no memory.
// invalid_argument: it is neither, or holds a lone surrogate, which UTF-8 cannot say.
class TextIn {
 public:
  TextIn(napi_env env, napi_value value, const char* name);
  undertext_text text() const { return {data_, size_}; }
  std::string copy() const { return {data_, size_}; }

 private:
  std::array<char, 4096> short_;
  std::string long_;
  const char* data_ = short_.data();
  std::size_t size_ = 0;
};

std::string read_text(napi_env env, napi_value value, const char* name);

// A text for later: one string, or the pieces of a long one, which are put together off the loop.
class Pieces {
 public:
  Pieces(napi_env env, napi_value value, const char* name);
  std::string join();

 private:
  std::vector<std::string> pieces_;
};
void define_text(napi_env env);
napi_value make_text_object(napi_env env);  // add(string)

// An integer from 0 to 2^53; `missing` where it is undefined.
std::uint64_t read_count(napi_env env, napi_value value, const char* name,
                         std::optional<std::uint64_t> missing = {});
bool is(napi_env env, napi_value value, napi_valuetype type);

napi_value make_text(napi_env env, std::string_view text);
napi_value make_number(napi_env env, double number);
napi_value make_undefined(napi_env env);

// What a call comes to, off the loop or on it.
struct Reply {
  undertext_status status = UNDERTEXT_OK;
  Owned error = {};
  std::variant<std::monostate, Owned, std::vector<double>, std::shared_ptr<undertext_conversation>,
               std::shared_ptr<undertext_store>>
      value = {};
};

// Shares a handle among all who use it. The last of them ends it, and not on the loop: that may
// wait for a callback, which may wait for the loop.
template <class Handle>
std::shared_ptr<Handle> share(Env& env, Handle* handle, void (*close)(Handle*)) {
  if (handle == nullptr) return nullptr;
  return {handle, [kept = env.shared_from_this(), close](Handle* ended) {
            if (kept->on_loop() && !kept->is_ending()) {
              kept->pool().submit([=] { close(ended); });
            } else {
              close(ended);
            }
          }};
}

std::vector<double> numbers_of(std::uint64_t version, const undertext_stats& stats);

// ---- Objects of JavaScript that stand for something here ----

class Wrapped {
 public:
  explicit Wrapped(Kind kind) : kind_(kind) {}
  Wrapped(const Wrapped&) = delete;
  Wrapped& operator=(const Wrapped&) = delete;
  virtual ~Wrapped() = default;
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

using Method = napi_value (*)(napi_env, napi_callback_info);
void define_class(napi_env env, Kind kind, const char* name,
                  std::initializer_list<std::pair<const char*, Method>> methods);
napi_value wrap(napi_env env, std::unique_ptr<Wrapped> object);

// A call from JavaScript, with up to five arguments; the missing ones are undefined.
struct Call {
  Call(napi_env in, napi_callback_info info);
  napi_env env;
  napi_value self = nullptr;
  std::array<napi_value, 5> arguments = {};
  napi_value operator[](std::size_t index) const { return arguments[index]; }

  template <class Object>
  Object& on() const {
    return static_cast<Object&>(unwrap(Object::kind_of));
  }

 private:
  Wrapped& unwrap(Kind kind) const;
};

// Throws into JavaScript what `Refused` or C++ says.
napi_value throw_now(napi_env env) noexcept;

// A function of the addon: its failures become errors of JavaScript.
template <napi_value (*Work)(const Call&)>
napi_value method(napi_env env, napi_callback_info info) noexcept {
  try {
    return Work(Call(env, info));
  } catch (...) {
    return throw_now(env);
  }
}

}  // namespace undertext::node
