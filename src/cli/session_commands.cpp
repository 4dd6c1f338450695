// open, forget: sessions that coding agents keep on this machine.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/terminal.hpp"
#include "sessions/index.hpp"
#include "sessions/search.hpp"
#include "sessions/sessions_store.hpp"
#if UNDERTEXT_HAVE_SERVER
#  include "cli/listening.hpp"
#  include "cli/one_token.hpp"
#  include "server/serve.hpp"
#  include "system/process.hpp"
#endif

namespace undertext {
namespace {

constexpr std::string_view open_help =
    R"(Finds the sessions of Claude Code, Codex, opencode and pi, and opens the inspector with all of them. Their files are only read. An
index for the list (titles, folders, models, tokens) is kept in your cache folder; undertext forget removes it.

  undertext open
  undertext open --list
  undertext open --search "token bucket")";

struct OpenGiven {
  bool list = false, quick = false, no_browser = false, json = false;
  std::optional<std::string> search;
  std::string listen = "127.0.0.1:0";
};

std::string index_path() {
  const std::optional<std::string> path = default_session_index();
  if (!path) fail(ErrorCode::not_found, "HOME is not set, so there is no cache folder");
  return *path;
}

void save(const Desk& desk, const SessionIndex& index) {
  if (const std::optional<Error> error = index.save())
    desk.note("the index was not kept: " + error->message);
}

SessionIndex read_sessions(const Desk& desk, SessionIndex::Depth depth) {
  const std::string path = index_path();
  make_folders_above(path);
  SessionIndex index = SessionIndex::load(path);
  if (index.refresh(find_sessions(), depth)) save(desk, index);
  return index;
}

void append_number(std::string& out, const char* field, std::uint64_t number) {
  out += field + std::to_string(number);
}

// A folder may have any bytes for a name; JSON has only UTF-8.
std::string as_utf8(std::string_view text) {
  std::string out;
  for (const char *at = text.data(), *const end = at + text.size(); at < end;) {
    const std::size_t size = utf8_sequence_size(at, end);
    if (size == 0) append_utf8(out, replacement_character);
    out.append(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  return out;
}

void append_session(std::string& out, const IndexedSession& session) {
  const SessionInfo& info = session.info;
  append_json_string(out += R"({"id":)", session.id);
  append_json_string(out += R"(,"client":)", name(session.file.format));
  append_json_string(out += R"(,"title":)", info.title);
  append_json_string(out += R"(,"project":)", info.project);
  append_json_string(out += R"(,"model":)", info.model);
  append_json_string(out += R"(,"path":)", as_utf8(session.file.path));
  out += R"(,"startedAt":)" + std::to_string(info.began_at_ms) + R"(,"updatedAt":)" +
         std::to_string(info.last_at_ms);
  append_number(out, R"(,"messages":)", info.messages);
  append_number(out, R"(,"tokens":{"input":)", info.tokens.input);
  append_number(out, R"(,"output":)", info.tokens.output);
  append_number(out, R"(,"cacheRead":)", info.tokens.cache_read);
  append_number(out, R"(,"cacheWrite":)", info.tokens.cache_write);
  char cost[40];
  std::snprintf(cost, sizeof cost, "%.6f", info.cost);
  out += R"(},"cost":)" + std::string(cost) + R"(,"isRead":)" +
         (session.offset > 0 ? "true" : "false");
}

std::vector<const IndexedSession*> newest_first(const SessionIndex& index) {
  std::vector<const IndexedSession*> sessions;
  for (const IndexedSession& session : index.sessions()) sessions.push_back(&session);
  std::stable_sort(sessions.begin(), sessions.end(),
                   [](const IndexedSession* a, const IndexedSession* b) {
                     return a->info.last_at_ms > b->info.last_at_ms;
                   });
  return sessions;
}

void print_session(Desk& desk, const IndexedSession& session, std::string_view excerpt) {
  const SessionInfo& info = session.info;
  Line line;
  line.add(spelled_time(info.last_at_ms), quiet)
      .pad_to(21)
      .add(name(session.file.format), quiet)
      .pad_to(34);
  line.add(printable(info.title.empty() ? session.id : info.title), {.bold = true}).add("  ");
  line.add(printable(info.project), quiet).add("  ").add(printable(info.model), quiet);
  if (info.tokens.all() > 0) line.add("  " + std::to_string(info.tokens.all()) + " tokens", quiet);
  desk.screen().print(line);
  if (excerpt.empty()) return;
  Line below;
  below.pad_to(34).add(printable(excerpt));
  desk.screen().print(below);
}

int list_sessions(Desk& desk, const OpenGiven& given) {
  const SessionIndex index =
      read_sessions(desk, given.quick ? SessionIndex::Depth::list : SessionIndex::Depth::whole);
  std::string out = R"({"ok":true,"result":{"sessions":[)";
  const char* separator = "";
  for (const IndexedSession* session : newest_first(index)) {
    if (!given.json) {
      print_session(desk, *session, "");
      continue;
    }
    append_session(out += std::exchange(separator, ","), *session);
    out += '}';
  }
  if (given.json) desk.put_json(out + "]}}");
  return 0;
}

int search(Desk& desk, const OpenGiven& given) {
  const SessionIndex index = read_sessions(desk, SessionIndex::Depth::list);
  std::string out = R"({"ok":true,"result":{"sessions":[)";
  const char* separator = "";
  for (const SessionHit& hit : search_sessions(index.sessions(), *given.search)) {
    if (!given.json) {
      print_session(desk, *hit.session, hit.excerpt);
      continue;
    }
    append_session(out += std::exchange(separator, ","), *hit.session);
    append_number(out, R"(,"hits":)", hit.lines);
    append_json_string(out += R"(,"excerpt":)", hit.excerpt);
    out += '}';
  }
  if (given.json) desk.put_json(out + "]}}");
  return 0;
}

#if UNDERTEXT_HAVE_SERVER

class SessionsCatalog final : public Catalog {
 public:
  explicit SessionsCatalog(std::shared_ptr<const SessionsStore> store) : store_(std::move(store)) {}

  std::optional<ConversationAbout> about(std::string_view id) const override {
    const std::optional<IndexedSession> session = store_->session(id);
    if (!session) return {};
    const SessionInfo& info = session->info;
    return ConversationAbout{.client = std::string(name(session->file.format)),
                             .title = info.title,
                             .project = info.project,
                             .model = info.model,
                             .started_at_ms = info.began_at_ms,
                             .updated_at_ms = info.last_at_ms,
                             .input = info.tokens.input,
                             .output = info.tokens.output,
                             .cache_read = info.tokens.cache_read,
                             .cache_write = info.tokens.cache_write,
                             .cost = info.cost};
  }

  std::vector<UnreadFound> search_unread(std::string_view text, std::size_t limit) const override {
    std::vector<UnreadFound> found;
    for (SessionsStore::Hit& hit : store_->search_unread(text, limit))
      found.push_back({std::move(hit.conversation), std::move(hit.excerpt)});
    return found;
  }

 private:
  const std::shared_ptr<const SessionsStore> store_;
};

// Looks into the folders again and again: what was begun, written and deleted since.
void follow_sessions(SessionIndex& index, SessionsStore& store, const std::stop_token& stop) {
  constexpr std::chrono::seconds between_looks{1};
  std::atomic<bool> ends = false;
  const std::stop_callback ending(stop, [&] { ends = true; });
  std::mutex lock;
  std::condition_variable_any stopped;
  for (;;) {
    // Tokens and costs need every line, and nobody waits for them.
    if (index.refresh(find_sessions(), SessionIndex::Depth::whole, &ends) && !ends) {
      store.replace(index.sessions());
      static_cast<void>(index.save());  // it is made again
    }
    std::unique_lock waiting(lock);
    if (stopped.wait_for(waiting, stop, between_looks, [&] { return ends.load(); }) || ends) return;
  }
}

int open_inspector(Desk& desk, const OpenGiven& given) {
  SessionIndex index = read_sessions(desk, SessionIndex::Depth::list);
  const OneToken token("open");
  ServeOptions options;
  const ListenAddress listen = read_listen(given.listen, {options.address, 0});
  options.address = listen.address;
  options.port = listen.port;
  options.tokens_file = token.file();
  options.log_requests = false;
  const std::shared_ptr<SessionsStore> store = sessions_store(index.sessions());
  options.store = store;
  options.catalog = std::make_shared<SessionsCatalog>(store);
  std::jthread following;
  options.on_listening = [&](const std::string& url, const std::string&) {
    const std::string address = url + "/#token=" + token.secret();
    desk.say(address);
    desk.finish();
    if (!given.no_browser) open_in_browser(address);
    following =
        std::jthread([&](const std::stop_token& stop) { follow_sessions(index, *store, stop); });
  };
  std::optional<Error> error = serve(options);
  following = {};
  if (error) throw Failure(*std::move(error));
  return 0;
}

#else

int open_inspector(Desk&, const OpenGiven&) {
  fail(ErrorCode::unsupported, "built without the server; --list and --search work");
}

#endif

Run declare_open(Arguments& arguments) {
  auto given = std::make_shared<OpenGiven>();
  arguments.add({"--list", &given->list, "Print the sessions, and end"});
  arguments.add(
      {"--quick", &given->quick,
       "With --list: what both ends of the files say, without tokens and costs of new ones"});
  arguments.add(
      {"--search", &given->search, "Print the sessions that hold these words, and end", "TEXT"});
  arguments.add({"--no-browser", &given->no_browser, "Print the address, and open no browser"});
  arguments.add({"--listen", &given->listen,
                 "Where; port 0 takes one that is free (default: 127.0.0.1:0)", "ADDRESS:PORT"});
  arguments.add({"--json", &given->json, "Answer in JSON, errors too"});
  return [given](Desk& desk) {
    if (given->search) return search(desk, *given);
    return given->list ? list_sessions(desk, *given) : open_inspector(desk, *given);
  };
}

Run declare_forget(Arguments& arguments) {
  auto given = std::make_shared<OpenGiven>();
  arguments.add({"--json", &given->json, "Answer in JSON, errors too"});
  return [given](Desk& desk) {
    const std::string path = index_path();
    const bool was_there = forget_sessions(path);
    if (given->json) {
      desk.put_json(std::string(R"({"ok":true,"result":{"forgotten":)") +
                    (was_there ? "true" : "false") + "}}");
    } else {
      desk.say(was_there ? "removed " + path : "there was no index");
    }
    return 0;
  };
}

}  // namespace

std::vector<Command> session_commands() {
  return {
      {"open", "Look into the sessions of coding agents on this machine", open_help, declare_open},
      {"forget", "Remove the index of these sessions", "The sessions themselves are not changed.",
       declare_forget},
  };
}

}  // namespace undertext
