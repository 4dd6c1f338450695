// The queries of the contract. A GET has the query's arguments as parameters, and is the same line.
#include <utility>

#include "base/json_text.hpp"
#include "json/query_json.hpp"
#include "server/app_rep.hpp"
#include "server/shapes.hpp"

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
std::string line_of(const std::string& query, const std::vector<Parameter>& parameters,
                    const Call& call) {
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
  said.client_list_max = app.options.limits.messages_per_client_list;
  said.room = app.room_for_answer(call);
  said.work = call.work;
  said.tenant = call.caller.tenant;
  return answer_request(*app.conversation(call), line, said);
}

// How a member of a query is given as a parameter; unset: it cannot be, and needs a body.
std::optional<Type> parameter_type(const Member& member) {
  if (member.type == "integer") return Type::integer;
  if (member.type == "signed") return Type::time;
  if (member.type == "boolean") return Type::boolean;
  if (member.type == "Role") return Type::role;
  if (member.type == "Role[+]") return Type::roles;
  const bool is_text = member.type.starts_with("string") || member.type.starts_with('"') ||
                       member.type == "Dialect" || member.type == "CacheMarkers" ||
                       member.type.starts_with("ProfileName|");
  return is_text ? std::optional(Type::text) : std::nullopt;
}

// The conversation, and the arguments of the query as its shape has them.
std::vector<Parameter> parameters_of(std::string_view query, std::string_view path) {
  std::vector<Parameter> parameters{conversation_id()};
  for (const Member& member : server_shapes().at(query_shape(query)).members) {
    const std::optional<Type> type = parameter_type(member);
    if (member.name == "query" || !type) continue;
    const bool in_path = path.find("{" + member.name + "}") != std::string_view::npos;
    const bool is_choice =
        member.type.starts_with('"') || member.type == "Dialect" || member.type == "CacheMarkers";
    parameters.push_back({.name = member.name,
                          .in = in_path ? Parameter::In::path : Parameter::In::query,
                          .type = *type,
                          .required = member.required,
                          .what = member.text,
                          .words = is_choice ? member.type : std::string()});
  }
  return parameters;
}

struct Asking {
  std::string path;  // behind the conversation's
  std::string query;
  std::string name;
};

std::string text_of(std::string_view query) { return server_shapes().at(query_shape(query)).text; }

Route get(App::Rep& app, const Asking& asking) {
  const std::vector<Parameter> parameters = parameters_of(asking.query, asking.path);
  return {.method = "GET",
          .path = "/v1/conversations/{id}/" + asking.path,
          .name = asking.name,
          .what = text_of(asking.query),
          .parameters = parameters,
          .answers = query_answer(asking.query),
          .reply_fields = {"ETag"},
          .handle = replying([&app, parameters, query = asking.query](const Call& call) {
            return reply_of(ask(app, call, line_of(query, parameters, call)));
          })};
}

// The body holds the arguments; it may name the query too.
Route post(App::Rep& app, const Asking& asking) {
  return {.method = "POST",
          .path = "/v1/conversations/{id}/" + asking.path,
          .name = asking.name,
          .what = text_of(asking.query),
          .parameters = {conversation_id()},
          .body = Body::json,
          .takes = query_request(asking.query),
          .answers = query_answer(asking.query),
          .reply_fields = {"ETag"},
          .handle = replying([&app, query = asking.query](const Call& call) {
            return reply_of(ask(app, call, with_member(call.request.body, "query", query)));
          })};
}

Route any_query(App::Rep& app) {
  return {.method = "POST",
          .path = "/v1/conversations/{id}/query",
          .name = "query",
          .what = "Any query of the protocol.",
          .parameters = {conversation_id()},
          .body = Body::json,
          .takes = "Query",
          .answers = "QueryAnswer",
          .reply_fields = {"ETag"},
          .handle = replying(
              [&app](const Call& call) { return reply_of(ask(app, call, call.request.body)); })};
}

// The batch is part of the path, under a shorter name.
Route batch_snapshot(App::Rep& app) {
  return {
      .method = "GET",
      .path = "/v1/conversations/{id}/batches/{index}",
      .name = "getBatchSnapshot",
      .what = text_of("batchSnapshot"),
      .parameters = {conversation_id(),
                     {.name = "index",
                      .in = Parameter::In::path,
                      .type = Type::integer,
                      .required = true,
                      .what = "The batch."}},
      .answers = query_answer("batchSnapshot"),
      .reply_fields = {"ETag"},
      .handle = replying([&app](const Call& call) {
        return reply_of(ask(
            app, call, R"({"query":"batchSnapshot","batchIndex":)" + *call.find("index") + "}"));
      })};
}

}  // namespace

std::vector<Route> query_routes(App::Rep& app) {
  return {
      any_query(app),
      get(app, {"messages", "messages", "getMessages"}),
      get(app, {"blocks", "blocks", "getBlocks"}),
      get(app, {"count", "count", "countMessages"}),
      get(app, {"uncompressed", "uncompressed", "getUncompressed"}),
      get(app, {"mark-map", "markMap", "getMarkMap"}),
      get(app, {"state", "state", "getState"}),
      get(app, {"stats", "stats", "getStats"}),
      get(app, {"version", "version", "getVersion"}),
      get(app, {"batches", "batches", "getBatches"}),
      batch_snapshot(app),
      get(app, {"diff", "diff", "getDiff"}),
      get(app, {"blame/{ordinal}", "blame", "getBlame"}),
      get(app, {"receipts", "receipts", "getReceipts"}),
      get(app, {"tokens", "tokens", "getTokens"}),
      get(app, {"cost", "cost", "getCost"}),
      post(app, {"cost", "cost", "costOfOperations"}),
      get(app, {"model", "model", "getModel"}),
      post(app, {"import-messages", "importMessages", "importMessages"}),
      post(app, {"count-tools", "countTools", "countTools"}),
      get(app, {"tools", "tools", "getTools"}),
      post(app, {"call-tool", "callTool", "callTool"}),
      post(app, {"fit", "fit", "fit"}),
      get(app, {"render", "render", "render"}),
      post(app, {"render", "render", "renderWithRequest"}),
      get(app, {"validate", "validate", "validate"}),
      post(app, {"validate", "validate", "validateWithRequest"}),
      get(app, {"recall", "recall", "recall"}),
      get(app, {"requests", "requests", "getRequests"}),
      get(app, {"requests/{number}", "request", "getRequest"}),
      get(app, {"requests/{number}/cache-break", "cacheBreak", "getCacheBreak"}),
      get(app, {"ledger", "ledger", "getLedger"}),
      post(app, {"what-if", "whatIf", "whatIf"}),
  };
}

}  // namespace undertext
