// Settings, and how functions of Python become summarisers and strategies.
#include <limits>

#include "handles.hpp"
#include "read_json.hpp"

namespace undertext_python {

namespace {

// What was lent to a callback is worth nothing after it.
template <class Lent>
struct Loan {
  nb::object object;
  explicit Loan(Lent* lent) : object(nb::cast(lent, nb::rv_policy::take_ownership)) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() { nb::inst_ptr<Lent>(object)->take_back(); }
};

[[noreturn]] void refuse_member(const char* name, const char* why) {
  throw Refused{why, name, name, {}};
}

std::uint64_t number_of(nb::handle summary, const char* name) {
  PyObject* value = PyDict_GetItemString(summary.ptr(), name);
  if (value == nullptr) return 0;
  const char* const why = "must be a whole number that is not negative and fits into 64 bits";
  if (!PyLong_Check(value) || PyBool_Check(value)) refuse_member(name, why);
  const unsigned long long number = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred() == nullptr) return number;
  PyErr_Clear();
  refuse_member(name, why);
}

void copy_text(nb::handle value, undertext_string* to) { answer_with(Text(value).get(), to); }

void copy_member(nb::handle value, const char* name, undertext_string* to) {
  try {
    copy_text(value, to);
  } catch (Refused& refused) {
    refused.field = refused.path = name;
    throw;
  }
}

// str, or {"text":…,"model":…,"promptTokens":…,"completionTokens":…}.
void take_summary(nb::handle said, undertext_summary* summary) {
  if (!PyDict_Check(said.ptr())) {
    copy_text(said, &summary->text);
    return;
  }
  summary->prompt_tokens = number_of(said, "promptTokens");
  summary->completion_tokens = number_of(said, "completionTokens");
  if (PyObject* model = PyDict_GetItemString(said.ptr(), "model"); model != nullptr)
    copy_member(model, "model", &summary->model);
  PyObject* text = PyDict_GetItemString(said.ptr(), "text");
  if (text == nullptr) refuse_member("text", "is missing in the summary");
  copy_member(text, "text", &summary->text);
}

// What a function is known by: a weak reference to it.
struct Code {
  nb::object reference;

  nb::object function() const {
    const nb::object held = reference();
    if (held.is_none())
      throw Refused{
          "was forgotten, with all conversations that had it", "code", "code", {}, "unavailable"};
    return held;
  }
};

thread_local const Code* in_background = nullptr;

// Python's part of a call to code, on whichever thread.
class Running {
 public:
  explicit Running(const Code& code)
      : is_outermost_(in_background == nullptr && !Raised::is_anybody_calling()) {
    if (is_outermost_) in_background = &code;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (is_outermost_) in_background = nullptr;
  }

 private:
  bool is_outermost_;
};

undertext_status summarise(void* context, undertext_text messages, std::uint64_t tokens_max,
                           const undertext_cancel* cancel, undertext_summary* summary) {
  return in_python(&summary->text, [&] {
    const Running running(*static_cast<Code*>(context));
    const Loan<Cancel> lent(new Cancel(cancel));
    const nb::object function = static_cast<Code*>(context)->function();
    take_summary(function(read_json({messages.data, messages.size}), tokens_max, lent.object),
                 summary);
  });
}

undertext_status propose(void* context, const undertext_view* view, std::uint64_t tokens_max,
                         const undertext_cancel* cancel, undertext_string* plan) {
  return in_python(plan, [&] {
    const Running running(*static_cast<Code*>(context));
    const Loan<View> lent(new View(view));
    const Loan<Cancel> cancelled(new Cancel(cancel));
    const nb::object function = static_cast<Code*>(context)->function();
    const bool is_bounded = tokens_max != std::numeric_limits<std::uint64_t>::max();
    const nb::object said = function(
        lent.object, is_bounded ? nb::object(nb::int_(tokens_max)) : nb::none(), cancelled.object);
    if (!said.is_none()) answer_with(Json(said).get(), plan);
  });
}

// The reference belongs to the settings once they have taken it. Nothing here waits, so the GIL is
// kept.
template <auto add, auto callback>
void add_code(undertext_settings* settings, nb::handle name, bool is_slow, nb::handle function) {
  const Text text(name);
  nb::object reference = nb::steal(PyWeakref_NewRef(function.ptr(), nullptr));
  if (!reference.is_valid()) throw nb::python_error();
  auto* context = new Code{std::move(reference)};
  Answered error;
  const undertext_status status =
      add(settings, text.get(), is_slow ? UNDERTEXT_SLOW : UNDERTEXT_QUICK, callback,
          end_callback<Code>, context, &error.string);
  if (status == UNDERTEXT_OK) return;
  delete context;
  raise(status, error.view(), Raised());
}

}  // namespace

Settings::Settings() {
  call([&](undertext_string* error) { return undertext_settings_new(&handle_, error); });
}

void Settings::read(nb::handle json) {
  const Json text(json);
  call(
      [&](undertext_string* error) { return undertext_settings_read(handle_, text.get(), error); });
}

void Settings::add_summariser(nb::handle name, bool is_slow, nb::handle function) {
  add_code<undertext_settings_add_summariser, summarise>(handle_, name, is_slow, function);
  code_.append(function);
}

void Settings::add_strategy(nb::handle name, bool is_slow, nb::handle function) {
  add_code<undertext_settings_add_strategy, propose>(handle_, name, is_slow, function);
  code_.append(function);
}

nb::object code_in_background() {
  return in_background == nullptr ? nb::object() : in_background->reference();
}

void bind_settings(nb::module_& module) {
  nb::class_<Cancel>(
      module, "Cancel",
      "Handed to strategies and summarisers: whether anybody still waits for the result.")
      .def("is_cancelled", &Cancel::is_cancelled, "True once the result is not wanted any more.")
      .def("__repr__", [](const Cancel& cancel) {
        return cancel.is_cancelled() ? "<Cancel: cancelled>" : "<Cancel: not cancelled>";
      });
  nb::class_<Settings>(module, "Settings")
      .def(nb::init<>())
      .def("read", &Settings::read)
      .def("add_summariser", &Settings::add_summariser)
      .def("add_strategy", &Settings::add_strategy);
  module.def("code_in_background", [] {
    const nb::object running = code_in_background();
    return running.is_valid() ? running : nb::none();
  });
}

}  // namespace undertext_python
