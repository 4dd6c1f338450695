#include "json/ledger_json.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/json_text.hpp"

namespace undertext {
namespace {

// Writes members of an object, separated.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ~ObjectWriter() { out_ += '}'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  std::string& key(std::string_view name) {
    out_ += std::exchange(separator_, ",");
    ((out_ += '"').append(name)) += "\":";
    return out_;
  }
  void text(std::string_view name, std::string_view value) { append_json_string(key(name), value); }
  template <class Integer>
  void count(std::string_view name, Integer value) {
    key(name) += std::to_string(value);
  }
  void number(std::string_view name, double value) { append_json_number(key(name), value); }
  void flag(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }

 private:
  std::string& out_;
  const char* separator_ = "";
};

template <class List, class Append>
void append_list(std::string& out, const List& list, Append append) {
  out += '[';
  const char* separator = "";
  for (const auto& element : list) append(out += std::exchange(separator, ","), element);
  out += ']';
}

void append_turn(std::string& out, const LedgerTurn& turn) {
  ObjectWriter object(out);
  object.count("number", turn.number);
  object.count("version", turn.version.value);
  object.count("timestamp", turn.at_ms);
  object.text("model", turn.model);
  object.text("kind", name(turn.kind));
  object.flag("reported", turn.is_reported);
  object.count("sent", turn.sent);
  object.count("read", turn.read);
  object.count("written", turn.written);
  if (turn.written_hour > 0) object.count("writtenHour", turn.written_hour);
  object.count("missed", turn.missed);
  object.count("output", turn.output);
  if (turn.cause != MissCause::none) object.text("cause", name(turn.cause));
  object.count("expectedSent", turn.expected_sent);
  object.count("expectedRead", turn.expected_read);
  object.number("expectedError", turn.expected_error);
  if (turn.dollars) object.number("dollars", *turn.dollars);
  if (turn.missed > 0) object.number("dollarsMissed", turn.dollars_missed);
}

void append_break(std::string& out, const CacheBreak& at) {
  ObjectWriter object(out);
  object.text("kind", name(at.kind));
  if (at.kind == CacheBreak::Kind::unknown) return;
  if (at.kind != CacheBreak::Kind::reference) {
    object.count("equalBytes", at.equal_bytes);
    object.count("bytes", at.bytes);
  }
  if (!at.path.empty()) object.text("path", at.path);
  if (at.kind != CacheBreak::Kind::broken) return;
  object.text("was", at.was);
  object.count("byteInValue", at.byte_in_value);
  object.text("same", at.same);
  object.text("before", at.before);
  object.text("after", at.after);
}

void append_finding(std::string& out, const LedgerFinding& finding) {
  ObjectWriter object(out);
  object.count("number", finding.number);
  object.count("against", finding.against);
  object.count("missed", finding.missed);
  object.number("dollars", finding.dollars);
  object.text("cause", name(finding.cause));
  if (finding.at.kind != CacheBreak::Kind::unknown) append_break(object.key("at"), finding.at);
}

void append_replay(std::string& out, const ReplayTotals& totals) {
  ObjectWriter object(out);
  object.count("sent", totals.sent);
  object.count("read", totals.read);
  object.count("written", totals.written);
  object.count("output", totals.output);
  object.number("dollars", totals.dollars);
  object.count("peak", totals.peak);
  object.count("compactions", totals.compactions);
  object.count("clientCompactions", totals.client_compactions);
  object.count("overWindow", totals.over_window);
}

}  // namespace

void append_json(std::string& out, const LedgerTotals& totals) {
  ObjectWriter object(out);
  object.count("turns", totals.turns);
  object.count("reported", totals.reported);
  object.count("unpriced", totals.unpriced);
  object.count("sent", totals.sent);
  object.count("read", totals.read);
  object.count("written", totals.written);
  object.count("writtenHour", totals.written_hour);
  object.count("missed", totals.missed);
  object.count("output", totals.output);
  object.count("peak", totals.sent_max);
  object.number("dollars", totals.dollars);
  object.number("dollarsExpected", totals.dollars_expected);
  object.number("dollarsError", totals.dollars_error);
  object.number("dollarsMissed", totals.dollars_missed);
}

void append_json(std::string& out, const std::vector<LedgerRow>& rows) {
  append_list(out, rows, [](std::string& to, const LedgerRow& row) {
    ObjectWriter object(to);
    object.text("day", row.day);
    object.text("model", row.model);
    append_json(object.key("totals"), row.totals);
  });
}

void append_json(std::string& out, const LedgerAnswer& answer) {
  ObjectWriter object(out);
  append_json(object.key("totals"), answer.ledger.totals);
  append_json(object.key("days"), answer.ledger.days);
  append_list(object.key("findings"), answer.ledger.findings, append_finding);
  if (answer.turns) append_list(object.key("turns"), answer.ledger.turns, append_turn);
}

void append_json(std::string& out, const WhatIf& found) {
  ObjectWriter object(out);
  object.count("turns", found.turns);
  object.count("unpriced", found.unpriced);
  append_replay(object.key("observe"), found.observe);
  append_replay(object.key("policy"), found.policy);
  object.number("reportedDollars", found.reported_dollars);
  object.number("error", found.error);
}

