// Random operations of every kind, failing ones among them, against the plain reference. After each
// step the whole visible state is compared. Built with tiny tree nodes, so that a few dozen
// messages make deep trees.
//
//     SEED=7 UNDERTEXT_MODEL_STEPS=1000000 undertext_model_test
#include <cstdio>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include <undertext/history.hpp>

#include "history/changed_states.hpp"
#include "history/linked.hpp"
#include "history/pairs.hpp"
#include "history/state.hpp"
#include "plain_model.hpp"
#include "stored_twin.hpp"

namespace undertext {
namespace {

class Player {
 public:
  explicit Player(std::uint64_t seed)
      : random_(seed), uses_ids_again_(one_in(3)), reasons_(one_in(2)) {}

  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  Message message() {
    const std::string time = one_in(3) ? ",\"timestamp\":" + std::to_string(below(2000)) : "";
    const std::string text = words_[below(std::size(words_))] + std::to_string(next_++);
    if (reasons_ && one_in(3)) return reasoning(text);
    switch (uses_ids_again_ && !one_in(5) ? 5 + below(5) : below(10)) {
      case 0: return parse("{\"role\":\"system\",\"content\":\"" + text + "\"" + time + "}");
      case 1:
      case 2: return parse("{\"role\":\"user\",\"content\":\"" + text + "\"" + time + "}");
      case 3:
        return parse("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" + text +
                     "\"},{\"type\":\"text\",\"text\":\"more\"}]" + time + "}");
      case 4: return parse("{\"role\":\"assistant\",\"content\":\"" + text + "\"" + time + "}");
      case 5: {  // one or two calls
        std::string calls = "{\"id\":\"" + new_call() + "\"}";
        if (one_in(3)) calls += ",{\"id\":\"" + new_call() + "\"}";
        return parse("{\"role\":\"assistant\",\"content\":\"" + text + "\",\"toolCalls\":[" +
                     calls + "]" + time + "}");
      }
      case 6:  // the same as parts
        return parse("{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" + text +
                     "\"},{\"type\":\"tool_use\",\"id\":\"" + new_call() +
                     "\",\"name\":\"t\",\"input\":{}}]" + time + "}");
      case 7:
        return parse(
            "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" +
            some_call() + "\",\"content\":\"" + text + "\"}]" + time + "}");
      default:
        return parse("{\"role\":\"tool\",\"content\":\"" + text + "\",\"toolCallId\":\"" +
                     some_call() + "\"" + time + "}");
    }
  }
  // By itself, with an answer, or with calls.
  Message reasoning(const std::string& text) {
    std::string parts = R"({"type":"reasoning","summary":")" + text + "\"}";
    if (one_in(4)) parts += R"(,{"type":"text","text":")" + text + "\"}";
    if (one_in(4))
      parts += R"(,{"type":"tool_use","id":")" + new_call() + R"(","name":"t","input":{}})";
    return parse(R"({"role":"assistant","content":[)" + parts + "]}");
  }
  std::vector<Message> messages() {
    std::vector<Message> list;
    for (std::uint64_t n = one_in(30) ? 0 : 1 + below(one_in(10) ? 12 : 3); n > 0; --n)
      list.push_back(message());
    return list;
  }

