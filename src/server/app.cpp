#include "server/app.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "base/json_size.hpp"
#include "base/json_text.hpp"
#include "server/app_rep.hpp"
#include "server/openapi.hpp"

namespace undertext {
namespace {

std::vector<Route> all_routes(App::Rep& app) {
  std::vector<Route> all;
  const std::pair<const char*, std::vector<Route> (*)(App::Rep&)> groups[] = {
      {"conversations", conversation_routes},
      {"operations", operation_routes},
      {"queries", query_routes},
      {"recall", recall_routes},
      {"history", history_routes},
      {"live", live_routes},
      {"usage", usage_routes},
      {"transfer", transfer_routes},
      {"mcp", mcp_routes},
      {"server", page_routes}};
  for (const auto& [tag, group] : groups) {
    for (Route& route : group(app)) {
      route.tag = tag;
      all.push_back(std::move(route));
    }
  }
  return all;
}

// What is smaller is not asked for before it is there.
constexpr std::uint64_t worth_asking = 64 << 10;

// The lines of a body are read one after the other.
std::uint64_t reading_bytes(Body kind, std::string_view body) {
  if (kind == Body::json) return json_reading_bytes(body) + blocks_bytes(body);
  std::uint64_t most = 0;
  while (!body.empty()) {
    const std::string_view line = body.substr(0, body.find('\n'));
    most = std::max(most, json_reading_bytes(line) + blocks_bytes(line));
    body.remove_prefix(std::min(line.size() + 1, body.size()));
  }
  return most;
}

// Many small values take many times their text to be read: that is counted before it is done.
void need_room_to_read(const Route& route, const http::Request& request, http::Exchange& exchange,
                       std::uint64_t bytes_max) {
  if (route.body == Body::none || request.body.size() <= worth_asking) return;
  const std::uint64_t bytes = reading_bytes(route.body, request.body);
  if (bytes + request.body.size() > bytes_max)
    refuse(ErrorCode::too_large,
           "the body has more values in it than there is ever room for: send less at once");
  if (!exchange.reserve(bytes))
    refuse(ErrorCode::unavailable, "there is too much in memory already: retry later");
}

// To the exception that is being handled.
http::Reply reply_to_exception() {
  try {
    throw;
  } catch (const Failure& failure) {
    return error_reply(failure.error());
  } catch (const std::bad_alloc&) {
    return error_reply({ErrorCode::unavailable, "there is not enough memory for this now"});
  } catch (const std::exception& exception) {
    return error_reply({ErrorCode::internal, exception.what()});
  }
}

}  // namespace

App::Rep::Rep(AppOptions given)
    : options(std::move(given)),
      conversations(options.store, {.count = options.limits.conversations_open,
                                    .bytes_each = options.limits.conversation_bytes,
                                    .bytes = options.limits.cache_bytes}),
      recalls(options.store),
      events({.still_allowed = options.still_allowed,
              .per_tenant = options.limits.streams_per_tenant,
              .heartbeat = options.limits.heartbeat,
              .watch = options.limits.watch}),
      compressions(
          {.per_tenant = options.limits.compressions_per_tenant,
           .kept = options.limits.compressions_kept,
           .bytes_made_max = options.limits.request.bytes_made_max,
           .tell = [this](
                       const std::string& tenant, const std::string& id,
                       const std::string& json) { events.tell(tenant, id, "compression", json); },
           .failed = options.compression_failed}),
      exports(options.limits.exports_per_tenant, options.limits.exports),
      readiness([this] { return ask_store(); }),
      routes(all_routes(*this)),
      openapi(openapi_json(routes)),
      docs(docs_page(routes)) {}

std::shared_ptr<Conversation> App::Rep::conversation(const Call& call) {
  return conversations.get(call.caller.tenant, *call.find("id"));
}

std::optional<Error> App::Rep::ask_store() const {
  const Result<std::vector<ConversationRecord>> listed = options.store("")->list({.limit = 1});
  return listed ? std::nullopt : std::optional(listed.error());
}

AnswerRoom App::Rep::room_for_answer(const Call& call) const {
  return {.bytes_max = options.limits.answer_bytes,
          .reserve = [exchange = call.exchange.get(),
                      reserved = worth_asking](std::uint64_t bytes) mutable {
            if (bytes <= reserved) return true;
            if (!exchange->reserve(bytes - reserved)) return false;
            reserved = bytes;
            return true;
          }};
}

RequestOptions App::Rep::operating(const Call& call) const {
  RequestOptions said{.takes = RequestOptions::Takes::operations, .refuse_slow_strategies = true};
  said.expected_version = expected_version(call);
  said.operations_max = options.limits.operations_per_list;
  said.messages_max = options.limits.messages_per_operation;
  said.client_list_max = options.limits.messages_per_client_list;
  said.work = call.work;
  return said;
}

App::App(AppOptions options) : rep_(std::make_unique<Rep>(std::move(options))) {}
App::~App() { stop(); }

const std::vector<Route>& App::routes() const { return rep_->routes; }

void App::handle(const Route& route, RouteMatch match, http::Request request, const Caller& caller,
                 std::unique_ptr<http::Exchange> exchange) {
  try {
    Call call{request, caller, {}, std::move(exchange)};
    try {
      call.work = work_of_request(*call.exchange, caller.tenant, rep_->stopping, rep_->processors,
                                  rep_->options.limits.request);
      call.work->go_on();  // the tenant may have to wait for its share of the processors
      call.parameters = read_parameters(route, match, request).value();
      need_room_to_read(route, request, *call.exchange, rep_->options.limits.request_bytes);
      route.handle(call);
    } catch (const std::exception&) {
      call.exchange->answer(reply_to_exception());
    }
  } catch (const std::exception&) {
    // There is no memory to say so. The exchange answers 500 where nothing did.
  }
}

App::Counts App::counts() const {
  return {rep_->conversations.count(), rep_->conversations.bytes(), rep_->events.count(),
          rep_->compressions.count()};
}

void App::stop() {
  rep_->stopping.begin();
  rep_->compressions.stop();
  rep_->events.stop();
}

http::Reply reply_from(const std::function<http::Reply()>& make) {
  try {
    return make();
  } catch (const std::exception&) {
    return reply_to_exception();
  }
}

std::function<void(const Call&)> replying(Replies make) {
  return [make = std::move(make)](const Call& call) { call.exchange->answer(make(call)); };
}

http::Reply json_reply(std::string body, unsigned status) {
  keep_to_one_line(body);
  return {.status = status, .body = std::move(body)};
}

http::Reply reply_of(LineAnswer answer) {
  if (answer.error) return error_reply(*std::move(answer.error));
  http::Reply reply{.body = std::move(answer.line)};
  reply.fields.push_back(etag(answer.version));
  return reply;
}

std::string with_member(std::string_view body, const std::string& name, const std::string& value) {
  const JsonText text = JsonText::parse(body, {.depth = 512}).value();
  if (!text.root().is(JsonType::object))
    refuse(ErrorCode::invalid_argument, "the body must be a JSON object");
  if (const std::optional<JsonValue> named = text.root().find(name)) {
    if (!named->is(JsonType::string) || !named->string_is(value))
      refuse(ErrorCode::invalid_argument, name + " must be \"" + value + "\" here, or be left out",
             name);
    return std::string(body);
  }
  std::string out(body.substr(0, body.rfind('}')));
  out += text.root().empty() ? "" : ",";
  append_json_string(out, name);
  append_json_string(out += ':', value);
  return out += '}';
}

http::Field etag(Version version) { return {"ETag", "\"" + std::to_string(version.value) + "\""}; }

Parameter conversation_id() {
  return {.name = "id",
          .in = Parameter::In::path,
          .type = Parameter::Type::id,
          .required = true,
          .what = "The conversation."};
}

Parameter at_version() {
  return {.name = "atVersion",
          .type = Parameter::Type::integer,
          .what = "As it was at this version (default: the head)."};
}

Parameter if_match() {
  return {.name = "If-Match",
          .in = Parameter::In::header,
          .what =
              "The version that must be the head, in quotation marks: the ETag of an answer. 412 "
              "when it is another."};
}

// "7", with its quotation marks; `*` expects nothing of a conversation but that it is there.
std::optional<Version> expected_version(const Call& call) {
  const std::string* value = call.find("If-Match");
  if (value == nullptr || *value == "*") return {};
  std::uint64_t version = 0;
  const bool quoted = value->size() > 2 && value->front() == '"' && value->back() == '"';
  const char* const begin = value->data() + 1;
  const char* const end = value->data() + value->size() - 1;
  const std::from_chars_result read =
      quoted ? std::from_chars(begin, end, version)
             : std::from_chars_result{begin, std::errc::invalid_argument};
  if (read.ec != std::errc() || read.ptr != end)
    refuse(ErrorCode::invalid_argument,
           "If-Match must be one version in quotation marks, such as \"7\"", "If-Match");
  return Version(version);
}

void refuse(ErrorCode code, std::string message, std::string field) {
  throw Failure(Error{.code = code, .message = std::move(message), .field = std::move(field)});
}

}  // namespace undertext
