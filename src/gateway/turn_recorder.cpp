#include "gateway/turn_recorder.hpp"

#include <algorithm>
#include <utility>

#include <undertext/identity.hpp>

#include "base/answering_failure.hpp"
#include "base/json_text.hpp"
#include "client/pointer.hpp"
#include "store/fresh_id.hpp"

namespace undertext {
namespace {

constexpr std::size_t first_messages_max = 4;  // that tell the conversations of one session apart
constexpr std::size_t keys_at_once = 256;      // of one question to the store
constexpr std::size_t newest_max = 4096;       // conversations whose newest turn is remembered

// An id of a conversation, of a name that may hold anything.
std::string id_of(std::string_view name) {
  constexpr std::size_t id_bytes_max = 100;
  std::string id;
  for (const char c : name.substr(0, id_bytes_max)) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    id += is_plain ? c : '-';
  }
  return id.empty() || id[0] == '.' ? "c" + id : id;
}

// Without its messages nothing tells which conversation a request is of: those without a session are of their day.
std::string day_of(const SentRequest& sent) { return "requests-" + fresh_id(sent.at_ms).substr(0, 8); }

std::string preferred_id(const SentRequest& sent, const ClientRequest& request) {
  if (!sent.conversation.empty()) return id_of(sent.conversation);
  if (request.session.empty() && !sent.body) return day_of(sent);
  if (request.session.empty()) return request.reconcile.client + '-' + fresh_id(sent.at_ms);
  std::string name = request.reconcile.client + '-' + request.session;
  if (!request.agent.empty()) name += "-agent-" + request.agent;
  if (request.kind == ClientRequestKind::side_request) name += "-side";
  return id_of(name);
}

std::string some_chance(const SentRequest& sent) {
  const std::string id = fresh_id(sent.at_ms);
  return id.substr(id.rfind('-') + 1);
}

bool has_client_summary(const ClientRequest& request) {
  const auto& list = request.reconcile.list;
  return std::any_of(list.begin(), list.end(), [](const op::Reconcile::Sent& sent) { return sent.is_summary; });
}

// Whether the conversation follows its list. What asks for a compaction has the list that the next request has too, changed for the purpose.
bool is_followed(const ClientRequest& request) {
  return request.kind == ClientRequestKind::turn || request.kind == ClientRequestKind::side_request;
}

// The key of a list with the answer behind it, of that of a list.
constexpr std::string_view list_kind = "list:", answered_kind = "answered:";
// Behind it stands the name of the session's main conversation.
constexpr std::string_view part_of_kind = "part_of:";
std::string answered(const std::string& list) { return std::string(answered_kind) + list.substr(list_kind.size()); }

// The same of a list without its system prompt.
constexpr std::string_view said_kind = "said:";
std::string said(const std::string& list) { return std::string(said_kind) + list.substr(list_kind.size()); }

std::vector<op::Reconcile::Sent> without_system(std::vector<op::Reconcile::Sent> list) {
  std::erase_if(list, [](const op::Reconcile::Sent& sent) { return sent.message.role() == Role::system; });
  return list;
}

// Whether an answer is hardly given twice: short ones are.
bool is_telling(const Message& message) {
  constexpr std::size_t telling_bytes_min = 24;
  return message.text().size() >= telling_bytes_min;
}
std::string reply_key(const RecordKeys& keys, const Identity& identity) { return keys.key("reply", {text(identity)}); }

// What was there when the key was made.
Version version_at(const RequestRecord& record, std::string_view key) {
  const bool has_answer = record.answer_version.value != 0 && !key.starts_with(list_kind);
  return has_answer ? record.answer_version : record.version;
}

std::vector<std::string> keys_of_beginning(const ClientRequest& request, const RecordKeys& keys) {
  std::vector<std::string> all;
  const std::string session = session_of(request);
  for (const Identity& each : first_messages(request, first_messages_max)) all.push_back(keys.key("first", {session, text(each)}));
  return all;
}

bool holds_answer(const ClientRequest& request) {
  const auto& list = request.reconcile.list;
  return std::any_of(list.begin(), list.end(),
                     [](const op::Reconcile::Sent& sent) { return sent.message.role() == Role::assistant; });
}

// The system prompt, as far as it stays the same when the client resumes.
std::string stable_system(const ClientProfile& client, const ClientRequest& request, std::string_view body) {
  std::string system;
  if (!client.stable_system.empty())
    if (const Result<JsonText> json = JsonText::parse(body, {}))
      for (const std::string& pointer : client.stable_system) system += text_at(json->root(), pointer);
  if (!system.empty()) return system;
  for (const op::Reconcile::Sent& sent : request.reconcile.list) {
    if (sent.message.role() != Role::system) break;
    system += text(sent.identity);
  }
  return system;
}

// What a request asks with, by which a first turn is told from a request for its title: its system prompt, and its tools.
std::vector<std::string> keys_of_setting(const ClientProfile& client, const ClientRequest& request, std::string_view body,
                                         const RequestRecord& record, const RecordKeys& keys) {
  const std::string session = session_of(request);
  std::vector<std::string> all = {keys.key("system", {session, stable_system(client, request, body)})};
  if (!record.tools_digest.empty()) all.push_back(keys.key("tools", {session, record.tools_digest}));
  return all;
}

std::vector<std::string> keys_of(const ClientRequest& request, const RecordKeys& keys) {
  std::vector<std::string> all;
  if (!request.conversation.empty()) all.push_back(keys.key("conversation", {request.conversation}));
  const std::string session = session_of(request);
  if (session.empty()) return all;
  all.push_back(keys.key("session", {session}));
  for (std::string& key : keys_of_beginning(request, keys)) all.push_back(std::move(key));
  return all;
}

// What the answer to the last recorded request added.
std::vector<std::uint64_t> last_answer(const Conversation& conversation) {
  const std::vector<RequestRecord> last = conversation.requests({.last = 1}).value();
  if (last.empty() || last[0].answer_version.value == 0) return {};
  Result<Diff> diff = conversation.history().diff(last[0].version, last[0].answer_version);
  return diff ? std::move(diff->added) : std::vector<std::uint64_t>();
}

}  // namespace