  Names names(const PlainModel& model, bool one = false) {
    const bool by_index = one_in(2);
    const PlainModel::Ordinals& view = model.head().view;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t n = one_in(40) ? 0 : 1 + (one ? 0 : below(4)); n > 0; --n) {
      std::uint64_t number = by_index       ? below(view.size())
                             : view.empty() ? 0
                                            : view[below(view.size())];
      if (one_in(30)) number = below(model.log.size() + 3);
      if (one_in(200)) number = std::numeric_limits<std::uint64_t>::max();
      if (one_in(30) || std::find(numbers.begin(), numbers.end(), number) == numbers.end())
        numbers.push_back(number);
    }
    return by_index ? Names::indices(numbers) : Names::ordinals(numbers);
  }
  std::vector<std::uint64_t> some_indices(const PlainModel& model, std::uint64_t most) {
    std::vector<std::uint64_t> indices;
    for (std::uint64_t n = below(most) + 1; n > 0; --n) {
      const std::uint64_t i = below(model.head().view.size() + (one_in(20) ? 2 : 0));
      if (std::find(indices.begin(), indices.end(), i) == indices.end()) indices.push_back(i);
    }
    return indices;
  }
  std::optional<std::uint64_t> count(const PlainModel& model) {
    if (!one_in(3)) return {};
    return one_in(50) ? std::numeric_limits<std::uint64_t>::max()
                      : below(model.head().view.size() + 3);
  }
  std::vector<Role> roles() {
    std::vector<Role> list;
    for (std::uint64_t n = below(3); n > 0; --n) list.push_back(static_cast<Role>(below(4)));
    return list;
  }
  std::optional<Pairs> pairs() {
    if (one_in(2)) return {};
    return static_cast<Pairs>(below(3));
  }
  std::string label() {
    return one_in(3) ? "pinned" : one_in(30) ? "" : labels_[below(std::size(labels_))];
  }

  // Messages of one role that stand together, when there are any: MERGE of anything else is
  // refused.
  std::vector<std::uint64_t> to_merge(const PlainModel& model) {
    const PlainModel::Ordinals& view = model.head().view;
    std::vector<std::uint64_t> indices;
    const auto role = static_cast<Role>(below(4));
    for (std::uint64_t i = below(view.size()); i < view.size() && indices.size() < 3; ++i) {
      if (model.log[view[i]].role() == role || one_in(40)) indices.push_back(i);
    }
    return indices;
  }

  MarkMap mark_map(const PlainModel& model) {
    MarkMap map;
    for (std::uint64_t o = 0; o < model.log.size(); ++o) {
      if (!one_in(3))
        map.original_indices.insert(
            map.original_indices.begin() +
                static_cast<std::ptrdiff_t>(below(map.original_indices.size() + 1)),
            o);
    }
    map.current_batch = below(3);
    std::uint64_t boundary = 0;
    for (std::uint64_t k = 0; k <= map.current_batch; ++k) {
      map.batch_boundaries.push_back(boundary);
      map.boundary_to_batch.push_back(k);
      boundary += below(model.log.size() - boundary + 1);
    }
    return map;
  }

  // Some messages, most often none of them kept by law, shared out among a few replacements.
  // Sometimes with a fault.
  Plan plan(const PlainModel& model) {
    const PlainModel::State& head = model.head();
    const std::uint64_t n = head.view.size();
    Plan plan{.base = Version(model.versions.size() - 1 + (one_in(30) ? 1 : 0)),
              .replacements = {}};
    plan.strategy = one_in(2) ? "some" : "";
    if (one_in(2))
      plan.summariser = "short", plan.model = "m", plan.reason = "why",
      plan.prompt_tokens = below(9);
    if (n == 0 || one_in(12)) return plan;
    std::vector<std::uint64_t> hidden;
    const std::uint64_t start = below(n), end = start + 1 + below(n - start);
    const auto pinned = head.marks.find("pinned");
    for (std::uint64_t i = start; i < end; ++i) {
      const bool stays = model.log[head.view[i]].role() == Role::system ||
                         (pinned != head.marks.end() && pinned->second.count(head.view[i]) > 0);
      if (!one_in(6) && (!stays || one_in(60))) hidden.push_back(i);
    }
    if (!one_in(4) || !model.pairs_are_clear(head.view)) keep_ids_together(model, hidden);
    plan.replacements.resize(1 + below(3));
    std::uint64_t owner = 0;
    for (const std::uint64_t i : hidden) {
      if (one_in(4)) owner = below(plan.replacements.size());
      std::vector<Range>& ranges = plan.replacements[owner].hidden;
      if (!ranges.empty() && ranges.back().end == i && !one_in(10)) {
        ranges.back().end = i + 1;
      } else {
        ranges.push_back({i, i + 1});
      }
    }
    const auto hides_nothing = [](const Replacement& r) { return r.hidden.empty(); };
    if (!one_in(30)) {
      plan.replacements.erase(
          std::remove_if(plan.replacements.begin(), plan.replacements.end(), hides_nothing),
          plan.replacements.end());
    }
    // With a summary, what it stands for stands together; sometimes it does not.
    for (std::size_t k = plan.replacements.size(); k-- > 0;) {
      if (one_in(4)) continue;
      plan.replacements[k].summary = message();
      if (one_in(10)) continue;
      for (std::size_t i = plan.replacements[k].hidden.size(); i-- > 1;) {
        std::vector<Range>& ranges = plan.replacements[k].hidden;
        if (ranges[i].start == ranges[i - 1].end) continue;
        Replacement rest{{ranges.begin() + static_cast<std::ptrdiff_t>(i), ranges.end()},
                         message()};
        ranges.resize(i);
        plan.replacements.push_back(std::move(rest));
      }
    }
    if (one_in(3)) std::reverse(plan.replacements.begin(), plan.replacements.end());
    if (plan.replacements.empty() || plan.replacements[0].hidden.empty()) return plan;
    std::vector<Range>& ranges = plan.replacements[0].hidden;
    switch (below(80)) {
      case 0: ranges[0].end = n + 1 + below(3); break;
      case 1: ranges[0].end = ranges[0].start; break;
      case 2: std::swap(ranges[0].start, ranges[0].end); break;
      case 3: ranges.push_back(ranges[0]); break;
      case 4: std::reverse(ranges.begin(), ranges.end()); break;
      case 5:
        ranges.push_back({std::numeric_limits<std::uint64_t>::max() - 1,
                          std::numeric_limits<std::uint64_t>::max()});
        break;
      default: break;
    }
    return plan;
  }

  Operation::What what(const PlainModel& model) {
    const std::uint64_t n = model.head().view.size();
    if (n > 60) return op::Truncate{.keep_last = below(20)};
    if (model.versions.back().redo && one_in(4)) return op::Redo{};
    switch (below(47)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
      case 8: return op::Append{messages()};
      case 9:
      case 10:
      case 11: return op::Insert{below(n + 1) + (one_in(30) ? 5 : 0), messages()};
      case 12:
      case 13:
      case 14: return op::Replace{names(model, !one_in(4)), messages()};
      case 15:
      case 16: {
        op::Truncate t{count(model), count(model), count(model), count(model), {}, {}, pairs()};
        if (one_in(4)) t.range = Range{below(n + 2), below(n + 4)};
        if (one_in(3)) t.role = static_cast<Role>(below(4));
        return t;
      }
      case 17: return op::Clear{one_in(2)};
      case 18:
      case 19: {
        op::Filter f{roles(), {}, {}, pairs()};
        if (one_in(3)) f.content_contains = {words_[below(4)], words_[below(4)]};
        if (one_in(3)) f.content_excludes = {words_[below(4)]};
        return f;
      }
      case 20:
      case 21:
      case 22: return op::Delete{names(model), pairs()};
      case 23:
      case 24: {
        op::Compress c{names(model), {}};
        if (!one_in(4)) c.summary = message();
        return c;
      }
      case 25:
      case 26: {  // most often at a summary
        for (std::uint64_t tries = 0; tries < 8; ++tries) {
          const std::uint64_t i = below(n);
          if (i < n && model.stands_for(model.head().view[i])) return op::Expand{i};
        }
        return op::Expand{below(n + 2)};
      }
      case 44:
      case 45:
      case 46: {  // most often messages that are hidden
        PlainModel::Ordinals ordinals;
        const PlainModel::Ordinals& view = model.head().view;
        for (std::uint64_t tries = 0; tries < 12; ++tries) {
          const std::uint64_t o = below(model.log.size() + (one_in(40) ? 2 : 0));
          const bool hidden =
              std::find(view.begin(), view.end(), o) == view.end() && !model.has_stand_in(view, o);
          if ((hidden || one_in(40)) &&
              std::find(ordinals.begin(), ordinals.end(), o) == ordinals.end())
            ordinals.push_back(o);
          if (!ordinals.empty() && one_in(3)) break;
        }
        return op::Show{ordinals};
      }
      case 27: return op::Merge{to_merge(model), one_in(2) ? "\n" : " + "};
      case 28: return op::Split{below(n + 1), {1 + below(2), 3 + below(2)}};
      case 29: {
        const ReplaceText change{words_[below(4)], "changed"};
        if (one_in(2)) return op::Transform{names(model), change};
        return op::Transform{roles(), change};
      }
      case 30:
      case 31: {
        op::StartBatch s{{}, one_in(4)};
        if (one_in(2)) {
          const std::uint64_t low = model.head().batches.back().boundary;
          s.boundary = low + below(model.log.size() - low + 1) + (one_in(20) ? 3 : 0);
        }
        return s;
      }
      case 32:
      case 33:
        return op::EndBatch{below(model.head().batches.size() + (one_in(20) ? 2 : 0)), roles()};
      case 34: return op::Rollback{below(model.head().batches.size() + (one_in(20) ? 2 : 0))};
      case 35: return op::Mark{names(model), label()};
      case 36: return op::Unmark{names(model), label()};
      case 37: return op::Undo{};
      case 40:
      case 41:
      case 42: return op::ApplyPlan{plan(model)};
      case 43: {
        if (one_in(20)) return op::CompressBy{};
        if (one_in(20))
          return op::CompressBy{[](const History&) -> Result<Plan> {
            return Error{ErrorCode::unavailable, "not now", "here"};
          }};
        return op::CompressBy{
            [plan = plan(model)](const History&) -> Result<Plan> { return plan; }};
      }
      case 38:
        if (model.versions.back().redo || one_in(4)) return op::Redo{};
        return op::Undo{};
      default:
        if (one_in(5)) return op::ImportMarkMap{mark_map(model)};
        return op::Restore{below(model.versions.size() + (one_in(20) ? 3 : 0))};
    }
  }

  Operation operation(const PlainModel& model) {
    Operation o{what(model)};
    if (one_in(10)) o.options.description = "step " + std::to_string(next_);
    if (one_in(15))
      o.options.expected_version = Version(model.versions.size() - 1 + (one_in(3) ? 1 : 0));
    return o;
  }
  void went_back() {
    if (one_in(2)) calls_ = calls_ / 2;  // a turn that is made again uses its ids again
    uses_.clear();
  }

 private:
  static Message parse(const std::string& json) { return Message::parse(json).value(); }
  std::string new_call() {
    if (uses_ids_again_ && calls_ > 0 && !one_in(4)) return some_call();
    return "c" + std::to_string(calls_++);
  }
  // Takes from `hidden` what shares a tool-call id with a message that is not in it, and what
  // belongs to such reasoning.
  static void keep_ids_together(const PlainModel& model, std::vector<std::uint64_t>& hidden) {
    const PlainModel::Ordinals& view = model.head().view;
    for (std::size_t before = hidden.size() + 1; before != hidden.size();) {
      before = hidden.size();
      std::set<std::string> shown;
      for (std::uint64_t i = 0; i < view.size(); ++i) {
        if (std::binary_search(hidden.begin(), hidden.end(), i)) continue;
        for (const ToolLink& link : model.log[view[i]].tool_links()) shown.insert(link.id);
      }
      const auto is_shown = [&](std::uint64_t i) {
        const std::vector<ToolLink> links = model.log[view[i]].tool_links();
        return std::any_of(links.begin(), links.end(),
                           [&](const ToolLink& link) { return shown.count(link.id) > 0; });
      };
      hidden.erase(std::remove_if(hidden.begin(), hidden.end(), is_shown), hidden.end());
      std::set<std::uint64_t> stays;  // of reasoning that is not hidden as a whole
      for (std::uint64_t i = 0; i < view.size(); ++i) {
        if (!model.log[view[i]].has_reasoning()) continue;
        const PlainModel::Ordinals following = model.following(view, i);
        std::vector<std::uint64_t> unit{i};
        for (std::uint64_t k = i; k < view.size(); ++k) {
          if (std::find(following.begin(), following.end(), view[k]) != following.end())
            unit.push_back(k);
        }
        const auto is_hidden = [&](std::uint64_t k) {
          return std::binary_search(hidden.begin(), hidden.end(), k);
        };
        if (!std::all_of(unit.begin(), unit.end(), is_hidden))
          stays.insert(unit.begin(), unit.end());
      }
      hidden.erase(std::remove_if(hidden.begin(), hidden.end(),
                                  [&](std::uint64_t i) { return stays.count(i) > 0; }),
                   hidden.end());
    }
  }

  // Of the last few calls, none too often: an id mentioned more than Log::mentions_max times is
  // looked at in part only.
  std::string some_call() {
    const std::uint64_t call = calls_ == 0 || one_in(20)
                                   ? 1000000 + next_
                                   : calls_ - 1 - below(std::min<std::uint64_t>(calls_, 4));
    return "c" +
           std::to_string(++uses_[call] > (uses_ids_again_ ? 12 : 5) ? 2000000 + next_ : call);
  }

  std::mt19937_64 random_;
  // and has hardly a message without one: every way in which pairs can come about and go
  bool uses_ids_again_;
  bool reasons_;
  std::uint64_t next_ = 0, calls_ = 0;
  std::map<std::uint64_t, int> uses_;
  const std::string words_[6] = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"};
  const std::string labels_[3] = {"important", "a", "zz"};
};

