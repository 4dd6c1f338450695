// What the routes have in common.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <undertext/conversation.hpp>

#include "json/request.hpp"
#include "server/app.hpp"
#include "server/compressions.hpp"
#include "server/event_streams.hpp"
#include "server/once.hpp"
#include "server/open_conversations.hpp"
#include "server/readiness.hpp"
#include "server/route.hpp"
#include "server/tenant_counts.hpp"
#include "server/tenant_recall.hpp"

namespace undertext {

struct App::Rep {
  explicit Rep(AppOptions given);

  AppOptions options;
  OpenConversations conversations;
  TenantRecall recalls;
  EventStreams events;
  Compressions compressions;
  TenantCounts exports;
  RequestsByKey operation_requests{65'536};
  Readiness readiness;
  Stopping stopping;
  FairShare processors{std::thread::hardware_concurrency()};
  std::vector<Route> routes;
  std::string openapi, docs;

  std::shared_ptr<Store> store(const Call& call) const { return options.store(call.caller.tenant); }
  std::shared_ptr<Conversation> conversation(const Call& call);  // the one that {id} names
  // whether it answers; may throw Failure
  std::optional<Error> ask_store() const;
  AnswerRoom room_for_answer(const Call& call) const;  // for as long as the call lasts
  // what is said of operations besides their line. Throws Failure
  RequestOptions operating(const Call& call) const;
};

// The groups of the table. Handlers may throw Failure.
using Replies = std::function<http::Reply(const Call& call)>;
std::vector<Route> conversation_routes(App::Rep& app);
std::vector<Route> operation_routes(App::Rep& app);
std::vector<Route> query_routes(App::Rep& app);
std::vector<Route> recall_routes(App::Rep& app);
std::vector<Route> history_routes(App::Rep& app);
std::vector<Route> live_routes(App::Rep& app);
std::vector<Route> usage_routes(App::Rep& app);
std::vector<Route> transfer_routes(App::Rep& app);
std::vector<Route> mcp_routes(App::Rep& app);
std::vector<Route> page_routes(App::Rep& app);

std::function<void(const Call&)> replying(Replies make);  // a handler that answers at once
// what is thrown becomes the reply, too
http::Reply reply_from(const std::function<http::Reply()>& make);

http::Reply json_reply(std::string body, unsigned status = 200);
http::Reply reply_of(LineAnswer answer);  // with the version as ETag
http::Field etag(Version version);

// The JSON object `body` with one more member, a string, behind the others, so that places in the
// body stay what they are. It may have it already, if it says the same. Throws Failure.
std::string with_member(std::string_view body, const std::string& name, const std::string& value);

// Parameters that many routes have.
Parameter conversation_id();
Parameter at_version();
Parameter if_match();
std::optional<Version> expected_version(const Call& call);  // what If-Match says. Throws Failure

[[noreturn]] void refuse(ErrorCode code, std::string message, std::string field = {});

}  // namespace undertext
