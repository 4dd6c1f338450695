#include "calls.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "read_json.hpp"

namespace undertext_python {

namespace {

// Never destroyed: the interpreter may be gone before the statics of this module are.
nb::object& error_maker() {
  static auto* maker = new nb::object;
  return *maker;
}

thread_local Raised* innermost = nullptr;
thread_local int depth_inside = 0;

// Those who wait for the GIL, or are in a callback. Each adds itself first and looks whether it may
// second; whoever ends forbids first and counts second. So none slips through.
std::atomic<int> inside = 0;
std::atomic<bool> is_leaving = false;
thread_local bool is_last = false;  // the thread that ends the interpreter

std::thread::id ends_the_process;  // read and set with the GIL

[[noreturn]] void wait_for_the_end() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool come_in() {
  inside.fetch_add(1);
  return is_last || !is_leaving.load();
}

void go_out() {
  if (inside.fetch_sub(1) == 1) inside.notify_all();
}

// Says where it stands in an error that does not.
void put_place(nb::object& error, const std::string& field, const std::string& path) {
  if (field.empty() || !PyDict_Check(error.ptr()) ||
      PyDict_GetItemString(error.ptr(), "field") != nullptr)
    return;
  error["field"] = nb::str(field.c_str());
  if (!path.empty() && path != field) error["path"] = nb::str(path.c_str());
}

[[noreturn]] void raise_made(const char* code, nb::object error, const nb::object& cause) {
  nb::object exception = error_maker()(code, error);
  if (cause.is_valid()) PyException_SetCause(exception.ptr(), nb::object(cause).release().ptr());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

[[noreturn]] void raise_again(const Raised& raised) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.exception.ptr())),
                  raised.exception.ptr());
  throw nb::python_error();
}

// What is no Exception (KeyboardInterrupt, SystemExit) is not ours to wrap.
void raise_if_greater(const Raised& raised) {
  if (!raised.exception.is_valid() ||
      PyObject_IsInstance(raised.exception.ptr(), PyExc_Exception) == 1)
    return;
  raise_again(raised);
}

// An error that only repeats what code of the caller's raised is that exception, with its type and
// its traceback. Where the call went on after it and failed for another reason, the exception is
// that error's cause.
void raise_if_told(const Raised& raised, nb::handle error) {
  if (!raised.exception.is_valid() || raised.words.empty() || !PyDict_Check(error.ptr())) return;
  PyObject* message = PyDict_GetItemString(error.ptr(), "message");
  const nb::object words = nb::steal(PyUnicode_DecodeUTF8(
      raised.words.data(), static_cast<Py_ssize_t>(raised.words.size()), "replace"));
  if (message == nullptr || !words.is_valid() || PyUnicode_Contains(message, words.ptr()) != 1)
    return PyErr_Clear();
  raise_again(raised);
}

}  // namespace

Text::Text(nb::handle value, const char* name) {
  if (PyBytes_Check(value.ptr())) {
    held_ = nb::borrow(value);
  } else if (PyUnicode_Check(value.ptr())) {
    held_ = nb::steal(PyUnicode_AsUTF8String(value.ptr()));
    if (!held_.is_valid())
      throw Refused{"has a lone surrogate, which no UTF-8 can hold", name, name, take_exception()};
  } else {
    throw Refused{"must be str or bytes, not " + class_name(value.ptr()), name, name, {}};
  }
  text_ = {PyBytes_AS_STRING(held_.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(held_.ptr()))};
}

Json::Json(nb::handle value, const char* name) {
  try {
    write_json(value.ptr(), text_);
  } catch (Refused& refused) {
    if (refused.path.empty()) refused.field = refused.path = name;
    throw;
  }
}

Payload::Payload(nb::handle value) {
  if (PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr())) {
    text_.emplace(value);
  } else {
    json_.emplace(value);
  }
}

Raised::Raised() : outer_(innermost) { innermost = this; }
Raised::~Raised() { innermost = outer_; }
bool Raised::is_anybody_calling() { return innermost != nullptr; }
void Raised::keep(nb::object exception, std::string words, const Refused* refused) {
  if (innermost == nullptr) return;
  innermost->exception = std::move(exception);
  innermost->words = refused == nullptr ? std::move(words) : "";
  innermost->field = refused == nullptr ? "" : refused->field;
  innermost->path = refused == nullptr ? "" : refused->path;
}

void set_error_maker(nb::object maker) { error_maker() = std::move(maker); }