using Count = std::uint32_t (*)(const Message&);

PlainModel::Ordinals ordinals_of(const View& view) {
  PlainModel::Ordinals ordinals;
  for (auto it = view.begin(); it != view.end(); ++it) ordinals.push_back(it.ordinal().value);
  return ordinals;
}

// Sums and roles of a view against a recount; positions by ordinal and back.
void expect_view(const View& view, const PlainModel::Ordinals& expected, const PlainModel& model,
                 Player& player) {
  ASSERT_EQ(ordinals_of(view), expected);
  ViewSums recount;
  std::vector<std::uint64_t> of_role[role_count];
  std::uint64_t index = 0;
  for (auto it = view.begin(); it != view.end(); ++it, ++index) {
    const Message& m = model.log[it.ordinal().value];
    ASSERT_EQ(it->json(), m.json());
    const auto r = static_cast<std::size_t>(m.role());
    recount.role_counts[r] += 1;
    recount.role_tokens[r] += count_tokens(m);
    recount.bytes += m.json().size();
    of_role[r].push_back(index);
  }
  const ViewSums sums = view.sums();
  for (std::size_t r = 0; r < role_count; ++r) {
    ASSERT_EQ(sums.role_counts[r], recount.role_counts[r]);
    ASSERT_EQ(sums.role_tokens[r], recount.role_tokens[r]);
    const std::uint64_t k = player.below(of_role[r].size() + 1);
    const std::optional<std::uint64_t> kth = view.index_of_role(static_cast<Role>(r), k);
    ASSERT_EQ(kth, k < of_role[r].size() ? std::optional(of_role[r][k]) : std::nullopt);
  }
  ASSERT_EQ(sums.bytes, recount.bytes);
  const std::uint64_t ordinal = player.below(model.log.size() + 1);
  const auto at = std::find(expected.begin(), expected.end(), ordinal);
  ASSERT_EQ(view.index_of(Ordinal(ordinal)),
            at == expected.end()
                ? std::nullopt
                : std::optional(static_cast<std::uint64_t>(at - expected.begin())));
  std::uint64_t budget = player.below(recount.tokens() + 2), tail = expected.size(), sum = 0;
  while (tail > 0 && sum + count_tokens(model.log[expected[tail - 1]]) <= budget)
    sum += count_tokens(model.log[expected[--tail]]);
  ASSERT_EQ(view.tail_within(budget), tail);
}

