// smart_summary: summaries of the originals stand for everything but a tail. What is kept anyway
// parts the rest into stretches, and each of them has a summary of its own, in its place: so nobody
// reads of work before the request it was done for.
//
//     system   u a u a u a   pinned   u a   system   u a u a u a u   a
//              '-summary-'            kept           '--summary--' '- tail
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <undertext/compression.hpp>

#include "compression/facts.hpp"
#include "compression/kept.hpp"
#include "compression/originals.hpp"
#include "compression/plan_by.hpp"
#include "compression/summary_words.hpp"
#include "history/linked.hpp"
#include "history/state.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t messages_kept = 10;  // where nothing else tells how long the tail is
// a summary that has room for less tells next to nothing
constexpr std::uint64_t text_tokens_min = 48;
// A plan asks a model at most so often; the other stretches, which are smaller, have digests.
constexpr std::size_t slow_stretches_max = 4;

// The text of the message that stands for the messages with these ordinals, the only place that
// gives it its form. A model that takes it for a task does the work again.
std::string summary_text(const Aim& aim, std::uint64_t first_ordinal, std::uint64_t last_ordinal,
                         std::string_view summary) {
  const std::string first = std::to_string(first_ordinal), last = std::to_string(last_ordinal);
  // A tool is named only where the model has it.
  const std::string originals =
      aim.context_tools
          ? "context_expand {\"from\":" + first + ",\"to\":" + last + "} reads the originals.\n"
          : "EXPAND brings back the originals (ordinals " + first + "-" + last + ").\n";
  return "[Summary of earlier messages]\nWork already done, not to be repeated. " + originals +
         std::string(summary);
}

// Of all summaries together, where the caller did not say.
constexpr std::uint64_t texts_tokens_least = 512, texts_tokens_most = 8'192,
                        texts_tokens_without_aim = 1'024;
std::uint64_t default_texts_tokens(const Aim& aim) {
  return aim.tokens_max ? std::clamp(*aim.tokens_max / 4, texts_tokens_least, texts_tokens_most)
                        : texts_tokens_without_aim;
}

// Which stretches of a view are summarised, and how long each summary may be.
class Layout {
 public:
  struct Stretch {
    Range range;
    std::uint64_t tokens;          // that are hidden
    std::uint64_t tokens_max = 0;  // of the message in their place
  };

  // `stays`: stretches that could not be summarised.
  Layout(const History& history, const View& view, const Aim& aim, const SmartSummary& options,
         Whole whole, const Stretches& stays)
      : view_(view), aim_(aim), around_(count_around(aim)) {
    has_set_texts_ = options.summary_tokens_max.has_value();
    texts_max_ = options.summary_tokens_max.value_or(default_texts_tokens(aim));
    text_min_ = std::min(text_tokens_min, texts_max_);
    const Kept always = Kept::always(history, view, whole).with(view, stays);
    const std::uint64_t keep = options.keep.value_or(aim.tokens_max ? view.size() : messages_kept);
    std::uint64_t start = previous_legal_cut(view.rep().log, view.rep().placed,
                                             view.size() - std::min(view.size(), keep), whole);
    if (!aim.tokens_max) {
      lay_out(always, start);
      return;
    }
    const std::uint64_t most =
        options.summary_tokens_max ? *aim.tokens_max / 3 : *aim.tokens_max - *aim.tokens_max / 4;
    texts_max_ = std::min(texts_max_, most);
    lay_out(always, std::max(start, start_within(always)));
    if (reaches_aim()) return;
    // Then nothing but what must be stays, and also summaries that were made with more room are
    // made again.
    remakes_lone_ = true;
    lay_out(always, view.size());
    if (!reaches_aim() && aim.tokens_enough) lay_out(always.with_last(view), view.size());
  }

