#include "handles.hpp"
#include "read_json.hpp"

namespace undertext_python {

namespace {

// A message of a view, as text; with the entry where one is wanted.
void get(View& view, std::uint64_t index, undertext_entry* entry, Answered* message) {
  const Use use(view);
  call([&](undertext_string* error) {
    return undertext_view_get(*use, index, entry, message == nullptr ? nullptr : &message->string,
                              error);
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<View>(self)->visit_code(visit, arg) : 0;
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<View>(self)->forget_code();
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

void View::begin_call() {
  if (is_back_ || process_ != this_process) raise_closed("view");
  ++readers_;
}

void View::end_call() {
  if (--readers_ == 0) readers_.notify_all();
}

void View::take_back() {
  is_back_ = true;
  const WithoutGil released;
  for (int readers = readers_; readers != 0; readers = readers_) readers_.wait(readers);
}

void bind_view(nb::module_& module) {
  nb::class_<View>(module, "View", nb::type_slots(slots))
      .def("size", [](View& self) { return undertext_view_size(*Use(self)); })
      .def("tokens", [](View& self) { return undertext_view_tokens(*Use(self)); })
      .def("version", [](View& self) { return undertext_view_version(*Use(self)); })
      .def("message",
           [](View& self, std::uint64_t index) {
             Answered message;
             get(self, index, nullptr, &message);
             return read_json(message.view());
           })
      .def("text",
           [](View& self, std::uint64_t index) {
             Answered message;
             get(self, index, nullptr, &message);
             return nb::str(message.view().data(), message.view().size());
           })
      .def("entry",
           [](View& self, std::uint64_t index) {
             undertext_entry entry{};
             get(self, index, &entry, nullptr);
             return nb::make_tuple(entry.ordinal, entry.time_ms, entry.tokens, entry.role);
           })
      .def(
          "import_after",
          [](View& self, nb::handle profile, nb::handle json) {
            const Json sent(profile);
            const Payload text(json);
            const Use use(self);
            Answered imported;
            call([&](undertext_string* error) {
              return undertext_import_after(*use, sent.get(), text.get(), &imported.string, error);
            });
            return read_json(imported.view());
          },
          anything(), anything())
      .def("answer", [](View& self, nb::handle query) {
        const Json json(query);
        const Use use(self);
        return answer_of([&](undertext_string* answer) {
          return undertext_view_answer(*use, json.get(), answer);
        });
      });
}

}  // namespace undertext_python