// A query with random filters against a loop over all messages.
void expect_query(const History& history, const PlainModel& model, Player& player) {
  MessageQuery q;
  PlainModel::State state = model.head();
  if (player.one_in(3)) {
    const std::uint64_t v = player.below(model.versions.size());
    q.at_version = Version(v);
    state = model.versions[v].state;
  } else if (player.one_in(3)) {
    const std::uint64_t b = player.below(state.batches.size());
    q.at_batch = BatchIndex(b);
    if (state.batches[b].snapshot) state.view = *state.batches[b].snapshot;
  } else if (player.one_in(3)) {
    q.all = true;
    state.view.resize(model.log.size());
    for (std::uint64_t i = 0; i < model.log.size(); ++i) state.view[i] = i;
  }
  if (player.one_in(2)) q.roles = player.roles();
  if (player.one_in(4)) q.from_ms = static_cast<std::int64_t>(player.below(2000));
  if (player.one_in(4)) q.to_ms = static_cast<std::int64_t>(player.below(2000));
  if (player.one_in(5)) q.marked = player.one_in(2) ? "pinned" : "important";
  if (player.one_in(8)) q.contains = "a";
  if (player.one_in(3)) q.start = player.below(6);
  if (player.one_in(3)) q.end = q.start.value_or(0) + player.below(8);
  if (player.one_in(3)) (player.one_in(2) ? q.first : q.last) = player.below(6);

  PlainModel::Ordinals found;
  for (const std::uint64_t o : state.view) {
    const Message& m = model.log[o];
    const std::int64_t t = model.times[o];
    if (!q.roles.empty() && std::find(q.roles.begin(), q.roles.end(), m.role()) == q.roles.end())
      continue;
    if ((q.from_ms && t < *q.from_ms) || (q.to_ms && t >= *q.to_ms)) continue;
    if (q.marked && (!state.marks.count(*q.marked) || !state.marks.at(*q.marked).count(o)))
      continue;
    if (q.contains && m.text().find(*q.contains) == std::string::npos) continue;
    found.push_back(o);
  }
  const auto slice = [&](std::uint64_t a, std::uint64_t b) {
    b = std::min<std::uint64_t>(b, found.size());
    a = std::min(a, b);
    found = PlainModel::Ordinals(found.begin() + static_cast<std::ptrdiff_t>(a),
                                 found.begin() + static_cast<std::ptrdiff_t>(b));
  };
  slice(q.start.value_or(0), q.end.value_or(found.size()));
  if (q.first) slice(0, *q.first);
  if (q.last) slice(found.size() - std::min<std::uint64_t>(found.size(), *q.last), found.size());

  const MessageList list = history.messages(q).value();
  PlainModel::Ordinals got;
  for (const Ordinal o : list.ordinals) got.push_back(o.value);
  ASSERT_EQ(got, found);
  const MessageCount count = history.count(q).value();
  std::uint64_t tokens = 0;
  for (const std::uint64_t o : found) tokens += count_tokens(model.log[o]);
  ASSERT_EQ(count.count, found.size());
  ASSERT_EQ(count.tokens, tokens);
}

