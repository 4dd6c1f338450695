#include "read_json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "write_json.hpp"

namespace nb = nanobind;

namespace undertext_python {

namespace {

// The text comes from the library, which has checked it: what follows is quick because it does not
// check again, and still never reads beyond the end.
class Reader {
 public:
  explicit Reader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  nb::object read() {
    nb::object value = read_value();
    skip_space();
    if (at_ != end_) fail();
    return value;
  }

 private:
  [[noreturn]] static void fail() {
    PyErr_SetString(PyExc_SystemError, "Undertext answered with what is no JSON");
    throw nb::python_error();
  }

  static nb::object checked(PyObject* made) {
    if (made == nullptr) throw nb::python_error();
    return nb::steal(made);
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  void need(char c) {
    if (!take(c)) fail();
  }

  void need_word(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() ||
        std::memcmp(at_, word.data(), word.size()) != 0)
      fail();
    at_ += word.size();
  }

  nb::object read_value() {
    skip_space();
    if (at_ == end_) fail();
    switch (*at_) {
      case '{': return read_object();
      case '[': return read_array();
      case '"': {
        const std::string_view raw = take_string();
        return string_of(raw);
      }
      case 't': need_word("true"); return nb::borrow(Py_True);
      case 'f': need_word("false"); return nb::borrow(Py_False);
      case 'n': need_word("null"); return nb::none();
      default: return read_number();
    }
  }

  nb::object read_object() {
    ++at_;
    nb::object object = checked(PyDict_New());
    if (take('}')) return object;
    do {
      skip_space();
      if (at_ == end_ || *at_ != '"') fail();
      const nb::object key = key_of(take_string());
      need(':');
      const nb::object value = read_value();
      if (PyDict_SetItem(object.ptr(), key.ptr(), value.ptr()) != 0) throw nb::python_error();
    } while (take(','));
    need('}');
    return object;
  }

  nb::object read_array() {
    ++at_;
    nb::object array = checked(PyList_New(0));
    if (take(']')) return array;
    do {
      const nb::object value = read_value();
      if (PyList_Append(array.ptr(), value.ptr()) != 0) throw nb::python_error();
    } while (take(','));
    need(']');
    return array;
  }

  // What stands between the quotes, as it stands there.
  std::string_view take_string() {
    const char* first = ++at_;
    while (true) {
      const void* quote = std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_));
      if (quote == nullptr) fail();
      const char* last = static_cast<const char*>(quote);
      at_ = last + 1;
      std::size_t backslashes = 0;
      while (last - backslashes != first &&
             last[-1 - static_cast<std::ptrdiff_t>(backslashes)] == '\\')
        ++backslashes;
      if (backslashes % 2 == 0) return {first, static_cast<std::size_t>(last - first)};
    }
  }

  // Keys come again and again: an answer of many messages has few different ones.
  static nb::object key_of(std::string_view raw) {
    if (raw.empty() || raw.size() > 32) return string_of(raw);
    static std::array<PyObject*, 256> known{};
    const auto byte = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(raw[i]));
    };
    PyObject*& place =
        known[(byte(0) * 31 + byte(raw.size() / 2) * 7 + byte(raw.size() - 1) * 3 + raw.size()) %
              known.size()];
    if (place != nullptr && static_cast<std::size_t>(PyUnicode_GET_LENGTH(place)) == raw.size() &&
        std::memcmp(PyUnicode_DATA(place), raw.data(), raw.size()) == 0) {
      return nb::borrow(place);
    }
    nb::object key = string_of(raw);
    // Then it is ASCII: everything else has fewer characters than bytes here.
    if (static_cast<std::size_t>(PyUnicode_GET_LENGTH(key.ptr())) == raw.size()) {
      Py_XDECREF(place);
      place = nb::object(key).release().ptr();
    }
    return key;
  }

  static nb::object string_of(std::string_view raw) {
    if (raw.find('\\') == std::string_view::npos) {
      return checked(
          PyUnicode_DecodeUTF8(raw.data(), static_cast<Py_ssize_t>(raw.size()), "strict"));
    }
    const std::string text = unescaped(raw);
    return checked(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
  }

  static std::uint32_t unit_of(std::string_view raw, std::size_t at) {
    std::uint32_t unit = 0;
    if (raw.size() < at + 4) fail();
    std::from_chars(raw.data() + at, raw.data() + at + 4, unit, 16);
    return unit;
  }

  static void append_utf8(std::uint32_t c, std::string& text) {
    const auto add = [&](std::uint32_t byte) {
      text += static_cast<char>(static_cast<unsigned char>(byte));
    };
    if (c < 0x80) {
      add(c);
    } else if (c < 0x800) {
      add(0xC0 | c >> 6), add(0x80 | (c & 63));
    } else if (c < 0x10000) {
      add(0xE0 | c >> 12), add(0x80 | (c >> 6 & 63)), add(0x80 | (c & 63));
    } else {
      add(0xF0 | c >> 18), add(0x80 | (c >> 12 & 63)), add(0x80 | (c >> 6 & 63)),
          add(0x80 | (c & 63));
    }
  }

  static std::string unescaped(std::string_view raw) {
    std::string text;
    text.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '\\') {
        text += raw[i];
        continue;
      }
      if (++i == raw.size()) fail();
      constexpr std::string_view letters = "bfnrt", meant = "\b\f\n\r\t";
      if (const std::size_t which = letters.find(raw[i]); which != std::string_view::npos) {
        text += meant[which];
      } else if (raw[i] != 'u') {
        text += raw[i];  // a quote, a backslash or a slash
      } else {
        std::uint32_t c = unit_of(raw, i + 1);
        i += 4;
        const bool is_high = c >= 0xD800 && c < 0xDC00;
        if (is_high && raw.substr(i + 1, 2) == "\\u") {
          if (const std::uint32_t low = unit_of(raw, i + 3); low >= 0xDC00 && low < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            i += 6;
          }
        }
        append_utf8(c, text);
      }
    }
    return text;
  }

  nb::object read_number() {
    const char* first = at_;
    bool is_whole = true;
    while (at_ != end_ && std::strchr("+-.0123456789eE", *at_) != nullptr && *at_ != '\0') {
      is_whole = is_whole && *at_ != '.' && *at_ != 'e' && *at_ != 'E';
      ++at_;
    }
    const std::string_view digits(first, static_cast<std::size_t>(at_ - first));
    if (digits.empty()) fail();
    if (!is_whole) {
      // Ends at the first character that belongs to no number.
      const double number = PyOS_string_to_double(first, const_cast<char**>(&at_), nullptr);
      if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
      return checked(PyFloat_FromDouble(number));
    }
    long long small = 0;
    if (const auto [end, fault] =
            std::from_chars(digits.data(), digits.data() + digits.size(), small);
        fault == std::errc()) {
      return checked(PyLong_FromLongLong(small));
    }
    return long_int_of(digits);
  }

  static nb::object long_int_of(std::string_view digits) {
    const bool is_negative = digits.starts_with('-');
    if (is_negative) digits.remove_prefix(1);
    // Beyond every double, and read as such numbers are: one of them must not make all that stands
    // around it unreadable.
    if (digits.size() > digits_max)
      return checked(PyFloat_FromDouble(is_negative ? -HUGE_VAL : HUGE_VAL));
    const std::string hex = (is_negative ? "-" : "") + other_base(digits, 10);
    return checked(PyLong_FromString(hex.c_str(), nullptr, 16));
  }

  const char* at_;
  const char* end_;
};

}  // namespace

nb::object read_json(std::string_view text) { return Reader(text).read(); }

}  // namespace undertext_python
