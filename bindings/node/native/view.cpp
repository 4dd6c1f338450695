#include "view.hpp"

#include <utility>

#include "values.hpp"

namespace undertext::node {

namespace {

class ViewObject final : public Wrapped {
 public:
  static constexpr Kind kind_of = Kind::view;
  explicit ViewObject(std::shared_ptr<Lent> lent) : Wrapped(kind_of), lent_(std::move(lent)) {}
  explicit ViewObject(undertext_view* view)
      : Wrapped(kind_of), lent_(std::make_shared<Lent>()), owned_(view) {
    lent_->view = view;
  }
  ~ViewObject() override { undertext_view_close(owned_); }

  template <class Work>
  napi_value with(Work work) const {
    const std::lock_guard lock(lent_->mutex);
    if (lent_->view == nullptr)
      throw refused(UNDERTEXT_INVALID_ARGUMENT, "view",
                    "is closed, or was lent for a call that has ended");
    return work(lent_->view);
  }

  void close() {
    const std::lock_guard lock(lent_->mutex);
    lent_->view = nullptr;
    undertext_view_close(std::exchange(owned_, nullptr));
  }

 private:
  std::shared_ptr<Lent> lent_;
  undertext_view* owned_ = nullptr;
};

class CancelObject final : public Wrapped {
 public:
  static constexpr Kind kind_of = Kind::cancel;
  explicit CancelObject(std::shared_ptr<Lent> lent) : Wrapped(kind_of), lent_(std::move(lent)) {}
  // When nobody waits for the answer, nobody wants it.
  bool is_cancelled() const {
    const std::lock_guard lock(lent_->mutex);
    return lent_->cancel == nullptr || undertext_is_cancelled(lent_->cancel) != 0;
  }

 private:
  std::shared_ptr<Lent> lent_;
};

template <uint64_t (*Number)(const undertext_view*)>
napi_value number(const Call& call) {
  return call.on<ViewObject>().with([&](const undertext_view* view) {
    return make_number(call.env, static_cast<double>(Number(view)));
  });
}

napi_value answer(const Call& call) {
  const TextIn query(call.env, call[0], "query");
  return call.on<ViewObject>().with([&](const undertext_view* view) {
    Owned line;
    undertext_view_answer(view, query.text(), line.out());
    return make_text(call.env, line.view());
  });
}

// The message as text; not_found: there are not so many.
napi_value get(const Call& call) {
  const std::uint64_t index = read_count(call.env, call[0], "index");
  return call.on<ViewObject>().with([&](const undertext_view* view) {
    Owned message, error;
    const undertext_status status =
        undertext_view_get(view, index, nullptr, message.out(), error.out());
    if (status != UNDERTEXT_OK) throw Refused{status, std::string(error.view())};
    return make_text(call.env, message.view());
  });
}

napi_value close(const Call& call) {
  call.on<ViewObject>().close();
  return nullptr;
}

napi_value is_cancelled(const Call& call) {
  napi_value value = nullptr;
  check(napi_get_boolean(call.env, call.on<CancelObject>().is_cancelled(), &value));
  return value;
}

}  // namespace

void define_view(napi_env env) {
  define_class(env, Kind::view, "View",
               {{"size", method<number<undertext_view_size>>},
                {"tokens", method<number<undertext_view_tokens>>},
                {"version", method<number<undertext_view_version>>},
                {"get", method<get>},
                {"answer", method<answer>},
                {"close", method<close>}});
  define_class(env, Kind::cancel, "Cancel", {{"isCancelled", method<is_cancelled>}});
}

napi_value make_view(napi_env env, std::shared_ptr<Lent> lent) {
  return wrap(env, std::make_unique<ViewObject>(std::move(lent)));
}
napi_value make_cancel(napi_env env, std::shared_ptr<Lent> lent) {
  return wrap(env, std::make_unique<CancelObject>(std::move(lent)));
}
napi_value keep_view(napi_env env, undertext_view* view) {
  return wrap(env, std::make_unique<ViewObject>(view));
}

}  // namespace undertext::node
