// Conversations as a whole: those there are, making one, looking at one, taking one out, going
// another way from one.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <undertext/store_ledger.hpp>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "json/fields.hpp"
#include "json/ledger_json.hpp"
#include "json/models_json.hpp"
#include "json/settings_json.hpp"
#include "server/app_rep.hpp"
#include "server/outside_settings.hpp"
#include "server/shapes.hpp"
#include "server/wall_clock.hpp"
#include "store/fresh_id.hpp"

namespace undertext {
namespace {

void append_origin(std::string& out, const Origin& origin) {
  append_json_string(out += R"({"id":)", origin.conversation);
  out += R"(,"version":)" + std::to_string(origin.version) + "}";
}

// The members that a list and a single answer have in common.
void append_record(std::string& out, const ConversationRecord& record) {
  append_json_string(out += R"("id":)", record.id);
  out += R"(,"version":)" + std::to_string(record.version) + R"(,"totalMessages":)" +
         std::to_string(record.log_length);
  out += R"(,"createdAt":)" + std::to_string(record.created_at_ms) + R"(,"updatedAt":)" +
         std::to_string(record.updated_at_ms);
  if (record.first_version > 0) out += R"(,"firstVersion":)" + std::to_string(record.first_version);
  if (record.origin) append_origin(out += R"(,"origin":)", *record.origin);
}

http::Reply ledger(const App::Rep& app, const Call& call) {
  LedgerQuery query;
  if (call.has("from")) query.from_ms = static_cast<std::int64_t>(call.number("from"));
  if (call.has("to")) query.to_ms = static_cast<std::int64_t>(call.number("to"));
  std::string out;
  append_result(out, store_ledger(app.store(call), query, call.work).value());
  return json_reply(std::move(out));
}

// A search, or a list in another order, looks at so many conversations in one call.
constexpr std::uint64_t searched_max = 10'000;

// Upper and lower case of ASCII letters are one.
bool contains(std::string_view text, std::string_view sought) {
  const auto lowered = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  };
  const auto is_same = [&](char a, char b) { return lowered(a) == lowered(b); };
  return std::search(text.begin(), text.end(), sought.begin(), sought.end(), is_same) != text.end();
}

struct Listed {
  ConversationRecord record;
  std::optional<ConversationAbout> about;
  std::int64_t updated_at_ms() const { return about ? about->updated_at_ms : record.updated_at_ms; }
};

// Nothing where it is not searched for.
std::optional<Listed> listed(const App::Rep& app, ConversationRecord record,
                             std::string_view search) {
  Listed found{std::move(record), {}};
  if (app.options.catalog) found.about = app.options.catalog->about(found.record.id);
  const bool is_it = found.record.id.find(search) != std::string::npos ||
                     (found.about && (contains(found.about->title, search) ||
                                      contains(found.about->project, search)));
  return is_it ? std::optional(std::move(found)) : std::nullopt;
}

void append_about(std::string& out, const ConversationAbout& about) {
  append_json_string(out += R"(,"about":{"client":)", about.client);
  append_json_string(out += R"(,"title":)", about.title);
  append_json_string(out += R"(,"project":)", about.project);
  append_json_string(out += R"(,"model":)", about.model);
  out += R"(,"startedAt":)" + std::to_string(about.started_at_ms) + R"(,"updatedAt":)" +
         std::to_string(about.updated_at_ms);
  out += R"(,"tokens":{"input":)" + std::to_string(about.input) + R"(,"output":)" +
         std::to_string(about.output);
  out += R"(,"cacheRead":)" + std::to_string(about.cache_read) + R"(,"cacheWrite":)" +
         std::to_string(about.cache_write);
  // In millionths, and as JavaScript spells it: the inspector keeps numbers of another spelling as
  // text. What has no such spelling is no cost.
  constexpr double unit = 1e6;
  char cost[64];
  const std::to_chars_result end = std::to_chars(
      cost, cost + sizeof cost, std::round(about.cost * unit) / unit, std::chars_format::fixed);
  const bool is_spelled = std::isfinite(about.cost) && end.ec == std::errc();
  out.append(R"(},"cost":)").append(is_spelled ? std::string_view(cost, end.ptr) : "0") += '}';
}

http::Reply list_reply(const std::vector<Listed>& page, const std::string& next) {
  std::string out = R"({"ok":true,"result":{"conversations":[)";
  const char* separator = "{";
  for (const Listed& each : page) {
    append_record(out += std::exchange(separator, ",{"), each.record);
    if (each.about) append_about(out, *each.about);
    out += '}';
  }
  out += ']';
  if (!next.empty()) append_json_string(out += R"(,"next":)", next);
  return json_reply(out + "}}");
}

http::Reply list_by_id(const App::Rep& app, Store& store, ListOptions options,
                       const std::string& search, std::uint64_t limit) {
  std::vector<Listed> page;
  std::uint64_t looked_at = 0;
  bool at_end = false;
  while (page.size() < limit && looked_at < searched_max && !at_end) {
    std::vector<ConversationRecord> records = store.list(options).value();
    at_end = records.size() < options.limit;
    for (ConversationRecord& record : records) {
      if (page.size() == limit) {
        at_end = false;
        break;
      }
      options.after = record.id;
      ++looked_at;
      if (std::optional<Listed> found = listed(app, std::move(record), search))
        page.push_back(*std::move(found));
    }
  }
  return list_reply(page, at_end ? std::string() : options.after);
}

// Stores have conversations by id alone, so all of them are looked at.
http::Reply list_newest(const App::Rep& app, Store& store, const std::string& after,
                        const std::string& search, std::uint64_t limit) {
  std::vector<Listed> all;
  ListOptions options{.limit = 1000};
  for (std::uint64_t looked_at = 0;;) {
    std::vector<ConversationRecord> records = store.list(options).value();
    const bool at_end = records.size() < options.limit;
    looked_at += records.size();
    if (looked_at > searched_max)
      refuse(ErrorCode::too_large, "there are too many conversations to sort them", "order");
    if (!at_end) options.after = records.back().id;
    for (ConversationRecord& record : records)
      if (std::optional<Listed> found = listed(app, std::move(record), search))
        all.push_back(*std::move(found));
    if (at_end) break;
  }
  std::sort(all.begin(), all.end(), [](const Listed& a, const Listed& b) {
    const std::int64_t a_ms = a.updated_at_ms(), b_ms = b.updated_at_ms();
    return a_ms != b_ms ? a_ms > b_ms : a.record.id < b.record.id;
  });
  const auto last = std::find_if(all.begin(), all.end(),
                                 [&](const Listed& each) { return each.record.id == after; });
  const auto first = after.empty() ? all.begin() : last == all.end() ? last : std::next(last);
  std::vector<Listed> page;
  for (auto at = first; at != all.end() && page.size() < limit; ++at)
    page.push_back(std::move(*at));
  const bool at_end = page.empty() || static_cast<std::size_t>(all.end() - first) == page.size();
  return list_reply(page, at_end ? std::string() : page.back().record.id);
}

http::Reply list(const App::Rep& app, const Call& call) {
  const std::shared_ptr<Store> store = app.store(call);
  const std::string search = call.has("search") ? *call.find("search") : std::string();
  const std::string after = call.has("after") ? *call.find("after") : std::string();
  const std::string order = call.has("order") ? *call.find("order") : std::string("id");
  const std::uint64_t limit = call.number("limit");
  if (order == "newest") return list_newest(app, *store, after, search, limit);
  if (order != "id") refuse(ErrorCode::invalid_argument, "must be id or newest", "order");
  const std::uint32_t read = search.empty() ? static_cast<std::uint32_t>(limit) : 1000;
  return list_by_id(app, *store, {.after = after, .limit = read}, search, limit);
}

// The body of POST /v1/conversations and …/fork, which may be empty.
NewConversationBody read_made(const http::Request& request,
                              void (*read)(Fields&, NewConversationBody&)) {
  NewConversationBody made{.id = fresh_id(wall_clock_ms())};
  if (request.body.empty()) return made;
  const JsonText text = JsonText::parse(request.body, {}).value();
  if (!text.root().is(JsonType::object))
    refuse(ErrorCode::invalid_argument, "the body must be a JSON object");
  Reading reading;
  Fields fields(text.root(), "the body", reading);
  read(fields, made);
  fields.done();
  if (reading.failed()) throw Failure(reading.take_error());
  return made;
}

http::Reply made_reply(const std::string& id, Version version) {
  std::string out = R"({"ok":true,"result":{"id":)";
  append_json_string(out, id);
  http::Reply reply =
      json_reply(out + R"(,"version":)" + std::to_string(version.value) + "}}", 201);
  reply.fields.push_back({"Location", "/v1/conversations/" + id});
  reply.fields.push_back(etag(version));
  return reply;
}

http::Reply made_reply(const Conversation& conversation) {
  return made_reply(conversation.id(), conversation.version());
}

http::Reply make(const App::Rep& app, const Call& call) {
  const NewConversationBody made = read_made(call.request, read_new_conversation);
  const std::shared_ptr<Store> store = app.store(call);
  Settings settings = outside_settings(made.settings);
  OpenOptions options{.make = OpenOptions::Make::always};
  if (!made.settings.empty()) options.note = made.settings;
  return make_once(
      *store, call,
      {.what = "make",
       .id = made.id,
       .make =
           [&](const std::string& id, const std::string& mark) {
             options.made_by = mark;
             return made_reply(Conversation::open(store, id, std::move(settings), options).value());
           },
       .again =
           [](const ConversationRecord& record) { return made_reply(record.id, Version(0)); }});
}

http::Reply fork(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = app.conversation(call);
  const NewConversationBody made = read_made(call.request, read_new_fork);
  conversation->catch_up().value();
  const auto branch = [&](const std::string& id, const std::string& mark) {
    return made_reply(
        conversation->fork(made.version.value_or(conversation->version()), id, mark).value());
  };
  return make_once(*app.store(call), call,
                   {.what = "fork " + conversation->id(),
                    .id = made.id,
                    .make = branch,
                    .again = [](const ConversationRecord& record) {
                      return made_reply(record.id,
                                        Version(record.origin ? record.origin->version : 0));
                    }});
}

void append_forks(std::string& out, Store& store, const ConversationRecord& record) {
  constexpr std::size_t forks_max = 100;
  out += R"(,"forks":[)";
  for (std::size_t i = 0; i < record.forks.size() && i < forks_max; ++i) {
    const Result<ConversationRecord> fork = store.find(record.forks[i]);
    if (i > 0) out += ',';
    append_origin(out, {.conversation = record.forks[i],
                        .version = fork && fork->origin ? fork->origin->version : 0});
  }
  out += ']';
}

http::Reply show(App::Rep& app, const Call& call) {
  const std::shared_ptr<Store> store = app.store(call);
  const std::shared_ptr<Conversation> conversation = app.conversation(call);
  conversation->catch_up().value();
  const History history = conversation->history().limited(call.work);
  ConversationRecord record = store->find(*call.find("id")).value();
  record.version = history.version().value;  // the record may be newer by now
  std::string out = R"({"ok":true,"result":{)";
  append_record(out, record);
  if (app.options.catalog)
    if (const std::optional<ConversationAbout> about = app.options.catalog->about(record.id))
      append_about(out, *about);
  append_json(out += R"(,"stats":)", history.stats());
  const Counting counting = counting_by(conversation->counting()).value();
  append_json_string(out += R"(,"tokenizer":)", counting.tokenizer->name());
  out += counts_exactly(counting, history.view()) ? R"(,"exact":true)" : R"(,"exact":false)";
  append_json(out += R"(,"model":)", settled_model(conversation->settings(), counting.name));
  append_shown_settings(out += R"(,"settings":)",
                        Conversation::stored_note(*store, *call.find("id")).value());
  append_forks(out, *store, record);
  http::Reply reply = json_reply(out + "}}");
  reply.fields.push_back(etag(history.version()));
  return reply;
}

http::Reply take_out(App::Rep& app, const Call& call) {
  const std::string& id = *call.find("id");
  const std::shared_ptr<Store> store = app.store(call);
  store->find(id).value();  // not_found, where purge() would answer that one is gone already
  PurgeOptions options;
  if (const std::optional<Version> expected = expected_version(call))
    options.expected_version = expected->value;
  const std::string why = call.has("why") ? *call.find("why") : std::string();
  if (Result<void> purged = store->purge(id, {call.caller.name, wall_clock_ms(), why}, options);
      !purged) {
    if (purged.error().field != "expected_version") throw Failure(std::move(purged.error()));
    purged.error().field = "If-Match";
    return error_reply(purged.error(), 412);
  }
  app.conversations.forget(call.caller.tenant, id);
  app.compressions.forget(call.caller.tenant, id);
  app.events.tell_deleted(call.caller.tenant, id);
  std::string out = R"({"ok":true,"result":{"purged":)";
  append_json_string(out, id);
  return json_reply(out + "}}");
}

}  // namespace

