#include "server/event_streams.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "json/answer_json.hpp"

namespace undertext {
namespace {

// A client that is behind gets so many versions at a time, with a pause between: the lines of a stream must fit what may be unsent, while the client reads.
constexpr std::uint64_t page_versions = 500;
constexpr std::chrono::milliseconds page_pause{50};
constexpr std::size_t page_bytes = 256 << 10;
// What may wait to be told besides versions. Where it is more, those who watch are cut off.
constexpr std::size_t notices_bytes_max = 256 << 10;
// One that is further behind than this reads anew.
constexpr std::uint64_t behind_max = 10'000;

std::string event_text(std::string_view event, std::string_view data, const std::optional<std::uint64_t>& id = {}) {
  std::string out;
  if (id) out += "id: " + std::to_string(*id) + "\n";
  ((out += "event: ") += event) += "\ndata: ";
  return (out += data) += "\n\n";
}

std::string version_text(const History& history, std::uint64_t version) {
  std::string data;
  append_json(data, history.version_info(Version(version)));
  return event_text("version", data, version);
}

// The rest is told by versions.
bool is_told_by_itself(Event::Type type) {
  switch (type) {
    case Event::Type::message_added:
    case Event::Type::batch_opened:
    case Event::Type::rolled_back:
    case Event::Type::context_changed: return false;
    default: return true;
  }
}

}  // namespace

EventStreams::EventStreams(Options options)
    : options_(std::move(options)), open_by_tenant_(options_.per_tenant), thread_([this] { run(); }) {}

EventStreams::~EventStreams() { stop(); }

void EventStreams::stop() {
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
  }
  left_.notify_one();
  const std::lock_guard joining(stopping_lock_);
  if (thread_.joinable()) thread_.join();
}

void EventStreams::open(Opening opening, http::Exchange& exchange) {
  {
    const std::lock_guard lock(lock_);
    if (stopping_) return exchange.answer(error_reply({ErrorCode::unavailable, "the server is stopping"}));
  }
  opening.slot = open_by_tenant_.take(opening.caller.tenant);
  if (!opening.slot) {
    http::Reply reply = error_reply({ErrorCode::unavailable, "there are too many streams of events already"}, 429);
    reply.fields.push_back({"Retry-After", "5"});
    return exchange.answer(std::move(reply));
  }
  // X-Accel-Buffering: nginx would hold lines back.
  std::shared_ptr<http::Stream> stream =
      exchange.stream(200, "text/event-stream", {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}});
  {
    const std::lock_guard lock(lock_);
    if (stopping_) return;  // meanwhile; the stream is cut, and nothing of it stays
    inbox_.openings.emplace_back(std::move(opening), std::move(stream));
  }
  left_.notify_one();
}

void EventStreams::tell(const std::string& tenant, const std::string& id, std::string_view event, std::string_view data) {
  const std::string text = event.empty() ? std::string() : event_text(event, data);
  {
    const std::lock_guard lock(lock_);
    std::string& waiting = inbox_.notices[{tenant, id}];
    if (waiting.size() <= notices_bytes_max) waiting += text;  // beyond that nobody is told
  }
  left_.notify_one();
}

void EventStreams::tell_deleted(const std::string& tenant, const std::string& id) {
  {
    const std::lock_guard lock(lock_);
    inbox_.deleted.emplace_back(tenant, id);
  }
  left_.notify_one();
}

EventStreams::Inbox EventStreams::wait_for_inbox(std::optional<Clock::time_point> until) {
  std::unique_lock lock(lock_);
  const auto something = [&] {
    return stopping_ || !inbox_.openings.empty() || !inbox_.notices.empty() || !inbox_.deleted.empty();
  };
  if (until) {
    left_.wait_until(lock, *until, something);
  } else {
    left_.wait(lock, something);
  }
  return std::exchange(inbox_, {});
}

void EventStreams::run() {
  Clock::time_point look_at = Clock::now() + options_.watch;
  bool all_told = true;
  for (;;) {
    std::optional<Clock::time_point> until;
    if (!watched_.empty()) until = all_told ? look_at : std::min(look_at, Clock::now() + page_pause);
    try {
      take(wait_for_inbox(until));
    } catch (const std::bad_alloc&) {
      // What was left is lost. Versions are told all the same, as they are found in the histories.
    }
    {
      const std::lock_guard lock(lock_);
      if (stopping_) break;
    }
    const bool look = Clock::now() >= look_at;
    if (look) look_at = Clock::now() + options_.watch;
    all_told = true;
    for (auto at = watched_.begin(); at != watched_.end();) {
      Watched& watched = at->second;
      try {
        if (look) ask_store(watched);
        all_told &= serve(watched, look);
      } catch (const std::exception&) {
        close_all(watched);  // there is no memory for it, or nothing can be read: who comes back goes on where it was
      }
      at = watched.lines.empty() ? watched_.erase(at) : std::next(at);
    }
  }
  for (auto& [key, watched] : watched_) close_all(watched);
  watched_.clear();
}

