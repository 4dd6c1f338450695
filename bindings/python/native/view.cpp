#include "handles.hpp"
#include "read_json.hpp"

namespace undertext_python {

namespace {

// A message of a view, as text; with the entry where one is wanted.
void get(const View& view, std::uint64_t index, undertext_entry* entry, Answered* message) {
  const undertext_view* handle = view.get();
  call([&](undertext_string* error) {
    return undertext_view_get(handle, index, entry, message == nullptr ? nullptr : &message->string, error);
  });
}

}  // namespace

// What a view is asked without the GIL needs it to be there: an owned one is, for the object is held by the call; a lent one is taken back by the thread it was lent to, so a
// strategy must not hand it to another thread.
void bind_view(nb::module_& module) {
  nb::class_<View>(module, "View")
      .def("size", [](View& self) { return undertext_view_size(self.get()); })
      .def("tokens", [](View& self) { return undertext_view_tokens(self.get()); })
      .def("version", [](View& self) { return undertext_view_version(self.get()); })
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
      .def("answer", [](View& self, nb::handle query) {
        const Json json(query);
        const undertext_view* handle = self.get();
        return answer_of([&](undertext_string* answer) { return undertext_view_answer(handle, json.get(), answer); });
      });
}

}  // namespace undertext_python
