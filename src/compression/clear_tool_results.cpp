// clear_tool_results: old results become stubs.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <undertext/compression.hpp>

#include "compression/kept.hpp"
#include "history/linked.hpp"
#include "history/pair_search.hpp"
#include "message/edit.hpp"
#include "message/reading.hpp"

namespace undertext {
namespace {

bool may_have_results(const EntrySums& sums) {
  return sums.role_counts[static_cast<std::size_t>(Role::tool)] > 0 || sums.reach_min != no_place;
}

// The names of the tools that were called, by id. Each message is read once.
class ToolNames {
 public:
  explicit ToolNames(const View::Rep& view) : view_(view), search_(view.log, view.placed) {}

  // Empty when the call is not in the view or has no name.
  std::string of(std::uint64_t index, std::uint32_t result, const std::string& id) {
    for (const PairPlaces& pair : search_.pairs_of(Log::hash_of(id), result, index)) {
      if (pair.result_ordinal != result) continue;
      const std::unordered_map<std::string, std::string>& names = names_in(pair.call_ordinal);
      if (const auto found = names.find(id); found != names.end()) return found->second;
    }
    return {};
  }

 private:
  const std::unordered_map<std::string, std::string>& names_in(std::uint32_t ordinal) {
    const auto [known, is_new] = known_.try_emplace(ordinal);
    if (!is_new) return known->second;
    const Message message = view_.log.message(ordinal);
    const MessageReading reading(message);
    for (const Block& block : reading.turn().blocks)
      if (block.kind == BlockKind::call) known->second.emplace(block.id, block.name);
    return known->second;
  }

  const View::Rep& view_;
  PairSearch search_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::string, std::string>> known_;
};

class Clearing final : public Strategy {
 public:
  explicit Clearing(ClearToolResults options) : options_(std::move(options)) {}
  std::string_view name() const noexcept override { return "clear_tool_results"; }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const View view = view_with_links(history);
    Plan plan = empty_plan(history, name());
    if (is_within(view, aim)) return plan;
    const std::vector<std::uint64_t> pinned = history.marked(pinned_mark);
    const std::uint64_t unread = unread_from(view);
    const std::vector<std::uint64_t> unread_late = unread_results(view);

    std::uint64_t newest = 0, gain = 0;
    std::optional<Error> error;
    const View::Rep& rep = view.rep();
    ToolNames names(rep);
    rep.placed.entries.visit_back(
        0, view.size(), may_have_results, [&](std::uint64_t index, const Entry& entry) {
          if (!has_results(entry)) return true;
          if (newest++ < options_.keep) return true;
          if (rep.log.originals(entry.ordinal)) return true;  // a stub already
          // Other than hiding it, a stub neither breaks a pair nor a turn: so only what must be
          // read as it is stays.
          if (index >= unread || std::binary_search(unread_late.begin(), unread_late.end(), index))
            return true;
          if (std::binary_search(pinned.begin(), pinned.end(), entry.ordinal)) return true;
          Result<Message> stub = stub_of(view[index], index, entry, names, aim);
          if (!stub) {
            error = stub.error();
            return false;
          }
          const std::uint64_t tokens = count_tokens(aim, *stub);
          if (tokens >= entry.tokens) return true;
          gain += entry.tokens - tokens;
          plan.replacements.push_back({{{index, index + 1}}, std::move(*stub)});
          const bool is_enough = aim.tokens_max && plan.tokens_after - gain <= *aim.tokens_max;
          return !(options_.late && is_enough);
        });
    if (error) return *error;
    if (gain < options_.tokens_gain_min || plan.replacements.empty()) {
      gain = 0;
      plan.replacements.clear();
    }
    plan.tokens_after -= gain;
    std::reverse(plan.replacements.begin(), plan.replacements.end());
    plan.reason = "results of tools but for the newest " + std::to_string(options_.keep);
    return plan;
  }

 private:
  Result<Message> stub_of(const Message& message, std::uint64_t index, const Entry& entry,
                          ToolNames& names, const Aim& aim) const {
    const auto stub = [&](std::string_view id) -> std::optional<std::string> {
      const std::string tool = names.of(index, entry.ordinal, std::string(id));
      if (std::find(options_.exclude.begin(), options_.exclude.end(), tool) !=
          options_.exclude.end())
        return {};
      return "[result of " + (tool.empty() ? "a tool" : tool) +
             " cleared: " + std::to_string(entry.tokens) + " tokens" +
             how_to_read(aim, entry.ordinal) + "]";
    };
    return replace_tool_results(message, stub, aim.limits);
  }

  // A tool is named only where the model has it.
  static std::string how_to_read(const Aim& aim, std::uint32_t ordinal) {
    return aim.context_tools
               ? "; context_expand {\"ordinals\":[" + std::to_string(ordinal) + "]} reads it"
               : std::string();
  }

  ClearToolResults options_;
};

}  // namespace

// Anthropic and Gemini have results in messages of the user.
bool has_results(const Entry& entry) {
  return entry.role() == Role::tool || (entry.role() == Role::user && entry.reach != no_place);
}

std::uint64_t whole_results(const History& history) {
  const View view = view_with_links(history);
  std::uint64_t count = 0;
  view.rep().placed.entries.visit_back(
      0, view.size(), may_have_results, [&](std::uint64_t, const Entry& entry) {
        if (has_results(entry) && view.rep().log.originals(entry.ordinal) == nullptr) ++count;
        return true;
      });
  return count;
}

StrategyPtr clear_tool_results(ClearToolResults options) {
  return std::make_shared<Clearing>(std::move(options));
}

}  // namespace undertext
