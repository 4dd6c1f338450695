// ledger, what-if: what requests cost, and what they would have cost.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <undertext/ledger.hpp>
#include <undertext/store_ledger.hpp>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/terminal.hpp"
#include "json/answer_json.hpp"
#include "json/ledger_json.hpp"

namespace undertext {
namespace {

struct LedgerOptions : Common {
  std::optional<std::string> subject, from, to;
  bool turns = false;
};

std::string dollars(double amount) {
  char digits[48];
  std::snprintf(digits, sizeof digits, "$%.4f", amount);
  return digits;
}

// A day, YYYY-MM-DD, as its first millisecond in UTC.
std::int64_t day_of(const std::string& text, std::string_view option) {
  int year = 0, month = 0, day = 0, end = 0;
  const int read = std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end);
  const bool is_day = read == 3 && text.size() == 10 && end == 10 && month >= 1 && month <= 12 &&
                      day >= 1 && day <= 31;
  if (!is_day)
    fail(ErrorCode::invalid_argument, std::string(option) + " takes a day such as 2026-11-18");
  const std::int64_t y = year - (month <= 2 ? 1 : 0), era = (y >= 0 ? y : y - 399) / 400,
                     of_era = y - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t days =
      era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
  return days * 86'400'000;
}

LedgerQuery query_of(const LedgerOptions& given) {
  LedgerQuery query;
  if (given.from) query.from_ms = day_of(*given.from, "--from");
  if (given.to) query.to_ms = day_of(*given.to, "--to");
  return query;
}

void print_heads(Desk& desk, std::string_view first, std::string_view second) {
  Line line;
  line.add(first, quiet).pad_to(12).add(second, quiet);
  std::size_t end = 34;
  for (const std::string_view head :
       {"TURNS", "SENT", "READ", "WRITTEN", "MISSED", "OUTPUT", "DOLLARS"})
    line.add_right(head, end += 12, quiet);
  desk.screen().print(line);
}

void print_totals(Desk& desk, std::string_view first, std::string_view second,
                  const LedgerTotals& totals) {
  Line line;
  line.add(first).pad_to(12).add(printable(second));
  std::size_t end = 34;
  for (const std::uint64_t count :
       {totals.turns, totals.sent, totals.read, totals.written, totals.missed, totals.output})
    line.add_right(std::to_string(count), end += 12);
  line.add_right(
      totals.unpriced == totals.turns && totals.turns > 0 ? "no price" : dollars(totals.dollars),
      end += 12);
  desk.screen().print(line);
}

LedgerTotals print_rows(Desk& desk, const std::vector<LedgerRow>& rows) {
  LedgerTotals all;
  if (!rows.empty()) print_heads(desk, "DAY", "MODEL");
  for (const LedgerRow& row : rows) {
    print_totals(desk, row.day, row.model, row.totals);
    all.add(row.totals);
  }
  if (rows.size() > 1) print_totals(desk, "all", "", all);
  return all;
}

void print_notes(Desk& desk, const LedgerTotals& totals) {
  if (totals.turns == 0) desk.say("no requests are recorded");
  if (totals.dollars_expected > 0)
    desk.say(dollars(totals.dollars_expected) + " of this is expected, by " +
             std::to_string(totals.turns - totals.reported) +
             " turns of which the upstream reported nothing: off by up to " +
             dollars(totals.dollars_error));
  if (totals.unpriced > 0)
    desk.say(std::to_string(totals.unpriced) +
             " turns have no price: docs/models.md says how to give their model one");
  if (totals.dollars_missed > 0) desk.say("missed cache: " + dollars(totals.dollars_missed));
}

void print_turn(Desk& desk, const LedgerTurn& turn) {
  Line line;
  line.add_right(std::to_string(turn.number), 6, {.bold = true}).pad_to(8);
  line.add(spelled_time(turn.at_ms), quiet);
  std::size_t end = 34;
  for (const std::uint64_t count : {turn.sent, turn.read, turn.written, turn.missed, turn.output})
    line.add_right(std::to_string(count), end += 10);
  line.add_right(turn.dollars ? dollars(*turn.dollars) : "–", end += 12).add("  ");
  if (turn.cause != MissCause::none) line.add(name(turn.cause)).add(" ");
  if (!turn.is_reported) line.add("(expected, ± " + percent(turn.expected_error) + ")", quiet);
  desk.screen().print(line);
}

void print_finding(Desk& desk, const LedgerFinding& finding) {
  Line line;
  line.add("request " + std::to_string(finding.number), {.bold = true});
  line.add(" missed " + std::to_string(finding.missed) + " tokens (" + dollars(finding.dollars) +
           ") that request " + std::to_string(finding.against) + " had left: ");
  if (finding.cause == MissCause::upstream) {
    line.add("its prefix is the same, and the upstream did not serve it");
  } else if (finding.at.kind == CacheBreak::Kind::broken) {
    line.add(printable(finding.at.path) + " differs from byte " +
             std::to_string(finding.at.byte_in_value) + " on");
  } else {
    line.add("its prefix changed");
  }
  desk.screen().print(line);
}

int run_ledger(Desk& desk, const LedgerOptions& given) {
  add_models_of(given.models);
  const LedgerQuery query = query_of(given);
  if (!given.subject && !given.conversation) {
    const std::vector<LedgerRow> rows = store_ledger(desk.store(given), query).value();
    if (given.json) {
      std::string out;
      append_result(out, rows);
      desk.put_json(std::move(out));
      return 0;
    }
    print_notes(desk, print_rows(desk, rows));
    return 0;
  }
  Common common = given;
  if (given.subject) common.conversation = given.subject;
  const Ledger ledger = desk.conversation(common).ledger(query).value();
  if (given.json) {
    std::string out;
    append_result(out, LedgerAnswer{ledger, given.turns});
    desk.put_json(std::move(out));
    return 0;
  }
  if (given.turns)
    for (const LedgerTurn& turn : ledger.turns) print_turn(desk, turn);
  print_rows(desk, ledger.days);
  print_notes(desk, ledger.totals);
  for (const LedgerFinding& finding : ledger.findings) print_finding(desk, finding);
  return 0;
}

Run declare_ledger(Arguments& arguments) {
  auto given = std::make_shared<LedgerOptions>();
  declare_conversation(arguments, *given);
  arguments.add(
      {"CONVERSATION", &given->subject, "Which conversation (default: all of the store)"});
  arguments.add({"--from", &given->from, "Only requests of this day, in UTC, and later", "DAY"});
  arguments.add({"--to", &given->to, "Only requests before this day", "DAY"});
  arguments.add({"--turns", &given->turns, "Of a conversation: every request too"});
  return [given](Desk& desk) { return run_ledger(desk, *given); };
}

struct WhatIfOptionsGiven : Common {
  Words words{.name = "POLICY"};
  std::optional<std::string> model;
};

void print_replay(Desk& desk, std::string_view name, const ReplayTotals& totals) {
  Line line;
  line.add(printable(name));
  line.add_right(dollars(totals.dollars), 40);
  for (std::size_t end = 40;
       const std::uint64_t count : {totals.peak, totals.compactions, totals.client_compactions,
                                    totals.sent, totals.read, totals.written})
    line.add_right(std::to_string(count), end += 13);
  desk.screen().print(line);
}

Run declare_what_if(Arguments& arguments) {
  auto given = std::make_shared<WhatIfOptionsGiven>();
  declare_words(arguments, *given, given->words,
                "A policy: observe, fit, tidy, compact, or its JSON (docs/gateway.md)");
  arguments.add({"--model", &given->model,
                 "Whose prices and window count (default: those of each request's own)", "NAME"});
  return [given](Desk& desk) {
    add_models_of(given->models);
    const std::string policy = given->words.taken(*given).front();
    const Result<WhatIf> replayed = desk.conversation(*given).what_if(
        policy, {.model = given->model.value_or(""), .tenant = given->tenant.value_or("")});
    if (!replayed && replayed.error().code == ErrorCode::invalid_argument)
      throw Failure(about_option("POLICY", replayed.error()));
    const WhatIf& found = replayed.value();
    if (given->json) {
      std::string out;
      append_result(out, found);
      desk.put_json(std::move(out));
      return 0;
    }
    Line heads;
    heads.add("POLICY", quiet).add_right("DOLLARS", 40, quiet);
    for (std::size_t end = 40;
         const std::string_view head : {"PEAK", "EDITS", "CLIENT'S", "SENT", "READ", "WRITTEN"})
      heads.add_right(head, end += 13, quiet);
    desk.screen().print(heads);
    print_replay(desk, "observe", found.observe);
    print_replay(desk, policy, found.policy);
    desk.say(std::to_string(found.turns) + " turns; the upstream reported " +
             dollars(found.reported_dollars) +
             ", from which the replay of what was sent is off by " + percent(found.error));
    if (found.unpriced > 0) desk.say(std::to_string(found.unpriced) + " of them have no price");
    return 0;
  };
}

}  // namespace

std::vector<Command> ledger_commands() {
  return {
      {"ledger", "Show what recorded requests cost, by day and model, and where a cache was missed",
       "Figures are the upstream's where it reported any; others are expected ones, with their "
       "error. Prices: undertext models.\n\n"
       "Examples:\n"
       "  undertext ledger\n"
       "  undertext ledger claude_code-6f1e --turns\n"
       "  undertext ledger --tenant acme --from 2026-11-01 --json",
       declare_ledger},
      {"what-if", "Show what recorded requests would have cost under another policy of the gateway",
       "The recorded turns are replayed with the recorded answers; no model is called. Figures are "
       "expected ones.\n\n"
       "Examples:\n"
       "  undertext what-if claude_code-6f1e compact\n"
       "  undertext what-if claude_code-6f1e '{\"mode\":\"compact\",\"when\":\"cold\"}'",
       declare_what_if},
  };
}

}  // namespace undertext