void EventStreams::take(Inbox inbox) {
  for (auto& [opening, stream] : inbox.openings) watch(std::move(opening), std::move(stream));
  for (auto& [key, text] : inbox.notices) {
    const auto found = watched_.find(key);
    if (found == watched_.end()) continue;
    if (found->second.notices.size() + text.size() > notices_bytes_max) {
      close_all(found->second);
      watched_.erase(found);
      continue;
    }
    found->second.changed = true;
    found->second.notices += text;
  }
  for (const Key& key : inbox.deleted) {
    if (const auto found = watched_.find(key); found != watched_.end()) found->second.deleted = true;
  }
}

void EventStreams::watch(Opening opening, std::shared_ptr<http::Stream> stream) {
  const Key key{opening.caller.tenant, opening.conversation->id()};
  Watched& watched = watched_[key];
  if (!watched.conversation) {
    watched.conversation = opening.conversation;
    watched.subscription = watched.conversation->subscribe([this, key](const Event& event) {
      std::string data;
      if (is_told_by_itself(event.type)) append_json(data, event);
      tell(key.first, key.second, data.empty() ? "" : "event", data);
    });
  }
  watched.changed = true;
  Line line{std::move(opening.caller), std::move(stream), opening.next, Clock::now(), std::move(opening.slot)};
  if (line.stream->offer(": events of a conversation\n\n")) {
    watched.lines.push_back(std::move(line));
  } else {
    close(line);
  }
}

void EventStreams::ask_store(Watched& watched) {
  const std::optional<Error> error = watched.conversation->catch_up();
  // Anything else may pass, and is tried again the next time.
  if (error && error->code == ErrorCode::not_found) watched.deleted = true;
}

bool EventStreams::serve(Watched& watched, bool look) {
  bool all_told = true;
  std::string notices;
  std::optional<History> history;
  try {
    if (watched.changed) history = watched.conversation->history();
  } catch (const Failure&) {
    all_told = false;  // tried again
  }
  const auto gone = [&](Line& line) {
    if ((look || history || watched.deleted) && !(line.stream->is_open() && allows(line))) return true;
    if (history && !tell_versions(*history, line)) return true;
    if (history && line.next <= history->version().value) all_told = false;
    return false;
  };
  const auto drop = [&](const auto& is_gone) {
    std::erase_if(watched.lines, [&](Line& line) {
      if (!is_gone(line)) return false;
      close(line);
      return true;
    });
  };
  drop(gone);
  if (history && all_told) {
    watched.changed = false;
    notices = std::exchange(watched.notices, {});
  }
  if (watched.deleted) notices += event_text("deleted", "{}");
  if (!notices.empty()) {
    drop([&](Line& line) {
      line.told_at = Clock::now();
      return !line.stream->offer(notices);
    });
  }
  drop([&](Line& line) { return watched.deleted || !keep_up(line); });
  return all_told;
}

bool EventStreams::tell_versions(const History& history, Line& line) {
  const std::uint64_t head = history.version().value, first = history.first_version().value;
  std::string text;
  try {
    if (line.next < first || line.next > head + 1 || head + 1 - line.next > behind_max) {
      text = event_text("reset", R"({"version":)" + std::to_string(head) + "}", head);
      line.next = head + 1;
    }
    for (std::uint64_t told = 0; line.next <= head && told < page_versions && text.size() < page_bytes; ++told)
      text += version_text(history, line.next++);
  } catch (const Failure&) {
    return false;  // it comes back, and goes on where it was
  }
  if (text.empty()) return true;
  line.told_at = Clock::now();
  return line.stream->offer(std::move(text));
}

// A comment now and then, so that nobody between takes the line for dead.
bool EventStreams::keep_up(Line& line) {
  if (Clock::now() - line.told_at < options_.heartbeat) return true;
  line.told_at = Clock::now();
  return line.stream->offer(":\n\n");
}

bool EventStreams::allows(const Line& line) const { return !options_.still_allowed || options_.still_allowed(line.caller); }

void EventStreams::close_all(Watched& watched) {
  for (Line& line : watched.lines) close(line);
  watched.lines.clear();
}

// Whoever sees the end may open another one at once.
void EventStreams::close(Line& line) {
  line.slot.reset();
  line.stream->end();
}

}  // namespace undertext
