// Python values as JSON text: what may be in a message, and nothing else.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

namespace undertext_python {

// A value that is not what it should be, such as no JSON: where it stands, and why.
struct Refused {
  std::string message;
  std::string field;       // the name of the innermost member
  std::string path;        // such as messages[2].content
  nanobind::object cause;  // what code of the caller's raised, if it was that
  const char* code = "invalid_argument";
};

// The exception that is set, which is then set no more.
nanobind::object take_exception();

// Appends `value` to `text`. Takes None, bool, int, float, str, dict, list, tuple and what is
// derived from them, other mappings and sequences but for bytes and the like, and what has a method
// model_dump(), as objects of pydantic's have.
// Reads str, int and float by their value, without asking their methods. Throws Refused. Needs the
// GIL.
void write_json(PyObject* value, std::string& text);

// How many decimal digits an int has at most, written or read.
inline constexpr std::size_t digits_max = 100'000;
// The digits of a number written in base `from` (10 or 16), in the other base: Python itself
// refuses long ones, for they take quadratic time.
std::string other_base(std::string_view digits, int from);

}  // namespace undertext_python