Result<std::shared_ptr<ObservedTurn>> TurnRecorder::begin(const SentRequest& sent) {
  return answering_failure([&]() -> Result<std::shared_ptr<ObservedTurn>> { return begin_turn(sent); });
}

Result<std::uint64_t> TurnRecorder::finish(ObservedTurn& turn, const GivenAnswer& answer) {
  return answering_failure([&]() -> Result<std::uint64_t> { return finish_turn(turn, answer); });
}

std::shared_ptr<ObservedTurn> TurnRecorder::begin_turn(const SentRequest& sent) {
  const ClientProfile client = client_of(sent.dialect, sent.head);
  const std::string_view body = sent.body ? std::string_view(*sent.body) : "[]";
  ClientRequest request = read_client_request(client, sent.dialect, body, options_.limits, sent.head).value();
  // What is cached stands before the list, which is whole behind it.
  if (request.previous_response.empty() && request.conversation.empty()) request.reconcile.is_delta = false;
  const RecordKeys keys(options_.secret, sent.user);
  Found found = find(sent, request, keys);
  if (!is_followed(request)) {
    if (found.conversation.empty()) return nullptr;  // what is asked beside a conversation makes none
    found.fork.reset();
  }
  auto turn = std::make_shared<ObservedTurn>(ObservedTurn{.tenant = sent.tenant, .keys = keys, .dialect = sent.dialect});
  turn->conversation = open(sent, request, found, keys);
  turn->record = describe_request(client, request, body, sent.head);
  turn->record.method = sent.method;
  turn->record.at_ms = sent.at_ms;
  turn->record.keys = keys_of(request, keys);
  if (!request.session.empty())
    for (std::string& key : keys_of_setting(client, request, body, turn->record, keys)) turn->record.keys.push_back(std::move(key));
  if (const std::string main = session_conversation(sent, request, keys, turn->conversation->id()); !main.empty())
    turn->record.keys.push_back(std::string(part_of_kind) + main);
  turn->volatile_parts = client.volatile_parts;
  for (const op::Reconcile::Sent& each : request.reconcile.list)
    turn->made_ids = std::max(turn->made_ids, last_made_id(each.message));
  if (sent.body) {
    turn->request = *sent.body;
    turn->is_followed = is_followed(request);
  }
  if (turn->is_followed) {
    if (!request.reconcile.is_delta && !request.reconcile.list.empty()) {
      turn->list = keys.beginnings(request.reconcile.list).back();
      const std::vector<std::string> lists = keys.beginnings(without_system(request.reconcile.list));
      if (!lists.empty()) turn->said = lists.back();
      turn->record.keys.push_back(turn->list);
    }
    follow(*turn, std::move(request.reconcile));
  }
  turn->record.version = turn->conversation->version();
  for (const std::string& key : turn->record.keys) under_way_[{sent.tenant, key}] = turn->conversation->id();
  return turn;
}

