// smart_summary: a summary of the originals stands for everything but a tail.
#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include <undertext/compression.hpp>

#include "compression/kept.hpp"
#include "compression/plan_by.hpp"
#include "history/linked.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t messages_kept = 10;  // where nothing else tells how long the tail is
constexpr std::string_view heading = "[Summary of earlier messages]\n";

// The messages behind some of a view: where one of them is a summary, what it stands for, read through to the end.
class Originals {
 public:
  explicit Originals(const Log& log) : log_(log) {}

  void add(std::uint32_t ordinal) {
    if (!seen_.insert(ordinal).second) return;
    const std::vector<std::uint32_t>* behind = log_.originals(ordinal);
    if (!behind) {
      messages_.push_back(log_.message(ordinal));
      return;
    }
    // Summaries of summaries are few deep, but a program may make them by hand: so without recursion.
    std::vector<std::uint32_t> open(behind->rbegin(), behind->rend());
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      if (!seen_.insert(next).second) continue;
      if (const std::vector<std::uint32_t>* deeper = log_.originals(next)) {
        open.insert(open.end(), deeper->rbegin(), deeper->rend());
      } else {
        messages_.push_back(log_.message(next));
      }
    }
  }
  std::vector<Message> take() { return std::move(messages_); }

 private:
  const Log& log_;
  std::unordered_set<std::uint32_t> seen_;
  std::vector<Message> messages_;
};

