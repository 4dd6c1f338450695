// Recorded turns under another policy.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <undertext/ledger.hpp>
#include <undertext/usage.hpp>

#include "base/answering_failure.hpp"
#include "history/client_list_at.hpp"
#include "history/state.hpp"
#include "money/prices.hpp"
#include "money/replay.hpp"
#include "tokens/counting.hpp"

namespace undertext {
namespace {

bool is_replayed(const RequestRecord& record, const History& history) {
  const bool is_of_the_list =
      record.kind == ClientRequestKind::turn || record.kind == ClientRequestKind::compaction;
  return is_billed(record) && is_of_the_list && record.version >= history.first_version() &&
         record.version <= history.version();
}

// What is known of a turn, whatever the policy.
struct Turn {
  const RequestRecord* record = nullptr;
  View view;  // that was sent
  const Tariff* tariff = nullptr;
  EditMeasure measure = {};
  std::uint64_t output = 0;
};

// Whether the request showed the client's whole list.
bool is_unedited(const Turn& turn, const History& history) {
  const ClientTree list = client_tree_at(history, turn.record->version);
  return list.empty() || list.size() == turn.view.size();
}

// A request as the provider sees it, in messages and tokens of ours.
struct Sent {
  std::uint64_t messages = 0;
  std::uint64_t common = 0;  // of these, as in the request before
  std::function<std::uint64_t(std::uint64_t messages)> tokens_of_first;
};

// Bills requests as a provider with a prompt cache does: what an earlier request left is read while
// it lives, the rest is written.
class Meter {
 public:
  void take(const Turn& turn, const Sent& sent) {
    const std::int64_t at_ms = turn.record->at_ms;
    const CacheRules& rules = turn.tariff->rules;
    const std::uint64_t tokens = turn.measure.as_sent(sent.tokens_of_first(sent.messages));
    std::erase_if(ends_, [&](std::uint64_t end) { return end > sent.common; });
    if (at_ms - last_ms_ > lifetime_ms_ || model_ != turn.record->model) ends_.clear();
    std::uint64_t read = read_tokens(turn, sent, rules);
    if (read < rules.tokens_min) read = 0;
    const bool writes = rules.kind == CacheRules::Kind::breakpoints &&
                        (turn.record->usage.cache_written > 0 || read > 0 || marks(turn));
    const std::uint64_t rest = tokens - std::min(tokens, read);
    const std::uint64_t written = writes && tokens >= rules.tokens_min ? rest : 0;
    lifetime_ms_ = cache_lifetime_ms(*turn.record);
    const bool is_hour = is_kept_for_hour(*turn.record);
    const BilledTokens billed{.plain = rest - written,
                              .read = std::min(read, tokens),
                              .written = is_hour ? 0 : written,
                              .written_hour = is_hour ? written : 0,
                              .output = turn.output};
    totals_.sent += tokens;
    totals_.read += billed.read;
    totals_.written += written;
    totals_.output += turn.output;
    totals_.dollars += turn.tariff->dollars(billed).value_or(0);
    totals_.peak = std::max(totals_.peak, tokens);
    if (turn.tariff->window && tokens > *turn.tariff->window) ++totals_.over_window;
    if (turn.record->kind == ClientRequestKind::compaction) ++totals_.client_compactions;
    if (written > 0 || rules.kind == CacheRules::Kind::prefix) ends_.push_back(sent.messages);
    last_ms_ = at_ms;
    model_ = turn.record->model;
  }
  ReplayTotals& totals() { return totals_; }
  std::optional<std::int64_t> idle_ms(std::int64_t at_ms) const {
    return model_.empty() ? std::nullopt
                          : std::optional(std::max<std::int64_t>(at_ms - last_ms_, 0));
  }

 private:
  static bool marks(const Turn& turn) { return !turn.record->volatile_parts.empty(); }

  std::uint64_t read_tokens(const Turn& turn, const Sent& sent, const CacheRules& rules) const {
    if (rules.kind == CacheRules::Kind::none || (ends_.empty() && !is_warm(turn))) return 0;
    if (rules.kind == CacheRules::Kind::prefix) {
      const std::uint64_t tokens = turn.measure.as_sent(sent.tokens_of_first(sent.common));
      const std::uint64_t step = std::max<std::uint64_t>(rules.step, 1);
      return tokens / step * step;
    }
    // The marker at the end of the request looks back a number of blocks; the one behind the tools
    // finds these.
    for (auto end = ends_.rbegin(); end != ends_.rend(); ++end)
      if (rules.lookback == 0 || sent.messages - *end < rules.lookback)
        return turn.measure.as_sent(sent.tokens_of_first(*end));
    return turn.measure.as_sent(0);
  }
  // What stands before the messages is read also where all of them changed.
  bool is_warm(const Turn& turn) const {
    return !model_.empty() && model_ == turn.record->model &&
           turn.record->at_ms - last_ms_ <= lifetime_ms_;
  }

