// Server-sent events: what becomes of conversations, to whoever watches.
//
// One thread sends what there is to tell; others only leave notices for it. Another one asks the
// store, for watched conversations only, what other processes did; a third (live_lines.hpp) keeps
// the lines alive, and waits for neither. A conversation that is watched stays open. Versions are
// read from its history, so nothing has to be kept for clients that come back: a stream is a
// number, the version it is told next. What this process does is told at once. Safe for any number
// of threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <undertext/conversation.hpp>

#include "http/http.hpp"
#include "server/live_lines.hpp"
#include "server/route.hpp"

namespace undertext {

class EventStreams {
 public:
  struct Options {
    std::function<bool(const Caller&)> still_allowed = {};  // unset: always
    std::size_t per_tenant = 64;
    std::chrono::milliseconds heartbeat{15'000};
    std::chrono::milliseconds watch{500};
  };
  struct Opening {
    Caller caller;
    std::shared_ptr<Conversation> conversation;
    std::uint64_t next = 0;  // the version to be told first
  };

  explicit EventStreams(Options options);
  ~EventStreams();  // as stop()

  // Answers the exchange: with a stream, or 429 when the tenant has too many.
  void open(Opening opening, http::Exchange& exchange);

  // Tells those who watch, if any. `data` is one line of JSON.
  void tell(const std::string& tenant, const std::string& id, std::string_view event,
            std::string_view data);
  void tell_deleted(const std::string& tenant, const std::string& id);  // and ends their streams

  std::size_t count() const { return lines_.count(); }

  void stop();  // ends all streams

 private:
  using Clock = std::chrono::steady_clock;
  using Key = std::pair<std::string, std::string>;  // tenant, conversation
  // A conversation whose events are heard, from the moment on that a stream of it is opened: the
  // sender may come to the stream much later. All streams of a conversation share one, and the last
  // of them ends it.
  struct Heard {
    std::shared_ptr<Conversation> conversation;
    Subscription subscription = {};
  };
  struct Line {
    std::shared_ptr<LiveLine> line;
    std::shared_ptr<Heard> heard;
    std::uint64_t next = 0;  // the version to be told next
  };
  struct Watched {
    std::shared_ptr<Conversation> conversation;
    std::vector<Line> lines = {};
    std::string notices = {};  // to be sent once all versions are
    bool changed = true;       // there may be versions that were not told
    bool deleted = false;
  };
  // What others leave for the thread.
  struct Inbox {
    std::vector<std::pair<Key, Line>> openings;
    std::map<Key, std::string> notices;  // of conversations that changed; mostly empty text
    std::vector<Key> deleted;
    bool closed = false;  // some lines are
  };

  void send();
  Inbox wait_for_inbox(std::optional<Clock::time_point> until);
  void take(Inbox inbox);
  std::shared_ptr<Heard> hear(const Key& key, std::shared_ptr<Conversation> conversation);
  bool serve(Watched& watched);                            // false: some lines are still behind
  bool tell_versions(const History& history, Line& line);  // false: the line is gone
  static void close_all(Watched& watched);
  void note_watched();

  void ask();
  void ask_store(const Key& key, Conversation& conversation);

  const Options options_;
  std::map<Key, Watched> watched_;  // the sender's own

  std::mutex lock_;
  std::condition_variable left_, stopped_;
  Inbox inbox_;
  std::map<Key, std::weak_ptr<Heard>> heard_;
  std::map<Key, std::shared_ptr<Conversation>> asked_for_;  // what is watched
  bool stopping_ = false;
  std::mutex stopping_lock_;
  LiveLines lines_;             // tells of lines that it closed, by what is above
  std::thread sender_, asker_;  // begin when all else is there
};

}  // namespace undertext
