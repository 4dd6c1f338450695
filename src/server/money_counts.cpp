#include "server/money_counts.hpp"

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include <undertext/models.hpp>

#include "server/metrics.hpp"

namespace undertext {
namespace {

std::string row_of(const std::string& model) {
  const Model known = find_model(model);
  return known.is_known() ? known.row : "other";
}

std::string label_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void begin(std::string& out, std::string_view name, std::string_view what) {
  out.append("# HELP undertext_").append(name).append(" ").append(what);
  out.append("\n# TYPE undertext_").append(name).append(" counter\n");
}

}  // namespace

void MoneyCounts::recorded(const std::string& tenant, const Conversation& conversation) {
  constexpr std::uint64_t looked_back = 4;  // requests of other kinds may lie between
  const std::vector<RequestRecord> records = conversation.requests({.last = looked_back}).value();
  const Ledger ledger = make_ledger(records, conversation.history());
  if (records.empty() || ledger.turns.empty() ||
      ledger.turns.back().number != records.back().number)
    return;
  const LedgerTurn& turn = ledger.turns.back();
  const bool is_finding = !ledger.findings.empty() && ledger.findings.back().number == turn.number;
  const std::lock_guard lock(mutex_);
  std::pair<std::string, std::string> key(tenant, row_of(turn.model));
  if (counts_.size() >= counts_max && !counts_.contains(key)) key = {"other", "other"};
  Count& count = counts_[key];
  count.totals.add(turn);
  if (is_finding) ++count.findings;
}

std::string MoneyCounts::text() const {
  const std::lock_guard lock(mutex_);
  if (counts_.empty()) return {};
  std::string tokens, dollars, missed, findings;
  for (const auto& [key, count] : counts_) {
    const std::string labels =
        R"({tenant=")" + label_text(key.first) + R"(",model=")" + label_text(key.second) + "\"";
    const LedgerTotals& totals = count.totals;
    const std::array<std::pair<std::string_view, std::uint64_t>, 5> kinds = {
        {{"plain", totals.sent - totals.read - totals.written},
         {"read", totals.read},
         {"written", totals.written},
         {"missed", totals.missed},
         {"output", totals.output}}};
    for (const auto& [kind, number] : kinds)
      tokens.append("undertext_ledger_tokens_total")
          .append(labels)
          .append(R"(,kind=")")
          .append(kind)
          .append("\"} ") += std::to_string(number) + "\n";
    dollars +=
        "undertext_ledger_dollars_total" + labels + "} " + metric_number(totals.dollars) + "\n";
    missed += "undertext_ledger_missed_dollars_total" + labels + "} " +
              metric_number(totals.dollars_missed) + "\n";
    findings +=
        "undertext_ledger_findings_total" + labels + "} " + std::to_string(count.findings) + "\n";
  }
  std::string out;
  begin(out, "ledger_tokens_total",
        "Tokens of recorded requests, by how they were billed; missed ones are among plain and "
        "written.");
  out += tokens;
  begin(out, "ledger_dollars_total",
        "What recorded requests cost, in US dollars, by the table of models.");
  out += dollars;
  begin(out, "ledger_missed_dollars_total",
        "What reading missed tokens from the cache would have saved.");
  out += missed;
  begin(out, "ledger_findings_total", "Caches missed that should have been hit.");
  return out + findings;
}

}  // namespace undertext
