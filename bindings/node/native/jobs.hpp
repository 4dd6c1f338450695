// Work off the loop, with a promise for its end.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include <node_api.h>

#include "code.hpp"
#include "values.hpp"

namespace undertext::node {

class Job;

// The jobs of one conversation, one at a time, in the order in which they were asked for. On the
// loop only.
class Queue {
 public:
  void push(napi_env env, std::shared_ptr<Job> job);
  void next(napi_env env);        // the one under way has ended, or gave up its place
  void drop() { jobs_.clear(); }  // those that have not begun
  bool is_busy() const { return busy_; }

 private:
  std::deque<std::shared_ptr<Job>> jobs_;
  bool busy_ = false;
};

using Work = std::function<Reply()>;
// A promise of what `work` comes to, once its turn in `queue` has come; without a queue, at once.
napi_value later(napi_env env, std::shared_ptr<Queue> queue, Work work);

// The value of a reply; throws Refused for a failure.
napi_value value_of(napi_env env, Reply& reply);

}  // namespace undertext::node
