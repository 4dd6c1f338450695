#include "server/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "system/sockets.hpp"

namespace undertext {
namespace {

// Whatever the bytes are, the line stays one line of ASCII.
void append_text(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      line += {'\\', c};
    } else if (byte >= 0x20 && byte < 0x7f) {
      line += c;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      line += escaped;
    }
  }
  line += '"';
}

void append_field(std::string& line, std::string_view name, std::string_view text) {
  line.append(",\"").append(name).append("\":");
  append_text(line, text);
}

void append_number(std::string& line, std::string_view name, std::uint64_t number) {
  line.append(",\"").append(name).append("\":").append(std::to_string(number));
}

std::string begin_line(std::string_view level, std::string_view event) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char time[40];
  const std::size_t size = std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(time + size, sizeof time - size, ".%03dZ", static_cast<int>(ms % 1000));
  std::string line = R"({"time":")";
  line.append(time).append(R"(","level":")").append(level).append(R"(","event":)");
  append_text(line, event);
  return line;
}

}  // namespace

void ServerLog::request(const Request& request) const {
  if (requests_ == Requests::none) return;
  std::string line = begin_line(request.status >= 500 ? "error" : "info", "request");
  append_field(line, "method", request.method);
  append_field(line, "route", request.route);
  append_number(line, "status", request.status);
  append_number(
      line, "us",
      static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(request.duration).count()));
  append_number(line, "bytesIn", request.bytes_in);
  append_number(line, "bytesOut", request.bytes_out);
  append_field(line, "tenant", request.tenant);
  append_field(line, "token", request.token);
  append_field(line, "peer", request.peer);
  put(std::move(line));
}

void ServerLog::event(Level level, std::string_view event,
                      const std::vector<std::pair<std::string_view, std::string>>& fields) const {
  constexpr std::string_view names[] = {"info", "warning", "error"};
  std::string line = begin_line(names[static_cast<std::size_t>(level)], event);
  for (const auto& [name, text] : fields) append_field(line, name, text);
  put(std::move(line));
}

ServerLog::ServerLog(int descriptor, Requests requests)
    : descriptor_(descriptor), requests_(requests), writer_([this] { run(); }) {}

ServerLog::~ServerLog() {
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
  }
  changed_.notify_one();
  writer_.join();
}

void ServerLog::put(std::string line) const {
  line += "}\n";
  {
    const std::lock_guard lock(lock_);
    if (waiting_.size() >= waiting_max) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(line));
  }
  changed_.notify_one();
}

void ServerLog::run() {
  std::unique_lock lock(lock_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::deque<std::string> lines = std::exchange(waiting_, {});
    const std::uint64_t dropped = std::exchange(dropped_, 0);
    lock.unlock();
    if (dropped > 0) {
      lines.push_back(begin_line("warning", "lines dropped"));
      append_number(lines.back(), "count", dropped);
      lines.back() += "}\n";
    }
    for (const std::string& line : lines) {
      if (!write(line)) return;
    }
    lock.lock();
  }
}

bool ServerLog::write(std::string_view line) const {
  constexpr int patience_ms = 100;
  // A pipe that can be written to takes this much without waiting.
  constexpr std::size_t step = 512;
  while (!line.empty()) {
    if (!wait_until_ready(descriptor_, WaitFor::writing, patience_ms)) {
      const std::lock_guard lock(lock_);
      if (stopping_) return false;
      continue;
    }
    const std::int64_t written = write_some(descriptor_, line.data(), std::min(line.size(), step));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return false;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace undertext