void expect_reach(const History& history) {
  const PlacedView view = history.rep().head.placed();
  const Log& log = history.rep().log;
  for (std::uint64_t i = 0; i < view.size(); ++i) {
    const std::uint32_t ordinal = view.entries[i].ordinal;
    for (const ToolLink& link : log.message(ordinal).tool_links()) {
      for (const PairPlaces& pair : pairs_of(log, view, Log::hash_of(link.id), ordinal)) {
        if (pair.call == pair.result) continue;
        ASSERT_LE(view.entries[std::max(pair.call, pair.result)].reach,
                  view.entries[std::min(pair.call, pair.result)].place)
            << "a pair is found from its later half: " << link.id;
      }
    }
  }
}

// Calls for which no result came, with them or later; what stands for one does not count.
void expect_waiting(const History& history, const PlainModel& model) {
  std::vector<std::uint32_t> expected;
  for (std::size_t o = 0; o < model.log.size(); ++o) {
    const std::vector<ToolLink> links = model.log[o].tool_links();
    const bool waits = std::any_of(links.begin(), links.end(), [&](const ToolLink& link) {
      if (link.side != ToolLink::Side::call) return false;
      const ToolLink result{ToolLink::Side::result, link.id};
      for (std::size_t later = o; later < model.log.size(); ++later) {
        const std::vector<ToolLink> of_later = model.log[later].tool_links();
        if (model.summaries.count(later) == 0 &&
            std::find(of_later.begin(), of_later.end(), result) != of_later.end())
          return false;
      }
      return true;
    });
    if (waits) expected.push_back(static_cast<std::uint32_t>(o));
  }
  ASSERT_EQ(history.rep().log.waiting(), expected);
}

// All ways to find broken pairs give the same answer.
void expect_halves(const History& history, Player& player) {
  const PlacedView view = history.rep().head.placed();
  Stretches kept;
  for (std::uint64_t i = 0, end = 0; i < view.size(); i = end) {
    end = i + 1 + player.below(player.one_in(3) ? 12 : 3);
    if (!player.one_in(3)) add_stretch(kept, i, std::min(end, view.size()));
  }
  const std::vector<Half> a = halves_by_edges(history.rep().log, view, kept);
  const std::vector<Half> b = halves_by_hidden(history.rep().log, view, kept);
  const std::vector<Half> c = halves_by_walk(history.rep().log, view, kept);
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(a.size(), c.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (const Half& other : {b[k], c[k]}) {
      ASSERT_EQ(a[k].index, other.index);
      ASSERT_EQ(a[k].link, other.link);
      ASSERT_EQ(a[k].partners, other.partners);
    }
  }
}

