// For tests: conversations as agents have them, and worse. Turns of tools in both spellings,
// parallel calls, thinking, system messages in between, pins, earlier summaries and stubs, waiting
// calls at the end; results that are missing, far away or before their calls, ids used again; then
// some random edits. The same seed makes the same conversation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <undertext/history.hpp>

namespace undertext {

inline std::uint32_t test_tokens(const Message& message) {
  return static_cast<std::uint32_t>(2 + message.json().size() / 4);
}

class RandomConversation {
 public:
  struct Options {
    std::uint64_t turns_max = 8;
    bool wild = false;  // results astray, ids again
    std::uint64_t edits_max = 6;
  };
  RandomConversation(std::uint64_t seed, Options options) : options_(options), random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  History make() {
    History history;
    if (!one_in(3)) add("{\"role\":\"system\",\"content\":\"" + words(6) + "\"}");
    thinks_ = one_in(2);
    parts_ = one_in(2);
    items_ = one_in(3);
    for (std::uint64_t turn = below(options_.turns_max + 1); turn > 0; --turn) add_turn();
    if (one_in(3)) add_waiting();
    if (one_in(15)) std::reverse(messages_.begin(), messages_.end());
    if (!messages_.empty()) history = applied(history, op::Append{messages_});
    for (std::uint64_t edits = below(options_.edits_max + 1); edits > 0; --edits)
      history = edited(history);
    return history;
  }

  // One more random operation, where it is not refused.
  History edited(const History& history) {
    const std::uint64_t n = history.view().size();
    if (n == 0) return history;
    switch (below(10)) {
      case 0:
      case 1: return applied(history, op::Mark{Names::indices({below(n)}), "pinned"});
      case 2: return applied(history, op::Compress{stretch(n), Message::parse(summary()).value()});
      case 3:
        return applied(history, op::Delete{Names::indices({below(n)}),
                                           options_.wild ? Pairs::literal : Pairs::shrink});
      case 4: {
        messages_.clear();
        if (options_.wild) add_turn();
        if (messages_.empty() || one_in(2))
          add("{\"role\":\"system\",\"content\":\"" + words(4) + "\"}");
        return applied(history, op::Insert{below(n + 1), messages_});
      }
      case 5:
        return applied(history,
                       op::Transform{Names::indices({below(n)}), SetMetadata{R"({"k":1})"}});
      case 6: {
        messages_.clear();
        add_turn();
        return applied(history, op::Append{messages_});
      }
      case 7:
        return applied(history,
                       op::Truncate{.keep_last = n - below(n / 4 + 1),
                                    .pairs = options_.wild ? Pairs::literal : Pairs::grow});
      case 8: return options_.wild ? applied(history, op::Expand{below(n)}) : history;
      default: return applied(history, op::Undo{});
    }
  }

  // What a plan or an edit must be given to count as this conversation does.
  static ApplyContext context() { return {.now_ms = 5, .count_tokens = test_tokens}; }

  static History applied(const History& history, Operation::What what) {
    const Result<Step> step = history.apply({std::move(what)}, context());
    return step ? step->history : history;
  }

 private:
  void add(const std::string& json) { messages_.push_back(Message::parse(json).value()); }
  std::string words(std::uint64_t most) {
    std::string text = "w" + std::to_string(next_++);
    for (std::uint64_t n = below(most + 1); n > 0; --n)
      text += one_in(20) ? " src/main.cpp:12 failed with error 3" : " lorem";
    return text;
  }
  std::string summary() {
    return "{\"role\":\"" + std::string(one_in(4) ? "assistant" : "user") + "\",\"content\":\"" +
           words(5) + "\"}";
  }
  Names stretch(std::uint64_t n) {
    Names names;
    const std::uint64_t start = below(n);
    for (std::uint64_t i = start; i < std::min(n, start + 1 + below(4)); ++i)
      names.numbers.push_back(i);
    return names;
  }
  std::string new_id() {
    if (options_.wild && one_in(6) && next_id_ > 0) return "c" + std::to_string(below(next_id_));
    return "c" + std::to_string(next_id_++);
  }