// Keys of a request

std::optional<FoundRequest> TurnRecorder::find_key(Store& store, const std::string& tenant,
                                                   const std::vector<std::string>& keys) const {
  for (const std::string& key : keys)
    if (const auto found = under_way_.find({tenant, key}); found != under_way_.end()) return FoundRequest{key, found->second, 0};
  const std::vector<FoundRequest> rows = store.find_requests(keys).value();
  for (const std::string& key : keys)
    for (const FoundRequest& row : rows)
      if (row.key == key) return row;
  return std::nullopt;
}

TurnRecorder::Found TurnRecorder::find(const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys) {
  const std::shared_ptr<Store> store = options_.store(sent.tenant);
  if (!sent.conversation.empty() || (request.session.empty() && !sent.body)) {
    const std::string id = preferred_id(sent, request);
    const Result<std::string> maker = Conversation::stored_maker(*store, id);
    return maker && *maker == keys.user() ? Found{id} : Found{};
  }
  if (!request.conversation.empty())
    if (const std::optional<FoundRequest> found = find_key(*store, sent.tenant, {keys.key("conversation", {request.conversation})}))
      return {found->conversation};
  if (!request.previous_response.empty())
    if (const std::optional<FoundRequest> found =
            find_key(*store, sent.tenant, {keys.key("response", {request.previous_response})}))
      return found_at(*store, sent, *found);
  return request.session.empty() ? find_by_list(*store, sent, request, keys) : find_by_session(*store, sent, request, keys);
}

// The conversation, or where to fork it if it has gone on since.
TurnRecorder::Found TurnRecorder::found_at(Store& store, const SentRequest& sent, const FoundRequest& found) {
  if (found.number == 0 || found.number == store.last_request(found.conversation).value()) return {found.conversation};
  const std::shared_ptr<Conversation> origin = options_.open(sent.tenant, found.conversation);
  const std::vector<RequestRecord> left = origin->requests({.first = found.number, .limit = 1}).value();
  if (left.empty()) return {};
  return {found.conversation, version_at(left[0], found.key), left[0].version};
}

TurnRecorder::Found TurnRecorder::find_by_session(Store& store, const SentRequest& sent, const ClientRequest& request,
                                                  const RecordKeys& keys) {
  const std::vector<std::string> firsts = keys_of_beginning(request, keys);
  if (!firsts.empty())
    if (const std::optional<FoundRequest> found = find_key(store, sent.tenant, firsts))
      if (holds_answer(request) || is_asked_alike(store, sent, request, keys, found->conversation)) return {found->conversation};
  // A list that begins otherwise is another conversation of the session, unless its client compacted it.
  const std::optional<FoundRequest> main = find_key(store, sent.tenant, {keys.key("session", {session_of(request)})});
  if (main) return has_client_summary(request) || !is_followed(request) ? Found{main->conversation} : Found{};
  // Made, and not recorded: the program ended before the answer did.
  const std::string id = preferred_id(sent, request);
  const Result<std::string> maker = Conversation::stored_maker(store, id);
  if (maker && *maker == keys.user()) return {id};
  return is_followed(request) ? find_origin(store, sent, request, keys) : Found{};
}

