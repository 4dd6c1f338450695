// What it costs to plan a compression, and to carry the plan out: the engine, beside a scan of a
// vector with a 24-byte handle for each message that knows where the calls and results are. Nine
// messages in twenty call a tool, eight answer; ten system messages, ten pins.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <undertext/compression.hpp>

#include "conversations.hpp"

namespace undertext::bench {
namespace {

using benchmark::DoNotOptimize;
using benchmark::State;

// For the scan: what a message must not be parted from, by its index; itself when there is nothing.
struct Bound {
  std::uint32_t first, last;
};

struct Subject {
  explicit Subject(std::uint64_t n)
      : history(made(n)),
        view(history.view()),
        handles(handles_of(view)),
        messages(messages_of(view)) {
    std::map<std::string, std::uint32_t> calls;
    pinned.resize(messages.size());
    for (const std::uint64_t ordinal : history.marked(pinned_mark))
      pinned[*view.index_of(Ordinal(ordinal))] = true;
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
      bound.push_back({i, i});
      for (const ToolLink& link : messages[i].tool_links()) {
        if (link.side == ToolLink::Side::call) {
          calls[link.id] = i;
        } else if (const auto call = calls.find(link.id); call != calls.end()) {
          bound[i].first = call->second;
          bound[call->second].last = i;
        }
      }
    }
  }

  static History made(std::uint64_t n) {
    History h = bench::history(n, ToolIds::paired);
    const Message system =
        Message::parse(R"({"role":"system","content":"a rule that came later"})").value();
    for (std::uint64_t k = 1; k < 10; ++k)
      h = apply(h, op::Insert{h.view().next_legal_cut(k * n / 10), {system}});
    op::Mark pins{{}, std::string(pinned_mark)};
    for (std::uint64_t k = 0; k < 10; ++k) pins.names.numbers.push_back(k * n / 10 + 5);
    return apply(h, pins);
  }

  History history;
  View view;
  std::vector<Handle> handles;
  std::vector<Message> messages;
  std::vector<Bound> bound;
  std::vector<bool> pinned;
};

const Subject& subject(const State& state) {
  static std::map<std::uint64_t, std::unique_ptr<Subject>> made;
  const auto n = static_cast<std::uint64_t>(state.range(0));
  std::unique_ptr<Subject>& it = made[n];
  if (!it) it = std::make_unique<Subject>(n);
  return *it;
}

class Short final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "short"; }
  bool is_slow() const noexcept override { return false; }
  Result<Summary> summarise(const SummaryRequest&) const override {
    return Summary{"Much was said."};
  }
};

Aim aim(const Subject& s, bool has_tokens_max) {
  Aim made;
  made.count_tokens = context().count_tokens;
  if (has_tokens_max) made.tokens_max = s.view.sums().tokens() / 2;
  return made;
}

void plan_by(State& state, const StrategyPtr& strategy, bool has_tokens_max) {
  const Subject& s = subject(state);
  const Aim to = aim(s, has_tokens_max);
  if (strategy->plan(s.history, to).value().replacements.empty())
    state.SkipWithError("there is nothing to do");
  for (auto _ : state) DoNotOptimize(strategy->plan(s.history, to));
}

void apply_of(State& state, const StrategyPtr& strategy, bool has_tokens_max) {
  const Subject& s = subject(state);
  const Plan plan = strategy->plan(s.history, aim(s, has_tokens_max)).value();
  for (auto _ : state) DoNotOptimize(s.history.apply({op::ApplyPlan{plan}}, context()).value());
}

void fit(State& state) {
  const Subject& s = subject(state);
  const Budget budget{.window = s.view.sums().tokens() / 2 + 1000, .reserve = 1000};
  const StrategyPtr strategy = sliding_window();
  for (auto _ : state) DoNotOptimize(fit_view(s.history, budget, *strategy).value());
}

// The same largest tail: what must stay is counted first, then the tail grows from the end while it
// fits, at places that split no pair.
std::vector<bool> kept_by_scan(const Subject& s) {
  const std::size_t n = s.handles.size();
  std::vector<bool> kept(n);
  std::uint64_t tokens = 0, all = 0;
  const auto keep = [&](std::size_t i) {
    if (!kept[i]) tokens += s.handles[i].tokens;
    kept[i] = true;
  };
  std::size_t last_user = 0;
  for (std::size_t i = 0; i < n; ++i) {
    all += s.handles[i].tokens;
    if (s.handles[i].role == Role::user) last_user = i;
    if (s.handles[i].role != Role::system && !s.pinned[i]) continue;
    keep(s.bound[i].first);
    keep(i);
    keep(s.bound[i].last);
  }
  keep(last_user);
  const std::uint64_t tokens_max = all / 2;
  // the earliest call or result that what lies behind reaches to
  std::size_t start = n, crossing = n;
  std::uint64_t with_tail = tokens;
  for (std::size_t i = n; i-- > 0;) {
    if (!kept[i]) with_tail += s.handles[i].tokens;
    if (with_tail > tokens_max) break;
    crossing = std::min<std::size_t>(crossing, s.bound[i].first);
    if (crossing >= i) start = i;
  }
  std::fill(kept.begin() + static_cast<std::ptrdiff_t>(start), kept.end(), true);
  return kept;
}
void window_scan(State& state) {
  const Subject& s = subject(state);
  for (auto _ : state) DoNotOptimize(kept_by_scan(s));
}
void apply_scan(State& state) {
  const Subject& s = subject(state);
  const std::vector<bool> kept = kept_by_scan(s);
  for (auto _ : state) {
    std::vector<Message> left;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) left.push_back(s.messages[i]);
    }
    DoNotOptimize(left);
  }
}

void legal_cut_engine(State& state) {
  const Subject& s = subject(state);
  Random random;
  for (auto _ : state) DoNotOptimize(s.view.next_legal_cut(below(random, s.view.size())));
}

void add(const std::string& what, const std::string& by, std::function<void(State&)> run) {
  benchmark::RegisterBenchmark((what + "/" + by).c_str(), std::move(run))
      ->ArgName("n")
      ->RangeMultiplier(10)
      ->Range(1000, 1000000);
}

const int registered = [] {
  const StrategyPtr summary = smart_summary({.summariser = std::make_shared<Short>()});
  add("plan sliding_window", "engine", [](State& s) { plan_by(s, sliding_window(), true); });
  add("plan sliding_window", "scan", window_scan);
  add("fit_view, sliding_window", "engine", fit);
  add("plan keep_recent 20", "engine", [](State& s) { plan_by(s, keep_recent(20), false); });
  add("plan keep_system_and_recent 20", "engine",
      [](State& s) { plan_by(s, keep_system_and_recent(20), false); });
  add("plan clear_tool_results", "engine",
      [](State& s) { plan_by(s, clear_tool_results(), false); });
  add("plan smart_summary, a fixed summary", "engine",
      [=](State& s) { plan_by(s, summary, true); });
  add("plan pipeline of clear_tool_results, sliding_window", "engine",
      [](State& s) { plan_by(s, pipeline({clear_tool_results(), sliding_window()}), true); });
  add("apply sliding_window", "engine", [](State& s) { apply_of(s, sliding_window(), true); });
  add("apply sliding_window", "copy of what stays", apply_scan);
  add("apply smart_summary", "engine", [=](State& s) { apply_of(s, summary, true); });
  add("apply clear_tool_results", "engine",
      [](State& s) { apply_of(s, clear_tool_results(), false); });
  add("next legal cut", "engine", legal_cut_engine);
  return 0;
}();

}  // namespace
}  // namespace undertext::bench
