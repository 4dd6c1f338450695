#include "json/reconcile_json.hpp"

#include <undertext/client.hpp>

namespace undertext {
namespace {

std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) (list += list.empty() ? "" : ", ") += name;
  return list;
}

}  // namespace

std::optional<ClientProfile> take_client(Fields& fields) {
  std::string name = "generic";
  fields.take("client", name, {"Whose request it is. Default: generic.", "ClientName"});
  Result<ClientProfile> client = find_client(name);
  if (client) return std::move(*client);
  fields.fail("client",
              "\"" + clipped(name) + "\" is unknown; there are " + listed(client_names()));
  return std::nullopt;
}

std::optional<Dialect> take_dialect(Fields& fields) {
  std::optional<std::string> name;
  fields.take(
      "dialect", name,
      {"The format of the request. Default: that of the client, or the engine's own.", "Dialect"});
  const std::optional<Dialect> dialect = name ? dialect_named(*name) : std::nullopt;
  if (name && !dialect) fields.fail("dialect", "\"" + clipped(*name) + "\" is unknown");
  return dialect;
}

void take_reconcile(Fields& fields, const MessageLimits& limits, op::Reconcile& reconcile) {
  const std::optional<ClientProfile> client = take_client(fields);
  const std::optional<Dialect> dialect = take_dialect(fields);
  const std::optional<JsonValue> request =
      fields.find("request", {"A whole request.", "JsonObject"});
  const std::optional<JsonValue> messages =
      fields.find("messages", {"Its list of messages alone.", "JsonObject[]"});
  if (fields.describes()) return fields.describe_choice({{"request", "messages"}, true});
  if (request && messages)
    return fields.fail("request", "and messages exclude each other; give one of the two");
  if (!request && !messages)
    return fields.missing("request", "(a whole request) or messages (its list) must be given");
  const std::string_view field = request ? "request" : "messages";
  const JsonValue& given = request ? *request : *messages;
  if (!given.is(request ? JsonType::object : JsonType::array))
    return fields.fail(field, request ? "must be an object" : "must be a list of messages");
  if (!client) return;
  Result<ClientRequest> read = read_client_request(*client, dialect, given.raw(), limits);
  if (read) {
    reconcile = std::move(read->reconcile);
    return;
  }
  fields.fail_inside(field, read.error());
}

}  // namespace undertext
