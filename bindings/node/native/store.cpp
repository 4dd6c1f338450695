#include "store.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "conversation.hpp"
#include "jobs.hpp"
#include "settings.hpp"
#include "values.hpp"

namespace undertext::node {

namespace {

using Handle = std::shared_ptr<undertext_store>;

class StoreObject final : public Wrapped, public Ending {
 public:
  static constexpr Kind kind_of = Kind::store;
  StoreObject(Env& env, Handle handle)
      : Wrapped(kind_of), env_(env.shared_from_this()), handle_(std::move(handle)) {
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
               [store, settings, id = read_text(call.env, call[0], "id"),
                options = read_text(call.env, call[3], "options"),
                env = Env::of(call.env).shared_from_this()] {
                 Reply reply;
                 undertext_conversation* made = nullptr;
                 reply.status =
                     undertext_conversation_open(store.get(), text_of(id), settings.get(),
                                                 text_of(options), &made, reply.error.out());
                 reply.value = share(*env, made, undertext_conversation_close);
                 return reply;
               });
}

napi_value list(const Call& call) {
  const std::uint64_t limit = read_count(call.env, call[1], "limit");
  return later(call.env, nullptr,
               [store = call.on<StoreObject>().open(),
                after = read_text(call.env, call[0], "after"), limit] {
                 Reply reply;
                 reply.status = undertext_store_list(
                     store.get(), text_of(after),
                     static_cast<uint32_t>(std::min<std::uint64_t>(limit, UINT32_MAX)),
                     reply.value.emplace<Owned>().out(), reply.error.out());
                 return reply;
               });
}

napi_value purge(const Call& call) {
  return later(
      call.env, nullptr,
      [store = call.on<StoreObject>().open(), id = read_text(call.env, call[0], "id"),
       who = read_text(call.env, call[1], "who"), why = read_text(call.env, call[2], "why")] {
        Reply reply;
        reply.status = undertext_store_purge(store.get(), text_of(id), text_of(who), text_of(why),
                                             reply.error.out());
        return reply;
      });
}

// What can be told of one conversation, as JSON.
template <undertext_status (*Function)(undertext_store*, undertext_text, undertext_string*,
                                       undertext_string*)>
napi_value tell(const Call& call) {
  return later(call.env, nullptr,
               [store = call.on<StoreObject>().open(), id = read_text(call.env, call[0], "id")] {
                 Reply reply;
                 reply.status = Function(store.get(), text_of(id),
                                         reply.value.emplace<Owned>().out(), reply.error.out());
                 return reply;
               });
}

napi_value compact(const Call& call) {
  return later(call.env, nullptr, [store = call.on<StoreObject>().open()] {
    Reply reply;
    reply.status = undertext_store_compact(store.get(), reply.error.out());
    return reply;
  });
}

// All lines as one text.
napi_value export_lines(const Call& call) {
  return later(
      call.env, nullptr,
      [store = call.on<StoreObject>().open(), id = read_text(call.env, call[0], "id")] {
        Reply reply;
        std::string lines;
        const undertext_write_line write = [](void* to, undertext_text line) -> undertext_status {
          try {
            static_cast<std::string*>(to)->append(line.data, line.size) += '\n';
            return UNDERTEXT_OK;
          } catch (...) {
            return UNDERTEXT_OUT_OF_MEMORY;
          }
        };
        reply.status =
            undertext_store_export(store.get(), text_of(id), write, &lines, reply.error.out());
        if (reply.status == UNDERTEXT_OK)
          reply.status = undertext_string_copy(text_of(lines), reply.value.emplace<Owned>().out());
        return reply;
      });
}

napi_value import_lines(const Call& call) {
  return later(call.env, nullptr,
               [store = call.on<StoreObject>().open(), id = read_text(call.env, call[0], "id"),
                lines = read_text(call.env, call[1], "lines"),
                options = read_text(call.env, call[2], "options")] {
                 Reply reply;
                 std::string_view left = lines;
                 const undertext_read_line read = [](void* from,
                                                     undertext_text* line) -> undertext_status {
                   auto& rest = *static_cast<std::string_view*>(from);
                   if (rest.empty()) return UNDERTEXT_OK;
                   const std::size_t size = std::min(rest.find('\n'), rest.size());
                   *line = {rest.data(), size};
                   rest.remove_prefix(std::min(size + 1, rest.size()));
                   return UNDERTEXT_OK;
                 };
                 reply.status =
                     undertext_store_import(store.get(), text_of(id), read, &left, text_of(options),
                                            reply.value.emplace<Owned>().out(), reply.error.out());
                 return reply;
               });
}

napi_value backup(const Call& call) {
  return later(
      call.env, nullptr,
      [store = call.on<StoreObject>().open(), path = read_text(call.env, call[0], "path")] {
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
                {"check", method<tell<undertext_store_check>>},
                {"settings", method<tell<undertext_store_settings>>},
                {"removals", method<tell<undertext_store_removals>>},
                {"compact", method<compact>},
                {"exportLines", method<export_lines>},
                {"importLines", method<import_lines>},
                {"backup", method<backup>},
                {"close", method<close>}});
}

napi_value make_store(napi_env env, std::shared_ptr<undertext_store> store) {
  return wrap(env, std::make_unique<StoreObject>(Env::of(env), std::move(store)));
}

napi_value open_store(const Call& call) {
  return later(
      call.env, nullptr,
      [url = read_text(call.env, call[0], "url"), options = read_text(call.env, call[1], "options"),
       env = Env::of(call.env).shared_from_this()] {
        Reply reply;
        undertext_store* made = nullptr;
        reply.status =
            undertext_store_open(text_of(url), text_of(options), &made, reply.error.out());
        reply.value = share(*env, made, undertext_store_close);
        return reply;
      });
}

napi_value restore_store(const Call& call) {
  return later(
      call.env, nullptr,
      [url = read_text(call.env, call[0], "url"), backup = read_text(call.env, call[1], "backup")] {
        Reply reply;
        reply.status = undertext_store_restore(text_of(url), text_of(backup), reply.error.out());
        return reply;
      });
}

}  // namespace undertext::node