// Whether the conversation was asked with this system prompt, or with these tools.
bool TurnRecorder::is_asked_alike(Store& store, const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys,
                                  const std::string& conversation) const {
  const ClientProfile client = client_of(sent.dialect, sent.head);
  const std::string_view body = sent.body ? std::string_view(*sent.body) : "[]";
  const RequestRecord record = describe_request(client, request, body, sent.head);
  for (const std::string& key : keys_of_setting(client, request, body, record, keys)) {
    const std::optional<FoundRequest> found = find_key(store, sent.tenant, {key});
    if (found && found->conversation == conversation) return true;
  }
  return false;
}

// A session that begins with another's messages was forked from it: its client says so, or it has an answer that only that one was given.
TurnRecorder::Found TurnRecorder::find_origin(Store& store, const SentRequest& sent, const ClientRequest& request,
                                              const RecordKeys& keys) {
  std::optional<FoundRequest> origin;
  if (!request.parent.empty()) {
    ClientRequest parent;
    parent.session = request.parent;
    parent.reconcile.client = request.reconcile.client;
    origin = find_key(store, sent.tenant, {keys.key("session", {session_of(parent)})});
  }
  if (!origin) origin = find_list(store, sent, request, keys);
  if (!origin || origin->number == 0 || (request.parent.empty() && !origin->key.starts_with(answered_kind))) return {};
  const std::shared_ptr<Conversation> conversation = options_.open(sent.tenant, origin->conversation);
  const std::vector<RequestRecord> left = conversation->requests({.first = origin->number, .limit = 1}).value();
  return left.empty() ? Found{} : Found{origin->conversation, version_at(left[0], origin->key), left[0].version};
}

TurnRecorder::Found TurnRecorder::find_by_list(Store& store, const SentRequest& sent, const ClientRequest& request,
                                               const RecordKeys& keys) {
  std::optional<FoundRequest> found = find_list(store, sent, request, keys);
  // The system prompt of a session that is resumed may tell another day.
  if (!found && holds_answer(request)) found = find_said(store, sent, request, keys);
  return found ? found_at(store, sent, *found) : find_by_reply(store, sent, request, keys);
}

// The main conversation of a session, of a turn that is in another one: a sub-agent's, a request for a title, or one that began
// otherwise. Its name where it is still to come.
std::string TurnRecorder::session_conversation(const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys,
                                               const std::string& own) {
  if (request.session.empty() || !sent.conversation.empty()) return {};
  // A sub-agent of Codex has a session of its own, and names the one that asked for it.
  const std::string asked_by = sent.head.header("x-codex-parent-thread-id");
  const bool is_beside = !asked_by.empty() || !request.agent.empty() || request.kind == ClientRequestKind::side_request;
  ClientRequest main;
  main.session = asked_by.empty() ? request.session : asked_by;
  main.reconcile.client = request.reconcile.client;
  Store& store = *options_.store(sent.tenant);
  if (is_beside)
    if (const std::optional<FoundRequest> found = find_key(store, sent.tenant, {keys.key("session", {session_of(main)})}))
      return found->conversation;
  const std::string id = preferred_id({.body = std::string()}, main);
  if (id == own) return {};
  const Result<std::string> maker = Conversation::stored_maker(store, id);
  return maker ? *maker == keys.user() ? id : std::string() : is_beside ? id : std::string();
}

// The longest beginning of the list that was sent before, or sent and answered.
std::optional<FoundRequest> TurnRecorder::find_list(Store& store, const SentRequest& sent, const ClientRequest& request,
                                                    const RecordKeys& keys) const {
  const std::vector<std::string> lists = keys.beginnings(request.reconcile.list);
  std::vector<std::string> some;
  for (std::size_t i = lists.size(); i-- > 0;) {
    some.push_back(answered(lists[i]));
    some.push_back(lists[i]);
    if (some.size() < keys_at_once && i > 0) continue;
    if (std::optional<FoundRequest> found = find_key(store, sent.tenant, some)) return found;
    some.clear();
  }
  return std::nullopt;
}