  void add_calls(const std::vector<std::string>& ids, bool thinks) {
    if (items_) {  // as the Responses API has them: each a message of its own
      if (thinks)
        add(R"({"role":"assistant","content":[{"type":"reasoning","summary":")" + words(4) +
            R"("}]})");
      if (one_in(8)) add("{\"role\":\"assistant\",\"content\":\"" + words(4) + "\"}");
      for (const std::string& id : ids) {
        add(R"({"role":"assistant","content":null,"toolCalls":[{"id":")" + id + R"(","name":"t)" +
            id.substr(1, 1) + R"("}]})");
        if (one_in(12)) add("{\"role\":\"system\",\"content\":\"" + words(2) + "\"}");
      }
      return;
    }
    if (parts_) {
      std::string parts;
      if (thinks)
        parts += R"({"type":"thinking","thinking":")" + words(4) + R"(","signature":"s"},)";
      if (one_in(2)) parts += R"({"type":"text","text":")" + words(4) + "\"},";
      for (const std::string& id : ids)
        parts += R"({"type":"tool_use","id":")" + id + R"(","name":"t)" + id.substr(1, 1) +
                 R"(","input":{"a":1}},)";
      parts.pop_back();
      add("{\"role\":\"assistant\",\"content\":[" + parts + "]}");
      return;
    }
    std::string calls;
    for (const std::string& id : ids)
      calls += R"({"id":")" + id + R"(","type":"function","function":{"name":"read_t)" +
               id.substr(1, 1) + R"(","arguments":"{\"path\":\"f\"}"}},)";
    calls.pop_back();
    add("{\"role\":\"assistant\",\"content\":null" +
        (thinks ? ",\"reasoning_content\":\"" + words(4) + "\"" : std::string()) +
        ",\"tool_calls\":[" + calls + "]}");
  }
  void add_results(const std::vector<std::string>& ids) {
    const std::uint64_t long_text = one_in(2) ? 120 : 5;
    if (parts_ && !one_in(4)) {
      std::string parts;
      for (const std::string& id : ids)
        parts += R"({"type":"tool_result","tool_use_id":")" + id + R"(","content":")" +
                 words(long_text) + "\"},";
      if (one_in(8)) parts += R"({"type":"text","text":"and this"},)";
      if (parts.empty()) return;
      parts.pop_back();
      add("{\"role\":\"user\",\"content\":[" + parts + "]}");
      return;
    }
    for (const std::string& id : ids) {
      add("{\"role\":\"tool\",\"tool_call_id\":\"" + id + "\",\"content\":\"" + words(long_text) +
          "\"}");
      if (one_in(12)) add("{\"role\":\"system\",\"content\":\"" + words(2) + "\"}");
    }
  }
  void add_turn() {
    if (!one_in(6)) add("{\"role\":\"user\",\"content\":\"" + words(12) + "\"}");
    for (std::uint64_t steps = below(4); steps > 0; --steps) {
      std::vector<std::string> ids;
      for (std::uint64_t n = 1 + (one_in(3) ? below(3) : 0); n > 0; --n) ids.push_back(new_id());
      const std::size_t call_at = messages_.size();
      add_calls(ids, thinks_ && !one_in(3));
      if (one_in(10)) add("{\"role\":\"system\",\"content\":\"" + words(2) + "\"}");
      if (options_.wild && one_in(4)) {
        if (one_in(2)) ids.pop_back();
        if (one_in(2)) astray_.insert(astray_.end(), ids.begin(), ids.end());
        if (one_in(2)) ids.clear();
      }
      if (!ids.empty()) add_results(ids);
      if (options_.wild && one_in(6)) {  // a result before its call
        add_results({"c" + std::to_string(next_id_ - 1)});
        std::rotate(messages_.begin() + static_cast<std::ptrdiff_t>(below(call_at + 1)),
                    messages_.end() - 1, messages_.end());
      }
      if (options_.wild && !astray_.empty() && one_in(3)) {
        add_results({astray_.back()});
        astray_.pop_back();
      }
    }
    if (!one_in(5)) {
      if (thinks_ && items_ && one_in(2))
        add(R"({"role":"assistant","content":[{"type":"reasoning","summary":"so"}]})");
      if (thinks_ && one_in(3)) {
        add(R"({"role":"assistant","content":[{"type":"thinking","thinking":")" + words(3) +
            R"("},{"type":"text","text":")" + words(8) + "\"}]}");
      } else {
        add("{\"role\":\"assistant\",\"content\":\"" + words(12) + "\"}");
      }
    }
    if (one_in(9)) add("{\"role\":\"system\",\"content\":\"" + words(3) + "\"}");
  }
  void add_waiting() {
    std::vector<std::string> ids{new_id(), new_id()};
    add_calls(ids, thinks_);
    if (one_in(2)) add_results({ids[one_in(2) ? 0 : 1]});
  }

  Options options_;
  std::mt19937_64 random_;
  std::uint64_t next_ = 0, next_id_ = 0;
  bool thinks_ = false, parts_ = false, items_ = false;
  std::vector<std::string> astray_;
  std::vector<Message> messages_;
};

// What belongs together in a view, found the slow way: two messages each, the earlier one first.
struct PlainBonds {
  using Bond = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<Bond> pairs;  // a call and its result
  // a result, and what an assistant who thought before the call, but not again, says next
  std::vector<Bond> thinking;
  std::vector<Bond> steps;  // a result, and what an assistant says next who thinks again
  // reasoning, and what stands between it and the last call that follows from it, or what it led to
  std::vector<Bond> reasoning;
  // a call, and what stands before its result: other calls of the same time, then results
  std::vector<Bond> parallel;
  // false: some result stands before a call whose id was used again at some time
  bool clear = true;

