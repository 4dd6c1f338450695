#include "conversation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "code.hpp"
#include "events.hpp"
#include "jobs.hpp"
#include "settings.hpp"
#include "values.hpp"
#include "view.hpp"

namespace undertext::node {

namespace {

using Handle = std::shared_ptr<undertext_conversation>;

// For errors: its id and a space; empty where it has none, or one that JSON would have to escape.
std::string name_of(const undertext_conversation* conversation) {
  const undertext_text id = undertext_conversation_id(conversation);
  const std::string name(id.data, id.size);
  const bool is_plain = std::none_of(
      name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; });
  return name.empty() || !is_plain ? "" : name + " ";
}

class ConversationObject final : public Wrapped, public Ending {
 public:
  static constexpr Kind kind_of = Kind::conversation;
  ConversationObject(Env& env, Handle handle)
      : Wrapped(kind_of),
        env_(env.shared_from_this()),
        handle_(std::move(handle)),
        name_(name_of(handle_.get())),
        queue_(std::make_shared<Queue>()) {
    env_->add(*this);
  }
  ~ConversationObject() override {
    env_->remove(*this);
    stop_events();
  }
  void end() override {
    stop_events();
    queue_->drop();
    handle_.reset();
  }

  const Handle& open() const {
    if (!handle_) throw refused(UNDERTEXT_INVALID_ARGUMENT, "conversation", name_ + "is closed");
    return handle_;
  }
  Handle take() { return std::exchange(handle_, nullptr); }
  const std::shared_ptr<Queue>& queue() const { return queue_; }
  bool is_busy() const { return is_changing_ || queue_->is_busy(); }

  void listen(napi_env env, napi_value listener) {
    stop_events();
    if (is(env, listener, napi_undefined)) return;
    events_ = std::make_shared<Events>(*env_, listener);
    events_->subscribe(open().get());
  }
  void stop_events() {
    if (events_) events_->close();
    events_.reset();
  }

  // A change on the loop. Another one may be waiting for JavaScript, which would then wait for
  // itself: so it must be the only one.
  template <class Change>
  Reply change(napi_env env, Change change) {
    const Handle handle = open();
    if (is_busy())
      throw refused(
          UNDERTEXT_CONFLICT, "",
          "another change is under way: wait for its promise, or for the callback to return");
    Reply reply = [&] {
      const Changing changing(is_changing_);
      return change(handle.get());
    }();
    env_->leave(env);
    return reply;
  }

 private:
  struct Changing {
    explicit Changing(bool& flag) : is_changing(flag) { is_changing = true; }
    Changing(const Changing&) = delete;
    Changing& operator=(const Changing&) = delete;
    ~Changing() { is_changing = false; }
    bool& is_changing;
  };

