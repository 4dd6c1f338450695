// Conversations as a whole: those there are, making one, looking at one, taking one out, going another way from one.
#include <utility>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "json/fields.hpp"
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
  out += R"(,"version":)" + std::to_string(record.version) + R"(,"totalMessages":)" + std::to_string(record.log_length);
  out += R"(,"createdAt":)" + std::to_string(record.created_at_ms) + R"(,"updatedAt":)" + std::to_string(record.updated_at_ms);
  if (record.first_version > 0) out += R"(,"firstVersion":)" + std::to_string(record.first_version);
  if (record.origin) append_origin(out += R"(,"origin":)", *record.origin);
}

// A search looks at so many ids in one call; what is beyond is for the next one.
constexpr std::uint64_t searched_max = 10'000;

http::Reply list(const App::Rep& app, const Call& call) {
  const std::shared_ptr<Store> store = app.store(call);
  const std::string search = call.has("search") ? *call.find("search") : std::string();
  const std::uint64_t limit = call.number("limit");
  ListOptions options{.after = call.has("after") ? *call.find("after") : std::string(),
                      .limit = search.empty() ? static_cast<std::uint32_t>(limit) : 1000};
  std::string out = R"({"ok":true,"result":{"conversations":[)";
  std::uint64_t found = 0, looked_at = 0;
  bool at_end = false;
  while (found < limit && looked_at < searched_max && !at_end) {
    const std::vector<ConversationRecord> records = store->list(options).value();
    at_end = records.size() < options.limit;
    for (const ConversationRecord& record : records) {
      if (found == limit) {
        at_end = false;
        break;
      }
      options.after = record.id;
      ++looked_at;
      if (record.id.find(search) == std::string::npos) continue;
      out += found++ == 0 ? "{" : ",{";
      append_record(out, record);
      out += '}';
    }
  }
  out += ']';
  if (!at_end) append_json_string(out += R"(,"next":)", options.after);
  return json_reply(out + "}}");
}

// The body of POST /v1/conversations and …/fork, which may be empty.
NewConversationBody read_made(const http::Request& request, void (*read)(Fields&, NewConversationBody&)) {
  NewConversationBody made{.id = fresh_id(wall_clock_ms())};
  if (request.body.empty()) return made;
  const JsonText text = JsonText::parse(request.body, {}).value();
  if (!text.root().is(JsonType::object)) refuse(ErrorCode::invalid_argument, "the body must be a JSON object");
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
  http::Reply reply = json_reply(out + R"(,"version":)" + std::to_string(version.value) + "}}", 201);
  reply.fields.push_back({"Location", "/v1/conversations/" + id});
  reply.fields.push_back(etag(version));
  return reply;
}

http::Reply made_reply(const Conversation& conversation) { return made_reply(conversation.id(), conversation.version()); }

http::Reply make(const App::Rep& app, const Call& call) {
  const NewConversationBody made = read_made(call.request, read_new_conversation);
  const std::shared_ptr<Store> store = app.store(call);
  Settings settings = outside_settings(made.settings);
  OpenOptions options{.make = OpenOptions::Make::always};
  if (!made.settings.empty()) options.note = made.settings;
  return make_once(*store, call,
                   {.what = "make",
                    .id = made.id,
                    .make =
                        [&](const std::string& id, const std::string& mark) {
                          options.made_by = mark;
                          return made_reply(Conversation::open(store, id, std::move(settings), options).value());
                        },
                    .again = [](const ConversationRecord& record) { return made_reply(record.id, Version(0)); }});
}

http::Reply fork(App::Rep& app, const Call& call) {
  const std::shared_ptr<Conversation> conversation = app.conversation(call);
  const NewConversationBody made = read_made(call.request, read_new_fork);
  conversation->catch_up().value();
  const auto branch = [&](const std::string& id, const std::string& mark) {
    return made_reply(conversation->fork(made.version.value_or(conversation->version()), id, mark).value());
  };
  return make_once(
      *app.store(call), call,
      {.what = "fork " + conversation->id(), .id = made.id, .make = branch, .again = [](const ConversationRecord& record) {
         return made_reply(record.id, Version(record.origin ? record.origin->version : 0));
       }});
}

void append_forks(std::string& out, Store& store, const ConversationRecord& record) {
  constexpr std::size_t forks_max = 100;
  out += R"(,"forks":[)";
  for (std::size_t i = 0; i < record.forks.size() && i < forks_max; ++i) {
    const Result<ConversationRecord> fork = store.find(record.forks[i]);
    if (i > 0) out += ',';
    append_origin(out, {.conversation = record.forks[i], .version = fork && fork->origin ? fork->origin->version : 0});
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
  append_json(out += R"(,"stats":)", history.stats());
  const Counting counting = counting_by(conversation->counting()).value();
  append_json_string(out += R"(,"tokenizer":)", counting.tokenizer->name());
  out += counts_exactly(counting, history.view()) ? R"(,"exact":true)" : R"(,"exact":false)";
  append_json(out += R"(,"model":)", settled_model(conversation->settings(), counting.name));
  append_shown_settings(out += R"(,"settings":)", Conversation::stored_note(*store, *call.find("id")).value());
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
  if (const std::optional<Version> expected = expected_version(call)) options.expected_version = expected->value;
  const std::string why = call.has("why") ? *call.find("why") : std::string();
  if (Result<void> purged = store->purge(id, {call.caller.name, wall_clock_ms(), why}, options); !purged) {
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
       .path = "/v1/conversations",
       .name = "listConversations",
       .what = "The conversations there are, by id.",
       .parameters =
           {{.name = "after", .type = Type::id, .what = "Only ids behind this one: the next of the answer before."},
            {.name = "limit", .type = Type::integer, .what = "How many at most.", .least = 1, .most = 1000, .otherwise = 100},
            {.name = "search", .what = "Only ids that contain this.", .least = 1, .most = 128}},
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
       .what = "Deletes a conversation permanently. A stub with who, when and why stays, and its id cannot be used again.",
       .parameters = {conversation_id(), if_match(), {.name = "why", .what = "The reason, which stays on record.", .most = 1000}},
       .answers = "PurgedAnswer",
       .handle = replying([&app](const Call& call) { return take_out(app, call); })},
      {.method = "POST",
       .path = "/v1/conversations/{id}/fork",
       .right = Right::write,
       .name = "forkConversation",
       .what = "Makes another conversation that goes on from a version of this one, and shares all messages with it.",
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
