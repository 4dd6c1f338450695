#include "server/openapi.hpp"

#include <algorithm>
#include <utility>

#include <undertext/undertext.hpp>

#include "base/json_text.hpp"

namespace undertext {
namespace {

// What schemas of the rows refer to.
constexpr std::string_view components =
    R"("components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer"}},"headers":{"ETag":{"description":"The version, in quotation marks.","schema":{"type":"string","pattern":"^\"[0-9]+\"$"}},"Location":{"description":"The path of what was made.","schema":{"type":"string"}}},"responses":{"Error":{"description":"What went wrong; the status follows from the code.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}}},"schemas":{)"
    R"("Id":{"type":"string","pattern":"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"},)"
    R"("Error":{"type":"object","required":["ok","error"],"properties":{"ok":{"const":false},"error":{"type":"object","required":["code","message"],"properties":{"code":{"enum":["invalid_argument","not_found","conflict","cannot_fit","corrupt","unavailable","unsupported","too_large","internal","denied"]},"field":{"type":"string"},"path":{"type":"string"},"operationIndex":{"type":"integer"},"byteOffset":{"type":"integer"},"minimum":{"type":"integer"},"message":{"type":"string"}}}}},)"
    R"("Message":{"type":"object","required":["role"],"properties":{"role":{"type":"string"},"content":{}}},)"
    R"("Messages":{"type":"object","required":["ok","messages","ordinals"],"properties":{"ok":{"const":true},"messages":{"type":"array","items":{"$ref":"#/components/schemas/Message"}},"ordinals":{"type":"array","items":{"type":"integer"}}}},)"
    R"("Stats":{"type":"object","required":["totalMessages","currentBatchMessages","totalBatches","currentBatchIndex","tokens"],"properties":{"totalMessages":{"type":"integer"},"currentBatchMessages":{"type":"integer"},"totalBatches":{"type":"integer"},"currentBatchIndex":{"type":"integer"},"tokens":{"type":"integer"}}},)"
    R"("Settings":{"type":"object","additionalProperties":false,"properties":{"model":{"type":"string"},"tokenizer":{"type":"string"},"costs":{"type":"string"},"profile":{"type":"string"},"window":{"type":"integer","minimum":0},"tokenLimit":{"type":"integer","minimum":0},"pairs":{"type":"string"},"limits":{"type":"object"},"compressionConfig":{"type":"object"}}},)"
    R"("Reference":{"type":"object","required":["id","version"],"properties":{"id":{"type":"string"},"version":{"type":"integer"}}},)"
    R"("ListedConversation":{"type":"object","required":["id","version","totalMessages","createdAt","updatedAt"],"properties":{"id":{"type":"string"},"version":{"type":"integer"},"totalMessages":{"type":"integer"},"createdAt":{"type":"integer"},"updatedAt":{"type":"integer"},"firstVersion":{"type":"integer"},"origin":{"$ref":"#/components/schemas/Reference"}}},)"
    R"("Conversation":{"allOf":[{"$ref":"#/components/schemas/ListedConversation"},{"type":"object","required":["stats","tokenizer","exact","model","settings","forks"],"properties":{"stats":{"$ref":"#/components/schemas/Stats"},"tokenizer":{"type":"string"},"exact":{"type":"boolean"},"model":{"type":"object"},"settings":{"type":"object"},"forks":{"type":"array","items":{"$ref":"#/components/schemas/Reference"}}}}]},)"
    R"("Operation":{"type":"object","required":["operation"],"properties":{"operation":{"type":"string"},"expectedVersion":{"type":"integer","minimum":0},"description":{"type":"string"},"operationId":{"type":"string"}}},)"
    R"("Outcome":{"type":"object","required":["ok","operation","version","affectedBatchIndex","stats"],"properties":{"ok":{"const":true},"operation":{"type":"string"},"version":{"type":"integer"},"affectedBatchIndex":{"type":"integer"},"stats":{"$ref":"#/components/schemas/Stats"}}},)"
    R"("ByRole":{"type":"object","required":["system","user","assistant","tool"],"properties":{"system":{"type":"integer"},"user":{"type":"integer"},"assistant":{"type":"integer"},"tool":{"type":"integer"}}},)"
    R"("Sums":{"type":"object","required":["version","messages","tokens","bytes","byRole","messagesByRole"],"properties":{"version":{"type":"integer"},"messages":{"type":"integer"},"tokens":{"type":"integer"},"bytes":{"type":"integer"},"byRole":{"$ref":"#/components/schemas/ByRole"},"messagesByRole":{"$ref":"#/components/schemas/ByRole"}}},)"
    R"("Diff":{"type":"object","required":["removed","added","moved"],"properties":{"removed":{"type":"array","items":{"type":"integer"}},"added":{"type":"array","items":{"type":"integer"}},"moved":{"type":"array","items":{"type":"integer"}}}},)"
    R"("Version":{"type":"object","required":["version","parent","operation","batchIndex","timestamp","description","messageCount","tokens"],"properties":{"version":{"type":"integer"},"parent":{"type":["integer","null"]},"operation":{"type":["string","null"]},"batchIndex":{"type":"integer"},"timestamp":{"type":"integer"},"description":{"type":["string","null"]},"messageCount":{"type":"integer"},"tokens":{"type":"integer"},"restores":{"type":"integer"}}},)"
    R"("Point":{"allOf":[{"$ref":"#/components/schemas/Version"},{"type":"object","required":["byRole","messagesByRole"],"properties":{"byRole":{"$ref":"#/components/schemas/ByRole"},"messagesByRole":{"$ref":"#/components/schemas/ByRole"}}}]},)"
    R"("Compression":{"type":"object","required":["job","state","strategy","startedAt","version"],"properties":{"job":{"type":"string"},"scope":{"const":"process","description":"It lives in the process that was asked, and nowhere else."},"state":{"enum":["running","done","failed","cancelled"]},"strategy":{},"startedAt":{"type":"integer"},"endedAt":{"type":"integer"},"version":{"type":"integer","description":"The head when it began."},"messages":{"type":"integer"},"tokens":{"type":"integer"},"progress":{"type":"object","description":"While it runs.","required":["stage"],"properties":{"stage":{"enum":["planning","summarising","applying"]},"messages":{"type":"integer","description":"That are being summarised."},"summaryBytes":{"type":"integer","description":"Of the summary so far, where the model streams it."}}},"answer":{"type":"object"},"error":{"type":"object"}}},)"
    R"("Role":{"enum":["system","user","assistant","tool"]},)";

// And of messages with what is known of them.
constexpr std::string_view row_components =
    R"("Row":{"type":"object",)"
    R"("required":["index","ordinal","time","tokens","marks","standsFor","role","blocks","message"],"properties":{)"
    R"("change":{"enum":["removed","added"]},"index":{"type":["integer","null"]},"ordinal":{"type":"integer"},)"
    R"("time":{"type":"integer"},"tokens":{"type":"integer"},"marks":{"type":"array","items":{"type":"string"}},)"
    R"("standsFor":{"type":"array","items":{"type":"integer"}},"standsForCount":{"type":"integer"},)"
    R"("role":{"$ref":"#/components/schemas/Role"},"blocks":{"$ref":"#/components/schemas/Blocks"},)"
    R"("message":{"$ref":"#/components/schemas/Message"}}},)"
    R"("MessageBlocks":{"type":"object","required":["ordinal","role","blocks"],"properties":{"ordinal":{"type":"integer"},)"
    R"("role":{"$ref":"#/components/schemas/Role"},"blocks":{"$ref":"#/components/schemas/Blocks"}}},)"
    R"("Blocks":{"type":"array","items":{"$ref":"#/components/schemas/Block"}},)"
    R"("Block":{"type":"object","required":["kind"],"properties":{)"
    R"("kind":{"enum":["text","call","result","reasoning","media","opaque"]},)"
    R"("type":{"type":"string","description":"The format's own word, where it says more than kind."},)"
    R"("text":{"type":"string"},"callId":{"type":"string"},"name":{"type":"string","description":"Of the tool."},)"
    R"("arguments":{"description":"Of a call, as given: an object, or a string."},)"
    R"("isError":{"const":true},"byProvider":{"const":true,"description":"The provider runs the tool."},)"
    R"("blocks":{"$ref":"#/components/schemas/Blocks"},)"
    R"("media":{"enum":["image","audio","video","file"]},"source":{"enum":["base64","url","file_id","text"]},)"
    R"("data":{"type":"string"},"mime":{"type":"string"},"detail":{"type":"string"},"filename":{"type":"string"},)"
    R"("json":{"description":"Of an opaque block: the value as given."}}})"
    R"(}})";

std::string bounded(std::string schema, const Parameter& parameter, std::string_view least, std::string_view most) {
  if (parameter.least) schema += R"(,")" + std::string(least) + R"(":)" + std::to_string(*parameter.least);
  if (parameter.most) schema += R"(,")" + std::string(most) + R"(":)" + std::to_string(*parameter.most);
  return schema;
}

std::string schema_of(const Parameter& parameter) {
  std::string schema;
  switch (parameter.type) {
    case Parameter::Type::text: schema = bounded(R"({"type":"string")", parameter, "minLength", "maxLength"); break;
    case Parameter::Type::id: return R"({"$ref":"#/components/schemas/Id"})";
    case Parameter::Type::integer:
      schema = bounded(R"({"type":"integer","format":"int64")", parameter, "minimum", "maximum");
      if (!parameter.least) schema += R"(,"minimum":0)";
      if (parameter.otherwise) schema += R"(,"default":)" + std::to_string(*parameter.otherwise);
      break;
    case Parameter::Type::time: schema = R"({"type":"integer","format":"int64")"; break;
    case Parameter::Type::boolean: schema = R"({"type":"boolean")"; break;
    case Parameter::Type::role: return R"({"$ref":"#/components/schemas/Role"})";
    case Parameter::Type::roles: schema = R"({"type":"array","minItems":1,"items":{"$ref":"#/components/schemas/Role"})"; break;
    case Parameter::Type::integers:
      schema = bounded(R"({"type":"array","minItems":1,"items":{"type":"integer","minimum":0})", parameter, "minItems", "maxItems");
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
  }
  return "";
}

void append_body(std::string& out, const Route& route) {
  if (route.body == Body::none) return;
  const bool is_lines = route.body == Body::lines;
  out += route.body_may_be_absent ? R"(,"requestBody":{"required":false)" : R"(,"requestBody":{"required":true)";
  out += is_lines ? R"(,"content":{"application/x-ndjson":{"schema":{"type":"string"}}}})"
                  : R"(,"content":{"application/json":{"schema":)" + route.body_schema + "}}}";
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
  std::transform(method.begin(), method.end(), method.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  append_json_string(out, method);
  append_json_string(out += R"(:{"operationId":)", route.name);
  append_json_string(out += R"(,"summary":)", route.what);
  append_json_string(out += R"(,"x-right":)", name_of(route.right));
  if (route.body != Body::none) out += R"(,"x-body-bytes-max":)" + std::to_string(route.body_bytes_max);
  if (route.right == Right::none) out += R"(,"security":[])";
  append_parameters(out, route);
  append_body(out, route);
  out += R"(,"responses":{")" + std::to_string(route.good_status) + R"(":{"description":"Done.",)";
  append_reply_fields(out, route);
  out += R"("content":{)";
  append_json_string(out, route.reply_type);
  out += R"(:{"schema":)" + (route.reply_schema.empty() ? std::string(R"({"type":"string"})") : route.reply_schema);
  out += R"(}}},"default":{"$ref":"#/components/responses/Error"}}})";
}

std::string openapi_path(std::string path) {
  std::erase(path, '*');
  return path;
}

}  // namespace

std::string openapi_json(const std::vector<Route>& routes) {
  std::string out = R"({"openapi":"3.1.0","info":{"title":"Undertext","version":)";
  append_json_string(out, library_version());
  out +=
      R"(,"description":"Conversations of LLM agents: lossless, versioned, edited by operations."},"security":[{},{"token":[]}],"paths":{)";
  std::vector<std::string> paths;
  for (const Route& route : routes) {
    if (std::find(paths.begin(), paths.end(), route.path) == paths.end()) paths.push_back(route.path);
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
  return (((out += "},") += components) += row_components) + "}";
}

}  // namespace undertext
