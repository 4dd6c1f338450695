// Streams that stay open: a thread of their own sees to it that none is taken for dead, and that
// none outlives the right to read it. It waits for nothing but its time, so that a slow store
// delays neither.
//
//     std::optional<TenantCounts::Slot> place = lines.take_place(tenant);      // nothing: the tenant has too many
//     std::shared_ptr<LiveLine> line = lines.add(caller, std::move(stream), *std::move(place));
//     if (!line->send(text)) …                                                 // it is closed, here or there
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "http/http.hpp"
#include "server/route.hpp"
#include "server/tenant_counts.hpp"

namespace undertext {

// Safe for any number of threads.
class LiveLine {
 public:
  using Clock = std::chrono::steady_clock;
  LiveLine(Caller caller, std::shared_ptr<http::Stream> stream, TenantCounts::Slot place);
  ~LiveLine() = default;  // cuts it off, if it is open
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  bool send(std::string text);  // never waits. false: it is closed, or the client cannot follow
  bool is_open() const;
  void close();  // its place is free then

 private:
  friend class LiveLines;
  bool send_locked(std::string text);
  // with a comment, where nothing was sent for so long
  bool keep_up(std::chrono::milliseconds heartbeat);

  const Caller caller_;
  mutable std::mutex lock_;
  std::shared_ptr<http::Stream> stream_;     // null: closed
  std::optional<TenantCounts::Slot> place_;  // until then
  Clock::time_point told_at_;
};

class LiveLines {
 public:
  struct Options {
    std::function<bool(const Caller&)> still_allowed = {};  // unset: always; must not wait
    std::size_t per_tenant = 64;
    std::chrono::milliseconds heartbeat{15'000};
    // how often clients that are gone, and rights, are looked for
    std::chrono::milliseconds watch{500};
    std::function<void()> on_closed = {};  // after some were closed by this; on its thread
  };
  explicit LiveLines(Options options);
  ~LiveLines() { stop(); }

  // A place of the tenant's, which is free again when the line is closed. Nothing: it has as many
  // as it may.
  std::optional<TenantCounts::Slot> take_place(const std::string& tenant) {
    return places_.take(tenant);
  }
  // Looked after for as long as somebody holds it.
  std::shared_ptr<LiveLine> add(Caller caller, std::shared_ptr<http::Stream> stream,
                                TenantCounts::Slot place);

  bool allows(const LiveLine& line) const;
  std::size_t count() const { return places_.total(); }

  void stop();  // closes all

 private:
  void run();
  bool look_after(LiveLine& line);  // false: it is closed

  const Options options_;
  TenantCounts places_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::list<std::weak_ptr<LiveLine>> lines_;
  bool stopping_ = false;
  std::mutex stopping_lock_;
  std::thread thread_;  // begins when all else is there
};

}  // namespace undertext
