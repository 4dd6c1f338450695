#include <set>

#include "handles.hpp"
#include "read_json.hpp"

namespace undertext_python {

namespace {

std::set<Store*>& open_stores() {
  static auto* open = new std::set<Store*>;
  return *open;
}

// What is known of a conversation, read; None: nothing.
template <auto function>
nb::object told_of(Store& self, nb::handle id) {
  const Text name(id, "id");
  const Use use(self);
  Answered answer;
  call([&](undertext_string* error) { return function(*use, name.get(), &answer.string, error); });
  return answer.view().empty() ? nb::none() : read_json(answer.view());
}

// A URL without user, password and options, which may hold another password.
std::string name_of(std::string_view url) {
  const std::size_t authority = url.find("://");
  if (authority == std::string_view::npos) return std::string(url);
  url = url.substr(0, url.find('?'));
  const std::size_t user = url.rfind('@');
  return std::string(url.substr(0, authority + 3)) +
         std::string(url.substr(user == std::string_view::npos ? authority + 3 : user + 1));
}

// A line out, without its line break; the function gets bytes.
undertext_status write_line(void* context, undertext_text line) {
  Answered words;
  return in_python(
      &words.string, [&] { (*static_cast<nb::object*>(context))(nb::bytes(line.data, line.size)); },
      UNDERTEXT_INTERNAL);
}

// Where lines come from: a function that answers bytes, or None at the end. A line is held until
// the next one.
struct Lines {
  nb::object next;
  nb::object line = {};
};

undertext_status read_line(void* context, undertext_text* line) {
  Answered words;
  const auto read = [&] {
    auto* lines = static_cast<Lines*>(context);
    lines->line = lines->next();
    if (lines->line.is_none()) return;
    if (!PyBytes_Check(lines->line.ptr())) throw Refused{"must be bytes", "line", {}, {}};
    *line = {PyBytes_AS_STRING(lines->line.ptr()),
             static_cast<std::size_t>(PyBytes_GET_SIZE(lines->line.ptr()))};
  };
  return in_python(&words.string, read, UNDERTEXT_INTERNAL);
}

}  // namespace

Store::Store(undertext_store* handle, std::string name) : handle_(handle), name_(std::move(name)) {
  open_stores().insert(this);
}

Store::~Store() {
  open_stores().erase(this);
  close();
}

void Store::forget_all() {
  for (Store* store : open_stores()) store->handle_ = nullptr;
}

void Store::close() {
  is_ending_ = true;
  if (calls_ > 0 || handle_ == nullptr) return;
  undertext_store* handle = handle_;
  handle_ = nullptr;
  const WithoutGil released;
  undertext_store_close(handle);
}

void Store::begin_call() {
  if (is_closed()) raise_closed("store", name_);
  ++calls_;
}

void Store::end_call() {
  if (--calls_ == 0 && is_ending_) close();
}

void bind_store(nb::module_& module) {
  nb::class_<Store>(module, "Store")
      .def("name", [](Store& self) { return nb::str(self.name().data(), self.name().size()); })
      .def(
          "open",
          [](Store& self, nb::handle id, const Settings& settings, nb::handle options) {
            const Text name(id, "id");
            const Json json(options);
            const Use use(self);
            undertext_conversation* made = nullptr;
            call([&](undertext_string* error) {
              return undertext_conversation_open(*use, name.get(), settings.get(), json.get(),
                                                 &made, error);
            });
            return new Conversation(made, settings.code());
          },
          anything(), anything(), anything())
      .def(
          "list",
          [](Store& self, nb::handle after, std::uint32_t limit) {
            const Text text(after, "after");
            const Use use(self);
            Answered conversations;
            call([&](undertext_string* error) {
              return undertext_store_list(*use, text.get(), limit, &conversations.string, error);
            });
            return read_json(conversations.view());
          },
          anything(), anything())
      .def(
          "purge",
          [](Store& self, nb::handle id, nb::handle who, nb::handle why) {
            const Text name(id, "id"), person(who, "who"), reason(why, "why");
            const Use use(self);
            call([&](undertext_string* error) {
              return undertext_store_purge(*use, name.get(), person.get(), reason.get(), error);
            });
          },
          anything(), anything(), anything())
      .def("check", told_of<undertext_store_check>, anything())
      .def(
          "backup",
          [](Store& self, nb::handle path) {
            const Text text(path, "path");
            const Use use(self);
            call([&](undertext_string* error) {
              return undertext_store_backup(*use, text.get(), error);
            });
          },
          anything())
      .def("settings", told_of<undertext_store_settings>, anything())
      .def("removals", told_of<undertext_store_removals>, anything())
      .def("compact",
           [](Store& self) {
             const Use use(self);
             call([&](undertext_string* error) { return undertext_store_compact(*use, error); });
           })
      .def(
          "export",
          [](Store& self, nb::handle id, nb::object write) {
            const Text name(id, "id");
            const Use use(self);
            call([&](undertext_string* error) {
              return undertext_store_export(*use, name.get(), write_line, &write, error);
            });
          },
          anything(), anything())
      .def(
          "import_",
          [](Store& self, nb::handle id, nb::object next, nb::handle options) {
            const Text name(id, "id");
            const Json json(options);
            const Use use(self);
            Lines lines{std::move(next)};
            Answered imported;
            call([&](undertext_string* error) {
              return undertext_store_import(*use, name.get(), read_line, &lines, json.get(),
                                            &imported.string, error);
            });
            return read_json(imported.view());
          },
          anything(), anything(), anything())
      .def("close", &Store::close)
      .def("is_closed", &Store::is_closed);

  module.def(
      "open_store",
      [](nb::handle url, nb::handle options) {
        const Text text(url, "url");
        const Json json(options);
        undertext_store* store = nullptr;
        call([&](undertext_string* error) {
          return undertext_store_open(text.get(), json.get(), &store, error);
        });
        return new Store(store, name_of({text.get().data, text.get().size}));
      },
      anything(), anything());
  module.def(
      "restore_store",
      [](nb::handle url, nb::handle backup) {
        const Text text(url, "url"), file(backup, "backup");
        call([&](undertext_string* error) {
          return undertext_store_restore(text.get(), file.get(), error);
        });
      },
      anything(), anything());
}

}  // namespace undertext_python