void append_json(std::string& out, const Conversation::Compared& compared) {
  ObjectWriter object(out);
  if (compared.against > 0) object.count("against", compared.against);
  append_break(object.key("at"), compared.at);
}

void describe_ledger(Shapes& shapes) {
  shapes.add({.name = "MissCause",
              .text = "Why tokens that an earlier request left in the cache were not read from it.",
              .type = R"("expired"|"edited"|"changed"|"upstream")"});
  shapes.add(answer_shape(
      "LedgerTotals", "What requests came to. Dollars are those of requests with a price.",
      {{"turns", "integer"},
       {"reported", "integer", "Turns with the upstream's figures; the others have expected ones."},
       {"unpriced", "integer", "Turns of models without a price."},
       {"sent", "integer", "Tokens of the whole input."},
       {"read", "integer", "Of it: read from the cache."},
       {"written", "integer", "Of it: written to the cache."},
       {"writtenHour", "integer", "Of these: to be kept for an hour."},
       {"missed", "integer", "Of it: left in the cache by an earlier request, and not read."},
       {"output", "integer"},
       {"peak", "integer", "Tokens of the largest request."},
       {"dollars", "number"},
       {"dollarsExpected", "number", "Of these: by expected figures."},
       {"dollarsError", "number", "By which the expected ones may be off."},
       {"dollarsMissed", "number", "What reading the missed tokens would have saved."}}));
  shapes.add(answer_shape(
      "LedgerRow", "The totals of a day, in UTC, and a model.",
      {{"day", "string", "YYYY-MM-DD."}, {"model", "string"}, {"totals", "LedgerTotals"}}));
  shapes.add(answer_shape(
      "CacheBreak", "Where two requests stop being equal, as the provider's cache sees them.",
      {{"kind", R"("unknown"|"reference"|"same"|"extended"|"shortened"|"broken")"},
       {"equalBytes?", "integer",
        "Of the prefix, in the provider's order, compact and without markers."},
       {"bytes?", "integer", "Of the whole request, written so."},
       {"path?", "string", "In the later request."},
       {"was?", "string", "What the earlier one had there."},
       {"byteInValue?", "integer", "The first byte of the value that differs."},
       {"same?", "string", "The end of what both have."},
       {"before?", "string"},
       {"after?", "string"}}));
  shapes.add(answer_shape(
      "ComparedRequest", "A request beside an earlier one.",
      {{"against?", "integer", "The earlier one; absent: there is none."}, {"at", "CacheBreak"}}));
  shapes.add(answer_shape(
      "LedgerFinding", "A miss that should have been a hit.",
      {{"number", "integer", "Of the request."},
       {"against", "integer", "The one that had left the prefix."},
       {"missed", "integer", "Tokens."},
       {"dollars", "number"},
       {"cause", "MissCause"},
       {"at?", "CacheBreak", "The first byte that differs, where both texts are kept."}}));
  shapes.add(answer_shape(
      "LedgerTurn", "What one request cost.",
      {{"number", "integer"},
       {"version", "integer"},
       {"timestamp", "signed"},
       {"model", "string"},
       {"kind", "ClientRequestKind"},
       {"reported", "boolean", "By the upstream; else these are expected figures."},
       {"sent", "integer"},
       {"read", "integer"},
       {"written", "integer"},
       {"writtenHour?", "integer"},
       {"missed", "integer"},
       {"output", "integer"},
       {"cause?", "MissCause"},
       {"expectedSent", "integer", "What was counted, corrected by what earlier reports taught."},
       {"expectedRead", "integer"},
       {"expectedError", "number", "The part of it by which 19 of 20 are off at most."},
       {"dollars?", "number", "Absent: no price is known."},
       {"dollarsMissed?", "number"}}));
  shapes.add(
      answer_shape("Ledger", "What the recorded requests of a conversation cost.",
                   {{"totals", "LedgerTotals"},
                    {"days", "LedgerRow[]", "By day and model, the oldest first."},
                    {"findings", "LedgerFinding[]", "The newest last."},
                    {"turns?", "LedgerTurn[]", "The oldest first; not with `\"turns\":false`."}}));
  shapes.add(answer_shape(
      "ReplayTotals", "What recorded turns come to under a policy, by expected figures.",
      {{"sent", "integer"},
       {"read", "integer"},
       {"written", "integer"},
       {"output", "integer"},
       {"dollars", "number"},
       {"peak", "integer", "Tokens of the largest request."},
       {"compactions", "integer", "Edits by the policy."},
       {"clientCompactions", "integer", "By the client, as recorded."},
       {"overWindow", "integer", "Requests that the model would have refused."}}));
  shapes.add(answer_shape(
      "WhatIf", "Recorded turns under another policy. No model is called.",
      {{"turns", "integer"},
       {"unpriced", "integer"},
       {"observe", "ReplayTotals", "The same turns, none of them edited."},
       {"policy", "ReplayTotals"},
       {"reportedDollars", "number", "Of these turns, by the upstream's figures."},
       {"error", "number",
        "The part by which a replay of the turns as they were sent is off from these."}}));
}

}  // namespace undertext
