// /v1/recall: messages by their words, in all conversations of the token's tenant.
#include <cstdio>
#include <string>
#include <utility>

#include "base/json_text.hpp"
#include "server/app_rep.hpp"

namespace undertext {
namespace {

using Type = Parameter::Type;

void append_unread(std::string& out, const std::vector<UnreadFound>& unread) {
  out += R"(,"unread":[)";
  const char* separator = "";
  for (const UnreadFound& found : unread) {
    append_json_string((out += std::exchange(separator, ",")) += R"({"conversation":)",
                       found.conversation);
    append_json_string(out += R"(,"excerpt":)", found.excerpt);
    out += '}';
  }
  out += ']';
}

http::Reply recall(App::Rep& app, const Call& call) {
  StoreRecallQuery query{.text = *call.find("text"), .messages_max = call.number("limit")};
  if (const std::string* const role = call.find("role")) query.roles = {*role_named(*role)};
  const StoreRecalled recalled =
      app.recalls.of(call.caller.tenant)->search(query, call.work).value();
  std::string out = R"({"ok":true,"result":{"found":[)";
  const char* separator = "";
  for (const StoreFound& found : recalled.found) {
    append_json_string((out += separator) += R"({"conversation":)", found.conversation);
    out += R"(,"ordinal":)" + std::to_string(found.ordinal.value) + R"(,"score":)";
    char score[32];
    std::snprintf(score, sizeof score, "%.4g", found.score);
    ((out += score) += R"(,"message":)") += found.message.json();
    out += '}';
    separator = ",";
  }
  out += ']';
  if (app.options.catalog)
    append_unread(out, app.options.catalog->search_unread(query.text, query.messages_max));
  out += R"(,"conversations":)" + std::to_string(recalled.conversations);
  if (recalled.conversations_out > 0)
    out += R"(,"leftOut":)" + std::to_string(recalled.conversations_out);
  return json_reply(out + "}}");
}

}  // namespace

std::vector<Route> recall_routes(App::Rep& app) {
  return {
      {.method = "GET",
       .path = "/v1/recall",
       .name = "recallEverywhere",
       .what = "Messages that share words with a text, of all conversations of the tenant, hidden "
               "or visible, best first.",
       .parameters = {{.name = "text",
                       .type = Type::text,
                       .required = true,
                       .what = "What to look for.",
                       .least = 1,
                       .most = 4096},
                      {.name = "role", .type = Type::role, .what = "Only messages of this role."},
                      {.name = "limit",
                       .type = Type::integer,
                       .what = "How many at most.",
                       .least = 1,
                       .most = 100,
                       .otherwise = 20}},
       .answers = "StoreRecalledAnswer",
       .handle = replying([&app](const Call& call) { return recall(app, call); })}};
}

}  // namespace undertext
