// JSON text of the library as Python values.
#pragma once

#include <string_view>

#include <nanobind/nanobind.h>

namespace undertext_python {

// Numbers become int or float, as Python's json reads them, an int of more than `digits_max` digits
// infinity; a lone surrogate that was escaped stays one. `text` is an object or a list, or ends in
// a zero that it does not count: a number is read up to what follows it. Throws nb::python_error.
// Needs the GIL.
nanobind::object read_json(std::string_view text);

}  // namespace undertext_python
