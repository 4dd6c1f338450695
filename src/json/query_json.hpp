// Queries as they come in from JSON: {"query":"messages","role":"user","last":3}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/conversation.hpp>
#include <undertext/dialect.hpp>
#include <undertext/error.hpp>
#include <undertext/ids.hpp>
#include <undertext/query.hpp>
#include <undertext/recall.hpp>

#include "base/json_text.hpp"
#include "json/fields.hpp"

namespace undertext {

// One type a query, as in spelling and answer.
namespace ask {
struct Messages {
  MessageQuery which;
};
struct Count {
  MessageQuery which;
};
struct Blocks {
  MessageQuery which;
};
struct Uncompressed {};
struct MarkMap {};
struct State {};
struct Stats {};
struct HeadVersion {};
struct Batches {};
struct BatchSnapshot {
  BatchIndex batch_index;
};
struct Versions {};
struct Diff {
  Version from;
  Version to;
};
struct Blame {
  Ordinal ordinal;
};
struct Tokens {
  std::optional<Version> at_version;
  bool per_message = false;
};
struct Fit {
  std::optional<Version> at_version;
  Budget budget;
  StrategyPtr strategy;
};
struct Receipts {};
struct Render {
  std::optional<Version> at_version;
  std::optional<Version> sent_version;
  Profile profile;
  std::string request;  // the other fields of it; empty when none were given
  BoundThinking bound = BoundThinking::strip;
  bool repair = true;
  CacheMarkers markers = CacheMarkers::given;
};
struct Validate : Render {};
struct Cost {
  std::optional<Version> from;  // unset: the head, of which the operations are tried
  std::optional<Version> to;    // unset: the head
  // to be tried on the head, instead of `to`; borrowed from the line
  std::optional<JsonValue> operations = {};
  Profile profile;
  CostOptions options = {};
};
struct Model {
  std::optional<std::string> name;  // unset: that of the conversation, with its settings
};
struct ImportMessages {
  Profile profile = {};
  std::string json = {};
  ToolNames names = {};
  bool after = false;  // only what the view does not have
};
struct CountTools {
  std::string tools;                 // a JSON array
  std::optional<std::string> model;  // unset: as the conversation counts
};
struct Tools {
  Profile profile;
};
struct CallTool {
  std::string name;
  std::string arguments;  // JSON
};
struct Requests {
  RequestQuery which;
};
struct Request {
  std::uint64_t number = 0;
};
struct CacheBreak {
  std::uint64_t number = 0;
  std::optional<std::uint64_t> against = {};
};
struct Ledger {
  LedgerQuery query;
  bool turns = true;
};
struct WhatIf {
  std::string policy;  // a mode, or JSON
  WhatIfOptions options;
};
struct Recall {
  RecallQuery query;
};
}  // namespace ask

using Query =
    std::variant<ask::Messages, ask::Count, ask::Blocks, ask::Uncompressed, ask::MarkMap,
                 ask::State, ask::Stats, ask::HeadVersion, ask::Batches, ask::BatchSnapshot,
                 ask::Versions, ask::Diff, ask::Blame, ask::Tokens, ask::Fit, ask::Receipts,
                 ask::Render, ask::Validate, ask::Cost, ask::Model, ask::CountTools,
                 ask::ImportMessages, ask::Tools, ask::CallTool, ask::Requests, ask::Request,
                 ask::CacheBreak, ask::Ledger, ask::WhatIf, ask::Recall>;

// The filters of `messages`, `count` and `blocks`.
void read_filters(Fields& fields, MessageQuery& query);
// The members of the query `recall` and of the operation RECALL.
void read_recall(Fields& fields, std::string& text, std::uint64_t& budget_tokens,
                 MessageQuery& which);

// `object` is an object that has `query`. invalid_argument: an unknown query or field, or one of
// the wrong type.
// `settings` hold the summarisers and strategies that it may name, and what it need not name.
Result<Query> read_query(JsonValue object, const Settings& settings = {});

// The shapes of all queries, MessagesQuery and so on, their union Query, and those answers that are
// {"ok":true,"result":…}.
void describe_queries(Shapes& shapes);
std::string query_shape(std::string_view query);
std::string query_answer(std::string_view query);  // the name of the shape of its answer
std::vector<std::string> query_answers();          // of all, without repeats

}  // namespace undertext
