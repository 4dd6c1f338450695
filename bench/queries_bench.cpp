// What a question costs: the engine, beside scans of a vector with a 24-byte handle for each
// message ("scan": from the first; "reverse scan": from the last, where that finds the answer
// sooner), and reading a whole view beside vectors of the same messages.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "conversations.hpp"

namespace undertext::bench {
namespace {

using benchmark::DoNotOptimize;
using benchmark::State;

// A conversation of n messages and the same messages as vectors.
struct Subject {
  explicit Subject(History h)
      : history(std::move(h)),
        view(history.view()),
        handles(handles_of(view)),
        messages(messages_of(view)) {
    shared.reserve(messages.size());
    for (const Message& message : messages)
      shared.push_back(std::make_shared<const Message>(message));
  }
  History history;
  View view;
  std::vector<Handle> handles;
  std::vector<Message> messages;
  std::vector<std::shared_ptr<const Message>> shared;
};

enum class Past : std::uint8_t {
  appended,     // message by message
  edited,       // then inserted, replaced and deleted at random places, 2,000 times
  grown_within  // nine of ten appended, then the others inserted at random places
};

History with_inserts(std::uint64_t n) {
  History h = history(n - n / 10);
  Random random;
  for (std::uint64_t i = 0; i < n / 10; ++i) {
    h = apply(h, op::Insert{below(random, h.stats().current_batch_messages), {fresh_message(i)}});
  }
  return h;
}

const Subject& subject(const State& state, Past past = Past::appended) {
  static std::map<std::pair<std::uint64_t, Past>, std::unique_ptr<Subject>> made;
  const auto n = static_cast<std::uint64_t>(state.range(0));
  std::unique_ptr<Subject>& it = made[{n, past}];
  if (!it) {
    it = std::make_unique<Subject>(past == Past::appended ? history(n)
                                   : past == Past::edited ? edited(history(n), 2000)
                                                          : with_inserts(n));
  }
  return *it;
}

// Random numbers below a limit, drawn beforehand.
class Numbers {
 public:
  explicit Numbers(std::uint64_t limit) {
    Random random;
    for (std::uint64_t& number : numbers_) number = below(random, limit);
  }
  std::uint64_t next() { return numbers_[next_++ % std::size(numbers_)]; }

 private:
  std::uint64_t numbers_[1024];
  std::size_t next_ = 0;
};

// Roles
// ----------------------------------------------------------------------------------------------------------------------

void kth_engine(State& state) {
  const Subject& s = subject(state);
  Numbers k(s.view.sums().role_counts[static_cast<std::size_t>(Role::user)]);
  for (auto _ : state) DoNotOptimize(s.view.index_of_role(Role::user, k.next()));
}
void kth_scan(State& state) {
  const Subject& s = subject(state);
  Numbers k(s.view.sums().role_counts[static_cast<std::size_t>(Role::user)]);
  for (auto _ : state) {
    std::uint64_t left = k.next(), i = 0;
    for (; i < s.handles.size(); ++i) {
      if (s.handles[i].role == Role::user && left-- == 0) break;
    }
    DoNotOptimize(i);
  }
}

void last_engine(State& state) {
  const Subject& s = subject(state);
  const MessageQuery query{.roles = {Role::user}, .last = 3};
  for (auto _ : state) DoNotOptimize(s.history.messages(query).value());
}
void last_scan(State& state) {
  const Subject& s = subject(state);
  for (auto _ : state) {
    std::uint64_t found[3] = {};
    std::size_t count = 0;
    for (std::uint64_t i = 0; i < s.handles.size(); ++i) {
      if (s.handles[i].role == Role::user) found[count++ % 3] = i;
    }
    std::vector<Message> answer;
    for (std::size_t i = count - 3; i < count; ++i) answer.push_back(s.messages[found[i % 3]]);
    DoNotOptimize(answer);
  }
}
void last_reverse_scan(State& state) {
  const Subject& s = subject(state);
  for (auto _ : state) {
    std::vector<Message> answer;
    for (std::uint64_t i = s.handles.size(); i-- > 0 && answer.size() < 3;) {
      if (s.handles[i].role == Role::user) answer.push_back(s.messages[i]);
    }
    std::reverse(answer.begin(), answer.end());
    DoNotOptimize(answer);
  }
}

// There is one system message, which the asker does not know.
void rare_engine(State& state) {
  const Subject& s = subject(state);
  const MessageQuery query{.roles = {Role::system}};
  for (auto _ : state) DoNotOptimize(s.history.messages(query).value());
}
void rare_scan(State& state) {
  const Subject& s = subject(state);
  for (auto _ : state) {
    std::vector<Message> answer;
    for (std::uint64_t i = 0; i < s.handles.size(); ++i) {
      if (s.handles[i].role == Role::system) answer.push_back(s.messages[i]);
    }
    DoNotOptimize(answer);
  }
}

void count_engine(State& state) {
  const Subject& s = subject(state);
  Numbers places(s.handles.size());
  for (auto _ : state) {
    const auto [from, to] = std::minmax({places.next(), places.next()});
    DoNotOptimize(s.view.count(Role::tool, from, to));
  }
}
void count_scan(State& state) {
  const Subject& s = subject(state);
  Numbers places(s.handles.size());
  for (auto _ : state) {
    const auto [from, to] = std::minmax({places.next(), places.next()});
    std::uint64_t count = 0;
    for (std::uint64_t i = from; i < to; ++i) count += s.handles[i].role == Role::tool;
    DoNotOptimize(count);
  }
}

// Time
// -----------------------------------------------------------------------------------------------------------------------

// A random stretch of time in which so many messages were written.
class Times {
 public:
  Times(const Subject& s, std::uint64_t messages)
      : length_ms_(static_cast<std::int64_t>(messages) * time_step_ms),
        starts_(s.handles.size() - messages) {}
  std::pair<std::int64_t, std::int64_t> next() {
    const std::int64_t from =
        first_time_ms + static_cast<std::int64_t>(starts_.next()) * time_step_ms;
    return {from, from + length_ms_};
  }

