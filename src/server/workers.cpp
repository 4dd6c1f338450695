#include "server/workers.hpp"

#include <utility>

namespace undertext {

Workers::Workers(Limits limits) : limits_(limits) {
  threads_.reserve(limits_.threads);
  for (std::size_t i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() { stop(); }

bool Workers::submit(std::string_view tenant, Job job) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    auto found = tenants_.find(tenant);
    const std::size_t own = found == tenants_.end() ? 0 : found->second.waiting.size();
    if (stopped_ || counts_.waiting >= limits_.waiting || own >= limits_.waiting_per_tenant) {
      ++counts_.refused;
      return false;
    }
    if (found == tenants_.end()) found = tenants_.emplace(tenant, Tenant()).first;
    found->second.waiting.push_back(std::move(job));
    ++counts_.waiting;
    line_up(found);
    wakes = should_wake();
  }
  if (wakes) some_.notify_one();
  return true;
}

void Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  some_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

Workers::Counts Workers::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Workers::line_up(Tenants::iterator tenant) {
  Tenant& one = tenant->second;
  if (one.in_turn || one.waiting.empty() || one.running >= limits_.threads_per_tenant) return;
  one.in_turn = true;
  turns_.push_back(tenant);
}

// One at a time: while a thread is on its way, those at work may be done and take up what waits.
// Whoever finds more wakes the next one.
bool Workers::should_wake() {
  if (turns_.empty() || idle_ == 0 || is_waking_) return false;
  is_waking_ = true;
  return true;
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (turns_.empty() && !(stopped_ && counts_.waiting == 0)) {
      ++idle_;
      some_.wait(lock);
      --idle_;
      is_waking_ = false;
    }
    if (turns_.empty()) return;
    const Tenants::iterator tenant = turns_.front();
    turns_.pop_front();
    Tenant& one = tenant->second;
    one.in_turn = false;
    Job job = std::move(one.waiting.front());
    one.waiting.pop_front();
    ++one.running;
    --counts_.waiting;
    ++counts_.running;
    line_up(tenant);
    const bool wakes = should_wake();
    lock.unlock();
    if (wakes) some_.notify_one();
    job();
    job = nullptr;
    lock.lock();
    --counts_.running;
    --one.running;
    line_up(tenant);
    if (one.waiting.empty() && one.running == 0) tenants_.erase(tenant);
    if (stopped_ && counts_.waiting == 0) some_.notify_all();
  }
}

}  // namespace undertext
