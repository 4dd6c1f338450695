// undertext._native: undertext.h for Python, one to one. What users see is written in Python, on
// top of it.
#include <exception>

#include "handles.hpp"
#include "read_json.hpp"

namespace undertext_python {

Stream::Stream(nb::handle dialect) {
  const Text text(dialect, "dialect");
  call([&](undertext_string* error) { return undertext_stream_new(text.get(), &handle_, error); });
}

// With the GIL: a stream belongs to one thread at a time, and waits for nobody.
void Stream::feed(nb::handle data) {
  const Payload text(data);
  Answered error;
  const undertext_status status = undertext_stream_feed(handle_, text.get(), &error.string);
  if (status != UNDERTEXT_OK) raise(status, error.view(), Raised());
}

nb::object Stream::result() const {
  Answered result, error;
  const undertext_status status = undertext_stream_result(handle_, &result.string, &error.string);
  if (status != UNDERTEXT_OK) raise(status, error.view(), Raised());
  return read_json(result.view());
}

namespace {

nb::object import_messages(nb::handle dialect, nb::handle json) {
  const Text name(dialect, "dialect");
  const Payload text(json);
  Answered imported;
  call([&](undertext_string* error) {
    return undertext_import_messages(name.get(), text.get(), &imported.string, error);
  });
  return read_json(imported.view());
}

nb::object read_blocks(nb::handle message) {
  const Payload text(message);
  Answered blocks;
  call([&](undertext_string* error) {
    return undertext_read_blocks(text.get(), &blocks.string, error);
  });
  return read_json(blocks.view());
}

nb::object validate_request(nb::handle profile, nb::handle json) {
  const Json taken_by(profile);
  const Payload text(json);
  Answered findings;
  call([&](undertext_string* error) {
    return undertext_validate_request(taken_by.get(), text.get(), &findings.string, error);
  });
  return read_json(findings.view());
}

std::uint64_t count_tokens(nb::handle tokenizer, nb::handle text) {
  const Text name(tokenizer, "tokenizer"), counted(text, "text");
  std::uint64_t tokens = 0;
  call([&](undertext_string* error) {
    return undertext_count_tokens(name.get(), counted.get(), &tokens, error);
  });
  return tokens;
}

nb::object count_tools(nb::handle counting, nb::handle tools) {
  const Text name(counting, "model");
  const Payload text(tools);
  Answered counted;
  call([&](undertext_string* error) {
    return undertext_count_tools(name.get(), text.get(), &counted.string, error);
  });
  return read_json(counted.view());
}

nb::object find_model(nb::handle model) {
  const Text name(model, "name");
  Answered found;
  call([&](undertext_string* error) {
    return undertext_find_model(name.get(), &found.string, error);
  });
  return read_json(found.view());
}

void add_models(nb::handle models) {
  const Payload text(models);
  call([&](undertext_string* error) { return undertext_add_models(text.get(), error); });
}

// Before the interpreter goes: nothing of the library may call it afterwards.
void end() {
  begin_the_end();
  Conversation::close_all();
  leave_python();
}

// In a child of fork(): what was open belongs to the parent.
void forget() {
  Conversation::forget_all();
  Store::forget_all();
  View::forget_all();
  forget_others();
}

}  // namespace

}  // namespace undertext_python

NB_MODULE(_native, module) {
  using namespace undertext_python;
  nb::set_leak_warnings(false);  // what is still held when the interpreter ends was closed by end()
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Refused& refused) {
      try {
        raise(refused);
      } catch (nb::python_error& error) {
        error.restore();
      }
    }
  });
  bind_conversation(module);
  bind_store(module);
  bind_view(module);
  bind_settings(module);
  nb::class_<Stream>(module, "Stream")
      .def(nb::init<nb::handle>(), anything())
      .def("feed", &Stream::feed, anything())
      .def("result", &Stream::result);
  module.def("import_messages", import_messages, anything(), anything());
  module.def("read_blocks", read_blocks, anything());
  // A value with dicts and lists of its own, as it would be stored.
  module.def(
      "plain",
      [](nb::handle value) {
        const Json json(value);
        return read_json({json.get().data, json.get().size});
      },
      anything());
  module.def("validate_request", validate_request, anything(), anything());
  module.def("count_tokens", count_tokens, anything(), anything());
  module.def("count_tools", count_tools, anything(), anything());
  module.def("find_model", find_model, anything());
  module.def("add_models", add_models, anything());
  module.def("set_error_maker", set_error_maker);
  module.def("end", end);
  module.def("forget", forget);
  module.attr("library_version") = undertext_library_version();
  module.attr("abi_version") = undertext_abi_version();
}