  std::shared_ptr<Env> env_;
  Handle handle_;
  const std::string name_;
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<Events> events_;
  bool is_changing_ = false;
};

// What can be done to a conversation with a text: each both at once and later.
using Change = Reply (*)(undertext_conversation*, undertext_text);

// The answer tells of failures itself.
Reply answer(undertext_conversation* conversation, undertext_text line) {
  Reply reply;
  undertext_status status =
      undertext_answer(conversation, line, reply.value.emplace<Owned>().out());
  if (status == UNDERTEXT_OUT_OF_MEMORY) reply.status = status;
  return reply;
}

Reply append(undertext_conversation* conversation, undertext_text messages) {
  Reply reply;
  std::uint64_t version = 0;
  undertext_stats stats;
  reply.status = undertext_append(conversation, messages, &version, &stats, reply.error.out());
  reply.value = numbers_of(version, stats);
  return reply;
}

template <undertext_status (*Function)(undertext_conversation*, undertext_text, undertext_string*)>
Reply with_text(undertext_conversation* conversation, undertext_text text) {
  Reply reply;
  reply.status = Function(conversation, text, reply.error.out());
  return reply;
}

template <undertext_status (*Function)(undertext_conversation*, undertext_string*)>
Reply plain(undertext_conversation* conversation, undertext_text) {
  Reply reply;
  reply.status = Function(conversation, reply.error.out());
  return reply;
}

// Counted anew here and now, so that no reader on the loop has to wait for it.
Reply set_tokenizer(undertext_conversation* conversation, undertext_text name) {
  Reply reply = with_text<undertext_set_tokenizer>(conversation, name);
  if (reply.status == UNDERTEXT_OK) undertext_conversation_version(conversation);
  return reply;
}

Reply redact(undertext_conversation* conversation, undertext_text removal) {
  Reply reply;
  reply.status = undertext_redact(conversation, removal, reply.value.emplace<Owned>().out(),
                                  reply.error.out());
  return reply;
}

Reply prune_versions(undertext_conversation* conversation, undertext_text retention) {
  Reply reply;
  reply.status = undertext_prune_versions(conversation, retention,
                                          reply.value.emplace<Owned>().out(), reply.error.out());
  return reply;
}

Reply record_request(undertext_conversation* conversation, undertext_text request) {
  Reply reply;
  reply.status = undertext_record_request(conversation, request, reply.value.emplace<Owned>().out(),
                                          reply.error.out());
  return reply;
}

Reply usage(undertext_conversation* conversation, undertext_text) {
  Reply reply;
  reply.status =
      undertext_usage(conversation, reply.value.emplace<Owned>().out(), reply.error.out());
  return reply;
}

template <Change Do>
napi_value now(const Call& call) {
  const TextIn text(call.env, call[0], "text");
  Reply reply = call.on<ConversationObject>().change(
      call.env,
      [&](undertext_conversation* conversation) { return Do(conversation, text.text()); });
  return value_of(call.env, reply);
}

// Without a text.
template <Change Do>
napi_value later_on(const Call& call) {
  auto& object = call.on<ConversationObject>();
  return later(call.env, object.queue(),
               [handle = object.open()] { return Do(handle.get(), {nullptr, 0}); });
}

template <Change Do>
napi_value later_with(const Call& call) {
  auto& object = call.on<ConversationObject>();
  return later(call.env, object.queue(),
               [handle = object.open(), pieces = Pieces(call.env, call[0], "text")]() mutable {
                 return Do(handle.get(), text_of(pieces.join()));
               });
}

// What waits for nobody's turn.
template <Change Do>
napi_value at_once(const Call& call) {
  undertext_conversation* const conversation = call.on<ConversationObject>().open().get();
  Reply reply = is(call.env, call[0], napi_undefined)
                    ? Do(conversation, {nullptr, 0})
                    : Do(conversation, TextIn(call.env, call[0], "text").text());
  return value_of(call.env, reply);
}

// Without a turn: whoever waits for what works in the background is in nobody's way.
napi_value wait_for_compression(const Call& call) {
  return later(call.env, nullptr, [handle = call.on<ConversationObject>().open()]() mutable {
    Reply reply = plain<undertext_wait_for_compression>(handle.get(), {nullptr, 0});
    handle.reset();
    return reply;
  });
}

// Of a request that repeats the view, only what is new.
Reply import_after(undertext_conversation* conversation, undertext_text profile,
                   undertext_text request) {
  Reply reply;
  undertext_view* view = nullptr;
  reply.status =
      undertext_conversation_view(conversation, UNDERTEXT_HEAD, &view, reply.error.out());
  if (reply.status != UNDERTEXT_OK) return reply;
  reply.status = undertext_import_after(view, profile, request, reply.value.emplace<Owned>().out(),
                                        reply.error.out());
  undertext_view_close(view);
  return reply;
}

napi_value import_after_now(const Call& call) {
  const TextIn profile(call.env, call[0], "profile"), request(call.env, call[1], "request");
  Reply reply =
      import_after(call.on<ConversationObject>().open().get(), profile.text(), request.text());
  return value_of(call.env, reply);
}

napi_value import_after_later(const Call& call) {
  auto& object = call.on<ConversationObject>();
  return later(call.env, object.queue(),
               [handle = object.open(), profile = read_text(call.env, call[0], "profile"),
                request = read_text(call.env, call[1], "request")] {
                 return import_after(handle.get(), text_of(profile), text_of(request));
               });
}

// The answer of a function that has one for success and one for failure.
template <class Ask>
Reply answered_by(Ask ask) {
  Reply reply;
  Owned answered;
  reply.status = ask(answered.out());
  (reply.status == UNDERTEXT_OK ? reply.value.emplace<Owned>() : reply.error) = std::move(answered);
  return reply;
}

Reply transform(undertext_conversation* conversation, undertext_text which, Code& code) {
  return answered_by([&](undertext_string* answer) {
    return undertext_transform(conversation, which, transform_message, &code, answer);
  });
}

napi_value transform_now(const Call& call) {
  const TextIn which(call.env, call[0], "which");
  Code code(Env::of(call.env), call[1], false, Code::Held::firmly);
  Reply reply =
      call.on<ConversationObject>().change(call.env, [&](undertext_conversation* conversation) {
        return transform(conversation, which.text(), code);
      });
  return value_of(call.env, reply);
}

napi_value transform_later(const Call& call) {
  auto& object = call.on<ConversationObject>();
  return later(
      call.env, object.queue(),
      [handle = object.open(), which = read_text(call.env, call[0], "which"),
       code = std::make_shared<Code>(Env::of(call.env), call[1], false, Code::Held::firmly)] {
        return transform(handle.get(), text_of(which), *code);
      });
}

Reply import_mark_map(undertext_conversation* conversation, undertext_text mark_map,
                      std::uint64_t expected) {
  return answered_by([&](undertext_string* answer) {
    return undertext_import_mark_map(conversation, mark_map, expected, answer);
  });
}

napi_value import_mark_map_now(const Call& call) {
  const TextIn text(call.env, call[0], "markMap");
  const std::uint64_t expected = read_count(call.env, call[1], "expectedVersion", UNDERTEXT_HEAD);
  Reply reply =
      call.on<ConversationObject>().change(call.env, [&](undertext_conversation* conversation) {
        return import_mark_map(conversation, text.text(), expected);
      });
  return value_of(call.env, reply);
}

napi_value import_mark_map_later(const Call& call) {
  auto& object = call.on<ConversationObject>();
  return later(call.env, object.queue(),
               [handle = object.open(), text = read_text(call.env, call[0], "markMap"),
                expected = read_count(call.env, call[1], "expectedVersion", UNDERTEXT_HEAD)] {
                 return import_mark_map(handle.get(), text_of(text), expected);
               });
}

Reply fork(Env& env, undertext_conversation* conversation, std::uint64_t version,
           undertext_text id) {
  Reply reply;
  undertext_conversation* made = nullptr;
  reply.status = undertext_conversation_fork(conversation, version, id, &made, reply.error.out());
  reply.value = share(env, made, undertext_conversation_close);
  return reply;
}

napi_value fork_now(const Call& call) {
  const std::uint64_t version = read_count(call.env, call[0], "version", UNDERTEXT_HEAD);
  Reply reply =
      call.on<ConversationObject>().change(call.env, [&](undertext_conversation* conversation) {
        return fork(Env::of(call.env), conversation, version, {nullptr, 0});
      });
  return value_of(call.env, reply);
}

napi_value fork_later(const Call& call) {
  auto& object = call.on<ConversationObject>();
  return later(
      call.env, object.queue(),
      [handle = object.open(), version = read_count(call.env, call[0], "version", UNDERTEXT_HEAD),
       id = read_text(call.env, call[1], "id"), env = Env::of(call.env).shared_from_this()] {
        return fork(*env, handle.get(), version, text_of(id));
      });
}

napi_value version(const Call& call) {
  return make_number(call.env, static_cast<double>(undertext_conversation_version(
                                   call.on<ConversationObject>().open().get())));
}

napi_value id(const Call& call) {
  const undertext_text text = undertext_conversation_id(call.on<ConversationObject>().open().get());
  return make_text(call.env, {text.data, text.size});
}

napi_value stats(const Call& call) {
  undertext_conversation* const conversation = call.on<ConversationObject>().open().get();
  Reply reply;
  undertext_stats found;
  reply.status = undertext_conversation_stats(conversation, &found, reply.error.out());
  reply.value = numbers_of(undertext_conversation_version(conversation), found);
  return value_of(call.env, reply);
}

napi_value count(const Call& call) {
  const TextIn filters(call.env, call[0], "filters");
  std::uint64_t messages = 0, tokens = 0;
  Reply reply;
  reply.status =
      undertext_conversation_count(call.on<ConversationObject>().open().get(), filters.text(),
                                   &messages, &tokens, reply.error.out());
  reply.value = std::vector<double>{static_cast<double>(messages), static_cast<double>(tokens)};
  return value_of(call.env, reply);
}

napi_value view(const Call& call) {
  const std::uint64_t at = read_count(call.env, call[0], "version", UNDERTEXT_HEAD);
  undertext_view* made = nullptr;
  Owned error;
  const undertext_status status = undertext_conversation_view(
      call.on<ConversationObject>().open().get(), at, &made, error.out());
  if (status != UNDERTEXT_OK) throw Refused{status, std::string(error.view())};
  return keep_view(call.env, made);
}

napi_value listen(const Call& call) {
  call.on<ConversationObject>().listen(call.env, call[0]);
  return nullptr;
}

napi_value is_busy(const Call& call) {
  napi_value value = nullptr;
  check(napi_get_boolean(call.env, call.on<ConversationObject>().is_busy(), &value));
  return value;
}

// Nothing can be asked of it from now on; what was asked for before is still done. The promise is
// kept when it has ended.
napi_value close(const Call& call) {
  auto& object = call.on<ConversationObject>();
  object.stop_events();
  return later(call.env, object.queue(), [handle = object.take()]() mutable {
    handle.reset();
    return Reply();
  });
}

}  // namespace