  const std::vector<Stretch>& stretches() const { return stretches_; }
  std::uint64_t kept_tokens() const { return kept_tokens_; }
  std::uint64_t around() const { return around_; }
  // What it comes to if every summary is as long as it may be.
  std::uint64_t tokens() const {
    std::uint64_t tokens = kept_tokens_;
    for (const Stretch& stretch : stretches_) tokens += stretch.tokens_max;
    return tokens;
  }
  bool reaches_aim() const { return !aim_.tokens_max || tokens() <= *aim_.tokens_max; }
  // Of what a tail, which is cut between messages, leaves of the target: what digests may have
  // beside their share, where the caller set none.
  std::uint64_t tokens_beside() const {
    if (has_set_texts_ || !aim_.tokens_max || !reaches_aim()) return 0;
    return std::min({*aim_.tokens_max - tokens(), texts_max_ / 4,
                     texts_tokens_most - std::min(texts_max_, texts_tokens_most)});
  }

 private:
  // Of the message around a summary.
  static std::uint64_t count_around(const Aim& aim) {
    constexpr std::uint64_t any_ordinal = 10'000;
    const Result<Message> empty =
        Message::make(Role::user, summary_text(aim, any_ordinal, any_ordinal, "."), {});
    return empty ? count_tokens(aim, *empty) : 0;
  }
  std::uint64_t tokens_min() const { return around_ + text_min_; }  // of a message with a summary

  // Whether there is something to gain. A summary of nothing but one summary would tell nothing
  // new.
  bool is_worth_it(const Range& range, std::uint64_t tokens) const {
    if (tokens <= tokens_min()) return false;
    if (range.end - range.start > 1) return true;
    const bool is_lone =
        view_.rep().log.originals(static_cast<std::uint32_t>(view_.ordinal(range.start).value)) !=
        nullptr;
    return !is_lone || remakes_lone_;
  }

  // What `count` summaries may have together, when what is kept has `kept_tokens`.
  std::uint64_t tokens_of(std::uint64_t count, std::uint64_t kept_tokens) const {
    if (count == 0) return 0;
    std::uint64_t tokens = count * around_ + texts_max_;
    if (aim_.tokens_max)
      tokens = std::min(tokens, *aim_.tokens_max - std::min(*aim_.tokens_max, kept_tokens));
    return std::max(tokens, count * tokens_min());
  }

