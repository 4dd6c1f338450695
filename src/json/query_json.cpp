#include "json/query_json.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <undertext/response.hpp>

#include "engine/window.hpp"
#include "json/dialect_json.hpp"
#include "json/fields.hpp"
#include "json/strategy_json.hpp"

namespace undertext {

constexpr std::string_view at_version_text = "As of this version. Default: the head.";

void read_filters(Fields& fields, MessageQuery& query) {
  fields.take("all", query.all, "The log, hidden messages too, instead of the view.");
  fields.take("atVersion", query.at_version, at_version_text);
  fields.take("atBatch", query.at_batch, "As that batch was last seen.");
  fields.exclude("role", "roles");
  std::optional<Role> role;
  fields.take("role", role, "Only messages of this role.");
  if (role) query.roles = {*role};
  fields.take_filled("roles", query.roles, "Only messages of any of these roles.");
  std::optional<Integer> from, to;
  fields.take("from", from, "Only messages at or after this time, in milliseconds since 1970.");
  fields.take("to", to, "Only messages before this time.");
  if (from) query.from_ms = from->value;
  if (to) query.to_ms = to->value;
  fields.take("marked", query.marked, "Only messages with this mark.");
  fields.take("contains", query.contains, "Only messages whose text contains this.");
  fields.take("start", query.start, "From this place on, among those left so far.");
  fields.take("end", query.end, "Up to this place.");
  fields.take("first", query.first, "The first so many of what is left.");
  fields.take("last", query.last, "The last so many; not together with first.");
}

void read_recall(Fields& fields, std::string& text, std::uint64_t& budget_tokens,
                 MessageQuery& which) {
  fields.need("text", text, "What to look for.");
  if (fields.has("text") && text.empty()) fields.fail("text", "must not be empty");
  fields.take("budgetTokens", budget_tokens,
              "Tokens of all that is found together. Default: 4000.");
  if (fields.has("budgetTokens") && budget_tokens == 0)
    fields.fail("budgetTokens", "must be at least 1");
  read_filters(fields, which);
}

namespace {

void read_arguments(Fields& fields, ask::Recall& ask) {
  read_recall(fields, ask.query.text, ask.query.budget_tokens, ask.query.which);
}
void read_arguments(Fields& fields, ask::Messages& ask) { read_filters(fields, ask.which); }
void read_arguments(Fields& fields, ask::Blocks& ask) { read_filters(fields, ask.which); }
void read_arguments(Fields& fields, ask::Count& ask) { read_filters(fields, ask.which); }
void read_arguments(Fields& fields, ask::BatchSnapshot& ask) {
  fields.need("batchIndex", ask.batch_index, "The batch.");
}
void read_arguments(Fields& fields, ask::Diff& ask) {
  fields.need("from", ask.from, "A version.");
  fields.need("to", ask.to, "A version.");
}
void read_arguments(Fields& fields, ask::Blame& ask) {
  fields.need("ordinal", ask.ordinal, "Its place in the log.");
}

void read_arguments(Fields& fields, ask::Tokens& ask) {
  fields.take("atVersion", ask.at_version, at_version_text);
  fields.take("perMessage", ask.per_message, "The tokens of each message too.");
}
void read_arguments(Fields& fields, ask::Fit& ask, const Settings& settings) {
  fields.take("atVersion", ask.at_version, at_version_text);
  std::optional<Budget> budget;
  read_budget(fields, settings, budget);
  const std::optional<std::uint64_t> window = settled_window(settings);
  if (!fields.has("budget") && window) budget = Budget{.window = *window};
  if (!fields.has("budget") && !window) fields.missing("budget");
  if (budget) ask.budget = *budget;
  read_strategy(fields, "strategy", settings, ask.strategy);
  // which reads no text: a fit is asked for before every request
  if (!ask.strategy) ask.strategy = sliding_window();
  if (ask.strategy->is_slow())
    fields.fail("strategy", "would ask a model; a fit is found without one, so use the digest");
}
void read_arguments(Fields& fields, ask::Model& ask) {
  fields.take("name", ask.name, "A model in any spelling. Default: that of the conversation.");
}
void read_arguments(Fields& fields, ask::CountTools& ask) {
  fields.take("model", ask.model, "The model to count for. Default: as the conversation counts.");
  const std::optional<JsonValue> tools =
      fields.find("tools", {"The tools of a request, as a provider takes them.", "Json[]"});
  fields.require("tools");
  if (tools) ask.tools = tools->raw();
}

void read_arguments(Fields& fields, ask::ImportMessages& ask, const Settings& settings) {
  const std::optional<JsonValue> json =
      fields.find("json", {"A request, a response, a message or a list of messages. A response "
                           "says itself which format it has.",
                           "JsonObject|Json[]"});
  read_profile(fields, settings, ask.profile,
               json ? dialect_of_response(json->raw()) : std::nullopt);
  read_tool_names(fields, ask.names);
  fields.take("after", ask.after, "Only what is new in a request that repeats what was rendered.");
  if (!json)
    fields.missing("json", "needed: a request, a response, a message or a list of messages");
  fields.require("json");
  if (json) ask.json = json->raw();
}

void read_render(Fields& fields, ask::Render& ask, const Settings& settings) {
  fields.take("atVersion", ask.at_version, at_version_text);
  fields.take("sentVersion", ask.sent_version, "What the provider saw last, for bound thinking.");
  read_profile(fields, settings, ask.profile);
  RawObject request;
  fields.take("request", request, "The other fields of the request.");
  ask.request = std::move(request.json);
}
void read_arguments(Fields& fields, ask::Render& ask, const Settings& settings) {
  read_render(fields, ask, settings);
  fields.take("repair", ask.repair, "false: the view as it stands.");
  read_cache_markers(fields, ask.markers);
  read_bound_thinking(fields, ask.bound);
}
void read_arguments(Fields& fields, ask::Validate& ask, const Settings& settings) {
  read_render(fields, ask, settings);
}
void read_arguments(Fields& fields, ask::Cost& ask, const Settings& settings) {
  fields.take("from", ask.from,
              "The version that the provider saw. Default, with operations: the head.");
  fields.take("to", ask.to, "The version to be sent. Default: the head.");
  ask.operations =
      fields.find("operations", {"Tried on the head, instead of `to`.", "AnyOperation[+]"});
  if (ask.operations && !ask.operations->is(JsonType::array))
    fields.fail("operations", "must be a list");
  fields.exclude("operations", "to", ": they are tried on the head");
  if (!ask.operations && !ask.from) fields.missing("from");
  read_profile(fields, settings, ask.profile);
  fields.take("overhead", ask.options.overhead, "Tokens before the first message: tools and such.");
  read_cache_markers(fields, ask.options.markers);
}

void read_arguments(Fields& fields, ask::Tools& ask, const Settings& settings) {
  read_profile(fields, settings, ask.profile);
}
void read_arguments(Fields& fields, ask::CallTool& ask) {
  fields.need("name", ask.name, "The tool, as the model called it.");
  const std::optional<JsonValue> arguments = fields.find(
      "arguments",
      {"What the model gave it: an object, or the JSON text of one.", "JsonObject|string"});
  if (!arguments) return;
  const bool is_text = arguments->is(JsonType::string);
  if (!is_text && !arguments->is(JsonType::object))
    fields.fail("arguments", "must be an object or a string");
  ask.arguments = is_text ? arguments->string() : std::string(arguments->raw());
}

void read_arguments(Fields& fields, ask::Requests& ask) {
  fields.take("first", ask.which.first, "From this number on.");
  fields.take("limit", ask.which.limit, "At most so many.");
  fields.take("last", ask.which.last, "The newest so many, instead.");
  fields.exclude("last", "first");
  fields.exclude("last", "limit");
}
void read_arguments(Fields& fields, ask::Request& ask) {
  fields.need("number", ask.number, "Which one.");
}

void read_arguments(Fields& fields, ask::CacheBreak& ask) {
  fields.need("number", ask.number, "Which request.");
  fields.take("against", ask.against,
              "An earlier one. Default: the last before it that goes on with the same list.");
}
void read_arguments(Fields& fields, ask::Ledger& ask) {
  std::optional<Integer> from, to;
  fields.take("from", from, "Only requests at or after this time, in milliseconds since 1970.");
  fields.take("to", to, "Only requests before this time.");
  if (from) ask.query.from_ms = from->value;
  if (to) ask.query.to_ms = to->value;
  fields.take("turns", ask.turns, "false: totals, days and findings alone.");
}
void read_arguments(Fields& fields, ask::WhatIf& ask) {
  const std::optional<JsonValue> policy = fields.find(
      "policy", {"A policy of the gateway, or the name of its mode.", "JsonObject|string"});
  fields.require("policy");
  if (!policy) fields.missing("policy");
  const bool is_text = policy && policy->is(JsonType::string);
  if (policy && !is_text && !policy->is(JsonType::object))
    fields.fail("policy", "must be an object or a string");
  if (policy) ask.policy = is_text ? policy->string() : std::string(policy->raw());
  std::optional<std::string> model;
  fields.take("model", model,
              "Whose prices and window count. Default: those of each request's own.");
  if (model) ask.options.model = *model;
}

template <class Ask>
Query read(Fields& fields, const Settings& settings) {
  Ask ask;
  if constexpr (requires { read_arguments(fields, ask, settings); }) {
    read_arguments(fields, ask, settings);
  } else if constexpr (requires { read_arguments(fields, ask); }) {
    read_arguments(fields, ask);
  }
  return ask;
}

struct Kind {
  std::string_view name;
  Query (*read)(Fields& fields, const Settings& settings);
  std::string_view result;  // the type of "result" in its answer; = and a shape: the whole answer
  std::string_view text;
};

constexpr Kind kinds[] = {
    {"messages", read<ask::Messages>, "=MessagesAnswer",
     "Messages of the view, or of the log. The filters compose in their order."},
    {"count", read<ask::Count>, "=CountAnswer", "How many messages that is, and their tokens."},
    {"blocks", read<ask::Blocks>, "MessageBlocks[]",
     "What these messages say, in whichever format they are, as blocks."},
    {"uncompressed", read<ask::Uncompressed>, "=MessagesAnswer",
     "Messages of the view at or after the current batch's boundary."},
    {"markMap", read<ask::MarkMap>, "MarkMap", "The view as ordinals: the mark map."},
    {"state", read<ask::State>, "State", "The view with the snapshots of all batches."},
    {"stats", read<ask::Stats>, "Stats", "Messages, batches and tokens."},
    {"version", read<ask::HeadVersion>, "integer", "The head."},
    {"batches", read<ask::Batches>, "Batch[]", "The batches of the stack, the first one first."},
    {"batchSnapshot", read<ask::BatchSnapshot>, "BatchSnapshot|null",
     "The view as it last was in a batch that has been left; null for any other."},
    {"history", read<ask::Versions>, "VersionEntry[]", "All versions, the oldest first."},
    {"diff", read<ask::Diff>, "Diff", "What changed between two versions, as ordinals."},
    {"blame", read<ask::Blame>, "Blame", "Which operations stored, hid and showed a message."},
    {"tokens", read<ask::Tokens>, "TokenCounts",
     "Tokens of the view by role, and of each message where asked for."},
    {"fit", read<ask::Fit>, "Fit",
     "Whether the view is within a budget, and what would make it so. Changes nothing."},
    {"receipts", read<ask::Receipts>, "Receipt[]", "What every COMPRESS did, the oldest first."},
    {"render", read<ask::Render>, "Rendered",
     "The request that a provider would be sent, with what was repaired or lost."},
    {"validate", read<ask::Validate>, "Validated",
     "What a provider would refuse in the view as it stands."},
    {"cost", read<ask::Cost>, "EditCost",
     "What an edit would cost at a provider that caches prompts."},
    {"model", read<ask::Model>, "Model",
     "What is known of the conversation's model, or of another."},
    {"countTools", read<ask::CountTools>, "ToolsCount",
     "What the tools of a request cost, which is in no message."},
    {"importMessages", read<ask::ImportMessages>, "Imported",
     "The messages of a provider's request or response, for APPEND."},
    {"tools", read<ask::Tools>, "ToolDeclaration[]",
     "Tools by which a model looks into its conversation, as a request declares them."},
    {"callTool", read<ask::CallTool>, "ToolResult",
     "What such a tool answers the model. Changes nothing."},
    {"requests", read<ask::Requests>, "RequestRecord[]",
     "Recorded requests of the client, the oldest first, without their texts."},
    {"request", read<ask::Request>, "WholeRequest",
     "A recorded request, with its raw text and that of its answer."},
    {"cacheBreak", read<ask::CacheBreak>, "ComparedRequest",
     "Where a recorded request stops being equal to an earlier one, as the provider's cache sees "
     "them."},
    {"ledger", read<ask::Ledger>, "Ledger",
     "What the recorded requests cost, and where a cache was missed that should have been hit."},
    {"whatIf", read<ask::WhatIf>, "WhatIf",
     "What the recorded requests would have cost under another policy of the gateway. No model is "
     "called."},
    {"recall", read<ask::Recall>, "Recalled",
     "Messages that share words with a text, with their units and neighbours, best first; by "
     "default hidden ones."},
};

}  // namespace

Result<Query> read_query(JsonValue object, const Settings& settings) {
  Reading reading;
  const std::optional<JsonValue> query = object.find("query");
  for (const Kind& kind : kinds) {
    if (!query || !query->is(JsonType::string) || !query->string_is(kind.name)) continue;
    Fields fields(object, kind.name, reading);
    fields.find("query");
    Query result = kind.read(fields, settings);
    fields.done();
    if (reading.failed()) return reading.take_error();
    return result;
  }
  Fields fields(object, "a query", reading);
  std::optional<std::string> name;
  fields.need("query", name);
  if (name) fields.fail("query", "\"" + clipped(*name) + "\" is unknown");
  return reading.take_error();
}

std::string query_shape(std::string_view query) { return pascal_case(query) + "Query"; }

std::string query_answer(std::string_view query) {
  for (const Kind& kind : kinds)
    if (kind.name == query)
      return kind.result.starts_with('=') ? std::string(kind.result.substr(1))
                                          : pascal_case(query) + "Answer";
  return {};
}

std::vector<std::string> query_answers() {
  std::vector<std::string> answers;
  for (const Kind& kind : kinds)
    if (std::string answer = query_answer(kind.name);
        std::ranges::find(answers, answer) == answers.end())
      answers.push_back(std::move(answer));
  return answers;
}

void describe_queries(Shapes& shapes) {
  std::string all;
  for (const Kind& kind : kinds) {
    Shape shape{.name = query_shape(kind.name), .text = std::string(kind.text)};
    Reading reading;
    Fields fields(shape, shapes, reading);
    fields.find("query", {"Which query.", "\"" + std::string(kind.name) + "\""});
    fields.require("query");
    kind.read(fields, {});
    all += (all.empty() ? "" : "|") + shape.name;
    shapes.add(std::move(shape));
    if (kind.result.starts_with('=')) continue;
    shapes.add(answer_shape(query_answer(kind.name), "",
                            {{"ok", "true"}, {"result", kind.result, kind.text}}));
  }
  shapes.add({.name = "Query",
              .text = "A query of a conversation.",
              .type = std::move(all),
              .told_by = "query"});
}

}  // namespace undertext