// A client that writes the beginning of its list anew when it resumes still has the answers that it was given: it goes on from the
// last one, as a fork.
TurnRecorder::Found TurnRecorder::find_by_reply(Store& store, const SentRequest& sent, const ClientRequest& request,
                                                const RecordKeys& keys) {
  std::vector<std::string> replies;
  const auto& list = request.reconcile.list;
  for (auto each = list.rbegin(); each != list.rend() && replies.size() < keys_at_once; ++each)
    if (each->message.role() == Role::assistant && is_telling(each->message)) replies.push_back(reply_key(keys, each->identity));
  if (replies.empty()) return {};
  const std::optional<FoundRequest> found = find_key(store, sent.tenant, replies);
  if (!found || found->number == 0) return {};
  const std::shared_ptr<Conversation> origin = options_.open(sent.tenant, found->conversation);
  const std::vector<RequestRecord> left = origin->requests({.first = found->number, .limit = 1}).value();
  if (left.empty() || left[0].answer_version.value == 0) return {};
  return {found->conversation, left[0].answer_version, left[0].version};
}

// The same by what was said besides system prompts, up to an answer.
std::optional<FoundRequest> TurnRecorder::find_said(Store& store, const SentRequest& sent, const ClientRequest& request,
                                                    const RecordKeys& keys) const {
  const std::vector<std::string> lists = keys.beginnings(without_system(request.reconcile.list));
  std::vector<std::string> some;
  for (std::size_t i = lists.size(); i-- > 0;) {
    some.push_back(said(lists[i]));
    if (some.size() < keys_at_once && i > 0) continue;
    if (std::optional<FoundRequest> found = find_key(store, sent.tenant, some)) return found;
    some.clear();
  }
  return std::nullopt;
}

std::shared_ptr<Conversation> TurnRecorder::open(const SentRequest& sent, const ClientRequest& request, const Found& found,
                                                 const RecordKeys& keys) {
  if (!found.conversation.empty() && !found.fork) return options_.open(sent.tenant, found.conversation);
  std::string id = found.fork ? found.conversation + "-fork-" + some_chance(sent) : preferred_id(sent, request);
  const std::shared_ptr<Store> store = options_.store(sent.tenant);
  if (found.fork) {
    options_.open(sent.tenant, found.conversation)->fork(*found.fork, id_of(id), keys.user()).value();
    std::shared_ptr<Conversation> fork = options_.open(sent.tenant, id_of(id));
    newest_[{sent.tenant, fork->id()}].answer = fork->history().diff(found.asked, *found.fork).value().added;
    return fork;
  }
  for (int tries = 0;; ++tries) {
    const Result<Conversation> made =
        Conversation::open(store, id, {}, {.make = OpenOptions::Make::always, .note = options_.note, .made_by = keys.user()});
    if (made) return options_.open(sent.tenant, id);
    if (made.error().code != ErrorCode::conflict || tries == 3) throw Failure(made.error());
    id = preferred_id(sent, request) + '-' + some_chance(sent);  // the name is another user's, or of another line of work
  }
}

// What happens in the conversation

void TurnRecorder::follow(ObservedTurn& turn, op::Reconcile request) {
  Conversation& conversation = *turn.conversation;
  const bool is_delta = request.is_delta;
  if (newest_.size() >= newest_max) newest_.erase(newest_.begin());
  const auto [newest, is_unknown] = newest_.try_emplace({turn.tenant, conversation.id()});
  if (is_unknown) newest->second.answer = last_answer(conversation);
  conversation.apply({std::move(request)}).value();
  turn.number = ++turns_;
  const std::vector<std::uint64_t> answer = std::exchange(newest->second, {turn.number, {}}).answer;
  if (answer.empty() || is_delta) return;
  // An answer that the client has not sent back is no part of what it goes on with: the request was tried again, or the answer was torn.
  const History history = conversation.history();
  const std::vector<Ordinal> kept = history.client_list();
  std::vector<std::uint64_t> left_out;
  for (const std::uint64_t ordinal : answer) {
    const bool is_kept = std::any_of(kept.rbegin(), kept.rend(), [&](Ordinal each) { return each.value == ordinal; });
    if (!is_kept && history.view().index_of(Ordinal(ordinal))) left_out.push_back(ordinal);
  }
  if (left_out.empty()) return;
  conversation.apply({op::Delete{Names::ordinals(std::move(left_out)), Pairs::literal}, {.description = "not kept by the client"}})
      .value();
}

