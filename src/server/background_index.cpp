#include "server/background_index.hpp"

#include <exception>
#include <utility>

#include "system/process.hpp"

namespace undertext {

BackgroundIndex::BackgroundIndex(Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

BackgroundIndex::~BackgroundIndex() { stop(); }

void BackgroundIndex::add(const std::string& tenant) {
  {
    const std::lock_guard lock(mutex_);
    if (!known_.insert(tenant).second) return;
    waiting_.push_back(tenant);
  }
  changed_.notify_one();
}

void BackgroundIndex::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

BackgroundIndex::Counts BackgroundIndex::counts() const {
  const std::lock_guard lock(mutex_);
  return {.messages = messages_, .waiting = waiting_.size() + (is_working_ ? 1 : 0)};
}

void BackgroundIndex::run(const std::stop_token& stop) {
  // Of this thread alone, where the system counts so: requests go first.
  lower_priority(10);
  for (;;) {
    std::unique_lock lock(mutex_);
    is_working_ = false;
    if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
    const std::string tenant = std::move(waiting_.front());
    waiting_.pop_front();
    is_working_ = true;
    lock.unlock();
    index(tenant, stop);
  }
}

void BackgroundIndex::index(const std::string& tenant, const std::stop_token& stop) {
  std::uint64_t last = 0;
  const auto count = [this, &last](const IndexProgress& at) {
    messages_ += at.messages - last;
    last = at.messages;
  };
  Result<IndexProgress> done = Error{ErrorCode::internal, "the index was not written"};
  try {
    done = index_store(*options_.store(tenant), {.on_progress = count, .stop = stop});
  } catch (const Failure& failure) {
    done = failure.error();
  } catch (const std::exception& exception) {
    done = Error{ErrorCode::internal, exception.what()};
  }
  if (options_.on_done) options_.on_done(tenant, done);
}

}  // namespace undertext
