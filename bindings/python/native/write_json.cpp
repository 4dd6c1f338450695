#include "write_json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nb = nanobind;

namespace undertext_python {

namespace {

// Messages may be nested 128 deep, and stand a few levels inside of a request; the engine knows the
// exact limit. A cycle ends here.
constexpr int depth_max = 160;
constexpr std::size_t path_bytes_max = 256;

void write(PyObject* value, std::string& text, int depth);

// The exception that is set, as a reason; out of memory stays what it is.
[[noreturn]] void refuse_raised(const char* message) {
  if (PyErr_ExceptionMatches(PyExc_MemoryError) != 0 ||
      PyErr_ExceptionMatches(PyExc_Exception) == 0)
    throw nb::python_error();
  throw Refused{message, {}, {}, take_exception()};
}

std::array<bool, 256> made_escaped() {
  std::array<bool, 256> escaped{};
  for (std::size_t c = 0; c < 0x20; ++c) escaped[c] = true;
  escaped['"'] = escaped['\\'] = true;
  return escaped;
}
const std::array<bool, 256> is_escaped = made_escaped();

void append_escape(char c, std::string& text) {
  switch (c) {
    case '"': text += "\\\""; break;
    case '\\': text += "\\\\"; break;
    case '\n': text += "\\n"; break;
    case '\r': text += "\\r"; break;
    case '\t': text += "\\t"; break;
    case '\b': text += "\\b"; break;
    case '\f': text += "\\f"; break;
    default:
      constexpr std::string_view hex = "0123456789abcdef";
      text += "\\u00";
      text += hex[static_cast<unsigned char>(c) >> 4];
      text += hex[static_cast<unsigned char>(c) & 15];
  }
}

void append_quoted(std::string_view utf8, std::string& text) {
  text += '"';
  std::size_t copied = 0;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    if (!is_escaped[static_cast<unsigned char>(utf8[i])]) continue;
    text.append(utf8, copied, i - copied);
    append_escape(utf8[i], text);
    copied = i + 1;
  }
  text.append(utf8, copied, utf8.size() - copied);
  text += '"';
}

void write_string(PyObject* value, std::string& text) {
  if (PyUnicode_IS_COMPACT_ASCII(value)) {
    append_quoted({static_cast<const char*>(PyUnicode_DATA(value)),
                   static_cast<std::size_t>(PyUnicode_GET_LENGTH(value))},
                  text);
    return;
  }
  // Not PyUnicode_AsUTF8: that would leave a second copy in the caller's string for as long as it
  // lives.
  const nb::object utf8 = nb::steal(PyUnicode_AsUTF8String(value));
  if (!utf8.is_valid()) refuse_raised("has a lone surrogate, which no UTF-8 can hold");
  append_quoted(
      {PyBytes_AS_STRING(utf8.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(utf8.ptr()))},
      text);
}

void check_digits(std::size_t digits) {
  if (digits > digits_max) throw Refused{"is a number of too many digits", {}, {}, {}, "too_large"};
}

void write_long_int(PyObject* value, std::string& text) {
  const nb::object hex = nb::steal(PyNumber_ToBase(value, 16));
  if (!hex.is_valid()) throw nb::python_error();
  std::string_view digits = nb::borrow<nb::str>(hex).c_str();
  if (digits.starts_with('-')) {
    text += '-';
    digits.remove_prefix(1);
  }
  digits.remove_prefix(2);      // 0x
  check_digits(digits.size());  // a first time: what follows takes quadratic time
  const std::string decimal = other_base(digits, 16);
  check_digits(decimal.size());
  text += decimal;
}

void write_int(PyObject* value, std::string& text) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) {
    if (small == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    std::array<char, 24> digits{};
    text.append(digits.data(),
                std::to_chars(digits.data(), digits.data() + digits.size(), small).ptr);
    return;
  }
  const nb::object digits = nb::steal(integer_digits(value));
  if (digits.is_valid()) {
    const std::string_view decimal = nb::borrow<nb::str>(digits).c_str();
    check_digits(decimal.size() - (decimal.starts_with('-') ? 1 : 0));
    text += decimal;
  } else {
    if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) throw nb::python_error();
    PyErr_Clear();
    write_long_int(value, text);
  }
}

void write_float(PyObject* value, std::string& text) {
  const double number = PyFloat_AS_DOUBLE(value);
  if (!std::isfinite(number))
    throw Refused{std::isnan(number) ? "is NaN, which is no JSON" : "is infinite, which is no JSON",
                  {},
                  {},
                  {}};
  char* spelled = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
  if (spelled == nullptr) throw nb::python_error();
  text += spelled;
  PyMem_Free(spelled);
}