// A client may be faster than what tells of its answer's end: its next request is here already, and has the answer, or has it not.
void TurnRecorder::add_answer(ObservedTurn& turn, const ProviderResponse& response, bool is_torn) {
  const auto newest = newest_.find({turn.tenant, turn.conversation->id()});
  if (newest == newest_.end() || newest->second.turn == turn.number) return append_answer(turn, response, is_torn);
  const History history = turn.conversation->history();
  const std::vector<Ordinal> list = history.client_list();
  if (turn.record.messages >= list.size()) return;
  const Message& next = history.log()[list[turn.record.messages].value];
  if (identity(next, turn.volatile_parts) == identity(response.messages[0], turn.volatile_parts))
    turn.record.answer_version = turn.conversation->version();
}

void TurnRecorder::append_answer(ObservedTurn& turn, const ProviderResponse& response, bool is_torn) {
  Conversation& conversation = *turn.conversation;
  const std::uint64_t first = conversation.history().log().size();
  std::vector<std::uint64_t> ordinals;
  conversation.apply({op::Append{response.messages}}).value();
  for (std::uint64_t i = 0; i < response.messages.size(); ++i) ordinals.push_back(first + i);
  if (is_torn) conversation.apply({op::Mark{Names::ordinals(ordinals), "torn"}}).value();
  turn.record.answer_version = conversation.version();
  newest_[{turn.tenant, conversation.id()}] = {turn.number, std::move(ordinals)};
}

std::uint64_t TurnRecorder::finish_turn(ObservedTurn& turn, const GivenAnswer& answer) {
  RequestRecord& record = turn.record;
  for (const std::string& key : record.keys) under_way_.erase({turn.tenant, key});
  const ProviderResponse response = read_response(turn.dialect, answer.body, answer.form, options_.limits, turn.made_ids);
  record.status = answer.status;
  record.is_torn = answer.is_torn;
  record.first_byte_ms = answer.first_byte_ms;
  record.duration_ms = answer.duration_ms;
  record.response_id = response.id;
  if (!response.model.empty()) record.model = response.model;
  if (!response.id.empty()) record.keys.push_back(turn.keys.key("response", {response.id}));
  const bool is_answered = answer.status >= 200 && answer.status < 300 && !response.messages.empty();
  if (response.usage != ProviderUsage{}) {
    record.usage = {.request_id = response.id.empty() ? fresh_id(record.at_ms) : response.id,
                    .model = record.model,
                    .prompt = response.usage.prompt,
                    .completion = response.usage.completion,
                    .cached = std::min(response.usage.cached, response.usage.prompt),
                    .at_ms = record.at_ms};
    static_cast<void>(turn.conversation->record_usage(record.usage));  // one that is reported twice stays as it was
  }
  if (is_answered && turn.is_followed) {
    add_answer(turn, response, answer.is_torn);
    if (!turn.list.empty()) {
      std::vector<Identity> identities;
      for (const Message& message : response.messages) identities.push_back(identity(message, turn.volatile_parts));
      record.keys.push_back(answered(turn.keys.longer(turn.list, identities)));
      if (!turn.said.empty()) record.keys.push_back(said(turn.keys.longer(turn.said, identities)));
      if (is_telling(response.messages.back())) record.keys.push_back(reply_key(turn.keys, identities.back()));
    }
  }
  const bool keeps_bytes = !turn.request.empty();
  return turn.conversation->record_request(std::move(record), turn.request, keeps_bytes ? answer.body : std::string()).value();
}

}  // namespace undertext
