#include <undertext/ledger.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <undertext/usage.hpp>

#include "history/state.hpp"
#include "money/prices.hpp"

namespace undertext {
namespace {

constexpr std::int64_t day_ms = 86'400'000;

// YYYY-MM-DD of a day since 1970, by the proleptic Gregorian calendar.
std::string spelled_day(std::int64_t at_ms) {
  const std::int64_t days = at_ms >= 0 ? at_ms / day_ms : (at_ms - day_ms + 1) / day_ms;
  const std::int64_t shifted = days + 719'468;  // since the first of March of the year 0
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const std::int64_t of_era = shifted - era * 146'097;
  const std::int64_t year_of_era =
      (of_era - of_era / 1'460 + of_era / 36'524 - of_era / 146'096) / 365;
  const std::int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * of_year + 2) / 153;
  const std::int64_t day = of_year - (153 * month_from_march + 2) / 5 + 1;
  const std::int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  const auto padded = [](std::int64_t number, std::size_t width) {
    std::string digits = std::to_string(number);
    return std::string(width - std::min(width, digits.size()), '0') + digits;
  };
  return padded(year, 4) + '-' + padded(month, 2) + '-' + padded(day, 2);
}

std::uint64_t rounded(double number) {
  return number <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(number));
}

bool has_version(const History& history, Version version) {
  return version >= history.first_version() && version <= history.version();
}

// How the view that a request saw goes on from that of an earlier one.
struct Continuation {
  std::uint64_t stable_tokens = 0;  // of what both begin with
  std::uint64_t tokens_before = 0;
  bool keeps_all = true;    // the earlier one is the beginning
  bool keeps_later = true;  // what stood behind the first difference is there still
  bool is_edited = false;   // an operation, or a compaction of the client's, lies between
};

bool is_edit(const History& history, Version version) {
  if (history.receipt(version)) return true;
  const std::string operation = history.version_info(version).operation;
  return operation != "APPEND" && operation != "RECONCILE" && operation != "MARK" &&
         operation != "UNMARK";
}

Continuation continuation(const History& history, Version from, Version to) {
  const PlacedView before = history.rep().state_at(from.value).placed(),
                   after = history.rep().state_at(to.value).placed();
  const std::uint64_t prefix = before.entries.common_prefix(after.entries);
  const View view = history.view_at(from).value();
  Continuation found{.stable_tokens = view.sums(0, prefix).tokens(),
                     .tokens_before = view.sums().tokens()};
  if (prefix == before.size()) return found;
  found.keeps_all = found.keeps_later = false;
  const Log& log = history.rep().log;
  for (std::uint64_t i = prefix; i < before.size() && !found.keeps_later; ++i) {
    log.go_on();
    found.keeps_later = after.shows(static_cast<std::uint32_t>(view.ordinal(i).value));
  }
  for (std::uint64_t v = from.value + 1; v <= to.value && !found.is_edited; ++v) {
    log.go_on();
    found.is_edited = is_edit(history, Version(v));
  }
  return found;
}

// What the last request of a model left behind.
struct Left {
  const RequestRecord* record = nullptr;
  std::uint64_t cached = 0;  // tokens in the provider's cache
  std::int64_t lifetime_ms = 0;
};

class LedgerMaker {
 public:
  LedgerMaker(const History& history, const LedgerQuery& query)
      : history_(history), query_(query) {}

  void take(const RequestRecord& record) {
    history_.rep().log.go_on();
    if (!is_billed(record)) return;
    const Tariff& tariff = tariffs_.of(record.model, record.dialect);
    LedgerTurn turn{.number = record.number,
                    .version = record.version,
                    .at_ms = record.at_ms,
                    .model = record.model};
    turn.kind = record.kind;
    turn.is_reported = record.usage.prompt > 0 || record.usage.completion > 0;
    expect(record, turn);
    Left& left = left_[{record.model, record.dialect}];
    const std::uint64_t against = left.record == nullptr ? 0 : left.record->number;
    const Expected cache = expected_of(record, turn, tariff, left);
    turn.expected_read =
        std::min(cache.read, turn.expected_sent > 0 ? turn.expected_sent : cache.read);
    if (turn.is_reported) {
      report(record, turn);
    } else {
      estimate(record, turn, tariff);
    }
    judge(turn, tariff, cache);
    left = {&record, cached_after(turn, tariff), cache_lifetime_ms(record)};
    learn(record);
    if (turn.at_ms < query_.from_ms || (query_.to_ms && turn.at_ms >= *query_.to_ms)) return;
    if (turn.cause == MissCause::changed || turn.cause == MissCause::upstream)
      ledger_.findings.push_back(
          {turn.number, against, turn.missed, turn.dollars_missed, turn.cause});
    ledger_.totals.add(turn);
    row_of(turn).totals.add(turn);
    ledger_.turns.push_back(std::move(turn));
  }