  explicit PlainBonds(const History& history) {
    std::vector<Message> messages;
    for (const Message& m : history.view()) messages.push_back(m);
    std::map<std::string, int> calls_ever;
    for (const Message& m : history.log()) {
      for (const ToolLink& link : m.tool_links())
        calls_ever[link.id] += link.side == ToolLink::Side::call ? 1 : 0;
    }
    const auto holds = [&](std::size_t i, ToolLink::Side side, const std::string& id) {
      const std::vector<ToolLink> links = messages[i].tool_links();
      return std::find(links.begin(), links.end(), ToolLink{side, id}) != links.end();
    };
    // A result answers the last call of its id before it; when there is none, the first one after
    // it, if that has no result of its own.
    const auto call_of = [&](std::size_t result,
                             const std::string& id) -> std::optional<std::size_t> {
      for (std::size_t i = result + 1; i-- > 0;) {
        if (holds(i, ToolLink::Side::call, id)) return i;
      }
      for (std::size_t i = result + 1; i < messages.size(); ++i) {
        if (!holds(i, ToolLink::Side::call, id)) continue;
        clear = clear && calls_ever[id] < 2;
        for (std::size_t k = i;
             k < messages.size() && (k == i || !holds(k, ToolLink::Side::call, id)); ++k) {
          if (holds(k, ToolLink::Side::result, id)) return {};
        }
        return i;
      }
      return {};
    };
    std::map<std::size_t, std::vector<std::size_t>> calls_of;  // by the message that answers
    for (std::size_t i = 0; i < messages.size(); ++i) {
      for (const ToolLink& link : messages[i].tool_links()) {
        if (link.side != ToolLink::Side::result) continue;
        const std::optional<std::size_t> call = call_of(i, link.id);
        if (!call || *call == i) continue;
        pairs.emplace_back(std::min(*call, i), std::max(*call, i));
        calls_of[i].push_back(*call);
        if (*call < i) add_parallel(messages, *call, i);
      }
    }
    const auto thinks = [&](std::size_t i) { return messages[i].has_reasoning(); };
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (!thinks(i)) continue;
      std::vector<std::size_t> run;  // of what an assistant says after it
      for (std::size_t k = i + 1; k < messages.size() && messages[k].role() != Role::user &&
                                  messages[k].role() != Role::tool;
           ++k) {
        if (messages[k].role() == Role::assistant) run.push_back(k);
      }
      std::size_t last = 0;  // how many of the run
      for (std::size_t k = 0; k < run.size() && !thinks(run[k]); ++k) {
        const std::vector<ToolLink> links = messages[run[k]].tool_links();
        if (std::any_of(links.begin(), links.end(),
                        [](const ToolLink& l) { return l.side == ToolLink::Side::call; }))
          last = k + 1;
      }
      const bool is_bare = messages[i].is_only_reasoning();
      if (last == 0 && is_bare && !run.empty()) last = 1;
      for (std::size_t k = 0; k < last; ++k) reasoning.emplace_back(i, run[k]);
    }
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].role() == Role::system) continue;
      if (last && messages[i].role() == Role::assistant &&
          messages[*last].role() != Role::assistant && calls_of.count(*last) > 0) {
        const std::vector<std::size_t>& calls = calls_of[*last];
        if (thinks(i)) {
          steps.emplace_back(*last, i);
        } else if (std::any_of(calls.begin(), calls.end(), thinks)) {
          thinking.emplace_back(*last, i);
        }
      }
      last = i;
    }
  }

  void add_parallel(const std::vector<Message>& messages, std::size_t call, std::size_t result) {
    std::vector<Bond> found;
    bool has_result = false;
    for (std::size_t i = call + 1; i < result; ++i) {
      const Role role = messages[i].role();
      if (role == Role::system) continue;
      const bool answers =
          role == Role::tool || (role == Role::user && messages[i].has_tool_links());
      has_result = has_result || answers;
      if (!answers && (role == Role::user || has_result)) return;
      found.emplace_back(call, i);
    }
    parallel.insert(parallel.end(), found.begin(), found.end());
  }

  std::vector<Bond> within_steps() const {
    std::vector<Bond> bonds = pairs;
    bonds.insert(bonds.end(), parallel.begin(), parallel.end());
    bonds.insert(bonds.end(), thinking.begin(), thinking.end());
    bonds.insert(bonds.end(), reasoning.begin(), reasoning.end());
    return bonds;
  }
  std::vector<Bond> all() const {
    std::vector<Bond> bonds = within_steps();
    bonds.insert(bonds.end(), steps.begin(), steps.end());
    return bonds;
  }
  bool is_legal_cut(std::uint64_t cut) const {
    const std::vector<Bond> bonds = all();
    return std::none_of(bonds.begin(), bonds.end(),
                        [&](const Bond& b) { return b.first < cut && cut <= b.second; });
  }
  // `kept` and all that is bound to it.
  std::set<std::uint64_t> with_bound(std::set<std::uint64_t> kept) const {
    return with_bound(std::move(kept), all());
  }
  static std::set<std::uint64_t> with_bound(std::set<std::uint64_t> kept,
                                            const std::vector<Bond>& bonds) {
    for (std::size_t before = kept.size() + 1; before != kept.size();) {
      before = kept.size();
      for (const Bond& b : bonds) {
        if (kept.count(b.first) > 0 || kept.count(b.second) > 0) kept.insert({b.first, b.second});
      }
    }
    return kept;
  }
};

}  // namespace undertext
