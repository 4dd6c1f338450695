// The queries of the contract. A GET has the query's arguments as parameters, and is the same line.
#include <utility>

#include "base/json_text.hpp"
#include "server/app_rep.hpp"
#include "server/schema.hpp"

namespace undertext {
namespace {

using Type = Parameter::Type;

void append_value(std::string& out, const Parameter& parameter, const std::string& value) {
  switch (parameter.type) {
    case Type::integer:
    case Type::time:
    case Type::boolean: out += value; return;
    case Type::integers: ((out += '[') += value) += ']'; return;
    case Type::roles:
      out += "[\"";
      for (const char c : value) c == ',' ? out += "\",\"" : out += c;
      out += "\"]";
      return;
    case Type::text:
    case Type::id:
    case Type::role: append_json_string(out, value);
  }
}

// Such as {"query":"messages","role":"user","last":3}.
std::string line_of(const std::string& query, const std::vector<Parameter>& parameters, const Call& call) {
  std::string line = R"({"query":)";
  append_json_string(line, query);
  for (const Parameter& parameter : parameters) {
    if (parameter.name == "id" || !call.has(parameter.name)) continue;
    append_json_string(line += ',', parameter.name);
    append_value(line += ':', parameter, *call.find(parameter.name));
  }
  return line += '}';
}

LineAnswer ask(App::Rep& app, const Call& call, std::string_view line) {
  RequestOptions said{.takes = RequestOptions::Takes::queries};
  said.operations_max = app.options.limits.operations_per_list;  // of those that are only tried
  said.messages_max = app.options.limits.messages_per_operation;
  said.room = app.room_for_answer(call);
  said.work = call.work;
  return answer_request(*app.conversation(call), line, said);
}

struct Query {
  std::string path;  // behind the conversation's
  std::string query;
  std::string name;
  std::string what;
  std::vector<Parameter> parameters = {};
  std::string reply_schema;
};

Route get(App::Rep& app, Query query) {
  std::vector<Parameter> parameters{conversation_id()};
  parameters.insert(parameters.end(), query.parameters.begin(), query.parameters.end());
  return {.method = "GET",
          .path = "/v1/conversations/{id}/" + query.path,
          .name = std::move(query.name),
          .what = std::move(query.what),
          .parameters = parameters,
          .reply_schema = std::move(query.reply_schema),
          .reply_fields = {"ETag"},
          .handle = replying([&app, parameters, query = std::move(query.query)](const Call& call) {
            return reply_of(ask(app, call, line_of(query, parameters, call)));
          })};
}

// The body holds the arguments; it may name the query too.
Route post(App::Rep& app, Query query, std::string body_schema) {
  return {.method = "POST",
          .path = "/v1/conversations/{id}/" + query.path,
          .name = std::move(query.name),
          .what = std::move(query.what),
          .parameters = {conversation_id()},
          .body = Body::json,
          .body_schema = std::move(body_schema),
          .reply_schema = std::move(query.reply_schema),
          .reply_fields = {"ETag"},
          .handle = replying([&app, query = std::move(query.query)](const Call& call) {
            return reply_of(ask(app, call, query.empty() ? call.request.body : with_member(call.request.body, "query", query)));
          })};
}

Parameter integer(std::string name, std::string what) {
  return {.name = std::move(name), .type = Type::integer, .what = std::move(what)};
}
Parameter needed(Parameter parameter) {
  parameter.required = true;
  return parameter;
}

// In the order in which they compose.
std::vector<Parameter> filters() {
  return {{.name = "all", .type = Type::boolean, .what = "The log, hidden messages too, instead of the view."},
          at_version(),
          integer("atBatch", "As that batch was last seen."),
          {.name = "role", .type = Type::role, .what = "Only messages of this role."},
          {.name = "roles", .type = Type::roles, .what = "Only messages of any of these roles, with commas between them."},
          {.name = "from", .type = Type::time, .what = "Only messages at or after this time, in milliseconds since 1970."},
          {.name = "to", .type = Type::time, .what = "Only messages before this time."},
          {.name = "marked", .what = "Only messages with this mark."},
          {.name = "contains", .what = "Only messages whose text contains this."},
          integer("start", "From this place on, among those left so far."),
          integer("end", "Up to this place."),
          integer("first", "The first so many of what is left."),
          integer("last", "The last so many; not together with first.")};
}

std::vector<Parameter> rendering(std::vector<Parameter> more) {
  std::vector<Parameter> parameters{
      {.name = "dialect", .what = "The message format: openai_chat, openai_responses, anthropic or gemini."},
      {.name = "profile", .what = "What a provider accepts, by name, instead of the dialect's own."},
      at_version(),
      integer("sentVersion", "What the provider saw last, for bound thinking.")};
  parameters.insert(parameters.end(), more.begin(), more.end());
  return parameters;
}

constexpr std::string_view render_properties =
    R"("query":{"type":"string"},"dialect":{"type":"string"},"profile":{"type":["string","object"]},"atVersion":{"type":"integer","minimum":0},"sentVersion":{"type":"integer","minimum":0},"request":{"type":"object"})";

std::string body_of(std::string_view properties, std::string_view required = {}) {
  std::string out = R"({"type":"object","additionalProperties":false)";
  if (!required.empty()) (out += R"(,"required":)") += required;
  return ((out += R"(,"properties":{)") += properties) + "}}";
}

}  // namespace

std::vector<Route> query_routes(App::Rep& app) {
  using schema::list_of, schema::named, schema::result_of;
  const std::string messages_answer = named("Messages");
  constexpr std::string_view validated =
      R"({"type":"object","required":["valid","findings"],"properties":{"valid":{"type":"boolean"},"findings":{"type":"array","items":{"type":"object"}}}})";
  return {
      post(app,
           {"query",
            "",
            "query",
            "Any query of the contract, such as {\"query\":\"messages\",\"role\":\"user\",\"last\":3}.",
            {},
            std::string(schema::object)},
           R"({"type":"object","required":["query"],"properties":{"query":{"type":"string"}}})"),
      get(app, {"messages", "messages", "getMessages", "Messages of the view, or of the log; the filters compose in their order.",
                filters(), messages_answer}),
      get(app, {"blocks", "blocks", "getBlocks", "What these messages say, whichever format they are in, as blocks.", filters(),
                result_of(list_of(named("MessageBlocks")))}),
      get(app,
          {"count", "count", "countMessages", "How many messages that is, and their tokens.", filters(),
           R"({"type":"object","required":["ok","count","tokens"],"properties":{"ok":{"const":true},"count":{"type":"integer"},"tokens":{"type":"integer"}}})"}),
      get(app, {"uncompressed",
                "uncompressed",
                "getUncompressed",
                "Messages of the view at or after the current batch's boundary.",
                {},
                messages_answer}),
      get(app, {"mark-map", "markMap", "getMarkMap", "The view as ordinals: the mark map.", {}, result_of(schema::object)}),
      get(app, {"state", "state", "getState", "The view with the snapshots of all batches.", {}, result_of(schema::object)}),
      get(app, {"stats", "stats", "getStats", "Messages, batches and tokens.", {}, result_of(named("Stats"))}),
      get(app, {"version", "version", "getVersion", "The head.", {}, result_of(schema::integer)}),
      get(app, {"batches",
                "batches",
                "getBatches",
                "The batches of the stack, the first one first.",
                {},
                result_of(list_of(schema::object))}),
      {.method = "GET",
       .path = "/v1/conversations/{id}/batches/{index}",
       .name = "getBatchSnapshot",
       .what = "The view as it last was in a batch that has been left; null for any other.",
       .parameters = {conversation_id(),
                      {.name = "index", .in = Parameter::In::path, .type = Type::integer, .required = true, .what = "The batch."}},
       .reply_schema = result_of(R"({"type":["object","null"]})"),
       .reply_fields = {"ETag"},
       .handle = replying([&app](const Call& call) {
         return reply_of(ask(app, call, R"({"query":"batchSnapshot","batchIndex":)" + *call.find("index") + "}"));
       })},
      get(app, {"diff",
                "diff",
                "getDiff",
                "What changed between two versions, as ordinals.",
                {needed(integer("from", "A version.")), needed(integer("to", "A version."))},
                result_of(named("Diff"))}),
      get(app, {"blame/{ordinal}",
                "blame",
                "getBlame",
                "What became of a message: which operations stored, hid and showed it.",
                {{.name = "ordinal",
                  .in = Parameter::In::path,
                  .type = Type::integer,
                  .required = true,
                  .what = "Its place in the log."}},
                result_of(schema::object)}),
      get(app, {"receipts",
                "receipts",
                "getReceipts",
                "What every COMPRESS did, the oldest first.",
                {},
                result_of(list_of(schema::object))}),
      get(app, {"tokens",
                "tokens",
                "getTokens",
                "Tokens of the view by role, and of each message where asked for.",
                {at_version(), {.name = "perMessage", .type = Type::boolean, .what = "Those of each message too."}},
                result_of(schema::object)}),
      get(app, {"cost",
                "cost",
                "getCost",
                "What an edit would cost at a provider that caches prompts.",
                {needed(integer("from", "The version the provider saw.")),
                 integer("to", "The version to be sent; the head unless told."),
                 {.name = "dialect", .what = "The message format."},
                 {.name = "profile", .what = "A profile by name."},
                 integer("overhead", "Tokens before the first message: tools and such."),
                 {.name = "cacheMarkers", .what = "Who marks requests: given, by the caller, or auto, as render does."}},
                result_of(schema::object)}),
      post(
          app,
          {"cost",
           "cost",
           "costOfOperations",
           "The same, also for operations that are only tried, or with a profile of one's own. Changes nothing.",
           {},
           result_of(schema::object)},
          body_of(
              R"("query":{"type":"string"},"from":{"type":"integer","minimum":0},"to":{"type":"integer","minimum":0},"operations":{"type":"array","minItems":1,"items":{"$ref":"#/components/schemas/Operation"}},"dialect":{"type":"string"},"profile":{"type":["string","object"]},"overhead":{"type":"integer","minimum":0},"cacheMarkers":{"enum":["given","auto"]})")),
      get(app, {"model",
                "model",
                "getModel",
                "What is known of the conversation's model, or of another.",
                {{.name = "name", .what = "A model's name; the conversation's model unless told."}},
                result_of(schema::object)}),
      post(app,
           {"count-tools",
            "countTools",
            "countTools",
            "What the tools of a request cost, which is in no message.",
            {},
            result_of(schema::object)},
           body_of(R"("query":{"type":"string"},"tools":{"type":"array"},"model":{"type":"string"})", R"(["tools"])")),
      post(
          app,
          {"import-messages",
           "importMessages",
           "importMessages",
           "The messages of a provider's request or response, for APPEND. Changes nothing.",
           {},
           result_of(schema::object)},
          body_of(
              R"("query":{"type":"string"},"dialect":{"type":"string"},"profile":{"type":["string","object"]},"json":{"type":["object","array"]},"toolNames":{"type":"object","additionalProperties":{"type":"string"}},"after":{"type":"boolean"})",
              R"(["json"])")),
      post(
          app,
          {"fit",
           "fit",
           "fit",
           "Whether the view is within a budget, and what would make it so. Changes nothing.",
           {},
           result_of(schema::object)},
          body_of(
              R"("query":{"type":"string"},"budget":{"type":"object"},"strategy":{"type":["string","object"]},"atVersion":{"type":"integer","minimum":0})")),
      get(app, {"render", "render", "render", "The request that a provider would be sent, with what was repaired or lost.",
                rendering({{.name = "repair", .type = Type::boolean, .what = "false: as it stands."},
                           {.name = "boundThinking", .what = "strip, refuse or drop_block."},
                           {.name = "cacheMarkers", .what = "auto: marks the request for the provider's prompt cache."}}),
                result_of(schema::object)}),
      post(app,
           {"render",
            "render",
            "renderWithRequest",
            "The same, with a profile of one's own, or the other fields of the request.",
            {},
            result_of(schema::object)},
           body_of(std::string(render_properties) +
                   R"(,"repair":{"type":"boolean"},"boundThinking":{"type":"string"},"cacheMarkers":{"enum":["given","auto"]})")),
      get(app, {"validate", "validate", "validate", "What a provider would refuse in the view as it stands.", rendering({}),
                result_of(validated)}),
      post(app,
           {"validate",
            "validate",
            "validateWithRequest",
            "The same, with a profile of one's own, or the other fields of the request.",
            {},
            result_of(validated)},
           body_of(render_properties)),
  };
}

}  // namespace undertext
