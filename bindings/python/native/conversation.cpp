#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include <nanobind/stl/optional.h>

#include "handles.hpp"
#include "read_json.hpp"

namespace undertext_python {

namespace {

constexpr std::chrono::milliseconds wait_slice(50);

std::set<Conversation*>& open_conversations() {
  static auto* open = new std::set<Conversation*>;
  return *open;
}

// Subscribers hear on the thread that made the change, which has succeeded whatever they do: what
// one raises goes where Python puts what nobody can catch.
void receive(void* context, undertext_text event) {
  const Entered python;
  if (!python) return;
  const nb::object function = *static_cast<nb::object*>(context);
  try {
    function(read_json({event.data, event.size}));
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(function.ptr());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an event could not be handed on");
    PyErr_WriteUnraisable(function.ptr());
  }
}

nb::dict dict_of(const undertext_stats& stats) {
  nb::dict dict;
  dict["totalMessages"] = stats.total_messages;
  dict["currentBatchMessages"] = stats.current_batch_messages;
  dict["totalBatches"] = stats.total_batches;
  dict["currentBatchIndex"] = stats.current_batch_index;
  dict["tokens"] = stats.tokens;
  return dict;
}

std::uint64_t append(Conversation& conversation, undertext_text messages) {
  const Use use(conversation);
  std::uint64_t version = 0;
  call([&](undertext_string* error) {
    return undertext_append(*use, messages, &version, nullptr, error);
  });
  return version;
}

template <auto function>
void alone(Conversation& self) {
  const Use use(self);
  call([&](undertext_string* error) { return function(*use, error); });
}

std::string id_of(const undertext_conversation* handle) {
  const undertext_text id = undertext_conversation_id(handle);
  return {id.data, id.size};
}

// With a value, as Text or as Json.
template <class Given, auto function>
void told(Conversation& self, nb::handle value) {
  const Given given(value);
  const Use use(self);
  call([&](undertext_string* error) { return function(*use, given.get(), error); });
}

// With a value, as Json, and answered with another.
template <auto function>
nb::object answered(Conversation& self, nb::handle value) {
  const Json json(value);
  const Use use(self);
  Answered answer;
  call([&](undertext_string* error) { return function(*use, json.get(), &answer.string, error); });
  return read_json(answer.view());
}

undertext_status transform_message(void* context, undertext_text message,
                                   undertext_string* changed) {
  return in_python(changed, [&] {
    const nb::object made =
        (*static_cast<nb::object*>(context))(read_json({message.data, message.size}));
    answer_with(Json(made).get(), changed);
  });
}

nb::str answer_text(Conversation& conversation, nb::handle line) {
  const Text text(line, "line");
  const Use use(conversation);
  Answered answer;
  const Raised forgotten;  // errors are answers here
  {
    const WithoutGil released;
    undertext_answer(*use, text.get(), &answer.string);
  }
  return nb::str(answer.view().data(), answer.view().size());
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  int status = 0;
  if (nb::inst_ready(self)) nb::inst_ptr<Conversation>(self)->visit_functions(visit, arg, status);
  return status;
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Conversation>(self)->forget();
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

Conversation::Conversation(undertext_conversation* handle, nb::tuple code)
    : handle_(handle), id_(id_of(handle)), code_(std::move(code)) {
  open_conversations().insert(this);
}

Conversation::~Conversation() {
  open_conversations().erase(this);
  forget();
}

void Conversation::close() {
  is_ending_ = true;
  // else one that waits for it would not end
  if (calls_ > 0 && handle_ != nullptr) stop_compressing();
  // A callback cannot wait for the end of callbacks.
  if (calls_ == 0)
    end(Entered::is_inside() ? undertext_conversation_close_later : undertext_conversation_close);
}

void Conversation::forget() { end(undertext_conversation_close_later); }

void Conversation::end(void (*closing)(undertext_conversation*)) {
  undertext_conversation* handle = handle_;
  if (handle == nullptr) return;
  handle_ = nullptr;
  const std::map<std::uint64_t, Subscribed> subscriptions = std::move(subscriptions_);
  subscriptions_.clear();
  const nb::tuple code = std::exchange(code_, {});  // let go when the GIL is back
  std::vector<std::future<undertext_status>> waiting = std::exchange(left_waiting_, {});
  const WithoutGil released;
  for (const auto& [number, subscribed] : subscriptions)
    undertext_subscription_close(subscribed.subscription);
  if (waiting.empty()) return closing(handle);
  undertext_cancel_compression(handle, nullptr);
  auto end_after_them = [handle, closing, waiting = std::move(waiting)]() mutable {
    waiting.clear();  // waits for their threads
    closing(handle);
  };
  if (closing == undertext_conversation_close) return end_after_them();
  std::thread(std::move(end_after_them)).detach();
}

void Conversation::close_all() {
  // Closing lets the GIL go, and others may come and go meanwhile.
  while (true) {
    std::vector<nb::object> held;
    for (const Conversation* conversation : open_conversations()) {
      if (conversation->is_ending_) continue;
      if (nb::object object = nb::find(*conversation); object.is_valid())
        held.push_back(std::move(object));
    }
    if (held.empty()) return;
    for (const nb::object& object : held) nb::inst_ptr<Conversation>(object)->close();
  }
}

void Conversation::stop_compressing() {
  ++calls_;  // so that it stays open meanwhile
  undertext_conversation* handle = handle_;
  {
    const WithoutGil released;
    undertext_cancel_compression(handle, nullptr);
  }
  --calls_;
}

void Conversation::forget_all() {
  for (Conversation* conversation : open_conversations()) {
    conversation->handle_ = nullptr;
    conversation->subscriptions_.clear();
    // never ended: their threads are not here
    new auto(std::exchange(conversation->left_waiting_, {}));
  }
}

void Conversation::begin_call() {
  if (is_closed()) raise_closed("conversation", id_);
  ++calls_;
}

void Conversation::end_call() {
  --calls_;
  if (is_ending_) close();
}

std::uint64_t Conversation::subscribe(nb::object function) {
  const Use use(*this);
  auto* held = new nb::object(std::move(function));
  undertext_subscription* subscription = nullptr;
  try {
    call([&](undertext_string* error) {
      return undertext_subscribe(*use, receive, end_callback<nb::object>, held, &subscription,
                                 error);
    });
  } catch (...) {
    delete held;
    throw;
  }
  subscriptions_[next_number_] = {subscription, held};
  return next_number_++;
}

void Conversation::unsubscribe(std::uint64_t number) {
  const auto found = subscriptions_.find(number);
  if (found == subscriptions_.end()) return;
  undertext_subscription* subscription = found->second.subscription;
  subscriptions_.erase(found);
  const WithoutGil released;
  undertext_subscription_close(subscription);
}

void Conversation::wait_for_compression(nb::handle code) {
  const nb::object running = code.is_none() ? code_in_background() : nb::borrow(code);
  for (const nb::handle function : code_) {
    if (running.is(function))
      throw Refused{"cannot be waited for by code that is part of its compression",
                    "conversation",
                    "conversation",
                    {}};
  }
  // The engine knows the thread of a change, whose subscribers would wait for themselves.
  if (Entered::is_inside()) return alone<undertext_wait_for_compression>(*this);
  // By another thread, so that this one sees signals meanwhile.
  const Use use(*this);
  std::future<undertext_status> waiting = std::async(std::launch::async, [handle = *use] {
    return undertext_wait_for_compression(handle, nullptr);
  });
  const auto is_over = [&] {
    const WithoutGil released;
    return waiting.wait_for(wait_slice) == std::future_status::ready;
  };
  while (!is_over()) {
    if (PyErr_CheckSignals() == 0) continue;
    left_waiting_.push_back(std::move(waiting));
    throw nb::python_error();
  }
  if (const undertext_status status = waiting.get(); status != UNDERTEXT_OK)
    raise(status, {}, Raised());
}

void Conversation::visit_functions(visitproc visit, void* argument, int& status) {
  status = visit(code_.ptr(), argument);
  for (const auto& [number, subscribed] : subscriptions_) {
    if (status == 0) status = visit(subscribed.function->ptr(), argument);
  }
}

void bind_conversation(nb::module_& module) {
  using std::optional;
  const auto version_of = [](const optional<std::uint64_t>& version) {
    return version.value_or(UNDERTEXT_HEAD);
  };

  nb::class_<Conversation>(module, "Conversation", nb::type_slots(slots))
      .def(
          "answer",
          [](Conversation& self, nb::handle request) {
            const Json json(request, "request");
            const Use use(self);
            return answer_of([&](undertext_string* answer) {
              return undertext_answer(*use, json.get(), answer);
            });
          },
          anything())
      .def("answer_text", answer_text, anything())
      .def(
          "append",
          [](Conversation& self, nb::handle messages) {
            return append(self, Json(messages, "messages").get());
          },
          anything())
      .def(
          "append_text",
          [](Conversation& self, nb::handle text) {
            return append(self, Text(text, "json").get());
          },
          anything())
      .def("version",
           [](Conversation& self) {
             const Use use(self);
             const WithoutGil released;
             return undertext_conversation_version(*use);
           })
      .def("id", [](Conversation& self) { return nb::str(self.id().data(), self.id().size()); })
      .def("stats",
           [](Conversation& self) {
             const Use use(self);
             undertext_stats stats{};
             call([&](undertext_string* error) {
               return undertext_conversation_stats(*use, &stats, error);
             });
             return dict_of(stats);
           })
      .def("transform",
           [](Conversation& self, nb::handle which, nb::object function) {
             const Json json(which);
             const Use use(self);
             return answer_of([&](undertext_string* answer) {
               return undertext_transform(*use, json.get(), transform_message, &function, answer);
             });
           })
      .def(
          "fork",
          [version_of](Conversation& self, optional<std::uint64_t> version, nb::handle id) {
            const Text name(id, "id");
            const Use use(self);
            undertext_conversation* fork = nullptr;
            call([&](undertext_string* error) {
              return undertext_conversation_fork(*use, version_of(version), name.get(), &fork,
                                                 error);
            });
            return new Conversation(fork, self.code());
          },
          anything(), anything())
      .def(
          "import_mark_map",
          [version_of](Conversation& self, nb::handle mark_map, optional<std::uint64_t> expected) {
            const Json json(mark_map, "mark_map");
            const Use use(self);
            return answer_of([&](undertext_string* answer) {
              return undertext_import_mark_map(*use, json.get(), version_of(expected), answer);
            });
          },
          anything(), anything())
      .def("set_tokenizer", told<Text, undertext_set_tokenizer>, anything())
      .def("wait_for_compression", &Conversation::wait_for_compression, anything())
      .def("cancel_compression", alone<undertext_cancel_compression>)
      .def("report_usage", told<Json, undertext_report_usage>, anything())
      .def("set_usage", told<Json, undertext_set_usage>, anything())
      .def("usage",
           [](Conversation& self) {
             const Use use(self);
             Answered usage;
             call([&](undertext_string* error) {
               return undertext_usage(*use, &usage.string, error);
             });
             return read_json(usage.view());
           })
      .def("catch_up", alone<undertext_catch_up>)
      .def("checkpoint", alone<undertext_checkpoint>)
      .def("record_request", answered<undertext_record_request>)
      .def("redact", answered<undertext_redact>)
      .def("prune_versions", answered<undertext_prune_versions>)
      .def(
          "view",
          [version_of](Conversation& self, optional<std::uint64_t> version) {
            const Use use(self);
            undertext_view* view = nullptr;
            call([&](undertext_string* error) {
              return undertext_conversation_view(*use, version_of(version), &view, error);
            });
            return new View(view, self.code());
          },
          anything())
      .def("subscribe", &Conversation::subscribe)
      .def("unsubscribe", &Conversation::unsubscribe)
      .def("close", &Conversation::close)
      .def("is_closed", &Conversation::is_closed);

  module.def("open_in_memory", [](const Settings& settings) {
    undertext_conversation* made = nullptr;
    call([&](undertext_string* error) {
      return undertext_conversation_new(settings.get(), &made, error);
    });
    return new Conversation(made, settings.code());
  });
}

}  // namespace undertext_python
