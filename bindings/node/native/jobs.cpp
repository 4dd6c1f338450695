#include "jobs.hpp"

#include <utility>

#include "conversation.hpp"
#include "store.hpp"

namespace undertext::node {

class Job final : public Order, public std::enable_shared_from_this<Job> {
 public:
  Job(napi_env env, std::shared_ptr<Queue> queue, Work work)
      : env_(Env::of(env).shared_from_this()), queue_(std::move(queue)), work_(std::move(work)) {}

  napi_value promise(napi_env env) {
    napi_value promise = nullptr;
    check(napi_create_promise(env, &deferred_, &promise));
    env_->hold();
    return promise;
  }

  void start() {
    env_->pool().submit([job = shared_from_this()] { job->run(); });
  }

  void give_up(napi_env env) override {
    if (queue_) std::exchange(queue_, nullptr)->next(env);
  }

 private:
  void run() {
    current_order() = shared_from_this();
    try {
      reply_ = work_();
    } catch (...) {
      reply_.status = UNDERTEXT_OUT_OF_MEMORY;
    }
    work_ = nullptr;
    current_order() = nullptr;
    env_->run_on_loop([job = shared_from_this()](napi_env env) { job->finish(env); });
  }

  void finish(napi_env env) {
    env_->let_go();
    give_up(env);
    try {
      check(napi_resolve_deferred(env, deferred_, value_of(env, reply_)));
    } catch (const Refused& why) {
      napi_reject_deferred(env, deferred_, error_value(env, why.status, why.json));
    } catch (...) {
      napi_reject_deferred(env, deferred_, error_value(env, UNDERTEXT_INTERNAL, ""));
    }
  }

  std::shared_ptr<Env> env_;
  std::shared_ptr<Queue> queue_;
  Work work_;
  Reply reply_;
  napi_deferred deferred_ = nullptr;
};

void Queue::push(napi_env env, std::shared_ptr<Job> job) {
  jobs_.push_back(std::move(job));
  if (!busy_) next(env);
}

void Queue::next(napi_env) {
  busy_ = !jobs_.empty();
  if (!busy_) return;
  const std::shared_ptr<Job> job = std::move(jobs_.front());
  jobs_.pop_front();
  job->start();
}

napi_value later(napi_env env, std::shared_ptr<Queue> queue, Work work) {
  const auto job = std::make_shared<Job>(env, queue, std::move(work));
  const napi_value promise = job->promise(env);
  if (queue) {
    queue->push(env, job);
  } else {
    job->start();
  }
  return promise;
}

namespace {

struct ToValue {
  napi_env env;
  napi_value operator()(std::monostate) const { return make_undefined(env); }
  napi_value operator()(const Owned& text) const { return make_text(env, text.view()); }
  napi_value operator()(const std::vector<double>& numbers) const {
    napi_value list = nullptr;
    check(napi_create_array_with_length(env, numbers.size(), &list));
    for (std::uint32_t i = 0; i < numbers.size(); ++i)
      check(napi_set_element(env, list, i, make_number(env, numbers[i])));
    return list;
  }
  napi_value operator()(std::shared_ptr<undertext_conversation>& conversation) const {
    return make_conversation(env, std::move(conversation));
  }
  napi_value operator()(std::shared_ptr<undertext_store>& store) const {
    return make_store(env, std::move(store));
  }
};

}  // namespace

napi_value value_of(napi_env env, Reply& reply) {
  if (reply.status != UNDERTEXT_OK) throw Refused{reply.status, std::string(reply.error.view())};
  return std::visit(ToValue{env}, reply.value);
}

}  // namespace undertext::node