  Ledger done() && {
    for (auto& [key, row] : rows_) ledger_.days.push_back(std::move(row));
    return std::move(ledger_);
  }

 private:
  struct Expected {
    // what the request before left, as far as this one goes on with it or should
    std::uint64_t cached = 0;
    std::uint64_t read = 0;             // what the cache serves
    MissCause cause = MissCause::none;  // of what it does not serve
  };

  void expect(const RequestRecord& record, LedgerTurn& turn) const {
    const UsageCorrection correction = usage_.correction(record.model);
    std::uint64_t counted = record.usage.estimated_prompt;
    if (counted == 0 && has_version(history_, record.version))
      counted = history_.view_at(record.version).value().sums().tokens();
    turn.expected_sent = rounded(correction.factor * static_cast<double>(counted));
    turn.expected_error =
        correction.factor > 0 ? correction.factor_high / correction.factor - 1 : 0;
  }

  Expected expected_of(const RequestRecord& record, const LedgerTurn& turn, const Tariff& tariff,
                       const Left& left) const {
    Expected expected;
    if (left.record == nullptr || left.cached < std::max<std::uint64_t>(tariff.rules.tokens_min, 1))
      return expected;
    expected.cached = left.cached;
    expected.read = left.cached;
    if (has_version(history_, left.record->version) && has_version(history_, record.version)) {
      const Continuation next = continuation(history_, left.record->version, record.version);
      const double kept = next.tokens_before == 0 ? 1.0
                                                  : static_cast<double>(next.stable_tokens) /
                                                        static_cast<double>(next.tokens_before);
      if (!next.keeps_all) {
        expected.read = rounded(kept * static_cast<double>(left.cached));
        expected.cause = next.is_edited ? MissCause::edited : MissCause::changed;
        // The client went back to an earlier message: what followed it is of no use to anybody.
        if (!next.is_edited && !next.keeps_later) {
          expected.cached = expected.read;
          expected.cause = MissCause::upstream;
        }
      } else {
        expected.cause = MissCause::upstream;
      }
    }
    const bool is_alike = left.record->tools_digest == record.tools_digest;
    if (!is_alike && expected.cause != MissCause::edited) expected.cause = MissCause::changed;
    if (!is_alike) expected.read = 0;
    if (turn.at_ms - left.record->at_ms > left.lifetime_ms) {
      expected.read = 0;
      expected.cause = MissCause::expired;
    }
    return expected;
  }

  static void report(const RequestRecord& record, LedgerTurn& turn) {
    turn.sent = record.usage.prompt;
    turn.read = std::min(record.usage.cached, turn.sent);
    turn.written = std::min(record.usage.cache_written, turn.sent - turn.read);
    turn.written_hour = std::min(record.usage.cache_written_hour, turn.written);
    turn.output = record.usage.completion;
  }

  void estimate(const RequestRecord& record, LedgerTurn& turn, const Tariff& tariff) const {
    turn.sent = turn.expected_sent;
    turn.read = std::min(turn.expected_read, turn.sent);
    const bool writes =
        tariff.rules.kind == CacheRules::Kind::breakpoints && !record.volatile_parts.empty();
    if (writes) turn.written = turn.sent - turn.read;
    if (!has_version(history_, record.answer_version) || !has_version(history_, record.version))
      return;
    if (record.answer_version <= record.version) return;
    const Result<Diff> diff = history_.diff(record.version, record.answer_version);
    if (!diff) return;
    const View log = history_.log();
    for (const std::uint64_t ordinal : diff->added) turn.output += log.tokens(ordinal);
  }

