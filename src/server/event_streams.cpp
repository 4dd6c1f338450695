#include "server/event_streams.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "json/answer_json.hpp"

namespace undertext {
namespace {

// A client that is behind gets so many versions at a time, with a pause between: the lines of a
// stream must fit what may be unsent, while the client reads.
constexpr std::uint64_t page_versions = 500;
constexpr std::chrono::milliseconds page_pause{50};
constexpr std::size_t page_bytes = 256 << 10;
// What may wait to be told besides versions. Where it is more, those who watch are cut off.
constexpr std::size_t notices_bytes_max = 256 << 10;
// One that is further behind than this reads anew.
constexpr std::uint64_t behind_max = 10'000;

std::string event_text(std::string_view event, std::string_view data,
                       const std::optional<std::uint64_t>& id = {}) {
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
    : options_(std::move(options)),
      lines_({.still_allowed = options_.still_allowed,
              .per_tenant = options_.per_tenant,
              .heartbeat = options_.heartbeat,
              .watch = options_.watch,
              .on_closed =
                  [this] {
                    {
                      const std::lock_guard lock(lock_);
                      inbox_.closed = true;
                    }
                    left_.notify_one();
                  }}),
      sender_([this] { send(); }),
      asker_([this] { ask(); }) {}

EventStreams::~EventStreams() { stop(); }

void EventStreams::stop() {
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
  }
  left_.notify_one();
  stopped_.notify_one();
  const std::lock_guard joining(stopping_lock_);
  if (sender_.joinable()) sender_.join();
  lines_.stop();
  if (asker_.joinable()) asker_.join();
}

void EventStreams::open(Opening opening, http::Exchange& exchange) {
  {
    const std::lock_guard lock(lock_);
    if (stopping_)
      return exchange.answer(error_reply({ErrorCode::unavailable, "the server is stopping"}));
  }
  std::optional<TenantCounts::Slot> place = lines_.take_place(opening.caller.tenant);
  if (!place) {
    http::Reply reply =
        error_reply({ErrorCode::unavailable, "there are too many streams of events already"}, 429);
    reply.fields.push_back({"Retry-After", "5"});
    return exchange.answer(std::move(reply));
  }
  const Key key{opening.caller.tenant, opening.conversation->id()};
  std::shared_ptr<Heard> heard = hear(key, std::move(opening.conversation));
  {
    // The client has its answer, and the sender its stream, in one step: what the client then does
    // is told.
    const std::lock_guard lock(lock_);
    if (stopping_)
      return exchange.answer(error_reply({ErrorCode::unavailable, "the server is stopping"}));
    // X-Accel-Buffering: nginx would hold lines back.
    std::shared_ptr<http::Stream> stream = exchange.stream(
        200, "text/event-stream", {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}});
    std::shared_ptr<LiveLine> line =
        lines_.add(opening.caller, std::move(stream), *std::move(place));
    line->send(": events of a conversation\n\n");
    // `heard` may end only without the lock
    inbox_.openings.push_back({key, {std::move(line), heard, opening.next}});
  }
  left_.notify_one();
}

std::shared_ptr<EventStreams::Heard> EventStreams::hear(
    const Key& key, std::shared_ptr<Conversation> conversation) {
  const std::lock_guard lock(lock_);
  std::weak_ptr<Heard>& place = heard_[key];
  std::shared_ptr<Heard> heard = place.lock();
  if (heard) return heard;
  heard = std::make_shared<Heard>(Heard{std::move(conversation)});
  heard->subscription = heard->conversation->subscribe([this, key](const Event& event) {
    std::string data;
    if (is_told_by_itself(event.type)) append_json(data, event);
    tell(key.first, key.second, data.empty() ? "" : "event", data);
  });
  place = heard;
  return heard;
}

void EventStreams::tell(const std::string& tenant, const std::string& id, std::string_view event,
                        std::string_view data) {
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
    return stopping_ || inbox_.closed || !inbox_.openings.empty() || !inbox_.notices.empty() ||
           !inbox_.deleted.empty();
  };
  if (until) {
    left_.wait_until(lock, *until, something);
  } else {
    left_.wait(lock, something);
  }
  return std::exchange(inbox_, {});
}

