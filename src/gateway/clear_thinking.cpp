#include "gateway/clear_thinking.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.hpp"
#include "compression/kept.hpp"
#include "history/linked.hpp"
#include "history/state.hpp"
#include "message/reading.hpp"

namespace undertext {
namespace {

// Unset: it has none, or nothing else.
std::optional<Message> without_thinking(const Message& message, const MessageLimits& limits) {
  if (!message.has_reasoning() || message.is_only_reasoning()) return std::nullopt;
  const MessageReading reading(message);
  const std::optional<JsonValue> content = reading.root().find("content");
  if (!content || !content->is(JsonType::array)) return std::nullopt;
  std::set<std::string_view> thoughts;
  for (const Block& block : reading.turn().blocks)
    if (block.kind == BlockKind::reasoning) thoughts.insert(block.raw);
  std::string parts;
  std::size_t left = 0, all = 0;
  for (const JsonValue part : content->elements()) {
    ++all;
    if (thoughts.contains(part.raw())) continue;
    ++left;
    parts += (parts.empty() ? "" : ",") + std::string(part.raw());
  }
  if (left == all || left == 0) return std::nullopt;
  std::string text(message.json());
  text.replace(content->offset(), content->raw().size(), "[" + parts + "]");
  Result<Message> copy = Message::parse(text, limits);
  return copy ? std::optional(*std::move(copy)) : std::nullopt;
}

class ClearThinking final : public Strategy {
 public:
  explicit ClearThinking(std::uint64_t keep) : keep_(keep) {}
  std::string_view name() const noexcept override { return "clear_thinking"; }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const View view = view_with_links(history);
    Plan plan = empty_plan(history, name());
    const std::vector<std::uint64_t> pinned = history.marked(pinned_mark);
    std::uint64_t turns = 0;
    bool is_in_turn = false;
    for (std::uint64_t i = view.size(); i-- > 0;) {
      const Entry entry = view.rep().placed.entries[i];
      if (entry.role() == Role::user && !has_results(entry)) is_in_turn = false;
      if (entry.role() != Role::assistant) continue;
      if (!std::exchange(is_in_turn, true)) ++turns;
      if (turns <= keep_ || std::binary_search(pinned.begin(), pinned.end(), entry.ordinal))
        continue;
      std::optional<Message> copy = without_thinking(view[i], aim.limits);
      if (!copy) continue;
      const std::uint64_t tokens = count_tokens(aim, *copy);
      plan.tokens_after -= entry.tokens - std::min<std::uint64_t>(entry.tokens, tokens);
      plan.replacements.push_back({{{i, i + 1}}, *std::move(copy)});
    }
    std::reverse(plan.replacements.begin(), plan.replacements.end());
    plan.reason = "thinking of all turns but the newest " + std::to_string(keep_);
    return plan;
  }

 private:
  const std::uint64_t keep_;
};

}  // namespace

StrategyPtr clear_thinking(std::uint64_t keep) { return std::make_shared<ClearThinking>(keep); }

}  // namespace undertext