// As read from what an older release stored.
History without_links(const History& history) {
  auto made = std::make_shared<History::Rep>(history.rep());
  made->log.links = {};
  made->log.notes = {};
  made->log.links_known = false;
  ChangedStates([](Entry e) {
    e.reach = no_place;
    e.calls = e.reasons = 0;
    return e;
  }).change(*made);
  return History(std::move(made));
}

void expect_equal(const History& history, const PlainModel& model, Player& player) {
  ASSERT_EQ(history.version().value, model.versions.size() - 1);
  ASSERT_EQ(history.log().size(), model.log.size());
  ASSERT_EQ(history.rep().head.view.check(), nullptr);
  ASSERT_EQ(history.rep().head.frame->places.check(), nullptr);
  ASSERT_EQ(history.rep().log.links.check(), nullptr);
  std::uint32_t place = 0;
  for (std::uint64_t i = 0; i < history.rep().head.view.size(); ++i) {
    ASSERT_LE(place, history.rep().head.view[i].place) << "places never fall along a view";
    place = history.rep().head.view[i].place;
  }
  if (history.rep().log.links_known && model.pairs_are_clear(model.head().view)) {
    ASSERT_NO_FATAL_FAILURE(expect_reach(history));
    ASSERT_NO_FATAL_FAILURE(expect_halves(history, player));
  }
  const PlainModel::State& state = model.head();
  ASSERT_NO_FATAL_FAILURE(expect_view(history.view(), state.view, model, player));
  const MarkMap map = history.mark_map();
  ASSERT_EQ(map.original_indices, state.view);
  ASSERT_EQ(map.batch_boundaries.size(), state.batches.size());
  for (std::size_t k = 0; k < state.batches.size(); ++k) {
    ASSERT_EQ(map.batch_boundaries[k], state.batches[k].boundary);
    const std::optional<BatchSnapshot> snapshot = history.batch_snapshot(BatchIndex(k));
    ASSERT_EQ(snapshot.has_value(), k + 1 < state.batches.size());
    if (snapshot) {
      ASSERT_EQ(ordinals_of(snapshot->view), *state.batches[k].snapshot);
    }
  }
  for (const char* label : {"pinned", "important", "a", "zz"}) {
    const auto marks = state.marks.find(label);
    const std::vector<std::uint64_t> expected =
        marks == state.marks.end()
            ? std::vector<std::uint64_t>()
            : std::vector<std::uint64_t>(marks->second.begin(), marks->second.end());
    ASSERT_EQ(history.marked(label), expected);
  }
  const std::uint64_t v = player.below(model.versions.size());
  ASSERT_NO_FATAL_FAILURE(expect_view(history.view_at(Version(v)).value(),
                                      model.versions[v].state.view, model, player));
  const VersionInfo info = history.version_info(Version(v));
  ASSERT_EQ(info.operation, model.versions[v].operation);
  ASSERT_EQ(info.message_count, model.versions[v].state.view.size());
  ASSERT_EQ(info.batch_index, model.versions[v].state.batches.size() - 1);
  ASSERT_NO_FATAL_FAILURE(expect_query(history, model, player));
}

// What diff says leads from one view to the other, and no more than needed is said to have moved.
void expect_diff(const History& history, const PlainModel& model, Player& player) {
  const std::uint64_t from = player.below(model.versions.size()),
                      to = player.below(model.versions.size());
  const PlainModel::Ordinals &a = model.versions[from].state.view,
                             &b = model.versions[to].state.view;
  const auto in = [](const PlainModel::Ordinals& list, std::uint64_t o) {
    return std::find(list.begin(), list.end(), o) != list.end();
  };
  const Diff diff = history.diff(Version(from), Version(to)).value();
  PlainModel::Ordinals removed, added, still_a, still_b;
  for (const std::uint64_t o : a) {
    if (!in(b, o)) removed.push_back(o);
    if (in(b, o) && !in(diff.moved, o)) still_a.push_back(o);
  }
  for (const std::uint64_t o : b) {
    if (!in(a, o)) added.push_back(o);
    if (in(a, o) && !in(diff.moved, o)) still_b.push_back(o);
  }
  ASSERT_EQ(diff.removed, removed);
  ASSERT_EQ(diff.added, added);
  ASSERT_EQ(still_a, still_b);
}

void expect_blame(const History& history, const PlainModel& model, Player& player) {
  if (model.log.empty()) return;
  const std::uint64_t ordinal = player.below(model.log.size());
  const Blame blame = history.blame(Ordinal(ordinal)).value();
  bool visible = false;
  std::vector<std::uint64_t> shown, hidden, got_shown, got_hidden;
  for (std::uint64_t v = 0; v < model.versions.size(); ++v) {
    const PlainModel::Ordinals& view = model.versions[v].state.view;
    const bool now = std::find(view.begin(), view.end(), ordinal) != view.end();
    if (now != visible) (now ? shown : hidden).push_back(v);
    visible = now;
  }
  for (const BlameEntry& e : blame.shown) got_shown.push_back(e.version);
  for (const BlameEntry& e : blame.hidden) got_hidden.push_back(e.version);
  ASSERT_EQ(got_shown, shown);
  ASSERT_EQ(got_hidden, hidden);
  ASSERT_EQ(blame.visible, visible);
}

