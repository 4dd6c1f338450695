#include "code.hpp"

#include <condition_variable>
#include <utility>

#include "values.hpp"
#include "view.hpp"

namespace undertext::node {

namespace {

// One call, from the thread that wants the answer to the loop and back.
struct Exchange {
  std::shared_ptr<Lent> lent;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  undertext_status status = UNDERTEXT_OK;
  Said said;

  void take_back() {
    const std::lock_guard lock(lent->mutex);
    lent->view = nullptr;
    lent->cancel = nullptr;
  }

  void settle(undertext_status with, Said what) {
    take_back();
    const std::lock_guard lock(mutex);
    if (done) return;
    status = with;
    said = std::move(what);
    done = true;
    changed.notify_all();
  }
};

Said read_said(napi_env env, napi_value value) {
  Said said;
  bool is_list = false;
  check(napi_is_array(env, value, &is_list));
  if (is_list) {
    napi_value parts[4];
    for (std::uint32_t i = 0; i < 4; ++i) check(napi_get_element(env, value, i, &parts[i]));
    said = {read_text(env, parts[0], "text"), read_text(env, parts[1], "model"),
            read_count(env, parts[2], "promptTokens", 0),
            read_count(env, parts[3], "completionTokens", 0)};
  } else if (!is(env, value, napi_undefined)) {
    said.text = read_text(env, value, "answer");
  }
  return said;
}

void settle_with(napi_env env, Exchange& exchange, napi_value value) {
  try {
    exchange.settle(UNDERTEXT_OK, read_said(env, value));
  } catch (...) {
    exchange.settle(UNDERTEXT_INVALID_ARGUMENT, {"its answer is of another kind", {}});
  }
}

undertext_status status_named(std::string_view name) {
  for (undertext_status status = UNDERTEXT_INVALID_ARGUMENT; status <= UNDERTEXT_DENIED; ++status) {
    if (status != UNDERTEXT_OUT_OF_MEMORY && name == undertext_status_name(status)) return status;
  }
  return UNDERTEXT_INVALID_ARGUMENT;
}

// Words for people; what cannot be read has none.
std::string words_of(napi_env env, napi_value value) {
  try {
    return read_text(env, value, "message");
  } catch (...) {
    return {};
  }
}

std::string property_words(napi_env env, napi_value object, const char* name) {
  napi_value value = nullptr;
  return napi_get_named_property(env, object, name, &value) == napi_ok ? words_of(env, value)
                                                                       : std::string();
}

// By what was thrown: its `code`, if that is one of ours, and its `message`. Anything else is for
// the caller to fix.
void settle_failed(napi_env env, Exchange& exchange, napi_value thrown) {
  undertext_status status = UNDERTEXT_INVALID_ARGUMENT;
  std::string words;
  napi_valuetype type = napi_undefined;
  napi_typeof(env, thrown, &type);
  if (type == napi_object) {
    status = status_named(property_words(env, thrown, "code"));
    words = property_words(env, thrown, "message");
  } else if (type == napi_string) {
    words = words_of(env, thrown);
  }
  // A getter of what was thrown may have thrown.
  bool pending = false;
  napi_value dropped = nullptr;
  if (napi_is_exception_pending(env, &pending) == napi_ok && pending)
    napi_get_and_clear_last_exception(env, &dropped);
  exchange.settle(status, {std::move(words), {}});
}

using Settle = void (*)(napi_env, Exchange&, napi_value);

// A function of JavaScript that settles the exchange by its argument.
template <Settle How>
napi_value settler(napi_env env, const std::shared_ptr<Exchange>& exchange) {
  auto* const kept = new std::shared_ptr<Exchange>(exchange);
  napi_value function = nullptr;
  check(napi_create_function(
      env, nullptr, 0,
      [](napi_env on, napi_callback_info info) -> napi_value {
        napi_value argument = nullptr;
        std::size_t count = 1;
        void* data = nullptr;
        if (napi_get_cb_info(on, info, &count, &argument, nullptr, &data) == napi_ok) {
          How(on, **static_cast<std::shared_ptr<Exchange>*>(data), argument);
        }
        return nullptr;
      },
      kept, &function));
  check(napi_add_finalizer(
      env, function, kept,
      [](napi_env, void* data, void*) { delete static_cast<std::shared_ptr<Exchange>*>(data); },
      nullptr, nullptr));
  return function;
}

void settle_later(napi_env env, const std::shared_ptr<Exchange>& exchange, napi_value promise) {
  napi_value then = nullptr, ignored = nullptr;
  check(napi_get_named_property(env, promise, "then", &then));
  const napi_value arguments[] = {settler<settle_with>(env, exchange),
                                  settler<settle_failed>(env, exchange)};
  check(napi_call_function(env, promise, then, 2, arguments, &ignored));
}

// On the loop: calls the function, and settles the exchange now or, where it may, when a promise
// is.
void start(napi_env env, napi_ref function, const Code::Arguments& arguments,
           const std::shared_ptr<Exchange>& exchange, bool may_wait) {
  napi_value called = nullptr, result = nullptr, self = nullptr;
  try {
    check(napi_get_reference_value(env, function, &called));
    if (called == nullptr)
      return exchange->settle(UNDERTEXT_UNAVAILABLE, {"its function is gone", {}});
    check(napi_get_undefined(env, &self));
    const std::vector<napi_value> given = arguments(env);
    check(napi_call_function(env, self, called, given.size(), given.data(), &result));
    bool is_promise = false;
    check(napi_is_promise(env, result, &is_promise));
    if (!is_promise) return settle_with(env, *exchange, result);
    if (!may_wait)
      exchange->settle(UNDERTEXT_UNSUPPORTED,
                       {"it answered with a promise where only an answer at once is of use", {}});
    settle_later(env, exchange, result);  // in any case, so that a rejection is not nobody's
  } catch (...) {
    napi_value thrown = nullptr;
    if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok && thrown != nullptr) {
      settle_failed(env, *exchange, thrown);
    } else {
      exchange->settle(UNDERTEXT_INTERNAL, {});
    }
  }
}

// Opens a scope for what a call from C++ makes.
struct Scope {
  explicit Scope(napi_env in) : env(in) { napi_open_handle_scope(env, &scope); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { napi_close_handle_scope(env, scope); }
  napi_env env;
  napi_handle_scope scope = nullptr;
};

undertext_status answer(undertext_status status, const Said& said, undertext_string* to) {
  const undertext_status copied = undertext_string_copy(text_of(said.text), to);
  return copied == UNDERTEXT_OK ? status : copied;
}

std::shared_ptr<Lent> lend(const undertext_view* view, const undertext_cancel* cancel) {
  auto lent = std::make_shared<Lent>();
  lent->view = view;
  lent->cancel = cancel;
  return lent;
}

undertext_status plan(void* context, const undertext_view* view, uint64_t tokens_max,
                      const undertext_cancel* cancel, undertext_string* plan) {
  const std::shared_ptr<Lent> lent = lend(view, cancel);
  Said said;
  const auto arguments = [=](napi_env env) -> std::vector<napi_value> {
    return {make_view(env, lent),
            tokens_max == UINT64_MAX ? make_undefined(env)
                                     : make_number(env, static_cast<double>(tokens_max)),
            make_cancel(env, lent)};
  };
  const undertext_status status = static_cast<Code*>(context)->call(arguments, lent, said);
  return answer(status, said, plan);
}

undertext_status summarise(void* context, undertext_text messages, uint64_t tokens_max,
                           const undertext_cancel* cancel, undertext_summary* summary) {
  const std::shared_ptr<Lent> lent = lend(nullptr, cancel);
  Said said;
  const auto arguments = [lent, tokens_max, text = std::string(messages.data, messages.size)](
                             napi_env env) -> std::vector<napi_value> {
    return {make_text(env, text), make_number(env, static_cast<double>(tokens_max)),
            make_cancel(env, lent)};
  };
  const undertext_status status = static_cast<Code*>(context)->call(arguments, lent, said);
  summary->prompt_tokens = said.prompt_tokens;
  summary->completion_tokens = said.completion_tokens;
  undertext_string_copy(text_of(said.model), &summary->model);
  return answer(status, said, &summary->text);
}

void end_code(void* context) { delete static_cast<Code*>(context); }

napi_value property(napi_env env, napi_value object, const char* name) {
  napi_value value = nullptr;
  check(napi_get_named_property(env, object, name, &value));
  return value;
}

}  // namespace

std::shared_ptr<Order>& current_order() {
  thread_local std::shared_ptr<Order> order;
  return order;
}

Code::Code(Env& env, napi_value function, bool slow, Held held)
    : env_(env.shared_from_this()), slow_(slow) {
  if (!is(env.raw(), function, napi_function))
    throw refused(UNDERTEXT_INVALID_ARGUMENT, "call", "must be a function");
  check(napi_create_reference(env.raw(), function, held == Held::firmly ? 1 : 0, &function_));
}

Code::~Code() {
  env_->run_on_loop([function = function_](napi_env env) { napi_delete_reference(env, function); });
}

undertext_status Code::call(const Arguments& arguments, std::shared_ptr<Lent> lent,
                            Said& said) const {
  const auto exchange = std::make_shared<Exchange>();
  exchange->lent = std::move(lent);
  const undertext_cancel* const cancel = exchange->lent->cancel;
  if (env_->on_loop()) {
    const Scope scope(env_->raw());
    start(env_->raw(), function_, arguments, exchange, false);
  } else {
    env_->run_on_loop([function = function_, arguments, exchange, slow = slow_,
                       order = current_order()](napi_env env) {
      if (slow && order) order->give_up(env);
      start(env, function, arguments, exchange, slow);
    });
    std::unique_lock lock(exchange->mutex);
    const auto is_unwanted = [cancel] {
      return cancel != nullptr && undertext_is_cancelled(cancel) != 0;
    };
    if (!env_->wait(lock, exchange->changed, exchange->done, is_unwanted)) {
      lock.unlock();
      exchange->settle(UNDERTEXT_UNAVAILABLE, {"the caller cancelled it", {}});
    }
  }
  said = std::move(exchange->said);
  return exchange->status;
}

undertext_status transform_message(void* context, undertext_text message,
                                   undertext_string* changed) {
  Said said;
  const auto arguments =
      [text = std::string(message.data, message.size)](napi_env env) -> std::vector<napi_value> {
    return {make_text(env, text)};
  };
  const undertext_status status =
      static_cast<Code*>(context)->call(arguments, lend(nullptr, nullptr), said);
  return answer(status, said, changed);
}

void add_code(napi_env env, napi_value list, undertext_settings* settings) {
  std::uint32_t count = 0;
  check(napi_get_array_length(env, list, &count));
  for (std::uint32_t i = 0; i < count; ++i) {
    napi_value one = nullptr;
    check(napi_get_element(env, list, i, &one));
    const std::string kind = read_text(env, property(env, one, "kind"), "kind");
    const std::string name = read_text(env, property(env, one, "name"), "name");
    bool slow = false;
    check(napi_get_value_bool(env, property(env, one, "slow"), &slow));
    auto code =
        std::make_unique<Code>(Env::of(env), property(env, one, "call"), slow, Code::Held::weakly);
    const undertext_pace pace = slow ? UNDERTEXT_SLOW : UNDERTEXT_QUICK;
    Owned error;
    const undertext_status status =
        kind == "strategy"
            ? undertext_settings_add_strategy(settings, text_of(name), pace, plan, end_code,
                                              code.get(), error.out())
            : undertext_settings_add_summariser(settings, text_of(name), pace, summarise, end_code,
                                                code.get(), error.out());
    if (status != UNDERTEXT_OK) throw Refused{status, std::string(error.view())};
    code.release();
  }
}

}  // namespace undertext::node
