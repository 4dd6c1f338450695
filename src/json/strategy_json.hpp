// Strategies and budgets as they come in from JSON.
//
//     "sliding_window"                                     a strategy by its name alone
//     {"name":"default","summariser":"haiku","fallbacks":["local"]}    where none is named it is "default"; the digest comes last by itself
//     {"name":"keep_recent","n":20}                        also keep_system_and_recent
//     {"name":"supersede"}                                 also dedupe
//     {"name":"clear_tool_results","keep":3,"exclude":["read_file"],"minGain":2000}
//     {"name":"smart_summary","keep":10,"summaryTokens":800,"summariser":"haiku","fallbacks":["mini"]}
//     {"name":"pipeline","steps":[{"name":"clear_tool_results"},{"name":"smart_summary"}]}
//
// A summariser is "digest" or one that the settings name; a strategy that none ships is one of the
// settings' own, by its name alone. Where a model is reached, and with which key, is said in the
// settings alone: who may send an operation must not choose which file is read and where its
// content is sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <undertext/compression.hpp>
#include <undertext/conversation.hpp>

#include "json/fields.hpp"

namespace undertext {

// A strategy, and how much room it is to leave, when that was said.
struct StrategyCall {
  StrategyPtr strategy = {};                     // unset: it is no COMPRESS by a strategy
  std::optional<std::uint64_t> tokens_max = {};  // from `targetTokens` or `budget`
  bool progress = false;                         // a plan that falls short of that is applied too
  std::optional<SurvivalPolicy> survival = {};   // unset: the conversation's
};

// Whether the engine has one of this name itself, which one of the settings' cannot then have.
bool is_shipped_strategy(std::string_view name);
bool is_shipped_summariser(std::string_view name);

// The member `name`, if it is there. `about` describes it.
void read_strategy(Fields& fields, std::string_view name, const Settings& settings,
                   StrategyPtr& strategy,
                   std::string_view about = "By its name, or with arguments.");
// the member `summarisers` of the settings
void read_summarisers(Fields& fields, Summarisers& summarisers);
// The member `budget`, if it is there. Without a `window` it has that of the settings, or of their
// model.
void read_budget(Fields& fields, const Settings& settings, std::optional<Budget>& budget);
// `targetTokens` or `budget`
void read_room(Fields& fields, const Settings& settings, std::optional<std::uint64_t>& tokens_max);
// the member `survival`, if it is there
void read_survival(Fields& fields, std::optional<SurvivalPolicy>& policy);

// The shapes StrategyChoice, StrategyName and StrategyObject, and one for each strategy of the
// engine.
void describe_strategies(Shapes& shapes);

}  // namespace undertext