std::uint64_t tokens_of(const PlainModel& model, const PlainModel::Ordinals& ordinals,
                        Count count) {
  std::uint64_t tokens = 0;
  for (const std::uint64_t o : ordinals) tokens += count(model.log[o]);
  return tokens;
}

void expect_receipts(const History& history, const PlainModel& model, Count count) {
  const std::vector<Receipt> receipts = history.receipts();
  ASSERT_EQ(receipts.size(), model.compressions.size());
  std::size_t k = 0;
  for (const auto& [version, expected] : model.compressions) {
    const Receipt& receipt = receipts[k++];
    ASSERT_EQ(receipt.version, version);
    ASSERT_EQ(receipt.hidden, expected.hidden);
    ASSERT_EQ(receipt.strategy, expected.plan.strategy);
    ASSERT_EQ(receipt.summariser, expected.plan.summariser);
    ASSERT_EQ(receipt.model, expected.plan.model);
    ASSERT_EQ(receipt.reason, expected.plan.reason);
    ASSERT_EQ(receipt.prompt_tokens, expected.plan.prompt_tokens);
    ASSERT_EQ(receipt.timestamp_ms, history.version_info(Version(version)).timestamp_ms);
    ASSERT_EQ(receipt.tokens_before,
              tokens_of(model, model.versions[version - 1].state.view, count));
    ASSERT_EQ(receipt.tokens_after, tokens_of(model, model.versions[version].state.view, count));
    ASSERT_EQ(receipt.summaries.size(), expected.summaries.size());
    for (std::size_t i = 0; i < expected.summaries.size(); ++i) {
      ASSERT_EQ(receipt.summaries[i].summary, expected.summaries[i].first);
      ASSERT_EQ(receipt.summaries[i].stands_for, expected.summaries[i].second);
    }
  }
  for (std::uint64_t o = 0; o < model.log.size(); ++o) {
    const PlainModel::Ordinals* const originals = model.stands_for(o);
    PlainModel::Ordinals got;
    for (const Ordinal original : history.stands_for(Ordinal(o))) got.push_back(original.value);
    ASSERT_EQ(got, originals ? *originals : PlainModel::Ordinals());
  }
}

std::uint32_t count_otherwise(const Message& message) {
  return static_cast<std::uint32_t>(1 + message.json().size() % 13);
}

// Every count that can be read from a recounted history, of every version, against a count of the
// messages themselves.
void expect_recounted(const History& history, const PlainModel& model) {
  const History again = history.recounted(count_otherwise);
  ASSERT_EQ(again.version(), history.version());
  ASSERT_EQ(again.rep().log.stored.check(), nullptr);
  ASSERT_EQ(again.log().size(), model.log.size());
  for (std::uint64_t o = 0; o < model.log.size(); ++o) {
    ASSERT_EQ(again.log()[o].json().data(), history.log()[o].json().data())
        << "messages are shared";
    ASSERT_EQ(again.log().tokens(o), count_otherwise(model.log[o]));
  }
  const auto expect_counts = [&](const View& view, const View& was) {
    ASSERT_EQ(ordinals_of(view), ordinals_of(was));
    ASSERT_EQ(view.rep().placed.entries.check(), nullptr);
    ASSERT_EQ(view.sums().bytes, was.sums().bytes);
    std::uint64_t role_tokens[role_count] = {};
    for (const std::uint64_t o : ordinals_of(view)) {
      role_tokens[static_cast<std::size_t>(model.log[o].role())] += count_otherwise(model.log[o]);
      ASSERT_EQ(view.index_of(Ordinal(o)), was.index_of(Ordinal(o)));
    }
    for (std::size_t r = 0; r < role_count; ++r)
      ASSERT_EQ(view.sums().role_tokens[r], role_tokens[r]);
  };
  for (std::uint64_t v = 0; v < model.versions.size(); ++v) {
    ASSERT_NO_FATAL_FAILURE(
        expect_counts(again.view_at(Version(v)).value(), history.view_at(Version(v)).value()));
    const VersionInfo info = again.version_info(Version(v)), was = history.version_info(Version(v));
    ASSERT_EQ(info.tokens, tokens_of(model, model.versions[v].state.view, count_otherwise));
    ASSERT_EQ(info.operation, was.operation);
    ASSERT_EQ(info.batch_index, was.batch_index);
    ASSERT_EQ(info.timestamp_ms, was.timestamp_ms);
    ASSERT_EQ(info.description, was.description);
    ASSERT_EQ(info.message_count, was.message_count);
  }
  for (std::uint64_t k = 0; k < model.head().batches.size(); ++k) {
    ASSERT_NO_FATAL_FAILURE(expect_counts(again.view_at(BatchIndex(k)).value(),
                                          history.view_at(BatchIndex(k)).value()));
  }
  const MarkMap map = again.mark_map(), was = history.mark_map();
  ASSERT_EQ(map.batch_boundaries, was.batch_boundaries);
  ASSERT_EQ(again.marked("pinned"), history.marked("pinned"));
  ASSERT_EQ(again.stats().tokens, tokens_of(model, model.head().view, count_otherwise));
  ASSERT_NO_FATAL_FAILURE(expect_receipts(again, model, count_otherwise));
}

