// JSON text of the library as Python values.
#pragma once

#include <string_view>

#include <nanobind/nanobind.h>

namespace undertext_python {

// Numbers become int or float, as Python's json reads them; a lone surrogate that was escaped stays one. `text` must be followed by a zero, as every text of the library is that
// is handed out. Throws nb::python_error. Needs the GIL.
nanobind::object read_json(std::string_view text);

}  // namespace undertext_python