void raise(undertext_status status, std::string_view error, const Raised& raised) {
  raise_if_greater(raised);
  nb::object made = error.empty() ? nb::object(nb::dict()) : read_json(error);
  raise_if_told(raised, made);
  put_place(made, raised.field, raised.path);
  raise_made(undertext_status_name(status), made, raised.exception);
}

void raise(const Refused& refused) {
  nb::object error = nb::dict();
  error["code"] = refused.code;
  put_place(error, refused.field, refused.path);
  error["message"] = nb::str(
      ((refused.path.empty() ? "the value" : refused.path) + " " + refused.message).c_str());
  raise_made(refused.code, error, refused.cause);
}

void begin_the_end() { ends_the_process = std::this_thread::get_id(); }

void raise_closed(const char* what, const std::string& name) {
  // A daemon's, while everything is being closed: it goes no further, as when it comes back later.
  // Its words about an error could stop the interpreter from ending.
  if (ends_the_process != std::thread::id() && ends_the_process != std::this_thread::get_id()) {
    PyEval_SaveThread();
    wait_for_the_end();
  }
  nb::dict error;
  error["code"] = "invalid_argument";
  const std::string which =
      name.empty() ? "the " + std::string(what) : std::string(what) + " " + name;
  error["message"] = nb::str((which + " is closed").c_str());
  error["field"] = what;
  raise_made("invalid_argument", error, {});
}

nb::object read_answer(undertext_status status, std::string_view answer, const Raised& raised) {
  if (status == UNDERTEXT_OK) return read_json(answer);
  raise_if_greater(raised);
  nb::object error = answer.empty() ? nb::object(nb::dict()) : read_json(answer);
  if (PyDict_Check(error.ptr()) && PyDict_GetItemString(error.ptr(), "error") != nullptr)
    error = error["error"];
  raise_if_told(raised, error);
  put_place(error, raised.field, raised.path);
  raise_made(undertext_status_name(status), error, raised.exception);
}

WithoutGil::~WithoutGil() {
  if (!come_in()) {
    go_out();
    wait_for_the_end();
  }
  PyEval_RestoreThread(state_);
  go_out();
}

Entered::Entered() : is_in_(come_in()) {
  if (is_in_) {
    state_ = PyGILState_Ensure();
    ++depth_inside;
  }
}

Entered::~Entered() {
  if (is_in_) {
    --depth_inside;
    PyGILState_Release(state_);
  }
  go_out();
}

bool Entered::is_inside() { return depth_inside > 0; }

void forget_others() { inside.store(0); }

void leave_python() {
  is_last = true;
  is_leaving.store(true);
  PyThreadState* state = PyEval_SaveThread();
  for (int left = inside.load(); left > 0; left = inside.load()) inside.wait(left);
  PyEval_RestoreThread(state);
}

void answer_with(undertext_text text, undertext_string* to) {
  if (undertext_string_copy(text, to) != UNDERTEXT_OK) throw std::bad_alloc();
}

undertext_status status_of(nb::python_error& error, undertext_string* words,
                           undertext_status otherwise, const Refused* refused) {
  error.restore();
  const nb::object exception = take_exception();
  std::string said = class_name(exception.ptr());
  const nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  const nb::object utf8 =
      text.is_valid()
          ? nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"))
          : nb::object();
  PyErr_Clear();  // words are all that can be lost here
  if (utf8.is_valid() && PyBytes_GET_SIZE(utf8.ptr()) > 0) {
    said += ": ";
    said.append(PyBytes_AS_STRING(utf8.ptr()),
                static_cast<std::size_t>(PyBytes_GET_SIZE(utf8.ptr())));
  }
  undertext_string_copy(text_of(said), words);
  Raised::keep(exception, said, refused);
  if (PyErr_GivenExceptionMatches(exception.ptr(), PyExc_MemoryError) != 0)
    return UNDERTEXT_OUT_OF_MEMORY;
  const nb::object code = nb::steal(PyObject_GetAttrString(exception.ptr(), "status"));
  PyErr_Clear();
  if (code.is_valid() && PyLong_CheckExact(code.ptr())) {
    const long status = PyLong_AsLong(code.ptr());
    PyErr_Clear();
    if (status > UNDERTEXT_OK && status <= UNDERTEXT_DENIED)
      return static_cast<undertext_status>(status);
  }
  return otherwise;
}

}  // namespace undertext_python