  // Where the longest tail begins that fits beside the summaries of what is before it; the end when
  // none does.
  std::uint64_t start_within(const Kept& always) const {
    struct Gap {
      std::uint64_t start;
      std::uint64_t short_tokens, count;  // of those before it: tokens that stay, and summaries
    };
    std::vector<Gap> gaps;
    std::uint64_t short_tokens = 0, count = 0;
    for (const Range& range : complement(always.stretches(), view_.size())) {
      gaps.push_back({range.start, short_tokens, count});
      const std::uint64_t tokens = tokens_in(view_, {range});
      if (is_worth_it(range, tokens)) {
        ++count;
      } else {
        short_tokens += tokens;
      }
    }
    gaps.push_back({view_.size(), short_tokens, count});
    const std::uint64_t least = tokens_of(count, always.tokens() + short_tokens);
    const auto fits = [&](std::uint64_t start) {
      const auto next =
          std::lower_bound(gaps.begin(), gaps.end(), start,
                           [](const Gap& g, std::uint64_t at) { return g.start < at; });
      const std::uint64_t kept = tokens_with_tail(view_, always, start) + next->short_tokens;
      return kept + std::min(least, tokens_of(next->count, 0)) <= *aim_.tokens_max;
    };
    std::uint64_t low = 0, high = view_.size();
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      fits(middle) ? high = middle : low = middle + 1;
    }
    return next_legal_cut(view_.rep().log, view_.rep().placed, low, always.whole());
  }

  void lay_out(const Kept& always, std::uint64_t start) {
    Kept kept = always.with(view_, complement(with_head(always.stretches(), start), view_.size()));
    for (;;) {
      stretches_.clear();
      Stretches not_worth_it;
      for (const Range& range : complement(kept.stretches(), view_.size())) {
        const std::uint64_t tokens = tokens_in(view_, {range});
        if (is_worth_it(range, tokens)) {
          stretches_.push_back({range, tokens});
        } else {
          not_worth_it.push_back(range);
        }
      }
      if (not_worth_it.empty()) break;
      kept = kept.with(view_, not_worth_it);  // and with it the rest of its turns, elsewhere
    }
    kept_tokens_ = kept.tokens();
    share();
  }

  // Of the view: `kept` and everything before `start`; its complement is what a tail adds.
  static Stretches with_head(const Stretches& kept, std::uint64_t start) {
    Stretches all;
    add_stretch(all, 0, start);
    for (const Range& range : kept)
      if (range.end > start) add_stretch(all, std::max(range.start, start), range.end);
    return all;
  }

  // Each summary has what the shortest needs, and of the rest as much as it hides of all that is
  // hidden. The last one counts for at least a third of all others: it says how things stand.
  void share() {
    std::uint64_t hidden_tokens = 0;
    for (const Stretch& stretch : stretches_) hidden_tokens += stretch.tokens;
    const std::uint64_t others = stretches_.empty() ? 0 : hidden_tokens - stretches_.back().tokens;
    const std::uint64_t last_weight =
        stretches_.empty() ? 0 : std::max(stretches_.back().tokens, others / 3);
    hidden_tokens = others + last_weight;
    const std::uint64_t count = stretches_.size();
    const std::uint64_t spare = tokens_of(count, kept_tokens_) - count * tokens_min();
    for (Stretch& stretch : stretches_) {
      const std::uint64_t weight = &stretch == &stretches_.back() ? last_weight : stretch.tokens;
      const double part = static_cast<double>(weight) / static_cast<double>(hidden_tokens);
      const std::uint64_t more = static_cast<std::uint64_t>(static_cast<double>(spare) * part);
      stretch.tokens_max = std::min(tokens_min() + more, stretch.tokens - 1);
    }
  }

  const View& view_;
  const Aim& aim_;
  const std::uint64_t around_;
  std::uint64_t text_min_ = 0;
  std::uint64_t texts_max_ = 0;  // of all summaries together
  bool has_set_texts_ = false;   // by the caller
  bool remakes_lone_ = false;
  std::uint64_t kept_tokens_ = 0;
  std::vector<Stretch> stretches_;
};