class SummaryStrategy final : public Strategy {
 public:
  explicit SummaryStrategy(SmartSummary options) : options_(std::move(options)) {
    if (!options_.summariser) options_.summariser = digest_summariser();
  }
  std::string_view name() const noexcept override { return "smart_summary"; }
  bool is_slow() const noexcept override { return options_.summariser->is_slow(); }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const View view = view_with_links(history);
    if (is_within(view, aim)) return empty_plan(history, name());
    const Kept always = Kept::always(history, view);
    std::uint64_t summary_tokens_max = options_.summary_tokens_max;
    const std::uint64_t keep = options_.keep.value_or(aim.tokens_max ? view.size() : messages_kept);
    std::uint64_t start = view.previous_legal_cut(view.size() - std::min(view.size(), keep));
    if (aim.tokens_max) {
      if (always.tokens() > *aim.tokens_max) return empty_plan(history, name());
      summary_tokens_max = std::min({summary_tokens_max, *aim.tokens_max / 3, *aim.tokens_max - always.tokens()});
      start = std::max(start, largest_tail(view, always, *aim.tokens_max - summary_tokens_max));
    }
    const Stretches hidden = complement(with_tail(always.stretches(), start, view.size()), view.size());
    const std::uint64_t hidden_tokens = tokens_in(view, hidden);
    // The summary is to be shorter than what it stands for; and the message around its text costs something too.
    const std::uint64_t around = message_overhead(aim);
    const std::uint64_t message_tokens_max = std::min(summary_tokens_max, hidden_tokens > 0 ? hidden_tokens - 1 : 0);
    if ((!aim.tokens_max && !holds_news(view, hidden)) || message_tokens_max <= around) return empty_plan(history, name());
    Result<Plan> plan = summarised(history, view, aim, hidden, hidden_tokens, message_tokens_max - around);
    if (!plan && plan.error().code == ErrorCode::cannot_fit) return empty_plan(history, name());
    return plan;
  }

 private:
  // A summary of nothing but one summary would tell nothing new.
  static bool holds_news(const View& view, const Stretches& hidden) {
    for (const Range& range : hidden) {
      for (std::uint64_t i = range.start; i < range.end; ++i) {
        if (!view.rep().log.originals(static_cast<std::uint32_t>(view.ordinal(i).value))) return true;
        if (i + 1 < range.end || hidden.size() > 1) return true;
      }
    }
    return false;
  }

  static std::vector<Message> visible_in(const View& view, const Stretches& hidden) {
    std::vector<Message> messages;
    for (const Range& range : hidden) {
      for (std::uint64_t i = range.start; i < range.end; ++i) messages.push_back(view[i]);
    }
    return messages;
  }

  Result<Plan> summarised(const History& history, const View& view, const Aim& aim, const Stretches& hidden,
                          std::uint64_t hidden_tokens, std::uint64_t text_tokens_max) const {
    Originals originals(view.rep().log);
    for (const Range& range : hidden) {
      for (std::uint64_t i = range.start; i < range.end; ++i) {
        originals.add(static_cast<std::uint32_t>(view.ordinal(i).value));
      }
    }
    SummaryRequest request{originals.take(), text_tokens_max, aim.count_text, aim.cancel};
    if (!request.count_tokens) request.count_tokens = [](std::string_view text) { return (text.size() + 2) / 3; };
    const auto tell = [&](std::string_view text_so_far) {
      aim.on_progress({CompressionProgress::Stage::summarising, request.messages.size(), text_so_far.size()});
    };
    if (aim.on_progress) request.on_progress = tell;

    Plan plan = empty_plan(history, name());
    const std::uint64_t kept_tokens = plan.tokens_before - hidden_tokens;
    bool through_summaries = true;
    for (;;) {
      if (aim.on_progress) tell("");
      Result<Summary> summary =
          call_user_code("summariser", options_.summariser->name(), [&] { return options_.summariser->summarise(request); });
      if (!summary && summary.error().code == ErrorCode::too_large && through_summaries) {
        // The originals are out of reach: too many for whoever summarises. Then earlier summaries have to speak for theirs.
        request.messages = visible_in(view, hidden);
        through_summaries = false;
        continue;
      }
      if (!summary) return summary.error();
      if (summary->text.find_first_not_of(" \t\r\n") == std::string::npos) return bad_summary("returned nothing");
      Result<Message> message = Message::make(Role::user, std::string(heading) + summary->text, aim.limits);
      if (!message) return bad_summary("returned what is no message: " + message.error().message);
      plan.prompt_tokens += summary->prompt_tokens;
      plan.completion_tokens += summary->completion_tokens;
      const std::uint64_t tokens = count_tokens(aim, *message);
      plan.tokens_after = kept_tokens + tokens;
      const std::uint64_t tokens_max = aim.tokens_max.value_or(plan.tokens_before - 1);
      if (plan.tokens_after < plan.tokens_before && plan.tokens_after <= tokens_max) {
        plan.replacements.push_back({hidden, std::move(*message)});
        plan.model = std::move(summary->model);
        break;
      }
      // A text may count for more with what is around it than alone. Whoever kept to the limit is asked for less, if that costs nothing.
      const std::uint64_t excess = plan.tokens_after - std::min(tokens_max, plan.tokens_before - 1);
      const bool kept_to_it = request.count_tokens(summary->text) <= request.tokens_max;
      if (!kept_to_it || options_.summariser->is_slow() || excess >= request.tokens_max) {
        return bad_summary(plan.tokens_after < plan.tokens_before ? "returned more than there is room for"
                                                                  : "returned more than it was to replace");
      }
      request.tokens_max -= excess;
    }
    plan.summariser = options_.summariser->name();
    plan.reason = "a summary in place of all but the tail";
    return plan;
  }

  static std::uint64_t message_overhead(const Aim& aim) {
    const Result<Message> empty = Message::make(Role::user, std::string(heading) + ".", {});
    return empty ? count_tokens(aim, *empty) : 0;
  }

  Error bad_summary(std::string problem) const {
    return {ErrorCode::unavailable, "the summariser " + std::string(options_.summariser->name()) + " " + std::move(problem),
            "summariser"};
  }

  SmartSummary options_;
};

}  // namespace

std::string_view name(CompressionProgress::Stage stage) {
  switch (stage) {
    case CompressionProgress::Stage::planning: return "planning";
    case CompressionProgress::Stage::summarising: return "summarising";
    case CompressionProgress::Stage::applying: return "applying";
  }
  return "";
}

StrategyPtr smart_summary(SmartSummary options) { return std::make_shared<SummaryStrategy>(std::move(options)); }

}  // namespace undertext
