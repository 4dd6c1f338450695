// How Python calls the library, and how the library calls Python: who holds the GIL, and what
// becomes of errors on either side.
//
// The GIL is let go around every call that may wait. So a callback can take it, on whichever thread
// it comes; and what is counted here without a lock is guarded by the GIL.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>
#include <undertext.h>

#include "write_json.hpp"

namespace undertext_python {

namespace nb = nanobind;

inline std::string_view view_of(const undertext_string& string) {
  return {string.data, string.size};
}
inline undertext_text text_of(std::string_view text) { return {text.data(), text.size()}; }

// A string of the library, given back at the end.
struct Answered {
  undertext_string string = {"", 0, nullptr};
  Answered() = default;
  Answered(const Answered&) = delete;
  Answered& operator=(const Answered&) = delete;
  ~Answered() { undertext_string_close(&string); }
  std::string_view view() const { return view_of(string); }
};

// The bytes of a str or bytes; throws Refused for anything else, and for lone surrogates. `name` is
// the caller's name of the argument.
class Text {
 public:
  explicit Text(nb::handle value, const char* name = "");
  undertext_text get() const { return text_; }

 private:
  nb::object held_;
  undertext_text text_;
};

// An argument that may be whatever there is, None too: it is read here, and refused by typed
// errors.
inline nb::arg anything() { return nb::arg().none(); }

// A value as JSON; the text lives as long as this. `name` is the caller's name of the argument.
class Json {
 public:
  explicit Json(nb::handle value, const char* name = "");
  undertext_text get() const { return text_of(text_); }

 private:
  std::string text_;
};

// What a provider sent: its text (str or bytes), or what that was read into.
class Payload {
 public:
  explicit Payload(nb::handle value);
  undertext_text get() const { return text_ ? text_->get() : json_->get(); }

 private:
  std::optional<Text> text_;
  std::optional<Json> json_;
};

// Lets the GIL go for as long as it lives. A thread that comes back while the interpreter ends
// stays away for ever: there is nothing left to come back to.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil();

 private:
  PyThreadState* state_;
};

// What a callback of this thread's call has raised, if anything.
class Raised {
 public:
  Raised();
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;
  ~Raised();
  // For the innermost call of this thread; forgotten where there is none. `words`: what the library
  // was told of it.
  // `refused`: why its answer was, if it was.
  static void keep(nb::object exception, std::string words, const Refused* refused);
  static bool is_anybody_calling();  // on this thread
  nb::object exception;
  std::string words;        // empty where the exception is ours: the callback's answer was refused
  std::string field, path;  // of what was refused

 private:
  Raised* outer_;
};

// Calls the library without the GIL, and raises what it says has failed. `work` gets where the
// error is to be put, and answers the status.
template <class Work>
void call(Work work);

// Raises the error of a status; `error` is its JSON, or empty.
[[noreturn]] void raise(undertext_status status, std::string_view error, const Raised& raised);
[[noreturn]] void raise(const Refused& refused);
// `what` is a field of an error; `name` says which one, where it has a name.
[[noreturn]] void raise_closed(const char* what, const std::string& name = {});
void begin_the_end();  // from now on this thread closes everything, and the process ends

// The function of undertext._errors that makes an exception from a code and an error object.
void set_error_maker(nb::object maker);

template <class Work>
void call(Work work) {
  Answered error;
  Raised raised;
  undertext_status status = UNDERTEXT_OK;
  {
    const WithoutGil released;
    status = work(&error.string);
  }
  if (status != UNDERTEXT_OK) raise(status, error.view(), raised);
}

// The answer to a line of the protocol, read; `work` gets where it is to be put. Raises the error
// in it.
template <class Work>
nb::object answer_of(Work work);

nb::object read_answer(undertext_status status, std::string_view answer, const Raised& raised);

template <class Work>
nb::object answer_of(Work work) {
  Answered answer;
  Raised raised;
  undertext_status status = UNDERTEXT_OK;
  {
    const WithoutGil released;
    status = work(&answer.string);
  }
  return read_answer(status, answer.view(), raised);
}

// Python, entered from the library for a callback. Not while the interpreter ends.
class Entered {
 public:
  Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered();
  explicit operator bool() const { return is_in_; }
  static bool is_inside();  // whether this thread is in a callback

 private:
  bool is_in_;
  PyGILState_STATE state_{};
};

// What holds objects of Python's as the context of a callback ends by this undertext_end. While the
// interpreter is ending it takes its objects along.
template <class Context>
void end_callback(void* context) {
  const Entered python;
  if (python) delete static_cast<Context*>(context);
}

// In a child of fork(): the others did not come along.
void forget_others();
// From here on nobody enters but this thread; waits for those who are inside.
void leave_python();

// The exception of a callback as a status, with words for people: that of an UndertextError, else
// `otherwise`. Needs the GIL.
undertext_status status_of(nb::python_error& error, undertext_string* words,
                           undertext_status otherwise, const Refused* refused = nullptr);

// What a callback answers with; throws std::bad_alloc.
void answer_with(undertext_text text, undertext_string* to);

// Runs a callback of Python's, and turns what it raises into a status with words. By default the
// caller has to fix the callback.
template <class Work>
undertext_status in_python(undertext_string* words, Work work,
                           undertext_status otherwise = UNDERTEXT_INVALID_ARGUMENT) {
  const Entered python;
  if (!python) {
    undertext_string_copy(undertext_text_of("the interpreter is ending"), words);
    return UNDERTEXT_UNAVAILABLE;
  }
  try {
    work();
    return UNDERTEXT_OK;
  } catch (nb::python_error& error) {
    return status_of(error, words, otherwise);
  } catch (const Refused& refused) {
    try {
      raise(refused);
    } catch (nb::python_error& error) {
      return status_of(error, words, otherwise, &refused);
    }
  } catch (const std::bad_alloc&) {
    return UNDERTEXT_OUT_OF_MEMORY;
  } catch (const std::exception& exception) {
    undertext_string_copy(undertext_text_of(exception.what()), words);
    return UNDERTEXT_INTERNAL;
  }
}

}  // namespace undertext_python