class SummaryStrategy final : public Strategy {
 public:
  explicit SummaryStrategy(SmartSummary options) : options_(std::move(options)) {
    if (options_.summariser) summarisers_.push_back(options_.summariser);
    summarisers_.insert(summarisers_.end(), options_.fallbacks.begin(), options_.fallbacks.end());
    std::erase(summarisers_, nullptr);
    std::erase(summarisers_, digest_summariser());
    summarisers_.push_back(digest_summariser());
  }
  std::string_view name() const noexcept override { return "smart_summary"; }
  bool is_slow() const noexcept override {
    return std::any_of(summarisers_.begin(), summarisers_.end(),
                       [](const auto& one) { return one->is_slow(); });
  }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const View view = view_with_links(history);
    Plan plan = empty_plan(history, name());
    if (is_within(view, aim)) return plan;
    Work work{history, view, aim, {}, {}, {}};
    Stretches stays;
    for (;;) {
      const Layout layout = best_layout(work, stays);
      if (layout.stretches().empty()) break;
      Stretches failed;
      if (std::optional<Error> error = summarise(work, layout, failed)) return *error;
      if (failed.empty()) {
        take(work, layout, plan);
        return plan;
      }
      stays = joined_stretches(stays, failed);
    }
    if (work.failed) return *work.failed;
    return plan;
  }

 private:
  // What stands for a stretch.
  struct Made {
    Message message;
    std::uint64_t tokens;
    std::string summariser, model;
  };
  struct Work {
    const History& history;
    const View& view;
    const Aim& aim;
    // by stretch: a model is not asked twice for the same
    std::map<std::pair<std::uint64_t, std::uint64_t>, Made> made;
    // the first failure of a summariser other than that nothing is so short
    std::optional<Error> failed;
    std::string reasons;
    std::uint64_t prompt_tokens = 0, completion_tokens = 0;
  };

  Layout best_layout(const Work& work, const Stretches& stays) const {
    Layout turns(work.history, work.view, work.aim, options_, Whole::turns, stays);
    if (turns.reaches_aim() || !has_reasoning(work.view)) return turns;
    Layout steps(work.history, work.view, work.aim, options_, Whole::steps, stays);
    return steps.tokens() < turns.tokens() ? steps : turns;
  }

  // Whether nobody else is tried: it was cancelled, or the caller has to fix something and has
  // named nobody to help out until then. Messages that one summariser refuses, another may take.
  bool ends_it(const Work& work, const Error& error) const {
    const bool is_the_callers =
        error.code == ErrorCode::invalid_argument && error.field != "messages";
    return work.aim.cancel.stop_requested() ||
           (is_the_callers && options_.fallbacks.empty() && !work.aim.digest_last);
  }

  // The largest stretches are for the summariser that was asked for; `failed` are those that nobody
  // could summarise.
  std::optional<Error> summarise(Work& work, const Layout& layout, Stretches& failed) const {
    std::vector<std::uint64_t> sizes;
    for (const Layout::Stretch& stretch : layout.stretches()) sizes.push_back(stretch.tokens);
    std::sort(sizes.rbegin(), sizes.rend());
    const std::uint64_t slow_tokens_min =
        is_slow() && sizes.size() > slow_stretches_max ? sizes[slow_stretches_max - 1] : 0;
    std::size_t asked = 0;
    // What is left of the aim, if every summary is as long as it may be, and what one leaves to the
    // next: one may have more.
    const bool has_spare = work.aim.tokens_max && layout.reaches_aim();
    std::uint64_t spare = has_spare ? *work.aim.tokens_max - layout.tokens() : 0;
    // What digests left of their own share, where the aim is reached: else summaries longer than
    // their share would be made again. The largest comes last: it has most to say.
    std::uint64_t left = 0;
    std::vector<Layout::Stretch> stretches = layout.stretches();
    const bool passes_on = has_spare && summarisers_.size() == 1;
    if (passes_on)
      std::stable_sort(stretches.begin(), stretches.end(),
                       [](const auto& a, const auto& b) { return a.tokens < b.tokens; });
    for (Layout::Stretch& stretch : stretches) {
      const bool with_model =
          stretch.tokens >= slow_tokens_min && (slow_tokens_min == 0 || asked < slow_stretches_max);
      asked += with_model ? 1 : 0;
      if (work.made.count({stretch.range.start, stretch.range.end}) > 0) continue;
      const std::uint64_t tokens_most = stretch.tokens - 1;
      const std::uint64_t share = stretch.tokens_max;
      if (passes_on && &stretch == &stretches.back()) left += layout.tokens_beside();
      stretch.tokens_max = std::min(share + left, tokens_most);
      const std::uint64_t tokens_max =
          work.aim.tokens_max ? std::min(share + std::max(spare, left), tokens_most) : tokens_most;
      Result<Made> made = made_for(work, layout, stretch, tokens_max, with_model);
      if (!made && ends_it(work, made.error())) return made.error();
      if (!made) {
        failed.push_back(stretch.range);
        continue;
      }
      // within it, also where it is more than its share
      if (has_spare) spare += share - made->tokens;
      if (passes_on) left = share + left - std::min(share + left, made->tokens);
      work.made.emplace(std::pair(stretch.range.start, stretch.range.end), std::move(*made));
    }
    return {};
  }

  // By the first summariser that can. cannot_fit or what the last one failed with: none can.
  Result<Made> made_for(Work& work, const Layout& layout, const Layout::Stretch& stretch,
                        std::uint64_t tokens_max, bool with_model) const {
    std::optional<Error> error;
    for (const std::shared_ptr<const Summariser>& summariser : summarisers_) {
      if (!with_model && summariser->is_slow()) continue;
      if (error) work.reasons += "; " + std::string(summariser->name()) + " instead";
      Result<Made> made = made_by(*summariser, work, layout, stretch, tokens_max);
      if (made || ends_it(work, made.error())) return made;
      error = made.error();
      if (error->code == ErrorCode::cannot_fit && summariser == summarisers_.back()) break;
      if (!work.failed) work.failed = error;
      work.reasons +=
          "; summariser " + std::string(summariser->name()) + " failed: " + error->message;
    }
    return *error;
  }

  Result<Made> made_by(const Summariser& summariser, Work& work, const Layout& layout,
                       const Layout::Stretch& stretch, std::uint64_t tokens_max) const {
    const Log& log = work.view.rep().log;
    const Aim& aim = work.aim;
    Originals originals(log);
    for (std::uint64_t i = stretch.range.start; i < stretch.range.end; ++i)
      originals.add(static_cast<std::uint32_t>(work.view.ordinal(i).value));
    const std::uint32_t first = originals.first(), last = originals.last();
    SummaryRequest request{originals.take(), stretch.tokens_max - layout.around(), aim.count_text,
                           aim.cancel};
    if (!request.count_tokens)
      request.count_tokens = [](std::string_view text) { return (text.size() + 2) / 3; };
    request.work = log.work;
    take_what_stays(work.view, layout, stretch.range, request);
    take_later(work, layout, stretch.range, request);
    const bool is_digest = &summariser == digest_summariser().get();
    // A model may forget what must survive. The digest knows it, and there is room left to say it.
    const bool completes = !is_digest || aim.survival.asks_for_something();
    const undertext::Work* const limits = log.work.get();
    const Facts facts = completes ? facts_of(request.messages, request.after, limits) : Facts();
    const std::string kept = completes
                                 ? all_said(request.after, limits) + all_said(request.later, limits)
                                 : std::string();
    const auto missing = [&](std::string_view text, std::uint64_t room) {
      return completes ? missing_sections(facts, text, kept, aim.survival, room,
                                          request.count_tokens, limits)
                       : std::string();
    };
    const std::uint64_t room_of_all = request.tokens_max;
    if (!is_digest) request.tokens_max -= request.count_tokens(missing({}, room_of_all / 3));
    const auto tell = [&](std::string_view text_so_far) {
      aim.on_progress(
          {CompressionProgress::Stage::summarising, request.messages.size(), text_so_far.size()});
    };
    if (aim.on_progress) request.on_progress = tell;

    for (;;) {
      if (aim.on_progress) tell("");
      Result<Summary> summary = call_user_code("summariser", summariser.name(),
                                               [&] { return summariser.summarise(request); });
      // no failure of the summariser, so that nothing else is tried
      if (!summary && limits != nullptr) limits->go_on();
      if (!summary && summary.error().code == ErrorCode::too_large && request.summaries.empty() &&
          take_visible(work.view, stretch.range, request)) {
        continue;  // the originals are out of reach: too many for the summariser
      }
      if (!summary) return summary.error();
      work.prompt_tokens += summary->prompt_tokens;
      work.completion_tokens += summary->completion_tokens;
      if (!is_digest) {  // which has no reasoning, and may quote some
        std::optional<std::string> text = without_reasoning(summary->text);
        if (!text) return bad_summary(summariser, "returned reasoning without an end");
        if (is_invisible(*text)) return bad_summary(summariser, "returned nothing");
        summary->text = std::move(*text);
      }
      const std::uint64_t said_tokens = request.count_tokens(summary->text);
      const std::string more =
          missing(summary->text, room_of_all - std::min(room_of_all, said_tokens));
      const std::string whole = more.empty() ? summary->text : summary->text + "\n" + more;
      Result<Message> message =
          Message::make(Role::user, summary_text(aim, first, last, whole), aim.limits);
      if (!message)
        return bad_summary(summariser, "returned what is no message: " + message.error().message);
      const std::uint64_t tokens = count_tokens(aim, *message);
      if (tokens <= tokens_max)
        return Made{std::move(*message), tokens, std::string(summariser.name()),
                    std::move(summary->model)};
      // A text may count for more with what is around it than alone. Whoever kept to the limit is
      // asked for less, if that costs nothing.
      const std::uint64_t excess = tokens - tokens_max;
      const bool kept_to_it = said_tokens <= request.tokens_max;
      if (!kept_to_it || summariser.is_slow() || excess >= request.tokens_max) {
        return bad_summary(summariser, tokens < stretch.tokens
                                           ? "returned more than there is room for"
                                           : "returned more than it was to replace");
      }
      request.tokens_max -= excess;
    }
  }

  // The messages behind a stretch that stay. Of those whose results were cleared the last summary
  // says what is left to know.
  static void take_what_stays(const View& view, const Layout& layout, const Range& range,
                              SummaryRequest& request) {
    constexpr std::size_t messages_max = 4'096;
    const Log& log = view.rep().log;
    const std::vector<Layout::Stretch>& hidden = layout.stretches();
    const bool is_last = hidden.back().range.start == range.start;
    std::size_t next = 0;
    for (std::uint64_t i = range.end; i < view.size() && request.after.size() < messages_max; ++i) {
      while (next < hidden.size() && hidden[next].range.end <= i) ++next;
      if (next < hidden.size() && hidden[next].range.start <= i) {
        i = hidden[next].range.end - 1;
        continue;
      }
      const std::uint32_t ordinal = static_cast<std::uint32_t>(view.ordinal(i).value);
      const std::vector<std::uint32_t>* const behind = log.originals(ordinal);
      const bool is_stub = behind != nullptr && behind->size() == 1 && !is_summary(log, ordinal);
      if (is_stub && is_last) request.after_hidden.push_back(request.after.size());
      request.after.push_back(is_stub ? log.message(behind->front()) : view[i]);
    }
  }

  static void take_later(const Work& work, const Layout& layout, const Range& range,
                         SummaryRequest& request) {
    for (const Layout::Stretch& later : layout.stretches()) {
      const auto made = work.made.find({later.range.start, later.range.end});
      if (later.range.start >= range.end && made != work.made.end())
        request.later.push_back(made->second.message);
    }
  }

  // What stands in the view, where earlier summaries speak for what they stand for. Whether there
  // are any.
  static bool take_visible(const View& view, const Range& range, SummaryRequest& request) {
    std::vector<Message> visible;
    std::vector<std::size_t> summaries;
    for (std::uint64_t i = range.start; i < range.end; ++i) {
      if (view.rep().log.originals(static_cast<std::uint32_t>(view.ordinal(i).value)))
        summaries.push_back(visible.size());
      visible.push_back(view[i]);
    }
    if (summaries.empty()) return false;
    request.messages = std::move(visible);
    request.summaries = std::move(summaries);
    return true;
  }

  static void take(Work& work, const Layout& layout, Plan& plan) {
    plan.tokens_after = layout.kept_tokens();
    for (const Layout::Stretch& stretch : layout.stretches()) {
      Made& made = work.made.at({stretch.range.start, stretch.range.end});
      plan.tokens_after += made.tokens;
      add_name(plan.summariser, made.summariser);
      add_name(plan.model, made.model);
      plan.replacements.push_back({{stretch.range}, std::move(made.message)});
    }
    plan.prompt_tokens = work.prompt_tokens;
    plan.completion_tokens = work.completion_tokens;
    plan.reason = plan.replacements.size() == 1 ? "a summary in place of all but the tail"
                                                : "summaries in place of all but the tail";
    plan.reason += work.reasons;
  }

  // A list without repeats.
  static void add_name(std::string& names, const std::string& name) {
    if ((", " + names + ", ").find(", " + name + ", ") != std::string::npos || name.empty()) return;
    names += (names.empty() ? "" : ", ") + name;
  }

  static Error bad_summary(const Summariser& summariser, std::string problem) {
    return {ErrorCode::unavailable,
            "the summariser " + std::string(summariser.name()) + " " + std::move(problem),
            "summariser"};
  }

  SmartSummary options_;
  // in the order in which they are tried; the digest last
  std::vector<std::shared_ptr<const Summariser>> summarisers_;
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

StrategyPtr smart_summary(SmartSummary options) {
  return std::make_shared<SummaryStrategy>(std::move(options));
}

}  // namespace undertext