 private:
  std::int64_t length_ms_;
  Numbers starts_;
};

void time_engine(State& state) {
  const Subject& s = subject(state);
  Times times(s, s.handles.size() / 100);
  for (auto _ : state) {
    const auto [from, to] = times.next();
    DoNotOptimize(s.history.count({.from_ms = from, .to_ms = to}).value());
  }
}
void time_scan(State& state) {
  const Subject& s = subject(state);
  Times times(s, s.handles.size() / 100);
  for (auto _ : state) {
    const auto [from, to] = times.next();
    MessageCount found;
    for (const Handle& h : s.handles) {
      if (from <= h.time_ms && h.time_ms < to) {
        ++found.count;
        found.tokens += h.tokens;
      }
    }
    DoNotOptimize(found);
  }
}
// Right only while no message stands before an older one, which an INSERT may change.
void time_binary_search(State& state) {
  const Subject& s = subject(state);
  Times times(s, s.handles.size() / 100);
  const auto before = [](const Handle& h, std::int64_t time_ms) { return h.time_ms < time_ms; };
  for (auto _ : state) {
    const auto [from, to] = times.next();
    const auto begin = std::lower_bound(s.handles.begin(), s.handles.end(), from, before);
    MessageCount found;
    for (auto h = begin; h != s.handles.end() && h->time_ms < to; ++h) {
      ++found.count;
      found.tokens += h->tokens;
    }
    DoNotOptimize(found);
  }
}

void time_messages_engine(State& state, std::uint64_t messages) {
  const Subject& s = subject(state);
  Times times(s, messages);
  for (auto _ : state) {
    const auto [from, to] = times.next();
    DoNotOptimize(s.history.messages({.from_ms = from, .to_ms = to}).value());
  }
}
void time_messages_scan(State& state, std::uint64_t messages) {
  const Subject& s = subject(state);
  Times times(s, messages);
  for (auto _ : state) {
    const auto [from, to] = times.next();
    std::vector<Message> answer;
    for (std::uint64_t i = 0; i < s.handles.size(); ++i) {
      if (from <= s.handles[i].time_ms && s.handles[i].time_ms < to)
        answer.push_back(s.messages[i]);
    }
    DoNotOptimize(answer);
  }
}

// Budget
// ---------------------------------------------------------------------------------------------------------------------

using Budget = std::uint64_t (*)(const Subject&);

void tail_engine(State& state, Budget budget) {
  const Subject& s = subject(state);
  const std::uint64_t tokens_max = budget(s);
  for (auto _ : state) DoNotOptimize(s.view.tail_within(tokens_max));
}
// What a program does that adds up all messages and then takes the first ones away until the rest
// fits.
void tail_scan(State& state, Budget budget) {
  const Subject& s = subject(state);
  const std::uint64_t tokens_max = budget(s);
  for (auto _ : state) {
    std::uint64_t tokens = 0, begin = 0;
    for (const Handle& h : s.handles) tokens += h.tokens;
    while (begin < s.handles.size() && tokens > tokens_max) tokens -= s.handles[begin++].tokens;
    DoNotOptimize(begin);
  }
}
void tail_reverse_scan(State& state, Budget budget) {
  const Subject& s = subject(state);
  const std::uint64_t tokens_max = budget(s);
  for (auto _ : state) {
    std::uint64_t tokens = 0, begin = s.handles.size();
    while (begin > 0 && tokens + s.handles[begin - 1].tokens <= tokens_max)
      tokens += s.handles[--begin].tokens;
    DoNotOptimize(begin);
  }
}

// Places
// -----------------------------------------------------------------------------------------------------------------------

void index_of_engine(State& state, Past past) {
  const Subject& s = subject(state, past);
  Numbers ordinals(s.handles.size());
  for (auto _ : state) DoNotOptimize(s.view.index_of(Ordinal(ordinals.next())));
}
void index_of_scan(State& state, Past past) {
  const Subject& s = subject(state, past);
  Numbers ordinals(s.handles.size());
  for (auto _ : state) {
    DoNotOptimize(
        std::find_if(s.handles.begin(), s.handles.end(),
                     [wanted = ordinals.next()](const Handle& h) { return h.ordinal == wanted; }));
  }
}

// Versions and marks
// ----------------------------------------------------------------------------------------------------------

// The version before an edit and the one after, of 2,000 edits.
void diff_engine(State& state) {
  const Subject& s = subject(state, Past::edited);
  Numbers edits(1999);
  const std::uint64_t head = s.history.version().value;
  for (auto _ : state) {
    const std::uint64_t from = head - 1 - edits.next();
    DoNotOptimize(s.history.diff(Version(from), Version(from + 1)).value());
  }
}
// What a program does that keeps the numbers of the messages of each version: the same from both
// ends, then the middle.
void diff_scan(State& state) {
  const Subject& s = subject(state, Past::edited);
  const std::uint64_t head = s.history.version().value;
  std::vector<std::uint64_t> versions[2];
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1}}) {
    const View view = s.history.view_at(Version(head - 1000 + at)).value();
    for (std::uint64_t i = 0; i < view.size(); ++i) versions[at].push_back(view.ordinal(i).value);
  }
  for (auto _ : state) {
    const auto [a, b] = std::mismatch(versions[0].begin(), versions[0].end(), versions[1].begin(),
                                      versions[1].end());
    const auto ends = std::mismatch(versions[0].rbegin(), versions[0].rend(), versions[1].rbegin(),
                                    versions[1].rend());
    DoNotOptimize(a);
    DoNotOptimize(b);
    DoNotOptimize(ends);
  }
}