  ReplayTotals totals_;
  // of earlier requests that are beginnings of the last one, in messages; rising
  std::vector<std::uint64_t> ends_;
  std::int64_t last_ms_ = 0, lifetime_ms_ = 0;
  std::string model_;
};

// The turns as they were sent.
ReplayTotals metered_as_sent(const std::vector<Turn>& turns) {
  Meter meter;
  EntryTree last;
  for (const Turn& turn : turns) {
    const EntryTree& now = turn.view.rep().placed.entries;
    turn.view.rep().log.go_on();
    meter.take(turn, {now.size(), last.common_prefix(now),
                      [&](std::uint64_t n) { return turn.view.sums(0, n).tokens(); }});
    last = now;
  }
  return meter.totals();
}

// The client's list at each turn, as the changes from the one before.
class ClientLists {
 public:
  explicit ClientLists(const History& history) : history_(history), log_(history.log()) {}

  // Lets `replay` follow the list at this version.
  void follow(PolicyReplay& replay, Version version) {
    const ClientTree now = client_tree_at(history_, version);
    if (now.empty()) return follow_view(replay, version);
    const std::uint64_t common = last_.common_prefix(now);
    const std::vector<std::uint64_t> gone = ordinals_of(last_, common),
                                     come = ordinals_of(now, common);
    last_ = now;
    change(replay, gone, come, [&] { return ordinals_of(now, 0); });
  }

 private:
  // No client is followed: the view is the list.
  void follow_view(PolicyReplay& replay, Version version) {
    const EntryTree now = history_.rep().state_at(version.value).view;
    const std::uint64_t common = last_view_.common_prefix(now);
    const auto from = [](const EntryTree& tree, std::uint64_t first) {
      std::vector<std::uint64_t> ordinals;
      for (std::uint64_t i = first; i < tree.size(); ++i) ordinals.push_back(tree[i].ordinal);
      return ordinals;
    };
    const std::vector<std::uint64_t> gone = from(last_view_, common), come = from(now, common);
    last_view_ = now;
    change(replay, gone, come, [&] { return from(now, 0); });
  }

  // Behind what both lists begin with, `gone` became `come`.
  template <class Whole>
  void change(PolicyReplay& replay, const std::vector<std::uint64_t>& gone,
              const std::vector<std::uint64_t>& come, Whole whole) {
    // What stays of `gone` is the beginning of `come`, where the client only dropped and added
    // messages.
    std::vector<std::uint64_t> dropped;
    std::size_t kept = 0;
    for (const std::uint64_t ordinal : gone) {
      if (kept < come.size() && come[kept] == ordinal) {
        ++kept;
      } else {
        dropped.push_back(numbers_.at(ordinal));
      }
    }
    const bool only_adds =
        std::none_of(come.begin() + static_cast<std::ptrdiff_t>(kept), come.end(),
                     [&](std::uint64_t ordinal) { return numbers_.contains(ordinal); });
    if (only_adds && dropped.size() * 2 <= numbers_.size()) {
      replay.drop(dropped);
      return append(replay, std::span(come).subspan(kept));
    }
    // The client wrote another list, as after a compaction of its own: edits of the former one are
    // of no use any more.
    replay.start_over();
    numbers_.clear();
    const std::vector<std::uint64_t> all = whole();
    append(replay, all);
  }

  void append(PolicyReplay& replay, std::span<const std::uint64_t> ordinals) {
    std::vector<Message> messages;
    std::vector<std::uint32_t> tokens;
    for (const std::uint64_t ordinal : ordinals) {
      numbers_.emplace(ordinal, numbers_.size());
      messages.push_back(log_[ordinal]);
      tokens.push_back(log_.tokens(ordinal));
    }
    replay.append(messages, tokens);
  }

