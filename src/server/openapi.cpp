#include "server/openapi.hpp"

#include <algorithm>
#include <utility>

#include <undertext/undertext.hpp>

#include "base/json_text.hpp"
#include "json/schema_json.hpp"
#include "server/shapes.hpp"

namespace undertext {
namespace {

// What routes refer to beside the shapes.
constexpr std::string_view shared_components =
    R"("securitySchemes":{"token":{"type":"http","scheme":"bearer"}},"headers":{)"
    R"("ETag":{"description":"The version, in quotation marks.","schema":{"type":"string","pattern":"^\"[0-9]+\"$"}},)"
    R"("Location":{"description":"The path of what was made.","schema":{"type":"string"}}},)"
    R"("responses":{"Error":{"description":"What went wrong; the status follows from the code.",)"
    R"("content":{"application/json":{"schema":{"$ref":"#/components/schemas/ErrorAnswer"}}}}})";

SchemaWriter schemas() { return {server_shapes(), "#/components/schemas/"}; }

std::string bounded(std::string schema, const Parameter& parameter, std::string_view least,
                    std::string_view most) {
  if (parameter.least)
    schema += R"(,")" + std::string(least) + R"(":)" + std::to_string(*parameter.least);
  if (parameter.most)
    schema += R"(,")" + std::string(most) + R"(":)" + std::to_string(*parameter.most);
  return schema;
}

std::string schema_of(const Parameter& parameter) {
  std::string schema;
  switch (parameter.type) {
    case Parameter::Type::text:
      if (!parameter.words.empty()) return schemas().of_type(parameter.words);
      schema = bounded(R"({"type":"string")", parameter, "minLength", "maxLength");
      break;
    case Parameter::Type::id: return R"({"$ref":"#/components/schemas/Id"})";
    case Parameter::Type::integer:
      schema = bounded(R"({"type":"integer","format":"int64")", parameter, "minimum", "maximum");
      if (!parameter.least) schema += R"(,"minimum":0)";
      if (parameter.otherwise) schema += R"(,"default":)" + std::to_string(*parameter.otherwise);
      break;
    case Parameter::Type::time: schema = R"({"type":"integer","format":"int64")"; break;
    case Parameter::Type::boolean: schema = R"({"type":"boolean")"; break;
    case Parameter::Type::role: return R"({"$ref":"#/components/schemas/Role"})";
    case Parameter::Type::roles:
      schema = R"({"type":"array","minItems":1,"items":{"$ref":"#/components/schemas/Role"})";
      break;
    case Parameter::Type::integers:
      schema = bounded(R"({"type":"array","minItems":1,"items":{"type":"integer","minimum":0})",
                       parameter, "minItems", "maxItems");
      break;
  }
  return schema += '}';
}

std::string_view place_of(const Parameter& parameter) {
  constexpr std::string_view places[] = {"path", "query", "header"};
  return places[static_cast<std::size_t>(parameter.in)];
}

void append_parameters(std::string& out, const Route& route) {
  out += R"(,"parameters":[)";
  const char* separator = "";
  for (const Parameter& parameter : route.parameters) {
    append_json_string((out += std::exchange(separator, ",")) += R"({"name":)", parameter.name);
    append_json_string(out += R"(,"in":)", place_of(parameter));
    if (parameter.required) out += R"(,"required":true)";
    append_json_string(out += R"(,"description":)", parameter.what);
    if (parameter.type == Parameter::Type::roles || parameter.type == Parameter::Type::integers)
      out += R"(,"style":"form","explode":false)";
    out += R"(,"schema":)" + schema_of(parameter) + "}";
  }
  out += ']';
}

std::string_view name_of(Right right) {
  switch (right) {
    case Right::none: return "none";
    case Right::read: return "read";
    case Right::write: return "write";
    case Right::metrics: return "metrics";
    case Right::operate: return "operate";
  }
  return "";
}

