#include <set>

#include "handles.hpp"
#include "read_json.hpp"

namespace undertext_python {

namespace {

std::set<Store*>& open_stores() {
  static auto* open = new std::set<Store*>;
  return *open;
}

}  // namespace

Store::Store(undertext_store* handle) : handle_(handle) { open_stores().insert(this); }

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

Store::Use::Use(Store& store) : store_(store) {
  if (store.is_closed()) raise_closed("store");
  ++store.calls_;
}

Store::Use::~Use() {
  if (--store_.calls_ == 0 && store_.is_ending_) store_.close();
}

void bind_store(nb::module_& module) {
  nb::class_<Store>(module, "Store")
      .def(
          "open",
          [](Store& self, nb::handle id, const Settings* settings, nb::handle options) {
            const Text name(id);
            const Json json(options);
            const Store::Use use(self);
            undertext_conversation* made = nullptr;
            call([&](undertext_string* error) {
              return undertext_conversation_open(*use, name.get(), settings == nullptr ? nullptr : settings->get(), json.get(),
                                                 &made, error);
            });
            return new Conversation(made);
          },
          nb::arg("id"), nb::arg("settings").none(), nb::arg("options"))
      .def("list",
           [](Store& self, nb::handle after, std::uint32_t limit) {
             const Text text(after);
             const Store::Use use(self);
             Answered conversations;
             call([&](undertext_string* error) {
               return undertext_store_list(*use, text.get(), limit, &conversations.string, error);
             });
             return read_json(conversations.view());
           })
      .def("purge",
           [](Store& self, nb::handle id, nb::handle who, nb::handle why) {
             const Text name(id), person(who), reason(why);
             const Store::Use use(self);
             call([&](undertext_string* error) {
               return undertext_store_purge(*use, name.get(), person.get(), reason.get(), error);
             });
           })
      .def("check",
           [](Store& self, nb::handle id) {
             const Text name(id);
             const Store::Use use(self);
             Answered report;
             call([&](undertext_string* error) { return undertext_store_check(*use, name.get(), &report.string, error); });
             return read_json(report.view());
           })
      .def("backup",
           [](Store& self, nb::handle path) {
             const Text text(path);
             const Store::Use use(self);
             call([&](undertext_string* error) { return undertext_store_backup(*use, text.get(), error); });
           })
      .def("close", &Store::close)
      .def("is_closed", &Store::is_closed);

  module.def("open_store", [](nb::handle url, nb::handle options) {
    const Text text(url);
    const Json json(options);
    undertext_store* store = nullptr;
    call([&](undertext_string* error) { return undertext_store_open(text.get(), json.get(), &store, error); });
    return new Store(store);
  });
}

}  // namespace undertext_python