TEST(HistoryModel, AnySequenceOfOperationsLeavesWhatThePlainReferenceSays) {
  const char* given_seed = std::getenv("SEED");
  const char* given_steps = std::getenv("UNDERTEXT_MODEL_STEPS");
  const std::uint64_t first_seed =
      given_seed ? std::strtoull(given_seed, nullptr, 10) : std::random_device{}();
  const std::uint64_t steps = given_steps ? std::strtoull(given_steps, nullptr, 10) : 20000;
  std::printf("SEED=%llu, %llu steps\n", static_cast<unsigned long long>(first_seed),
              static_cast<unsigned long long>(steps));

  std::map<std::string, std::uint64_t> done, refused;
  std::uint64_t warned = 0;
  for (std::uint64_t step = 0, seed = first_seed; step < steps; ++seed) {
    Player player(seed);
    History history;
    PlainModel model;
    const Pairs pairs = static_cast<Pairs>(player.below(3));
    ApplyContext context{1000, count_tokens, pairs, {}};
    StoredTwin twin(model);
    std::vector<std::pair<History, std::uint64_t>> kept;  // earlier values, with their versions
    for (int k = 0; k < 150 && step < steps; ++k, ++step) {
      const Operation operation = player.operation(model);
      SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(k) + " " +
                   std::string(name(operation)));
      context.now_ms = static_cast<std::int64_t>(player.below(2000));
      const PlainModel::Outcome expected = model.apply(operation, pairs, context.now_ms);
      Result<Step> got = history.apply(operation, context);
      if (expected.error) {
        ASSERT_FALSE(got) << "should be refused";
        ASSERT_EQ(name(got.error().code), name(*expected.error)) << got.error().message;
        ASSERT_EQ(got.error().field, expected.field) << got.error().message;
        ++refused[std::string(name(operation))];
      } else {
        ASSERT_TRUE(got) << got.error().message;
        const History again = carried_out_again(history, got->history);
        history = player.one_in(2) ? again : got->history;
        if (expected.warnings_are_clear) {
          ASSERT_EQ(got->applied.warnings, expected.warnings);
        }
        warned += expected.warnings.size();
        ++done[std::string(name(operation))];
      }
      ASSERT_NO_FATAL_FAILURE(expect_equal(history, model, player));
      if (k % 8 == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_diff(history, model, player));
        ASSERT_NO_FATAL_FAILURE(expect_blame(history, model, player));
        ASSERT_NO_FATAL_FAILURE(expect_receipts(history, model, count_tokens));
      }
      if (player.one_in(10)) kept.emplace_back(history, model.versions.size() - 1);
      if (!kept.empty()) {  // an earlier value reads as it did
        const auto& [old, version] = kept[player.below(kept.size())];
        ASSERT_EQ(old.version().value, version);
        ASSERT_EQ(ordinals_of(old.view()), model.versions[version].state.view);
      }
      if (player.one_in(12)) {  // go on from what was saved and read back
        const bool commits = !player.one_in(4);
        twin.save(history, commits);
        if (commits && player.one_in(2)) {
          history = twin.load();
          ASSERT_NO_FATAL_FAILURE(expect_equal(history, model, player));
        }
      }
      if (player.one_in(50)) {
        ASSERT_NO_FATAL_FAILURE(expect_recounted(history, model));
      }
      if (player.one_in(50)) {  // go on from a copy that was counted otherwise and back
        history = history.recounted(count_otherwise).recounted(count_tokens);
        ASSERT_NO_FATAL_FAILURE(expect_equal(history, model, player));
      }
      if (history.rep().log.links_known && player.one_in(8)) {
        ASSERT_NO_FATAL_FAILURE(expect_waiting(history, model));
      }
      if (player.one_in(40)) {  // go on from what an older release stored
        history = without_links(history);
        if (player.one_in(3)) {
          twin.save(history, true);
          history = twin.load();
        }
        if (player.one_in(2)) history = with_links(history);
      }
      if (player.one_in(40)) {  // go on from a fork
        const std::uint64_t v = player.below(model.versions.size());
        Result<History> fork = history.fork(Version(v));
        ASSERT_TRUE(fork);
        history = *fork;
        model.go_back_to(v);
        kept.clear();
        player.went_back();
        ASSERT_NO_FATAL_FAILURE(expect_equal(history, model, player));
      }
    }
  }
  for (const auto& [operation, n] : done)
    std::printf("  %-16s %8llu done, %llu refused\n", operation.c_str(),
                static_cast<unsigned long long>(n),
                static_cast<unsigned long long>(refused[operation]));
  std::printf("  %llu warnings compared\n", static_cast<unsigned long long>(warned));
}

}  // namespace
}  // namespace undertext
