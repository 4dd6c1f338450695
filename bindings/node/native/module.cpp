// The addon: what bindings/node/src/native.ts describes.
#include <utility>

#include <node_api.h>
#include <undertext.h>

#include "conversation.hpp"
#include "store.hpp"
#include "values.hpp"
#include "view.hpp"

namespace undertext::node {

namespace {

class StreamObject final : public Wrapped {
 public:
  static constexpr Kind kind_of = Kind::stream;
  explicit StreamObject(undertext_stream* stream) : Wrapped(kind_of), stream_(stream) {}
  ~StreamObject() override { undertext_stream_close(stream_); }
  undertext_stream* get() const { return stream_; }

 private:
  undertext_stream* stream_;
};

void must_be_ok(undertext_status status, const Owned& error) {
  if (status != UNDERTEXT_OK) throw Refused{status, std::string(error.view())};
}

napi_value version(const Call& call) { return make_text(call.env, undertext_library_version()); }
napi_value memory(const Call& call) { return new_conversation(call.env, call[0], call[1]); }

napi_value text(const Call& call) { return make_text_object(call.env); }

napi_value count_tokens(const Call& call) {
  const TextIn tokenizer(call.env, call[0], "tokenizer"), text(call.env, call[1], "text");
  std::uint64_t tokens = 0;
  Owned error;
  must_be_ok(undertext_count_tokens(tokenizer.text(), text.text(), &tokens, error.out()), error);
  return make_number(call.env, static_cast<double>(tokens));
}

napi_value find_model(const Call& call) {
  const TextIn name(call.env, call[0], "name");
  Owned found, error;
  must_be_ok(undertext_find_model(name.text(), found.out(), error.out()), error);
  return make_text(call.env, found.view());
}

napi_value add_models(const Call& call) {
  const TextIn models(call.env, call[0], "models");
  Owned error;
  must_be_ok(undertext_add_models(models.text(), error.out()), error);
  return nullptr;
}

napi_value read_blocks(const Call& call) {
  const TextIn message(call.env, call[0], "message");
  Owned found, error;
  must_be_ok(undertext_read_blocks(message.text(), found.out(), error.out()), error);
  return make_text(call.env, found.view());
}

// Of the name of a dialect, or a profile, and a request.
template <undertext_status (*Function)(undertext_text, undertext_text, undertext_string*,
                                       undertext_string*)>
napi_value of_request(const Call& call) {
  const TextIn how(call.env, call[0], "dialect"), request(call.env, call[1], "request");
  Owned found, error;
  must_be_ok(Function(how.text(), request.text(), found.out(), error.out()), error);
  return make_text(call.env, found.view());
}

napi_value stream(const Call& call) {
  undertext_stream* made = nullptr;
  Owned error;
  must_be_ok(undertext_stream_new(TextIn(call.env, call[0], "dialect").text(), &made, error.out()),
             error);
  return wrap(call.env, std::make_unique<StreamObject>(made));
}

napi_value feed(const Call& call) {
  Owned error;
  must_be_ok(undertext_stream_feed(call.on<StreamObject>().get(),
                                   TextIn(call.env, call[0], "data").text(), error.out()),
             error);
  return nullptr;
}

napi_value result(const Call& call) {
  Owned found, error;
  must_be_ok(undertext_stream_result(call.on<StreamObject>().get(), found.out(), error.out()),
             error);
  return make_text(call.env, found.view());
}

void add(napi_env env, napi_value exports, const char* name, Method function) {
  napi_value made = nullptr;
  check(napi_create_function(env, name, NAPI_AUTO_LENGTH, function, nullptr, &made));
  check(napi_set_named_property(env, exports, name, made));
}

}  // namespace

}  // namespace undertext::node

NAPI_MODULE_INIT() {
  using namespace undertext::node;
  try {
    Env::set_up(env);
    define_conversation(env);
    define_store(env);
    define_view(env);
    define_text(env);
    define_class(env, Kind::stream, "Stream", {{"feed", method<feed>}, {"result", method<result>}});
    add(env, exports, "version", method<version>);
    add(env, exports, "memory", method<memory>);
    add(env, exports, "openStore", method<open_store>);
    add(env, exports, "restoreStore", method<restore_store>);
    add(env, exports, "countTokens", method<count_tokens>);
    add(env, exports, "countTools", method<of_request<undertext_count_tools>>);
    add(env, exports, "findModel", method<find_model>);
    add(env, exports, "addModels", method<add_models>);
    add(env, exports, "importMessages", method<of_request<undertext_import_messages>>);
    add(env, exports, "validateRequest", method<of_request<undertext_validate_request>>);
    add(env, exports, "readBlocks", method<read_blocks>);
    add(env, exports, "text", method<text>);
    add(env, exports, "stream", method<stream>);
  } catch (...) {
    throw_now(env);
  }
  return exports;
}
