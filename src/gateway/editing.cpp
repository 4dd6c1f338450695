#include "gateway/editing.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t waiting_max = 1024;

}  // namespace

EditingQueue::EditingQueue(std::shared_ptr<ExchangeEditor> editor,
                           std::chrono::milliseconds patience, Prepare prepare, OnEvent on_event)
    : editor_(std::move(editor)),
      patience_(patience),
      prepare_(std::move(prepare)),
      on_event_(std::move(on_event)) {
  if (!editor_) return;
  worker_ = std::thread([this] { work(); });
  watchdog_ = std::thread([this] { watch(); });
}

EditingQueue::~EditingQueue() { stop(); }

bool EditingQueue::submit(std::shared_ptr<const ObservedRequest> request, Done done) {
  if (!editor_) return false;
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->done = std::move(done);
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_ || waiting_.size() >= waiting_max) return false;
    job->deadline = Clock::now() + patience_;
    watched_.push_back(job);
    waiting_.push_back(std::move(job));
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
    if (!job->is_answered) edit(*job);
  }
}

void EditingQueue::edit(Job& job) {
  RequestEdit edit;
  bool has_failed = false;
  try {
    // A part of the patience: the rest is for the edit itself.
    if (prepare_) prepare_(std::min(job.deadline, Clock::now() + patience_ / 4));
    edit = editor_->edit(job.request);
  } catch (const std::exception& exception) {
    has_failed = true;
    report("a request was not edited", exception.what());
  } catch (...) {
    has_failed = true;
  }
  if (has_failed) edit = unedited(job);
  if (job.is_answered.exchange(true)) return;  // too late: it was sent as it came
  if (has_failed)
    ++failed_;
  else if (edit.body || edit.answer)
    ++edited_;
  else
    ++unchanged_;
  job.done(std::move(edit));
  changed_.notify_all();
}

RequestEdit EditingQueue::unedited(const Job& job) const noexcept {
  try {
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
      report("a request was not edited", "the editor took too long");
      first->done(unedited(*first));
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
    if (!job->is_answered.exchange(true)) job->done(unedited(*job));
  if (worker_.joinable()) worker_.join();
  if (watchdog_.joinable()) watchdog_.join();
}

EditingQueue::Counts EditingQueue::counts() const {
  return {.edited = edited_, .unchanged = unchanged_, .failed = failed_, .late = late_};
}

}  // namespace undertext
