#include "json/query_json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/dialect_json.hpp"
#include "json/fields.hpp"
#include "json/strategy_json.hpp"

namespace undertext {

void read_filters(Fields& fields, MessageQuery& query) {
  fields.take("all", query.all);
  fields.take("atVersion", query.at_version);
  fields.take("atBatch", query.at_batch);
  if (fields.has("role") && fields.has("roles")) fields.fail("role", "and roles exclude each other; give one of the two");
  std::optional<Role> role;
  fields.take("role", role);
  if (role) query.roles = {*role};
  fields.take_filled("roles", query.roles);
  std::optional<Integer> from, to;
  fields.take("from", from);
  fields.take("to", to);
  if (from) query.from_ms = from->value;
  if (to) query.to_ms = to->value;
  fields.take("marked", query.marked);
  fields.take("contains", query.contains);
  fields.take("start", query.start);
  fields.take("end", query.end);
  fields.take("first", query.first);
  fields.take("last", query.last);
}

namespace {

void read_arguments(Fields& fields, ask::Messages& ask) { read_filters(fields, ask.which); }
void read_arguments(Fields& fields, ask::Blocks& ask) { read_filters(fields, ask.which); }
void read_arguments(Fields& fields, ask::Count& ask) { read_filters(fields, ask.which); }
void read_arguments(Fields& fields, ask::BatchSnapshot& ask) { fields.need("batchIndex", ask.batch_index); }
void read_arguments(Fields& fields, ask::Diff& ask) {
  fields.need("from", ask.from);
  fields.need("to", ask.to);
}
void read_arguments(Fields& fields, ask::Blame& ask) { fields.need("ordinal", ask.ordinal); }

void read_arguments(Fields& fields, ask::Tokens& ask) {
  fields.take("atVersion", ask.at_version);
  fields.take("perMessage", ask.per_message);
}
void read_arguments(Fields& fields, ask::Fit& ask, const Settings& settings) {
  fields.take("atVersion", ask.at_version);
  std::optional<Budget> budget;
  read_budget(fields, settings, budget);
  const std::optional<std::uint64_t> window = settled_window(settings);
  if (!fields.has("budget") && window) budget = Budget{.window = *window};
  if (!fields.has("budget") && !window) fields.missing("budget");
  if (budget) ask.budget = *budget;
  read_strategy(fields, "strategy", settings, ask.strategy);
  if (!ask.strategy) ask.strategy = sliding_window();  // which reads no text: a fit is asked for before every request
  if (ask.strategy->is_slow()) fields.fail("strategy", "would ask a model; a fit is found without one, so use the digest");
}
void read_arguments(Fields& fields, ask::Model& ask) { fields.take("name", ask.name); }
void read_arguments(Fields& fields, ask::CountTools& ask) {
  fields.take("model", ask.model);
  const std::optional<JsonValue> tools = fields.find("tools");
  if (!tools) return fields.missing("tools");
  ask.tools = tools->raw();
}

void read_arguments(Fields& fields, ask::ImportMessages& ask, const Settings& settings) {
  read_profile(fields, settings, ask.profile);
  read_tool_names(fields, ask.names);
  fields.take("after", ask.after);
  const std::optional<JsonValue> json = fields.find("json");
  if (!json) return fields.missing("json", "needed: a request, a response, a message or a list of messages");
  ask.json = json->raw();
}

void read_render(Fields& fields, ask::Render& ask, const Settings& settings) {
  fields.take("atVersion", ask.at_version);
  fields.take("sentVersion", ask.sent_version);
  read_profile(fields, settings, ask.profile);
  RawObject request;
  fields.take("request", request);
  ask.request = std::move(request.json);
}
void read_arguments(Fields& fields, ask::Render& ask, const Settings& settings) {
  read_render(fields, ask, settings);
  fields.take("repair", ask.repair);
  read_cache_markers(fields, ask.markers);
  read_bound_thinking(fields, ask.bound);
}
void read_arguments(Fields& fields, ask::Validate& ask, const Settings& settings) { read_render(fields, ask, settings); }
void read_arguments(Fields& fields, ask::Cost& ask, const Settings& settings) {
  fields.take("from", ask.from);
  fields.take("to", ask.to);
  ask.operations = fields.find("operations");
  if (ask.operations && !ask.operations->is(JsonType::array)) fields.fail("operations", "must be a list");
  if (ask.operations && ask.to) fields.fail("operations", "and to exclude each other: they are tried on the head");
  if (!ask.operations && !ask.from) fields.missing("from");
  read_profile(fields, settings, ask.profile);
  fields.take("overhead", ask.options.overhead);
  read_cache_markers(fields, ask.options.markers);
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
};

constexpr Kind kinds[] = {
    {"messages", read<ask::Messages>},
    {"count", read<ask::Count>},
    {"blocks", read<ask::Blocks>},
    {"uncompressed", read<ask::Uncompressed>},
    {"markMap", read<ask::MarkMap>},
    {"state", read<ask::State>},
    {"stats", read<ask::Stats>},
    {"version", read<ask::HeadVersion>},
    {"batches", read<ask::Batches>},
    {"batchSnapshot", read<ask::BatchSnapshot>},
    {"history", read<ask::Versions>},
    {"diff", read<ask::Diff>},
    {"blame", read<ask::Blame>},
    {"tokens", read<ask::Tokens>},
    {"fit", read<ask::Fit>},
    {"receipts", read<ask::Receipts>},
    {"render", read<ask::Render>},
    {"validate", read<ask::Validate>},
    {"cost", read<ask::Cost>},
    {"model", read<ask::Model>},
    {"countTools", read<ask::CountTools>},
    {"importMessages", read<ask::ImportMessages>},
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

}  // namespace undertext