std::vector<Route> conversation_routes(App::Rep& app) {
  using Type = Parameter::Type;
  return {
      {.method = "GET",
       .path = "/v1/ledger",
       .name = "getStoreLedger",
       .what = "What the recorded requests of all conversations cost, by day and model.",
       .parameters = {{.name = "from",
                       .type = Type::integer,
                       .what = "Only requests at or after this time, in milliseconds since 1970."},
                      {.name = "to",
                       .type = Type::integer,
                       .what = "Only requests before this time."}},
       .answers = "StoreLedgerAnswer",
       .handle = replying([&app](const Call& call) { return ledger(app, call); })},
      {.method = "GET",
       .path = "/v1/conversations",
       .name = "listConversations",
       .what = "Lists the conversations.",
       .parameters =
           {{.name = "after",
             .type = Type::id,
             .what = "Only ids after this one: the next of the previous answer."},
            {.name = "limit",
             .type = Type::integer,
             .what = "How many at most.",
             .least = 1,
             .most = 1000,
             .otherwise = 100},
            {.name = "search",
             .what = "Only ids, or titles and projects where these are known, that contain this.",
             .least = 1,
             .most = 128},
            {.name = "order",
             .what = "By id (default), or the newest first: of at most 10,000 conversations, else "
                     "too_large.",
             .least = 1,
             .most = 16,
             .words = R"("id"|"newest")"}},
       .answers = "ConversationListAnswer",
       .handle = replying([&app](const Call& call) { return list(app, call); })},
      {.method = "POST",
       .path = "/v1/conversations",
       .right = Right::write,
       .name = "makeConversation",
       .what = "Makes a conversation. Both members of the body may be absent, and so may the body.",
       .parameters = {idempotency_key()},
       .body = Body::json,
       .body_may_be_absent = true,
       .takes = "NewConversation",
       .answers = "NewConversationAnswer",
       .reply_fields = {"ETag", "Location"},
       .good_status = 201,
       .handle = replying([&app](const Call& call) { return make(app, call); })},
      {.method = "GET",
       .path = "/v1/conversations/{id}",
       .name = "getConversation",
       .what = "What is known of a conversation as a whole.",
       .parameters = {conversation_id()},
       .answers = "ConversationAnswer",
       .reply_fields = {"ETag"},
       .handle = replying([&app](const Call& call) { return show(app, call); })},
      {.method = "DELETE",
       .path = "/v1/conversations/{id}",
       .right = Right::write,
       .name = "deleteConversation",
       .what = "Deletes a conversation permanently. A stub with who, when and why stays, and its "
               "id cannot be used again.",
       .parameters = {conversation_id(),
                      if_match(),
                      {.name = "why", .what = "The reason, which stays on record.", .most = 1000}},
       .answers = "PurgedAnswer",
       .handle = replying([&app](const Call& call) { return take_out(app, call); })},
      {.method = "POST",
       .path = "/v1/conversations/{id}/fork",
       .right = Right::write,
       .name = "forkConversation",
       .what = "Makes a conversation that starts at a version of this one, and shares all messages "
               "with it.",
       .parameters = {conversation_id(), idempotency_key()},
       .body = Body::json,
       .body_may_be_absent = true,
       .takes = "NewFork",
       .answers = "NewConversationAnswer",
       .reply_fields = {"ETag", "Location"},
       .good_status = 201,
       .handle = replying([&app](const Call& call) { return fork(app, call); })},
  };
}

}  // namespace undertext
