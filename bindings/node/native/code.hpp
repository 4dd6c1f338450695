// Functions of JavaScript that the engine calls. They run on their own thread and nowhere else:
// called from there, at once; called from another thread, that one waits, and if the code is slow
// it may answer with a promise.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <node_api.h>
#include <undertext.h>

#include "env.hpp"

namespace undertext::node {

// What a function may look at until it has answered. Whoever looks holds the mutex: nobody may be
// looking when it is taken away.
struct Lent {
  std::mutex mutex;
  const undertext_view* view = nullptr;
  const undertext_cancel* cancel = nullptr;
};

// What a function has answered: a text, or [text, model, promptTokens, completionTokens].
struct Said {
  std::string text;
  std::string model;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
};

// The place of a job among those of its conversation. A job that waits for slow code gives it up:
// slow code runs without a turn, and what it waits for may be the next job.
class Order {
 public:
  Order() = default;
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;
  virtual ~Order() = default;
  virtual void give_up(napi_env env) = 0;  // on the loop
};
// Of the job that this thread is doing; else empty.
std::shared_ptr<Order>& current_order();

class Code {
 public:
  // Weakly held is what belongs to a conversation: whoever made that holds it. What it closes over
  // may then be the conversation, and both can be forgotten.
  enum class Held { weakly, firmly };
  Code(Env& env, napi_value function, bool slow, Held held);
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code();

  bool is_slow() const { return slow_; }

  using Arguments = std::function<std::vector<napi_value>(napi_env)>;
  // Its answer, or UNDERTEXT_OK's opposite with words for people in said.text. What was lent is
  // taken back in any case.
  undertext_status call(const Arguments& arguments, std::shared_ptr<Lent> lent, Said& said) const;

 private:
  std::shared_ptr<Env> env_;
  napi_ref function_ = nullptr;
  bool slow_;
};

// The callback of undertext_transform(); its context is a Code that is not slow.
undertext_status transform_message(void* context, undertext_text message,
                                   undertext_string* changed);

// [{kind: "strategy" | "summariser", name, slow, call}, …] into the settings.
void add_code(napi_env env, napi_value list, undertext_settings* settings);

}  // namespace undertext::node
