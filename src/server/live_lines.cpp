#include "server/live_lines.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace undertext {

LiveLine::LiveLine(Caller caller, std::shared_ptr<http::Stream> stream, TenantCounts::Slot place)
    : caller_(std::move(caller)),
      stream_(std::move(stream)),
      place_(std::move(place)),
      told_at_(Clock::now()) {}

bool LiveLine::send_locked(std::string text) {
  told_at_ = Clock::now();
  return stream_->offer(std::move(text));
}

bool LiveLine::send(std::string text) {
  const std::lock_guard lock(lock_);
  return stream_ && send_locked(std::move(text));
}

bool LiveLine::keep_up(std::chrono::milliseconds heartbeat) {
  const std::lock_guard lock(lock_);
  if (!stream_) return false;
  return Clock::now() - told_at_ < heartbeat || send_locked(":\n\n");
}

bool LiveLine::is_open() const {
  const std::lock_guard lock(lock_);
  return stream_ && stream_->is_open();
}

void LiveLine::close() {
  std::shared_ptr<http::Stream> stream;
  {
    const std::lock_guard lock(lock_);
    stream = std::move(stream_);
    stream_.reset();
    place_.reset();  // first: whoever sees the end may open another one at once
  }
  if (stream) stream->end();
}

LiveLines::LiveLines(Options options)
    : options_(std::move(options)), places_(options_.per_tenant), thread_([this] { run(); }) {}

std::shared_ptr<LiveLine> LiveLines::add(Caller caller, std::shared_ptr<http::Stream> stream,
                                         TenantCounts::Slot place) {
  auto line = std::make_shared<LiveLine>(std::move(caller), std::move(stream), std::move(place));
  const std::lock_guard lock(lock_);
  lines_.push_back(line);
  return line;
}

bool LiveLines::allows(const LiveLine& line) const {
  return !options_.still_allowed || options_.still_allowed(line.caller_);
}

bool LiveLines::look_after(LiveLine& line) {
  try {
    if (line.is_open() && allows(line) && line.keep_up(options_.heartbeat)) return true;
  } catch (const std::exception&) {
    // There is no memory for it; who comes back goes on where it was.
  }
  line.close();
  return false;
}

void LiveLines::run() {
  const auto pause = std::min(options_.watch, options_.heartbeat);
  bool all = false;  // are to be closed
  while (!all) {
    std::list<std::weak_ptr<LiveLine>> lines;
    {
      std::unique_lock lock(lock_);
      all = changed_.wait_for(lock, pause, [&] { return stopping_; });
      lines.swap(lines_);
    }
    // Without the lock, for what is closed may tell its connection.
    const std::size_t count = lines.size();
    lines.remove_if([&](const std::weak_ptr<LiveLine>& held) {
      const std::shared_ptr<LiveLine> line = held.lock();
      if (line && all) line->close();
      return !line || !look_after(*line);
    });
    if (lines.size() < count && options_.on_closed) options_.on_closed();
    const std::lock_guard lock(lock_);
    lines_.splice(lines_.begin(), lines);
  }
}

void LiveLines::stop() {
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
  }
  changed_.notify_one();
  const std::lock_guard joining(stopping_lock_);
  if (thread_.joinable()) thread_.join();
}

}  // namespace undertext
