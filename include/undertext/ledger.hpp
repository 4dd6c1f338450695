// What the requests of a conversation cost: a ledger of its recorded turns, and what they would
// have cost under another policy.
//
//     Ledger ledger = conversation.ledger().value();
//     ledger.totals.dollars;                      // 1.87
//     ledger.turns.back().read;                   // tokens that the provider read from its cache
//     ledger.findings;                            // misses that should have been hits, each with its first differing byte
//     WhatIf other = conversation.what_if(R"({"mode":"compact","when":"cold"})").value();
//     other.policy.dollars - other.observe.dollars;
//
// Figures are the upstream's where it reported any. Else they are expected ones: the count of the
// request, corrected by earlier reports of the same model, with the error of these. Prices are from
// the table of models. docs/money.md defines each figure.
//
// Values: any thread may use any of this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/cache_break.hpp>
#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/request_record.hpp>

namespace undertext {

// Why tokens that an earlier request had cached were not read from the cache.
enum class MissCause : std::uint8_t {
  none,     // nothing was missed
  expired,  // the cache entry was not used within its lifetime
  // an operation, or a compaction of the client's, changed the prefix: the price of the edit
  edited,
  changed,   // the client changed the prefix that it had sent: a finding
  upstream,  // the prefix was equal, and the cache did not serve it: a finding
};
UNDERTEXT_API std::string_view name(MissCause cause);

struct LedgerTurn {
  std::uint64_t number = 0;  // of the request record
  Version version = {};
  std::int64_t at_ms = 0;
  std::string model = {};
  ClientRequestKind kind = ClientRequestKind::turn;
  bool is_reported = false;  // the upstream's figures; else expected ones
  // In tokens.
  std::uint64_t sent = 0;          // the whole input
  std::uint64_t read = 0;          // of it: read from the cache
  std::uint64_t written = 0;       // of it: written to the cache
  std::uint64_t written_hour = 0;  // of these: to be kept for an hour
  // of it: left in the cache by an earlier request, and not read from it
  std::uint64_t missed = 0;
  std::uint64_t output = 0;
  MissCause cause = MissCause::none;
  std::uint64_t expected_sent = 0;  // the count before sending, corrected; 0: it was not counted
  std::uint64_t expected_read = 0;  // what the cache was expected to serve
  // relative error of `expected_sent` that 19 of 20 requests do not exceed
  double expected_error = 0;
  std::optional<double> dollars = {};  // unset: no price is known
  double dollars_missed = 0;           // what reading `missed` would have saved
};

struct LedgerTotals {
  std::uint64_t turns = 0;
  std::uint64_t reported = 0;  // turns with the upstream's figures
  std::uint64_t unpriced = 0;  // turns without a price, excluded from all sums of dollars
  std::uint64_t sent = 0, read = 0, written = 0, written_hour = 0, missed = 0, output = 0;
  std::uint64_t sent_max = 0;  // the peak
  double dollars = 0;
  double dollars_expected = 0;  // of these: from expected figures
  double dollars_error = 0;     // the error of these
  double dollars_missed = 0;
  UNDERTEXT_API void add(const LedgerTurn& turn);
  UNDERTEXT_API void add(const LedgerTotals& more);
};

// The totals of a day, in UTC, and a model.
struct LedgerRow {
  std::string day;  // YYYY-MM-DD
  std::string model;
  LedgerTotals totals;
};

// A miss that should have been a hit.
struct LedgerFinding {
  std::uint64_t number = 0;   // of the request
  std::uint64_t against = 0;  // the request that had cached the prefix
  std::uint64_t missed = 0;
  double dollars = 0;
  MissCause cause = MissCause::changed;
  CacheBreak at = {};  // of `changed`, where both texts are kept: the first byte that differs
};

struct Ledger {
  std::vector<LedgerTurn> turns;        // the oldest first
  LedgerTotals totals;                  // of all
  std::vector<LedgerRow> days;          // by day and model, the oldest first
  std::vector<LedgerFinding> findings;  // the newest last
};

struct LedgerQuery {
  std::int64_t from_ms = 0;                // of turns at or after this time
  std::optional<std::int64_t> to_ms = {};  // and before this one
};

// The ledger of a conversation's records, rising by number. Reads no texts, so no finding has a
// byte yet. O(records log n).
// Throws Failure: errors of reading the history, and those of its work, if it is limited().
UNDERTEXT_API Ledger make_ledger(const std::vector<RequestRecord>& records, const History& history,
                                 const LedgerQuery& query = {});

// Adds the rows of one ledger to those of another.
UNDERTEXT_API void add_rows(std::vector<LedgerRow>& rows, const std::vector<LedgerRow>& more);

// What recorded turns would use under a policy, by expected figures. No model is called; the
// recorded answers are used.
struct ReplayTotals {
  std::uint64_t sent = 0, read = 0, written = 0, output = 0;
  double dollars = 0;
  std::uint64_t peak = 0;         // tokens of the largest request
  std::uint64_t compactions = 0;  // edits by the policy
  std::uint64_t client_compactions = 0;
  std::uint64_t over_window = 0;  // requests that the model would have refused
};

struct WhatIf {
  std::uint64_t turns = 0;
  std::uint64_t unpriced = 0;
  ReplayTotals observe = {};  // the same turns, none of them edited
  ReplayTotals policy = {};
  double reported_dollars = 0;  // of these turns, by the ledger
  // relative error, 0 to 1: the replay of the turns as they were sent, against the upstream's
  // figures
  double error = 0;
};

struct WhatIfOptions {
  std::string model = {};  // whose prices and window; empty: that of each record
  // Select the layers of the policy. Conversation::what_if() sets the conversation.
  std::string tenant = {}, conversation = {};
  // for each answer; Conversation::what_if() reads it from the newest request with a text
  std::uint64_t reserve_tokens = 0;
};

// `policy`: a mode, or the JSON of docs/gateway.md. invalid_argument with the field: it is no
// policy.
// If the history is limited(), also what its work throws.
UNDERTEXT_API Result<WhatIf> what_if(const std::vector<RequestRecord>& records,
                                     const History& history, std::string_view policy,
                                     const WhatIfOptions& options = {});

}  // namespace undertext