  // What was missed, and what the request cost.
  void judge(LedgerTurn& turn, const Tariff& tariff, const Expected& cache) {
    const std::uint64_t step = std::max<std::uint64_t>(tariff.rules.step, 1);
    const std::uint64_t most = std::min(cache.cached, turn.sent);
    // Less than a step is no miss, nor are the last hundredth: what is counted before and behind it
    // differs by a little.
    if (most > turn.read && most - turn.read >= step && most - turn.read > most / 100) {
      turn.missed = most - turn.read;
      turn.cause = cache.cause == MissCause::none ? MissCause::upstream : cache.cause;
      turn.dollars_missed = tariff.dollars_missed(turn.missed);
    }
    turn.dollars = tariff.dollars({.plain = turn.sent - turn.read - turn.written,
                                   .read = turn.read,
                                   .written = turn.written - turn.written_hour,
                                   .written_hour = turn.written_hour,
                                   .output = turn.output});
  }

  static std::uint64_t cached_after(const LedgerTurn& turn, const Tariff& tariff) {
    switch (tariff.rules.kind) {
      case CacheRules::Kind::none: return 0;
      case CacheRules::Kind::breakpoints: return turn.read + turn.written;
      case CacheRules::Kind::prefix: break;
    }
    const std::uint64_t step = std::max<std::uint64_t>(tariff.rules.step, 1);
    return turn.sent / step * step;
  }

  void learn(const RequestRecord& record) {
    if (record.usage.prompt == 0 || record.usage.estimated_prompt == 0) return;
    static_cast<void>(usage_.record({.request_id = std::to_string(record.number),
                                     .model = record.model,
                                     .prompt = record.usage.prompt,
                                     .estimated_prompt = record.usage.estimated_prompt}));
  }

  LedgerRow& row_of(const LedgerTurn& turn) {
    std::string day = spelled_day(turn.at_ms);
    LedgerRow& row = rows_[{day, turn.model}];
    row.day = std::move(day);
    row.model = turn.model;
    return row;
  }

  const History& history_;
  const LedgerQuery& query_;
  Tariffs tariffs_;
  UsageTracker usage_{UsageLimits{.history = 1}};
  std::map<std::pair<std::string, std::string>, Left> left_;  // by model and dialect
  std::map<std::pair<std::string, std::string>, LedgerRow> rows_;
  Ledger ledger_;
};

}  // namespace

std::string_view name(MissCause cause) {
  constexpr std::array<std::string_view, 5> names = {"none", "expired", "edited", "changed",
                                                     "upstream"};
  return names[static_cast<std::size_t>(cause)];
}

void LedgerTotals::add(const LedgerTurn& turn) {
  LedgerTotals one{
      .turns = 1, .reported = turn.is_reported ? 1u : 0u, .unpriced = turn.dollars ? 0u : 1u};
  one.sent = one.sent_max = turn.sent;
  one.read = turn.read;
  one.written = turn.written;
  one.written_hour = turn.written_hour;
  one.missed = turn.missed;
  one.output = turn.output;
  one.dollars = turn.dollars.value_or(0);
  one.dollars_missed = turn.dollars_missed;
  if (!turn.is_reported) {
    one.dollars_expected = one.dollars;
    one.dollars_error = one.dollars * turn.expected_error;
  }
  add(one);
}

void LedgerTotals::add(const LedgerTotals& more) {
  turns += more.turns;
  reported += more.reported;
  unpriced += more.unpriced;
  sent += more.sent;
  read += more.read;
  written += more.written;
  written_hour += more.written_hour;
  missed += more.missed;
  output += more.output;
  sent_max = std::max(sent_max, more.sent_max);
  dollars += more.dollars;
  dollars_expected += more.dollars_expected;
  dollars_error += more.dollars_error;
  dollars_missed += more.dollars_missed;
}

Ledger make_ledger(const std::vector<RequestRecord>& records, const History& history,
                   const LedgerQuery& query) {
  LedgerMaker maker(history, query);
  for (const RequestRecord& record : records) maker.take(record);
  return std::move(maker).done();
}

void add_rows(std::vector<LedgerRow>& rows, const std::vector<LedgerRow>& more) {
  const auto before = [](const LedgerRow& a, const LedgerRow& b) {
    return std::tie(a.day, a.model) < std::tie(b.day, b.model);
  };
  for (const LedgerRow& row : more) {
    const auto at = std::lower_bound(rows.begin(), rows.end(), row, before);
    if (at != rows.end() && at->day == row.day && at->model == row.model) {
      at->totals.add(row.totals);
    } else {
      rows.insert(at, row);
    }
  }
}

}  // namespace undertext
