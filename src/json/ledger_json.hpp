// Ledgers, replays and broken caches as JSON.
#pragma once

#include <string>
#include <vector>

#include <undertext/conversation.hpp>
#include <undertext/ledger.hpp>

#include "json/shape.hpp"

namespace undertext {

struct LedgerAnswer {
  const Ledger& ledger;
  bool turns = true;  // false: totals, days and findings alone
};
void append_json(std::string& out, const LedgerAnswer& answer);
void append_json(std::string& out, const LedgerTotals& totals);
void append_json(std::string& out, const std::vector<LedgerRow>& rows);
void append_json(std::string& out, const WhatIf& found);
void append_json(std::string& out, const Conversation::Compared& compared);
void describe_ledger(Shapes& shapes);

}  // namespace undertext