// Puts a step before the path of what was refused.
void step_in(Refused& refused, PyObject* key) {
  const nb::object utf8 = nb::steal(PyUnicode_AsUTF8String(key));
  if (!utf8.is_valid()) PyErr_Clear();
  const std::string name = utf8.is_valid() ? PyBytes_AS_STRING(utf8.ptr()) : "?";
  if (refused.field.empty()) refused.field = name;
  if (refused.path.size() < path_bytes_max) {
    refused.path =
        name + (refused.path.empty() || refused.path.starts_with('[') ? "" : ".") + refused.path;
  }
}

void step_in(Refused& refused, Py_ssize_t index) {
  if (refused.path.size() >= path_bytes_max) return;
  refused.path = "[" + std::to_string(index) + "]" +
                 (refused.path.empty() || refused.path.starts_with('[') ? "" : ".") + refused.path;
}

void write_member(PyObject* key, PyObject* value, std::string& text, int depth) {
  if (!PyUnicode_Check(key)) {
    throw Refused{"has a key that is no str, but " + class_name(key), {}, {}, {}};
  }
  try {
    if (text.back() != '{') text += ',';
    write_string(key, text);
    text += ':';
    write(value, text, depth);
  } catch (Refused& refused) {
    step_in(refused, key);
    throw;
  }
}

void write_dict(PyObject* dict, std::string& text, int depth) {
  text += '{';
  if (PyDict_CheckExact(dict)) {
    const Py_ssize_t size = PyDict_GET_SIZE(dict);
    Py_ssize_t place = 0;
    PyObject *key = nullptr, *value = nullptr;
    while (PyDict_Next(dict, &place, &key, &value) != 0) {
      // Held, because a value within may be of a class whose methods change this dict.
      const nb::object held_key = nb::borrow(key), held_value = nb::borrow(value);
      write_member(key, value, text, depth);
      if (PyDict_GET_SIZE(dict) != size) throw Refused{"changed while it was read", {}, {}, {}};
    }
  } else {
    // The order of an OrderedDict is its own.
    const nb::object items = nb::steal(PyMapping_Items(dict));
    if (!items.is_valid()) refuse_raised("cannot be read: its method items() raised");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.ptr()); ++i) {
      const nb::object item = nb::borrow(PyList_GET_ITEM(items.ptr(), i));
      if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) != 2)
        throw Refused{"has items that are no pairs", {}, {}, {}};
      write_member(PyTuple_GET_ITEM(item.ptr(), 0), PyTuple_GET_ITEM(item.ptr(), 1), text, depth);
    }
  }
  text += '}';
}

void write_list(PyObject* list, std::string& text, int depth) {
  text += '[';
  const bool is_list = PyList_Check(list);
  for (Py_ssize_t i = 0; i < (is_list ? PyList_GET_SIZE(list) : PyTuple_GET_SIZE(list)); ++i) {
    if (i > 0) text += ',';
    const nb::object element =
        nb::borrow(is_list ? PyList_GET_ITEM(list, i) : PyTuple_GET_ITEM(list, i));
    try {
      write(element.ptr(), text, depth);
    } catch (Refused& refused) {
      step_in(refused, i);
      throw;
    }
  }
  text += ']';
}

void check_depth(int depth) {
  if (depth == depth_max) throw Refused{"is nested too deeply, or contains itself", {}, {}, {}};
}

// An abstract class of Python's, once it is known. Never let go: the interpreter may be gone before
// this module is. A static of C++ would lock, and wait for the GIL meanwhile.
PyObject* mapping = nullptr;
PyObject* sequence = nullptr;

bool is_a(PyObject*& known, const char* name, PyObject* value) {
  if (known == nullptr)
    known = nb::object(nb::module_::import_("collections.abc").attr(name)).release().ptr();
  const int is = PyObject_IsInstance(value, known);
  if (is < 0) refuse_raised("cannot be read: its class raised");
  return is == 1;
}

// A message of calls alone has no content, and says so: without the member it is no message.
void keep_no_content(PyObject* value, PyObject* dict) {
  if (!PyDict_Check(dict) || PyDict_GetItemString(dict, "role") == nullptr ||
      PyDict_GetItemString(dict, "content") != nullptr)
    return;
  const nb::object content = nb::steal(PyObject_GetAttrString(value, "content"));
  if (!content.is_valid()) return PyErr_Clear();
  if (content.is_none() && PyDict_SetItemString(dict, "content", Py_None) != 0)
    throw nb::python_error();
}