void EventStreams::send() {
  bool all_told = true;
  for (;;) {
    std::optional<Clock::time_point> until;
    if (!all_told) until = Clock::now() + page_pause;
    try {
      take(wait_for_inbox(until));
    } catch (const std::bad_alloc&) {
      // What was left is lost. Versions are told all the same, as they are found in the histories.
    }
    {
      const std::lock_guard lock(lock_);
      if (stopping_) break;
    }
    all_told = true;
    const std::size_t watched_before = watched_.size();
    for (auto at = watched_.begin(); at != watched_.end();) {
      Watched& watched = at->second;
      try {
        all_told &= serve(watched);
      } catch (const std::exception&) {
        // there is no memory for it, or nothing can be read: who comes back goes on where it was
        close_all(watched);
      }
      at = watched.lines.empty() ? watched_.erase(at) : std::next(at);
    }
    if (watched_.size() != watched_before) note_watched();
  }
  for (auto& [key, watched] : watched_) close_all(watched);
  watched_.clear();
  // with what is heard for streams that nobody will send; ended without the lock, which telling
  // takes
  Inbox left;
  {
    const std::lock_guard lock(lock_);
    left = std::exchange(inbox_, {});
  }
}

void EventStreams::close_all(Watched& watched) {
  for (const Line& line : watched.lines) line.line->close();
  watched.lines.clear();
}

void EventStreams::take(Inbox inbox) {
  for (auto& [key, line] : inbox.openings) {
    Watched& watched = watched_[key];
    if (!watched.conversation) watched.conversation = line.heard->conversation;
    watched.changed = true;
    watched.lines.push_back(std::move(line));
  }
  if (!inbox.openings.empty()) note_watched();
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
    if (const auto found = watched_.find(key); found != watched_.end())
      found->second.deleted = true;
  }
}

// For the thread that asks.
void EventStreams::note_watched() {
  std::map<Key, std::shared_ptr<Conversation>> asked_for;
  for (const auto& [key, watched] : watched_) asked_for.emplace(key, watched.conversation);
  const std::lock_guard lock(lock_);
  asked_for_.swap(asked_for);
  std::erase_if(heard_, [](const auto& at) { return at.second.expired(); });
}

void EventStreams::ask() {
  std::unique_lock lock(lock_);
  while (!stopped_.wait_for(lock, options_.watch, [&] { return stopping_; })) {
    std::map<Key, std::shared_ptr<Conversation>> asked_for = asked_for_;
    lock.unlock();
    for (const auto& [key, conversation] : asked_for) {
      ask_store(key, *conversation);
      const std::lock_guard looking(lock_);
      if (stopping_) break;
    }
    asked_for.clear();  // without the lock: one that nobody else holds is closed
    lock.lock();
  }
  asked_for_.clear();
}

// What is new is told by the conversation to its subscriber.
void EventStreams::ask_store(const Key& key, Conversation& conversation) {
  try {
    const Result<void> done = conversation.catch_up();
    // Anything else may pass, and is tried again the next time.
    if (!done && done.error().code == ErrorCode::not_found) tell_deleted(key.first, key.second);
  } catch (const std::exception&) {
    // There is no memory for it now.
  }
}

bool EventStreams::serve(Watched& watched) {
  bool all_told = true;
  std::optional<History> history;
  try {
    if (watched.changed) history = watched.conversation->history();
  } catch (const Failure&) {
    all_told = false;  // tried again
  }
  const auto gone = [&](Line& line) {
    if (!line.line->is_open() || ((history || watched.deleted) && !lines_.allows(*line.line)))
      return true;
    if (history && !tell_versions(*history, line)) return true;
    if (history && line.next <= history->version().value) all_told = false;
    return false;
  };
  const auto drop = [&](const auto& is_gone) {
    std::erase_if(watched.lines, [&](Line& line) {
      if (!is_gone(line)) return false;
      line.line->close();
      return true;
    });
  };
  drop(gone);
  std::string notices;
  if (history && all_told) {
    watched.changed = false;
    notices = std::exchange(watched.notices, {});
  }
  if (watched.deleted) notices += event_text("deleted", "{}");
  if (!notices.empty())
    drop([&](Line& line) { return !line.line->send(notices) || watched.deleted; });
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
    for (std::uint64_t told = 0;
         line.next <= head && told < page_versions && text.size() < page_bytes; ++told)
      text += version_text(history, line.next++);
  } catch (const Failure&) {
    return false;  // it comes back, and goes on where it was
  }
  if (text.empty()) return true;
  return line.line->send(std::move(text));
}

}  // namespace undertext