// Of a message that 2,000 edits left where it was, mostly.
void blame_engine(State& state) {
  const Subject& s = subject(state, Past::edited);
  Numbers ordinals(s.handles.size());
  for (auto _ : state) DoNotOptimize(s.history.blame(Ordinal(ordinals.next())).value());
}

// Eight labels, each on every hundredth message.
History with_marks(const History& from, std::uint64_t n) {
  History h = from;
  for (std::uint64_t label = 0; label < 8; ++label) {
    Names names = Names::ordinals({});
    for (std::uint64_t o = label; o < n; o += 100) names.numbers.push_back(o);
    h = apply(h, op::Mark{names, "label " + std::to_string(label)});
  }
  return h;
}
void marks_engine(State& state) {
  static std::map<std::int64_t, History> made;
  const auto [it, is_new] = made.try_emplace(state.range(0));
  if (is_new)
    it->second = with_marks(history(static_cast<std::uint64_t>(state.range(0))),
                            static_cast<std::uint64_t>(state.range(0)));
  Numbers ordinals(static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) DoNotOptimize(it->second.marks_of(Ordinal(ordinals.next())));
}

// The whole view
// -----------------------------------------------------------------------------------------------------------------

template <class Range>
void read_all(State& state, const Range& range,
              const Message& (*message_of)(const typename Range::const_iterator::value_type&)) {
  for (auto _ : state) {
    std::uint64_t bytes = 0, users = 0;
    for (const auto& element : range) {
      const Message& message = message_of(element);
      users += message.role() == Role::user;
      bytes += message.json().size();
    }
    DoNotOptimize(bytes);
    DoNotOptimize(users);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
const Message& itself(const Message& message) { return message; }
const Message& pointed_at(const std::shared_ptr<const Message>& message) { return *message; }

void take_view(State& state) {
  const Subject& s = subject(state);
  for (auto _ : state) DoNotOptimize(s.history.view());
}

// ----------------------------------------------------------------------------------------------------------------------------------

benchmark::internal::Benchmark* add(const std::string& question, const std::string& by,
                                    std::function<void(State&)> run) {
  return benchmark::RegisterBenchmark((question + "/" + by).c_str(), std::move(run))
      ->ArgName("n")
      ->RangeMultiplier(10)
      ->Range(1000, 1000000);
}

// Between other benchmarks, what these read has gone from the caches: long enough that the first
// round does not tell.
constexpr double reading_seconds = 0.3;

const int registered = [] {
  add("k-th of a role", "engine", kth_engine);
  add("k-th of a role", "scan", kth_scan);
  add("last 3 of a role", "engine", last_engine);
  add("last 3 of a role", "scan", last_scan);
  add("last 3 of a role", "reverse scan", last_reverse_scan);
  add("all of a rare role", "engine", rare_engine);
  add("all of a rare role", "scan", rare_scan);
  add("count of a role in a range", "engine", count_engine);
  add("count of a role in a range", "scan", count_scan);
  add("count in 1 % of the time", "engine", time_engine);
  add("count in 1 % of the time", "scan", time_scan);
  add("count in 1 % of the time", "binary search", time_binary_search);
  const auto percent = [](const State& s) { return static_cast<std::uint64_t>(s.range(0)) / 100; };
  add("messages of 1 % of the time", "engine",
      [=](State& s) { time_messages_engine(s, percent(s)); });
  add("messages of 1 % of the time", "scan", [=](State& s) { time_messages_scan(s, percent(s)); });
  add("messages of 10 seconds", "engine", [](State& s) { time_messages_engine(s, 10); });
  add("messages of 10 seconds", "scan", [](State& s) { time_messages_scan(s, 10); });

  struct Tail {
    std::string name;
    Budget budget;
  };
  for (const Tail& tail :
       {Tail{"tail within 8k tokens", [](const Subject&) { return std::uint64_t{8'000}; }},
        Tail{"tail within 128k tokens", [](const Subject&) { return std::uint64_t{128'000}; }},
        Tail{"tail within half the tokens",
             [](const Subject& s) { return s.view.sums().tokens() / 2; }}}) {
    add(tail.name, "engine", [=](State& s) { tail_engine(s, tail.budget); });
    add(tail.name, "scan", [=](State& s) { tail_scan(s, tail.budget); });
    add(tail.name, "reverse scan", [=](State& s) { tail_reverse_scan(s, tail.budget); });
  }

  add("index of an ordinal", "engine", [](State& s) { index_of_engine(s, Past::appended); });
  add("index of an ordinal", "scan", [](State& s) { index_of_scan(s, Past::appended); });
  add("index of an ordinal, 10 % inserted", "engine",
      [](State& s) { index_of_engine(s, Past::grown_within); });
  add("index of an ordinal, 10 % inserted", "scan",
      [](State& s) { index_of_scan(s, Past::grown_within); });

  add("diff of neighbours", "engine", diff_engine);
  add("diff of neighbours", "scan", diff_scan);
  add("blame of a message", "engine", blame_engine);
  add("marks of a message", "engine", marks_engine);

  add("take the view", "engine", take_view);
  for (const auto& [name, past] :
       {std::pair{"read all", Past::appended}, std::pair{"read all, 2,000 edits", Past::edited}}) {
    const Past p = past;
    add(name, "engine", [p](State& s) {
      read_all(s, subject(s, p).view, itself);
    })->MinTime(reading_seconds);
    add(name, "vector<Message>", [p](State& s) {
      read_all(s, subject(s, p).messages, itself);
    })->MinTime(reading_seconds);
    add(name, "vector<shared_ptr>", [p](State& s) {
      read_all(s, subject(s, p).shared, pointed_at);
    })->MinTime(reading_seconds);
  }
  return 0;
}();

}  // namespace
}  // namespace undertext::bench
