#include "server/log.hpp"

#include <cerrno>
#include <cstdio>
#include <ctime>

#include <unistd.h>

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
  append_number(line, "us",
                static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(request.duration).count()));
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

void ServerLog::put(std::string line) const {
  line += "}\n";
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // nobody is left to tell
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace undertext