// What an object of pydantic's says it is, which every SDK answers with; not valid for other
// objects.
nb::object dumped(PyObject* value) {
  const nb::object dump = nb::steal(PyObject_GetAttrString(value, "model_dump"));
  if (!dump.is_valid()) {
    PyErr_Clear();
    return {};
  }
  nb::dict how;
  how["mode"] = "json";
  how["by_alias"] = true;      // the provider's spelling, not Python's
  how["exclude_none"] = true;  // fields that nobody set
  nb::object dict = nb::steal(PyObject_Call(dump.ptr(), nb::make_tuple().ptr(), how.ptr()));
  if (!dict.is_valid()) refuse_raised("cannot be read: its method model_dump() raised");
  keep_no_content(value, dict.ptr());
  return dict;
}

// What only promises to be like a dict or a list, such as a mappingproxy or a range, and objects of
// pydantic's.
void write_other(PyObject* value, std::string& text, int depth) {
  if (is_a(mapping, "Mapping", value)) {
    check_depth(depth);
    write_dict(value, text, depth + 1);
  } else if (PyObject_CheckBuffer(value) == 0 && is_a(sequence, "Sequence", value)) {
    check_depth(depth);
    const nb::object list = nb::steal(PySequence_List(value));
    if (!list.is_valid()) refuse_raised("cannot be read: iterating over it raised");
    write_list(list.ptr(), text, depth + 1);
  } else if (const nb::object dict = PyType_Check(value) != 0 ? nb::object() : dumped(value);
             dict.is_valid()) {
    check_depth(depth);
    write(dict.ptr(), text, depth + 1);
  } else {
    throw Refused{"is of type " + class_name(value) + ", which is no JSON value", {}, {}, {}};
  }
}

void write(PyObject* value, std::string& text, int depth) {
  if (PyUnicode_Check(value)) {
    write_string(value, text);
  } else if (PyDict_Check(value)) {
    check_depth(depth);
    write_dict(value, text, depth + 1);
  } else if (PyList_Check(value) || PyTuple_Check(value)) {
    check_depth(depth);
    write_list(value, text, depth + 1);
  } else if (value == Py_None) {
    text += "null";
  } else if (PyBool_Check(value)) {
    text += value == Py_True ? "true" : "false";
  } else if (PyLong_Check(value)) {
    write_int(value, text);
  } else if (PyFloat_Check(value)) {
    write_float(value, text);
  } else {
    write_other(value, text, depth);
  }
}

}  // namespace

nb::object take_exception() {
#if PY_VERSION_HEX >= 0x030C0000
  return nb::steal(PyErr_GetRaisedException());
#else
  // What C raised may still be a class and its words.
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return nb::steal(value);
#endif
}

void write_json(PyObject* value, std::string& text) { write(value, text, 0); }

std::string other_base(std::string_view digits, int from) {
  // Limbs of the other base, the lowest first; each takes a group of digits at a time, and 64 bits
  // hold the product of two.
  const std::size_t group = from == 10 ? 9 : 7;
  const std::uint64_t group_base = from == 10 ? 1'000'000'000 : 1 << 28;
  const std::uint64_t limb_base = from == 10 ? 1 << 28 : 1'000'000'000;
  const std::size_t limb_digits = from == 10 ? 7 : 9;
  std::vector<std::uint64_t> limbs;
  for (std::size_t at = 0, size = digits.size() % group; at < digits.size();
       at += size, size = group) {
    if (size == 0) size = group;
    std::uint64_t carry = 0;
    std::from_chars(digits.data() + at, digits.data() + at + size, carry, from);
    for (std::uint64_t& limb : limbs) {
      carry += limb * group_base;
      limb = carry % limb_base;
      carry /= limb_base;
    }
    for (; carry > 0; carry /= limb_base) limbs.push_back(carry % limb_base);
  }
  std::string text;
  for (std::size_t i = limbs.size(); i-- > 0;) {
    std::array<char, 16> spelled{};
    const auto [end, fault] = std::to_chars(spelled.data(), spelled.data() + spelled.size(),
                                            limbs[i], from == 10 ? 16 : 10);
    const auto size = static_cast<std::size_t>(end - spelled.data());
    if (!text.empty()) text.append(limb_digits - size, '0');
    text.append(spelled.data(), size);
  }
  return text.empty() ? "0" : text;
}

}  // namespace undertext_python