void define_conversation(napi_env env) {
  define_class(env, Kind::conversation, "Handle",
               {{"answer", method<now<answer>>},
                {"answerLater", method<later_with<answer>>},
                {"append", method<now<append>>},
                {"appendLater", method<later_with<append>>},
                {"transform", method<transform_now>},
                {"transformLater", method<transform_later>},
                {"importMarkMap", method<import_mark_map_now>},
                {"importMarkMapLater", method<import_mark_map_later>},
                {"importAfter", method<import_after_now>},
                {"importAfterLater", method<import_after_later>},
                {"setTokenizer", method<now<set_tokenizer>>},
                {"setTokenizerLater", method<later_with<set_tokenizer>>},
                {"reportUsage", method<at_once<with_text<undertext_report_usage>>>},
                {"reportUsageLater", method<later_with<with_text<undertext_report_usage>>>},
                {"setUsage", method<at_once<with_text<undertext_set_usage>>>},
                {"setUsageLater", method<later_with<with_text<undertext_set_usage>>>},
                {"usage", method<at_once<usage>>},
                {"recordRequest", method<at_once<record_request>>},
                {"recordRequestLater", method<later_with<record_request>>},
                {"waitForCompression", method<wait_for_compression>},
                {"cancelCompression", method<at_once<plain<undertext_cancel_compression>>>},
                {"catchUpLater", method<later_on<plain<undertext_catch_up>>>},
                {"checkpointLater", method<later_on<plain<undertext_checkpoint>>>},
                {"redactLater", method<later_with<redact>>},
                {"pruneVersionsLater", method<later_with<prune_versions>>},
                {"fork", method<fork_now>},
                {"forkLater", method<fork_later>},
                {"version", method<version>},
                {"id", method<id>},
                {"stats", method<stats>},
                {"count", method<count>},
                {"view", method<view>},
                {"listen", method<listen>},
                {"isBusy", method<is_busy>},
                {"close", method<close>}});
}

napi_value make_conversation(napi_env env, std::shared_ptr<undertext_conversation> conversation) {
  return wrap(env, std::make_unique<ConversationObject>(Env::of(env), std::move(conversation)));
}

napi_value new_conversation(napi_env env, napi_value config, napi_value code) {
  const SettingsHandle settings = read_settings(env, config, code);
  undertext_conversation* made = nullptr;
  Owned error;
  const undertext_status status = undertext_conversation_new(settings.get(), &made, error.out());
  if (status != UNDERTEXT_OK) throw Refused{status, std::string(error.view())};
  return make_conversation(env, share(Env::of(env), made, undertext_conversation_close));
}

}  // namespace undertext::node
