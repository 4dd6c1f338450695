#include "gateway/editing.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t waiting_max = 1024;

// One long edit holds up nobody else; more threads than cores would make every edit late.
constexpr unsigned workers_min = 2, workers_max = 4;

}  // namespace

EditingQueue::EditingQueue(std::shared_ptr<ExchangeEditor> editor,
                           std::chrono::milliseconds patience, Prepare prepare, OnEvent on_event)
    : editor_(std::move(editor)),
      patience_(patience),
      prepare_(std::move(prepare)),
      on_event_(std::move(on_event)) {
  if (!editor_) return;
  const unsigned cores = std::thread::hardware_concurrency();
  for (unsigned i = 0; i < std::clamp(cores, workers_min, workers_max); ++i)
    workers_.emplace_back([this] { work(); });
  watchdog_ = std::thread([this] { watch(); });
}

EditingQueue::~EditingQueue() { stop(); }

bool EditingQueue::submit(std::shared_ptr<const ObservedRequest> request, Done done) {
  if (!editor_) return false;
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->done = std::move(done);
  job->is_held_up = editor_->is_held_up();
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_ || (!job->is_held_up && waiting_.size() >= waiting_max)) return false;
    if (job->is_held_up) {
      job->deadline = Clock::now();
      watched_.push_front(std::move(job));
    } else {
      job->deadline = Clock::now() + patience_;
      watched_.push_back(job);
      waiting_.push_back(std::move(job));
    }
  }
  changed_.notify_all();
  return true;
}

void EditingQueue::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
    if (is_stopping_) return;
    const std::shared_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (!job->is_answered) edit(job);
  }
}

void EditingQueue::edit(const std::shared_ptr<Job>& job) {
  RequestEdit edit;
  bool has_failed = false;
  try {
    // A part of the patience: the rest is for the edit itself.
    if (prepare_) prepare_(std::min(job->deadline, Clock::now() + patience_ / 4));
    edit = editor_->edit(job->request, [&job](RequestEdit offered) {
      const std::lock_guard lock(job->mutex);
      job->offered = std::move(offered);
    });
  } catch (const std::exception& exception) {
    has_failed = true;
    report("a request was not edited", exception.what());
  } catch (...) {
    has_failed = true;
  }
  if (job->is_answered.exchange(true)) return;  // too late
  if (has_failed) edit = instead(*job);
  if (has_failed)
    ++failed_;
  else if (edit.body || edit.answer)
    ++edited_;
  else
    ++unchanged_;
  send(*job, std::move(edit));
  changed_.notify_all();
}

void EditingQueue::send(const Job& job, RequestEdit edit) {
  if (edit.on_sent) edit.on_sent();
  job.done(std::move(edit));
}

RequestEdit EditingQueue::instead(Job& job) const noexcept {
  try {
    {
      const std::lock_guard lock(job.mutex);
      if (job.offered) return *std::exchange(job.offered, {});
    }
    return editor_->unedited(*job.request);
  } catch (...) {
    return {};
  }
}

void EditingQueue::watch() {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!watched_.empty() && watched_.front()->is_answered) watched_.pop_front();
    if (is_stopping_) return;
    if (watched_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const std::shared_ptr<Job> first = watched_.front();
    if (Clock::now() < first->deadline) {
      changed_.wait_until(lock, first->deadline);
      continue;
    }
    watched_.pop_front();
    lock.unlock();
    if (!first->is_answered.exchange(true)) {
      ++late_;
      report("a request was not edited",
             first->is_held_up ? "the editor is held up" : "the editor took too long");
      send(*first, instead(*first));
    }
    lock.lock();
  }
}

void EditingQueue::report(std::string_view event, const std::string& detail) noexcept {
  try {
    if (on_event_) on_event_(event, detail);
  } catch (...) {
  }
}

void EditingQueue::stop() {
  std::deque<std::shared_ptr<Job>> rest;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    rest = watched_;
  }
  changed_.notify_all();
  for (const std::shared_ptr<Job>& job : rest)
    if (!job->is_answered.exchange(true)) send(*job, instead(*job));
  for (std::thread& worker : workers_)
    if (worker.joinable()) worker.join();
  if (watchdog_.joinable()) watchdog_.join();
}

EditingQueue::Counts EditingQueue::counts() const {
  return {.edited = edited_, .unchanged = unchanged_, .failed = failed_, .late = late_};
}

}  // namespace undertext