// Of every operation, where a route takes operations.
void append_examples(std::string& out, const Route& route) {
  if (route.takes != "OperationRequest") return;
  const char* separator = R"(,"examples":{)";
  for (const Shape& shape : server_shapes().all()) {
    if (shape.example.empty()) continue;
    append_json_string(out += std::exchange(separator, ","), shape.name);
    append_json_string(out += R"(:{"summary":)", shape.text);
    out += R"(,"value":)" + shape.example + "}";
  }
  out += '}';
}

void append_body(std::string& out, const Route& route) {
  if (route.body == Body::none) return;
  out += route.body_may_be_absent ? R"(,"requestBody":{"required":false)"
                                  : R"(,"requestBody":{"required":true)";
  if (route.body == Body::lines) {
    out += R"(,"content":{"application/x-ndjson":{"schema":{"type":"string"}}}})";
    return;
  }
  out += R"(,"content":{"application/json":{"schema":)" + schemas().of_type(route.takes);
  append_examples(out, route);
  out += "}}}";
}

void append_reply_fields(std::string& out, const Route& route) {
  if (route.reply_fields.empty()) return;
  const char* separator = R"("headers":{)";
  for (const std::string& name : route.reply_fields) {
    append_json_string(out += std::exchange(separator, ","), name);
    out += R"(:{"$ref":"#/components/headers/)" + name + R"("})";
  }
  out += "},";
}

void append_operation(std::string& out, const Route& route) {
  std::string method = route.method;
  std::transform(method.begin(), method.end(), method.begin(),
                 [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  append_json_string(out, method);
  append_json_string(out += R"(:{"operationId":)", route.name);
  append_json_string(out += R"(,"summary":)", route.what);
  append_json_string(out += R"(,"tags":[)", route.tag);
  append_json_string(out += R"(],"x-right":)", name_of(route.right));
  if (route.body != Body::none)
    out += R"(,"x-body-bytes-max":)" + std::to_string(route.body_bytes_max);
  if (route.right == Right::none) out += R"(,"security":[])";
  append_parameters(out, route);
  append_body(out, route);
  out += R"(,"responses":{")" + std::to_string(route.good_status) + R"(":{"description":"Done.",)";
  append_reply_fields(out, route);
  out += R"("content":{)";
  append_json_string(out, route.reply_type);
  out += R"(:{"schema":)" + (route.answers.empty() ? std::string(R"({"type":"string"})")
                                                   : schemas().of_type(route.answers));
  out += R"(}}},"default":{"$ref":"#/components/responses/Error"}}})";
}

std::string openapi_path(std::string path) {
  std::erase(path, '*');
  return path;
}

// In the order of the table.
std::string tags_of(const std::vector<Route>& routes) {
  std::string out = "[";
  std::string_view last;
  for (const Route& route : routes) {
    if (std::exchange(last, route.tag) == route.tag) continue;
    append_json_string(out += out.size() > 1 ? R"(,{"name":)" : R"({"name":)", route.tag);
    out += '}';
  }
  return out + "]";
}

}  // namespace

std::string openapi_json(const std::vector<Route>& routes) {
  std::string out = R"({"openapi":"3.1.0","info":{"title":"Undertext","version":)";
  append_json_string(out, library_version());
  out +=
      R"(,"description":"Conversations of LLM agents: lossless, versioned, edited by operations."},"security":[{},{"token":[]}],"tags":)";
  out += tags_of(routes) + R"(,"paths":{)";
  std::vector<std::string> paths;
  for (const Route& route : routes) {
    if (std::find(paths.begin(), paths.end(), route.path) == paths.end())
      paths.push_back(route.path);
  }
  for (const std::string& path : paths) {
    if (path != paths.front()) out += ',';
    append_json_string(out, openapi_path(path));
    out += ":{";
    const char* separator = "";
    for (const Route& route : routes) {
      if (route.path != path) continue;
      out += std::exchange(separator, ",");
      append_operation(out, route);
    }
    out += '}';
  }
  ((out += R"(},"components":{)") += shared_components) += R"(,"schemas":)" + schemas().of_all();
  return out + "}}";
}

}  // namespace undertext
