#include "store.hpp"

#include <string>
#include <utility>

#include "conversation.hpp"
#include "jobs.hpp"
#include "values.hpp"

namespace undertext::node {

namespace {

using Handle = std::shared_ptr<undertext_store>;

class StoreObject final : public Wrapped, public Ending {
 public:
  static constexpr Kind kind_of = Kind::store;
  StoreObject(Env& env, Handle handle) : Wrapped(kind_of), env_(env.shared_from_this()), handle_(std::move(handle)) {
    env_->add(*this);
  }
  ~StoreObject() override { env_->remove(*this); }
  void end() override { handle_.reset(); }

  const Handle& open() const {
    if (!handle_) throw refused(UNDERTEXT_INVALID_ARGUMENT, "store", "is closed");
    return handle_;
  }
  Handle take() { return std::exchange(handle_, nullptr); }

 private:
  std::shared_ptr<Env> env_;
  Handle handle_;
};

napi_value open(const Call& call) {
  const Handle& store = call.on<StoreObject>().open();
  const std::shared_ptr<undertext_settings> settings = read_settings(call.env, call[1], call[2]);
  return later(call.env, nullptr,
               [store, settings, id = read_text(call.env, call[0], "id"), options = read_text(call.env, call[3], "options"),
                env = Env::of(call.env).shared_from_this()] {
                 Reply reply;
                 undertext_conversation* made = nullptr;
                 reply.status = undertext_conversation_open(store.get(), text_of(id), settings.get(), text_of(options), &made,
                                                            reply.error.out());
                 reply.value = share(*env, made, undertext_conversation_close);
                 return reply;
               });
}

napi_value list(const Call& call) {
  const std::uint64_t limit = read_count(call.env, call[1], "limit");
  return later(call.env, nullptr, [store = call.on<StoreObject>().open(), after = read_text(call.env, call[0], "after"), limit] {
    Reply reply;
    reply.status =
        undertext_store_list(store.get(), text_of(after), static_cast<uint32_t>(std::min<std::uint64_t>(limit, UINT32_MAX)),
                             reply.value.emplace<Owned>().out(), reply.error.out());
    return reply;
  });
}

napi_value purge(const Call& call) {
  return later(call.env, nullptr,
               [store = call.on<StoreObject>().open(), id = read_text(call.env, call[0], "id"),
                who = read_text(call.env, call[1], "who"), why = read_text(call.env, call[2], "why")] {
                 Reply reply;
                 reply.status = undertext_store_purge(store.get(), text_of(id), text_of(who), text_of(why), reply.error.out());
                 return reply;
               });
}

napi_value check_store(const Call& call) {
  return later(call.env, nullptr, [store = call.on<StoreObject>().open(), id = read_text(call.env, call[0], "id")] {
    Reply reply;
    reply.status = undertext_store_check(store.get(), text_of(id), reply.value.emplace<Owned>().out(), reply.error.out());
    return reply;
  });
}

napi_value backup(const Call& call) {
  return later(call.env, nullptr, [store = call.on<StoreObject>().open(), path = read_text(call.env, call[0], "path")] {
    Reply reply;
    reply.status = undertext_store_backup(store.get(), text_of(path), reply.error.out());
    return reply;
  });
}

napi_value close(const Call& call) {
  return later(call.env, nullptr, [store = call.on<StoreObject>().take()]() mutable {
    store.reset();
    return Reply();
  });
}

}  // namespace

void define_store(napi_env env) {
  define_class(env, Kind::store, "Store",
               {{"open", method<open>},
                {"list", method<list>},
                {"purge", method<purge>},
                {"check", method<check_store>},
                {"backup", method<backup>},
                {"close", method<close>}});
}

napi_value make_store(napi_env env, std::shared_ptr<undertext_store> store) {
  return wrap(env, std::make_unique<StoreObject>(Env::of(env), std::move(store)));
}

napi_value open_store(const Call& call) {
  return later(call.env, nullptr,
               [url = read_text(call.env, call[0], "url"), options = read_text(call.env, call[1], "options"),
                env = Env::of(call.env).shared_from_this()] {
                 Reply reply;
                 undertext_store* made = nullptr;
                 reply.status = undertext_store_open(text_of(url), text_of(options), &made, reply.error.out());
                 reply.value = share(*env, made, undertext_store_close);
                 return reply;
               });
}

}  // namespace undertext::node