  const History& history_;
  const View log_;
  ClientTree last_;
  EntryTree last_view_;
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;  // ordinal -> when it was appended
};

// The turns under a policy.
ReplayTotals replayed(const std::vector<Turn>& turns, const History& history,
                      const GatewayPolicies& policies, const WhatIfOptions& options,
                      const PolicyReplay::Count& count) {
  Meter meter;
  ClientLists lists(history);
  PolicyReplay replay(GatewayPolicy(), count, PolicyReplay::Summaries::sized);
  std::string_view model;
  for (const Turn& turn : turns) {
    const RequestRecord& record = *turn.record;
    history.rep().log.go_on();
    if (const std::string_view now = options.model.empty() ? record.model : options.model;
        now != model || &turn == &turns.front()) {
      replay.follow(policies.of(
          {.tenant = options.tenant, .model = now, .conversation = options.conversation}));
      model = now;
    }
    lists.follow(replay, record.version);
    if (record.kind == ClientRequestKind::turn)
      replay.edit({.measure = turn.measure,
                   .window = turn.tariff->window,
                   .reserve = options.reserve_tokens,
                   .idle_ms = meter.idle_ms(record.at_ms),
                   .cache_lifetime_ms = cache_lifetime_ms(record)});
    const View view = replay.history().view();
    meter.take(turn, {view.size(), replay.send(),
                      [&](std::uint64_t n) { return view.sums(0, n).tokens(); }});
  }
  meter.totals().compactions = replay.edits();
  return meter.totals();
}

std::uint64_t answer_tokens(const RequestRecord& record, const History& history) {
  if (record.usage.completion > 0) return record.usage.completion;
  if (record.answer_version <= record.version || record.answer_version > history.version())
    return 0;
  const Result<Diff> diff = history.diff(record.version, record.answer_version);
  std::uint64_t tokens = 0;
  const View log = history.log();
  if (diff)
    for (const std::uint64_t ordinal : diff->added) tokens += log.tokens(ordinal);
  return tokens;
}

// What the upstream's figures come to; 0: it reported none, or there is no price.
double reported_dollars(const Turn& turn) {
  const RequestUsage& usage = turn.record->usage;
  const std::uint64_t read = std::min(usage.cached, usage.prompt),
                      written = std::min(usage.cache_written, usage.prompt - read);
  const std::uint64_t hour = std::min(usage.cache_written_hour, written);
  return turn.tariff
      ->dollars({.plain = usage.prompt - read - written,
                 .read = read,
                 .written = written - hour,
                 .written_hour = hour,
                 .output = usage.completion})
      .value_or(0);
}

class Turns {
 public:
  Turns(const std::vector<RequestRecord>& records, const History& history,
        const WhatIfOptions& options) {
    for (const RequestRecord& record : records) learn(record);
    for (const RequestRecord& record : records) {
      if (!is_replayed(record, history)) continue;
      history.rep().log.go_on();
      View view = history.view_at(record.version).value();
      const std::uint64_t view_tokens = view.sums().tokens(),
                          counted = record.usage.estimated_prompt;
      Turn turn{.record = &record,
                .view = std::move(view),
                .tariff = &tariffs_.of(options.model.empty() ? record.model : options.model,
                                       record.dialect)};
      turn.measure = {.overhead_tokens = counted > view_tokens ? counted - view_tokens : 0,
                      .factor = usage_.correction(record.model).factor};
      turn.output = answer_tokens(record, history);
      all.push_back(std::move(turn));
    }
  }
  std::vector<Turn> all;

 private:
  void learn(const RequestRecord& record) {
    if (record.usage.prompt == 0 || record.usage.estimated_prompt == 0) return;
    static_cast<void>(usage_.record({.request_id = std::to_string(record.number),
                                     .model = record.model,
                                     .prompt = record.usage.prompt,
                                     .estimated_prompt = record.usage.estimated_prompt}));
  }
  Tariffs tariffs_;
  UsageTracker usage_{UsageLimits{.history = 1}};
};

}  // namespace

Result<WhatIf> what_if(const std::vector<RequestRecord>& records, const History& history,
                       std::string_view policy, const WhatIfOptions& options) {
  const Result<GatewayPolicies> policies = GatewayPolicies::read(policy);
  if (!policies) return policies.error();
  return answering_failure([&]() -> Result<WhatIf> {
    const Turns turns(records, history, options);
    const PolicyReplay::Count count = counting_by("estimate").value().counter();
    WhatIf found{.turns = turns.all.size()};
    for (const Turn& turn : turns.all)
      if (!turn.tariff->input) ++found.unpriced;
    const ReplayTotals as_sent = metered_as_sent(turns.all);
    const bool was_edited = std::any_of(turns.all.begin(), turns.all.end(), [&](const Turn& turn) {
      return !is_unedited(turn, history);
    });
    found.observe =
        was_edited ? replayed(turns.all, history, GatewayPolicies(), options, count) : as_sent;
    found.policy = replayed(turns.all, history, *policies, options, count);
    for (const Turn& turn : turns.all) found.reported_dollars += reported_dollars(turn);
    if (found.reported_dollars > 0)
      found.error = std::abs(as_sent.dollars - found.reported_dollars) / found.reported_dollars;
    return found;
  });
}

}  // namespace undertext
