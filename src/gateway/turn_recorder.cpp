#include "gateway/turn_recorder.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include <undertext/identity.hpp>

#include "base/answering_failure.hpp"
#include "base/json_text.hpp"
#include "client/pointer.hpp"
#include "engine/request_log.hpp"
#include "store/chain.hpp"
#include "store/fresh_id.hpp"

namespace undertext {
namespace {

constexpr std::size_t first_messages_max = 4;  // that tell the conversations of one session apart
constexpr std::size_t keys_at_once = 256;      // of one question to the store
constexpr std::size_t newest_max = 4096;       // conversations whose newest turn is remembered

constexpr std::size_t id_bytes_max = 100;

// An id of a conversation, of a name that may hold anything. What an id cannot hold is replaced, and
// a digest tells names apart that are alike without it.
std::string id_of(std::string_view name) {
  constexpr std::size_t digest_digits = 12;
  std::string id;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    id += is_plain ? c : '-';
  }
  if (id.empty() || id[0] == '.') id = "c" + id;
  if (id == name && id.size() <= id_bytes_max) return id;
  return id.substr(0, id_bytes_max - 1 - digest_digits) + '-' +
         hex(sha256(name)).substr(0, digest_digits);
}

// Without its messages nothing tells which conversation a request is of: those without a session
// are of their day.
std::string day_of(const SentRequest& sent) {
  return "requests-" + fresh_id(sent.at_ms).substr(0, 8);
}

// A sub-agent of Codex has a session of its own, and names the one that asked for it.
std::string asking_session(const SentRequest& sent) {
  return sent.head.header("x-codex-parent-thread-id");
}

constexpr std::string_view side_ending = "-side";

// What a conversation beside the main one has behind the name of that.
std::string ending_beside(const SentRequest& sent, const ClientRequest& request) {
  const bool is_agent_session = !sent.conversation.empty() && !asking_session(sent).empty();
  const std::string agent = is_agent_session ? request.session : request.agent;
  std::string ending = agent.empty() ? std::string() : "-agent-" + agent;
  if (request.kind == ClientRequestKind::side_request) ending += side_ending;
  return ending;
}

std::string preferred_id(const SentRequest& sent, const ClientRequest& request) {
  if (!sent.conversation.empty()) return id_of(sent.conversation + ending_beside(sent, request));
  if (request.session.empty() && !sent.body) return day_of(sent);
  if (request.session.empty()) return request.reconcile.client + '-' + fresh_id(sent.at_ms);
  return id_of(request.reconcile.client + '-' + request.session + ending_beside(sent, request));
}

std::string some_chance(const SentRequest& sent) {
  const std::string id = fresh_id(sent.at_ms);
  return id.substr(id.rfind('-') + 1);
}

// The base is cut where it is too long, and what tells the two apart is kept.
std::string id_with(std::string_view base, const std::string& ending) {
  return id_of(base.substr(0, id_bytes_max - ending.size())) + ending;
}

// A fork of a fork is named after the conversation that both come from: names do not grow.
std::string fork_id(std::string_view origin, const SentRequest& sent) {
  constexpr std::string_view word = "-fork-";
  const std::string chance = some_chance(sent);
  const std::size_t at = origin.rfind(word);
  if (at != origin.npos && at > 0 && at + word.size() + chance.size() == origin.size())
    origin = origin.substr(0, at);
  return id_with(origin, std::string(word) + chance);
}

bool has_client_summary(const ClientRequest& request) {
  const auto& list = request.reconcile.list;
  return std::any_of(list.begin(), list.end(),
                     [](const op::Reconcile::Sent& sent) { return sent.is_summary; });
}

// Whether the conversation follows its list. What asks for a compaction has the list that the next
// request has too, changed for the purpose.
bool is_followed(const ClientRequest& request) {
  return request.kind == ClientRequestKind::turn || request.kind == ClientRequestKind::side_request;
}

// The key of a list with the answer behind it, of that of a list.
constexpr std::string_view list_kind = "list:", answered_kind = "answered:";
// Behind it stands the name of the session's main conversation.
constexpr std::string_view part_of_kind = "part_of:";
// That a client asked for a compaction: in this conversation of the session it goes on.
std::string compaction_key_of(const ClientRequest& request, const RecordKeys& keys) {
  return keys.key("compaction", {session_of(request)});
}
std::string answered(const std::string& list) {
  return std::string(answered_kind) + list.substr(list_kind.size());
}

// The same of a list without its system prompt.
constexpr std::string_view said_kind = "said:";
std::string said(const std::string& list) {
  return std::string(said_kind) + list.substr(list_kind.size());
}

std::vector<op::Reconcile::Sent> without_system(std::vector<op::Reconcile::Sent> list) {
  std::erase_if(
      list, [](const op::Reconcile::Sent& sent) { return sent.message.role() == Role::system; });
  return list;
}

// That a request names what the provider has cached.
constexpr std::string_view cache_kind = "cache";
// Of what it sends behind that, without a session: the same list may stand behind several caches.
constexpr std::string_view cached_list_kind = "cached_list",
                           cached_answered_kind = "cached_answered";
std::string cache_key(const RecordKeys& keys, const ClientRequest& request) {
  return keys.key(cache_kind, {request.cached_content});
}

// The same of one conversation: what stands in the cache is the beginning of the list that it had
// then.
std::string cache_key_in(const RecordKeys& keys, const ClientRequest& request,
                         const std::string& conversation) {
  return keys.key("cache_in", {request.cached_content, conversation});
}

// What names more than a cache is found by that.
bool goes_by_cache(const ClientRequest& request) {
  return !request.cached_content.empty() && request.previous_response.empty() &&
         request.conversation.empty();
}

// What is sent behind a response: the same again is a request that is tried again.
std::string behind_key(const RecordKeys& keys, const ClientRequest& request) {
  const std::vector<std::string> lists = keys.beginnings(request.reconcile.list);
  return keys.key("behind",
                  {request.previous_response, lists.empty() ? std::string() : lists.back()});
}

// How many messages of the client's list stand before what this request sent.
CachedMessages cached_by(const History& history, const RequestRecord& record) {
  const auto key = std::find_if(
      record.keys.begin(), record.keys.end(),
      [](const std::string& each) { return each.starts_with(std::string(cache_kind) + ':'); });
  if (key == record.keys.end()) return {};
  const std::uint64_t listed = client_tree_at(history, record.version).size();
  return {*key, listed - std::min(listed, record.messages)};
}

// A message of the log, as the client would send it.
op::Reconcile::Sent as_sent(const View& log, std::uint64_t ordinal, const VolatileParts& parts) {
  const Message message = log[ordinal];
  return {message, identity(message, parts), false, ordinal, {}};
}

// Whether an answer is hardly given twice: short ones are.
bool is_telling(const Message& message) {
  constexpr std::size_t telling_bytes_min = 24;
  return message.text().size() >= telling_bytes_min;
}
constexpr std::string_view reply_kind = "reply";
std::string reply_key(const RecordKeys& keys, const Identity& identity) {
  return keys.key(reply_kind, {text(identity)});
}

constexpr std::string_view response_kind = "response";

// The kinds of keys that a record has of its answer.
constexpr std::array<std::string_view, 5> of_answers = {response_kind, reply_kind, answered_kind,
                                                        said_kind, cached_answered_kind};

// What was there when the key was made.
Version version_at(const RequestRecord& record, std::string_view key) {
  const bool is_of_list =
      key.starts_with(list_kind) || key.starts_with(std::string(cached_list_kind) + ':');
  const bool has_answer = record.answer_version.value != 0 && !is_of_list;
  return has_answer ? record.answer_version : record.version;
}

constexpr std::string_view first_kind = "first";
std::vector<std::string> keys_of_beginning(const ClientRequest& request, const RecordKeys& keys) {
  std::vector<std::string> all;
  const std::string session = session_of(request);
  for (const Identity& each : first_messages(request, first_messages_max))
    all.push_back(keys.key(first_kind, {session, text(each)}));
  return all;
}

bool holds_answer(const ClientRequest& request) {
  const auto& list = request.reconcile.list;
  return std::any_of(list.begin(), list.end(), [](const op::Reconcile::Sent& sent) {
    return sent.message.role() == Role::assistant;
  });
}

// Whether the beginning of the list that this key is of reaches up to the last answer: nothing that
// was said is left out.
bool holds_last_answer(std::string_view key, const ClientRequest& request, const RecordKeys& keys) {
  const auto& list = request.reconcile.list;
  const std::vector<std::string> lists = keys.beginnings(list);
  for (std::size_t i = list.size(); i-- > 0;) {
    if (key == lists[i] || key == answered(lists[i])) return true;
    if (list[i].message.role() == Role::assistant) return false;
  }
  return false;
}

// Whether the list goes on behind this beginning with an answer that it names by its id.
bool names_answer_behind(std::string_view key, const ClientRequest& request,
                         const RecordKeys& keys) {
  const auto& list = request.reconcile.list;
  const std::vector<std::string> lists = keys.beginnings(list);
  const auto at =
      static_cast<std::size_t>(std::find(lists.begin(), lists.end(), key) - lists.begin());
  return at + 1 < list.size() && !list[at + 1].item.empty();
}

// The system prompt, as far as it stays the same when the client resumes.
std::string stable_system(const ClientProfile& client, const ClientRequest& request,
                          std::string_view body) {
  std::string system;
  if (!client.stable_system.empty())
    if (const Result<JsonText> json = JsonText::parse(body, {}))
      for (const std::string& pointer : client.stable_system)
        system += text_at(json->root(), pointer);
  if (!system.empty()) return system;
  for (const op::Reconcile::Sent& sent : request.reconcile.list) {
    if (sent.message.role() != Role::system) break;
    system += text(sent.identity);
  }
  return system;
}

// What a request asks with, by which a first turn is told from a request for its title: its system
// prompt, and its tools.
std::vector<std::string> keys_of_setting(const ClientProfile& client, const ClientRequest& request,
                                         std::string_view body, const RequestRecord& record,
                                         const RecordKeys& keys) {
  const std::string session = session_of(request);
  std::vector<std::string> all = {
      keys.key("system", {session, stable_system(client, request, body)})};
  if (!record.tools_digest.empty())
    all.push_back(keys.key("tools", {session, record.tools_digest}));
  return all;
}

std::vector<std::string> keys_of(const ClientRequest& request, const RecordKeys& keys) {
  std::vector<std::string> all;
  if (!request.conversation.empty())
    all.push_back(keys.key("conversation", {request.conversation}));
  const std::string session = session_of(request);
  if (session.empty()) return all;
  all.push_back(keys.key("session", {session}));
  for (std::string& key : keys_of_beginning(request, keys)) all.push_back(std::move(key));
  if (request.kind == ClientRequestKind::compaction)
    all.push_back(compaction_key_of(request, keys));
  return all;
}

// Of a message with a compaction block; unset: nothing.
std::optional<Message> said_behind_items(const Message& message) {
  const std::vector<SealedItem> items = sealed_items(message.json());
  const std::string rest =
      items.empty() || !items.back().is_block ? std::string() : without_items(message.json());
  Result<Message> said = rest.empty() ? Error{} : Message::parse(rest);
  return said ? std::optional(*std::move(said)) : std::nullopt;
}

// The conversation keeps what the model said, and not the block that the gateway put before it.
void take_items(ProviderResponse& response) {
  std::vector<Message> said;
  for (Message& message : response.messages) {
    if (sealed_items(message.json()).empty())
      said.push_back(std::move(message));
    else if (std::optional<Message> rest = said_behind_items(message))
      said.push_back(*std::move(rest));
  }
  response.messages = std::move(said);
}

bool holds_sealed(const Message& message) { return !sealed_items(message.json()).empty(); }

// The list as it was when the item was made, and what has come to it since: the item stands for all
// of the former. What the client kept before the item is part of that, and what it wrote anew there
// comes behind it.
std::vector<op::Reconcile::Sent> resolved(const History& history, const CompactionPointer& pointer,
                                          std::size_t place, const op::Reconcile& request) {
  std::vector<op::Reconcile::Sent> list;
  std::set<Identity> known;
  const View log = history.log();
  for (const std::uint64_t ordinal : client_list_at(history, Version(pointer.version))) {
    list.push_back(as_sent(log, ordinal, request.volatile_parts));
    known.insert(list.back().identity);
  }
  if (list.empty()) return request.list;
  for (std::size_t i = 0; i < request.list.size(); ++i) {
    const op::Reconcile::Sent& sent = request.list[i];
    if (i == place) {
      // What the model said behind a block goes on with what the block stands for.
      if (std::optional<Message> said = said_behind_items(sent.message))
        list.push_back({*said, identity(*said, request.volatile_parts), false, {}, {}});
      continue;
    }
    if (holds_sealed(sent.message)) continue;
    if (i > place || !known.contains(sent.identity)) list.push_back(sent);
  }
  return list;
}

// A compaction of what the provider has needs no list.
std::string with_list(const SentRequest& sent, std::string_view body) {
  std::string whole(body);
  if (!sent.head.path.ends_with("/responses/compact")) return whole;
  const Result<JsonText> json = JsonText::parse(body, {.depth = 4096});
  if (json && json->root().is(JsonType::object) && !json->root().empty() &&
      !json->root().find("input"))
    whole.insert(whole.find('{') + 1, R"("input":[],)");
  return whole;
}

// What a client has by now: what it sent last, and what it was answered.
std::vector<std::uint64_t> list_by_now(const History& history) {
  std::vector<std::uint64_t> list = client_list_at(history, history.version());
  std::uint64_t last = 0;
  for (const std::uint64_t ordinal : list) last = std::max(last, ordinal);
  const View view = history.view();
  for (auto each = view.begin(); each != view.end(); ++each)
    if (each.ordinal().value > last && each->role() == Role::assistant)
      list.push_back(each.ordinal().value);
  return list;
}

std::vector<op::Reconcile::Sent> list_at(const History& history, Version version,
                                         const VolatileParts& parts) {
  const View log = history.log();
  std::vector<op::Reconcile::Sent> list;
  for (const std::uint64_t ordinal : client_list_at(history, version))
    list.push_back(as_sent(log, ordinal, parts));
  return list;
}

// The list of a client that only names it.
void take_whole_list(const History& history, op::Reconcile& request) {
  const View log = history.log();
  request.list.clear();
  for (const std::uint64_t ordinal : list_by_now(history))
    request.list.push_back(as_sent(log, ordinal, request.volatile_parts));
  request.is_delta = false;
}

// Whether a list is a window of the conversation: up to its last answer, which is the newest one,
// it has nothing that the conversation has not, in the same order. Summaries do not count, nor do
// system prompts, which may tell another day. Answers that are given often tell only together with
// what stands around them, and so does any answer behind another system prompt:
// it may be judged by another program.
bool is_window_of(const History& history, const op::Reconcile& request) {
  constexpr std::size_t telling_messages_min = 3;
  const View log = history.log();
  const std::vector<std::uint64_t> list = list_by_now(history);
  std::set<Identity> prompts;
  for (const std::uint64_t ordinal : list)
    if (const Message message = log[ordinal]; message.role() == Role::system)
      prompts.insert(identity(message, request.volatile_parts));
  auto kept = list.rbegin();
  std::size_t known = 0;
  bool is_telling_one = false, has_its_prompt = true;
  for (auto sent = request.list.rbegin(); sent != request.list.rend(); ++sent) {
    if (known == 0 && sent->message.role() != Role::assistant) continue;  // new
    if (sent->message.role() == Role::system)
      has_its_prompt = has_its_prompt && prompts.contains(sent->identity);
    if (sent->message.role() == Role::system || sent->is_summary) continue;
    for (;; ++kept) {
      if (kept == list.rend()) return false;
      const Message message = log[*kept];
      if (identity(message, request.volatile_parts) == sent->identity) break;
      if (known == 0 && message.role() != Role::system) return false;
    }
    ++kept;
    ++known;
    is_telling_one = is_telling_one || is_telling(sent->message);
  }
  return (is_telling_one && has_its_prompt) || known >= telling_messages_min;
}

// What the answer to a recorded request added.
std::vector<std::uint64_t> answer_of(const History& history, const RequestRecord& record) {
  if (record.answer_version.value == 0) return {};
  Result<Diff> diff = history.diff(record.version, record.answer_version);
  return diff ? std::move(diff->added) : std::vector<std::uint64_t>();
}

// Whether the record's answer is still to come, as far as it tells.
bool awaits_answer(const RequestRecord& record) {
  return record.status >= 200 && record.status < 300 &&
         (record.answer_version.value == 0 || record.is_torn);
}

// Whether a conversation that is named may be gone on with: it is this user's, or no user's, but made
// with the command or over the server's API, by whoever has the store.
bool may_go_on_with(std::string_view maker, const RecordKeys& keys) {
  return maker == keys.user() || !maker.starts_with("user:");
}

// What may not be kept of an answer.
void black_out(std::string& text, const std::vector<std::string>& secrets) {
  constexpr std::size_t secret_bytes_min = 6;  // shorter ones are words, as "none"
  for (const std::string& secret : secrets) {
    if (secret.size() < secret_bytes_min) continue;
    for (std::size_t at = text.find(secret); at != text.npos; at = text.find(secret, at))
      text.replace(at, secret.size(), "[key]");
  }
}

}  // namespace

Result<std::shared_ptr<ObservedTurn>> TurnRecorder::begin(const SentRequest& sent) {
  return answering_failure(
      [&]() -> Result<std::shared_ptr<ObservedTurn>> { return begin_turn(sent); });
}

Result<std::uint64_t> TurnRecorder::finish(ObservedTurn& turn, const GivenAnswer& answer) {
  return answering_failure([&]() -> Result<std::uint64_t> { return finish_turn(turn, answer); });
}

std::shared_ptr<ObservedTurn> TurnRecorder::begin_turn(const SentRequest& sent) {
  if (sent.method == "GET") return begin_late(sent);
  const ClientProfile client = client_of(sent.dialect, sent.head);
  const std::string_view body = sent.body ? std::string_view(*sent.body) : "[]";
  ClientRequest request =
      read_client_request(client, sent.dialect, with_list(sent, body), options_.limits, sent.head)
          .value();
  const RecordKeys keys(options_.secret, sent.user);
  if (is_beside_named(sent, request, keys)) request.kind = ClientRequestKind::side_request;
  const std::optional<CompactionAsk> asked = take_compaction(sent, request);
  const std::optional<PointerAt> pointer = last_pointer(sent, request);
  Found found = find(sent, request, keys);
  if (pointer)
    found =
        find_pointed_at(sent, keys, pointer->pointer, std::move(found), !request.session.empty());
  const bool is_compaction =
      asked &&
      options_.compacts(sent.tenant, asked->model, found.fork ? std::string() : found.conversation);
  if (asked && !is_compaction && asked->trigger) request.reconcile.list.push_back(*asked->trigger);
  if (!is_followed(request) && !is_compaction) {
    // what is asked beside a conversation makes none
    if (found.conversation.empty()) return nullptr;
    found.fork.reset();
  }
  auto turn = std::make_shared<ObservedTurn>(
      ObservedTurn{.tenant = sent.tenant, .keys = keys, .dialect = sent.dialect});
  turn->conversation = open(sent, request, found, keys);
  turn->is_compaction = is_compaction;
  turn->has_pointer = pointer.has_value();
  turn->whose = whose_item(options_.secret, sent);
  turn->record = describe_request(client, request, body, sent.head);
  if (pointer && is_of_origin(sent, *turn->conversation, pointer->pointer.conversation))
    request.reconcile.list = resolved(turn->conversation->history(), pointer->pointer,
                                      pointer->place, request.reconcile);
  turn->record.method = sent.method;
  turn->record.at_ms = sent.at_ms;
  turn->record.keys = keys_of(request, keys);
  if (!request.session.empty())
    for (std::string& key : keys_of_setting(client, request, body, turn->record, keys))
      turn->record.keys.push_back(std::move(key));
  if (const std::string main = session_conversation(sent, request, keys, turn->conversation->id());
      !main.empty())
    turn->record.keys.push_back(std::string(part_of_kind) + main);
  if (!request.previous_response.empty() && is_followed(request))
    turn->record.keys.push_back(behind_key(keys, request));
  turn->volatile_parts = client.volatile_parts;
  if (goes_by_cache(request) && is_followed(request)) {
    turn->cached.key = cache_key(keys, request);
    turn->record.keys.push_back(turn->cached.key);
    if (request.session.empty() && !request.reconcile.list.empty()) {
      turn->cached_list = keys.beginnings(request.reconcile.list).back();
      turn->record.keys.push_back(
          keys.key(cached_list_kind, {turn->cached.key, turn->cached_list}));
    }
    const std::string key_here = cache_key_in(keys, request, turn->conversation->id());
    put_behind_cached(*turn, key_here, request.reconcile);
    turn->record.keys.push_back(key_here);
  } else if (goes_by_cache(request)) {
    request.reconcile.is_delta = false;
  }
  turn->rest = request.rest;
  turn->is_delta = request.reconcile.is_delta || !request.cached_content.empty();
  for (const op::Reconcile::Sent& each : request.reconcile.list)
    turn->made_ids = std::max(turn->made_ids, last_made_id(each.message));
  if (sent.body) {
    turn->body = sent.body;
    turn->request = *sent.body;
    turn->is_followed = is_followed(request);
  }
  if (turn->is_followed) {
    if (!request.reconcile.is_delta) take_list_keys(*turn, request.reconcile.list);
    follow(*turn, std::move(request.reconcile));
  } else if (is_compaction) {
    if (request.reconcile.list.empty())
      take_whole_list(turn->conversation->history(), request.reconcile);
    follow(*turn, std::move(request.reconcile));  // its answer is an item, and no message
  } else if ((request.kind == ClientRequestKind::compaction || pointer) && sent.body) {
    // What it names is edited for it, and not the conversation.
    turn->aside = std::move(request.reconcile);
  }
  turn->record.version = turn->conversation->version();
  for (const std::string& key : turn->record.keys)
    under_way_[{sent.tenant, key}] = {turn->conversation->id(), turn->record.version, turn.get()};
  return turn;
}

// Answers that are made in the background

// The client was given an id in place of an answer, and asks with that until it has one. The record
// stands for the one that asked first: it is found by the same.
std::shared_ptr<ObservedTurn> TurnRecorder::begin_late(const SentRequest& sent) {
  const std::string id = sent.head.path.substr(sent.head.path.rfind('/') + 1);
  const RecordKeys keys(options_.secret, sent.user);
  const std::shared_ptr<Store> store = options_.store(sent.tenant);
  const std::optional<FoundRequest> found =
      find_key(*store, sent.tenant, {keys.key(response_kind, {id})});
  if (!found || found->number == 0) return nullptr;
  const std::shared_ptr<Conversation> conversation =
      options_.open(sent.tenant, found->conversation);
  const std::vector<RequestRecord> asked =
      conversation->requests({.first = found->number, .limit = 1}).value();
  if (asked.empty() || !awaits_answer(asked[0])) return nullptr;
  auto turn = std::make_shared<ObservedTurn>(
      ObservedTurn{.tenant = sent.tenant, .keys = keys, .dialect = sent.dialect});
  turn->conversation = conversation;
  turn->awaited = found->number;
  turn->volatile_parts = client_of(sent.dialect, sent.head).volatile_parts;
  if (const Result<ClientProfile> client = find_client(asked[0].client))
    turn->volatile_parts = client->volatile_parts;
  RequestRecord& record = turn->record;
  record.version = asked[0].version;
  record.at_ms = sent.at_ms;
  record.client = asked[0].client;
  record.dialect = asked[0].dialect;
  record.kind = asked[0].kind;
  record.method = sent.method;
  record.path = sent.head.path;
  record.model = asked[0].model;
  record.tools_digest = asked[0].tools_digest;
  record.parameters_digest = asked[0].parameters_digest;
  record.messages = asked[0].messages;
  record.keys = asked[0].keys;
  const auto is_of_answer = [](const std::string& key) {
    return std::any_of(of_answers.begin(), of_answers.end(),
                       [&](std::string_view kind) { return key.starts_with(kind); });
  };
  std::erase_if(record.keys, is_of_answer);
  const std::vector<op::Reconcile::Sent> list =
      list_at(conversation->history(), record.version, turn->volatile_parts);
  const std::vector<std::string> lists = keys.beginnings(list),
                                 texts = keys.beginnings(without_system(list));
  const auto is_listed = [&](const std::string& key) { return key == lists.back(); };
  if (!lists.empty() && std::any_of(record.keys.begin(), record.keys.end(), is_listed)) {
    turn->list = lists.back();
    if (!texts.empty()) turn->said = texts.back();
  }
  for (const op::Reconcile::Sent& each : list)
    turn->made_ids = std::max(turn->made_ids, last_made_id(each.message));
  return turn;
}

// Whether this is the answer that was awaited, and the conversation has not gone on without it. What
// came of it before makes room.
bool TurnRecorder::takes_late(ObservedTurn& turn, const GivenAnswer& answer,
                              const ProviderResponse& response) {
  if (answer.status != 200 || answer.is_torn || !response.complete || response.messages.empty())
    return false;
  Conversation& conversation = *turn.conversation;
  const std::vector<RequestRecord> last = conversation.requests({.last = 1}).value();
  if (last.empty() || last[0].number != turn.awaited || !awaits_answer(last[0])) return false;
  for (const auto& [key, under_way] : under_way_)
    if (key.first == turn.tenant && under_way.conversation == conversation.id()) return false;
  const History history = conversation.history();
  std::vector<std::uint64_t> before;
  for (const std::uint64_t ordinal : answer_of(history, last[0]))
    if (history.view().index_of(Ordinal(ordinal))) before.push_back(ordinal);
  if (!before.empty())
    conversation
        .apply({op::Delete{Names::ordinals(std::move(before)), Pairs::literal},
                {.description = "the whole answer has come"}})
        .value();
  turn.record.version = last[0].version;
  turn.number = newest(turn.tenant, conversation).turn;
  turn.is_followed = true;
  return true;
}

// By the whole list a later request finds the conversation.
void TurnRecorder::take_list_keys(ObservedTurn& turn,
                                  const std::vector<op::Reconcile::Sent>& list) {
  if (list.empty()) return;
  turn.list = turn.keys.beginnings(list).back();
  const std::vector<std::string> lists = turn.keys.beginnings(without_system(list));
  if (!lists.empty()) turn.said = lists.back();
  turn.record.keys.push_back(turn.list);
}

// A request that names a cache holds what is not in there. Where an earlier request named the same
// one, the same messages stand before this list, which is whole behind them. Else the list goes on
// with it.
void TurnRecorder::put_behind_cached(ObservedTurn& turn, const std::string& key_here,
                                     op::Reconcile& request) {
  const History history = turn.conversation->history();
  CachedMessages before = newest(turn.tenant, *turn.conversation).cached;
  Version version = history.version();
  if (before.key != turn.cached.key) {
    const std::optional<RequestRecord> record = find_cached(turn, key_here);
    if (!record) return;
    before = cached_by(history, *record);
    version = record->version;
  }
  std::vector<op::Reconcile::Sent> whole = list_at(history, version, request.volatile_parts);
  if (before.count > whole.size()) return;
  whole.erase(whole.begin() + static_cast<std::ptrdiff_t>(before.count), whole.end());
  std::move(request.list.begin(), request.list.end(), std::back_inserter(whole));
  request.list = std::move(whole);
  request.is_delta = false;
}

// The newest request of the conversation that named this cache.
std::optional<RequestRecord> TurnRecorder::find_cached(const ObservedTurn& turn,
                                                       const std::string& key_here) const {
  const std::shared_ptr<Store> store = options_.store(turn.tenant);
  const std::optional<FoundRequest> found = find_key(*store, turn.tenant, {key_here});
  if (!found || found->number == 0) return std::nullopt;
  const std::vector<RequestRecord> records =
      turn.conversation->requests({.first = found->number, .limit = 1}).value();
  const bool is_there =
      !records.empty() && turn.conversation->history().view_at(records[0].version);
  return is_there ? std::optional(records[0]) : std::nullopt;
}

// Compactions that the gateway makes

std::string whose_item(std::string_view secret, const SentRequest& sent) {
  return sent.tenant + '\n' + RecordKeys(secret, sent.user).user();
}

std::optional<TurnRecorder::CompactionAsk> TurnRecorder::take_compaction(
    const SentRequest& sent, ClientRequest& request) const {
  if (!options_.seal || !options_.compacts || !sent.body ||
      request.kind != ClientRequestKind::compaction)
    return std::nullopt;
  if (sent.dialect != Dialect::openai_responses) return std::nullopt;
  std::vector<op::Reconcile::Sent>& list = request.reconcile.list;
  const bool has_trigger = !list.empty() && list.back().message.json().find(
                                                "\"compaction_trigger\"") != std::string_view::npos;
  // Another kind is a plain request to the model, whose answer the client makes a message of.
  if (!has_trigger && !sent.head.path.ends_with("/responses/compact")) return std::nullopt;
  const Result<JsonText> json = JsonText::parse(*sent.body, {.depth = 4096});
  if (!json) return std::nullopt;
  CompactionAsk asked{.model = text_at(json->root(), "/model")};
  if (has_trigger) {
    asked.trigger = std::move(list.back());
    list.pop_back();
  }
  return asked;
}

std::optional<TurnRecorder::PointerAt> TurnRecorder::last_pointer(
    const SentRequest& sent, const ClientRequest& request) const {
  if (!options_.seal) return std::nullopt;
  const std::string whose = whose_item(options_.secret, sent);
  const std::vector<op::Reconcile::Sent>& list = request.reconcile.list;
  for (std::size_t i = list.size(); i-- > 0;) {
    const std::string_view json = list[i].message.json();
    const std::vector<SealedItem> items = sealed_items(json);
    if (items.empty()) continue;
    // One that does not open is somebody else's: it means nothing here.
    const SealedText& sealed = items.back().text;
    std::optional<CompactionPointer> pointer =
        options_.seal->open(json.substr(sealed.begin, sealed.end - sealed.begin), whose);
    if (pointer) return PointerAt{i, *std::move(pointer)};
  }
  return std::nullopt;
}

// The conversation that an item names, unless the request was found to go on with that one, or by
// its session with a fork of it. What a client keeps before an item looks like the beginning of an
// older list.
TurnRecorder::Found TurnRecorder::find_pointed_at(const SentRequest& sent, const RecordKeys& keys,
                                                  const CompactionPointer& pointer, Found found,
                                                  bool is_of_session) {
  if (found.conversation == pointer.conversation && !found.fork) return found;
  // its client named it
  if (!sent.conversation.empty() && !found.conversation.empty()) return found;
  const std::shared_ptr<Store> store = options_.store(sent.tenant);
  const Result<std::string> maker = Conversation::stored_maker(*store, pointer.conversation);
  if (!maker || *maker != keys.user()) return found;
  if (is_of_session && !found.conversation.empty()) {
    const std::optional<Origin> origin = store->find(found.conversation).value().origin;
    if (origin && origin->conversation == pointer.conversation) return found;
    return {pointer.conversation, Version(pointer.version), Version(pointer.version)};
  }
  return {pointer.conversation};
}

// Only such a conversation has the versions that an item of `origin` names.
bool TurnRecorder::is_of_origin(const SentRequest& sent, const Conversation& conversation,
                                const std::string& origin) const {
  if (conversation.id() == origin) return true;
  const std::optional<Origin> from =
      options_.store(sent.tenant)->find(conversation.id()).value().origin;
  return from && from->conversation == origin;
}

// Keys of a request

// The best comes first.
std::optional<FoundRequest> TurnRecorder::find_key(Store& store, const std::string& tenant,
                                                   const std::vector<std::string>& keys) const {
  const std::vector<FoundRequest> rows = store.find_requests(keys).value();
  for (const std::string& key : keys) {
    // Of one key a request under way is the newest; a better key counts more.
    if (const auto found = under_way_.find({tenant, key}); found != under_way_.end())
      return FoundRequest{key, found->second.conversation, 0};
    for (const FoundRequest& row : rows)
      if (row.key == key) return row;
  }
  return std::nullopt;
}

TurnRecorder::Found TurnRecorder::find(const SentRequest& sent, const ClientRequest& request,
                                       const RecordKeys& keys) {
  const std::shared_ptr<Store> store = options_.store(sent.tenant);
  if (!sent.conversation.empty() || (request.session.empty() && !sent.body)) {
    const std::string id = preferred_id(sent, request);
    const Result<std::string> maker = Conversation::stored_maker(*store, id);
    return maker && may_go_on_with(*maker, keys) ? Found{id} : Found{};
  }
  if (!request.conversation.empty())
    if (const std::optional<FoundRequest> found =
            find_key(*store, sent.tenant, {keys.key("conversation", {request.conversation})}))
      return {found->conversation};
  if (!request.previous_response.empty())
    if (const std::optional<FoundRequest> found =
            find_key(*store, sent.tenant, {keys.key(response_kind, {request.previous_response})}))
      return find_behind(*store, sent, request, keys, *found);
  if (!request.session.empty()) return find_by_session(*store, sent, request, keys);
  return goes_by_cache(request) ? find_by_cache(*store, sent, request, keys)
                                : find_by_list(*store, sent, request, keys);
}

// Whether a request that names a conversation is one beside it, though its client does not say so: it
// asks without tools and with a system prompt of its own what goes on with nothing, where the
// conversation is asked with tools. So are titles, and judgements of what was said.
bool TurnRecorder::is_beside_named(const SentRequest& sent, const ClientRequest& request,
                                   const RecordKeys& keys) const {
  if (sent.conversation.empty() || !sent.body || !is_followed(request) ||
      request.reconcile.is_delta || holds_answer(request))
    return false;
  const Result<JsonText> json = JsonText::parse(*sent.body, {.depth = 4096});
  if (!json || !json->root().is(JsonType::object)) return false;
  if (const std::optional<JsonValue> tools = json->root().find("tools"); tools && !tools->empty())
    return false;
  const std::string id = preferred_id(sent, request);
  const Result<std::string> maker = Conversation::stored_maker(*options_.store(sent.tenant), id);
  if (!maker || !may_go_on_with(*maker, keys)) return false;
  const std::shared_ptr<Conversation> named = options_.open(sent.tenant, id);
  const std::vector<RequestRecord> last = named->requests({.last = 1}).value();
  if (last.empty() || last[0].tools_digest.empty()) return false;
  std::set<Identity> prompts;
  const History history = named->history();
  for (const std::uint64_t ordinal : list_by_now(history))
    if (const Message message = history.log()[ordinal]; message.role() == Role::system)
      prompts.insert(identity(message, request.reconcile.volatile_parts));
  const auto& list = request.reconcile.list;
  return std::any_of(list.begin(), list.end(), [&](const op::Reconcile::Sent& each) {
    return each.message.role() == Role::system && !prompts.contains(each.identity);
  });
}

// The conversation, or where to fork it if it has gone on since.
TurnRecorder::Found TurnRecorder::found_at(Store& store, const SentRequest& sent,
                                           const FoundRequest& found) {
  if (found.number == 0 || found.number == store.last_request(found.conversation).value())
    return {found.conversation};
  const std::shared_ptr<Conversation> origin = options_.open(sent.tenant, found.conversation);
  const std::vector<RequestRecord> left =
      origin->requests({.first = found.number, .limit = 1}).value();
  if (left.empty()) return {};
  return {found.conversation, version_at(left[0], found.key), left[0].version,
          cached_by(origin->history(), left[0])};
}

// Whether a list that was sent before is sent for an answer of its own, and is no retry, whose client
// has no answer, or not all of one. Clients that retry by themselves say so.
bool TurnRecorder::is_asked_anew(const SentRequest& sent, const ClientRequest& request,
                                 const FoundRequest& found) const {
  const std::string retries = sent.head.header("x-stainless-retry-count");
  if (!is_followed(request) || (!retries.empty() && retries != "0")) return false;
  if (found.number == 0) return true;  // somebody else waits for its answer
  const std::vector<RequestRecord> left = options_.open(sent.tenant, found.conversation)
                                              ->requests({.first = found.number, .limit = 1})
                                              .value();
  return !left.empty() && left[0].answer_version.value != 0 && !left[0].is_torn;
}

// Another session with the same list: a fork, where there is more than a first question.
TurnRecorder::Found TurnRecorder::asked_anew(const SentRequest& sent, const ClientRequest& request,
                                             const FoundRequest& found) const {
  if (!holds_answer(request)) return {};
  if (found.number == 0) {
    const UnderWay& same = under_way_.at({sent.tenant, found.key});
    return {same.conversation, same.version, same.version};
  }
  std::shared_ptr<Conversation> origin = options_.open(sent.tenant, found.conversation);
  const std::vector<RequestRecord> left =
      origin->requests({.first = found.number, .limit = 1}).value();
  if (left.empty()) return {};
  const CachedMessages cached = cached_by(origin->history(), left[0]);
  Found at{found.conversation, left[0].version, left[0].version, cached};
  // A fork of a fork that has nothing of its own there is one of the conversation that both come
  // from: asking the same a thousand times makes no chain.
  const std::shared_ptr<Store> store = options_.store(sent.tenant);
  for (;;) {
    const std::optional<Origin> from = store->find(at.conversation).value().origin;
    if (!from || from->version < at.fork->value) return at;
    at.conversation = from->conversation;
  }
}

// Of a request that holds only what is new. One that is tried again goes on with what it has left,
// unless it was answered. Where another one has gone on behind the same response, or is about to,
// it is a fork.
TurnRecorder::Found TurnRecorder::find_behind(Store& store, const SentRequest& sent,
                                              const ClientRequest& request, const RecordKeys& keys,
                                              const FoundRequest& response) {
  const std::optional<FoundRequest> same =
      find_key(store, sent.tenant, {behind_key(keys, request)});
  if (same && same->number == 0) return {same->conversation};
  if (same && same->number == store.last_request(same->conversation).value()) {
    const std::shared_ptr<Conversation> tried = options_.open(sent.tenant, same->conversation);
    const std::vector<RequestRecord> left =
        tried->requests({.first = same->number, .limit = 1}).value();
    if (!left.empty() && left[0].answer_version.value == 0) return {same->conversation};
  }
  Found found = found_at(store, sent, response);
  const auto is_there = [&](const auto& each) {
    return each.first.first == sent.tenant && each.second.conversation == found.conversation;
  };
  if (found.conversation.empty() || found.fork ||
      std::none_of(under_way_.begin(), under_way_.end(), is_there))
    return found;
  const std::shared_ptr<Conversation> origin = options_.open(sent.tenant, found.conversation);
  const std::vector<RequestRecord> left =
      origin->requests({.first = response.number, .limit = 1}).value();
  if (left.empty()) return found;
  const History history = origin->history();
  const Version then = version_at(left[0], response.key);
  if (client_tree_at(history, then).size() == client_tree_at(history, history.version()).size())
    return found;
  return {found.conversation, then, left[0].version, cached_by(history, left[0])};
}

TurnRecorder::Found TurnRecorder::find_by_session(Store& store, const SentRequest& sent,
                                                  const ClientRequest& request,
                                                  const RecordKeys& keys) {
  if (has_client_summary(request))
    if (Found found = find_behind_summary(store, sent, request, keys); !found.conversation.empty())
      return found;
  const std::vector<std::string> firsts = keys_of_beginning(request, keys);
  if (!firsts.empty())
    if (const std::optional<FoundRequest> found = find_key(store, sent.tenant, firsts))
      if (holds_answer(request) || is_asked_alike(store, sent, request, keys, found->conversation))
        return {found->conversation};
  // A list that begins otherwise is another conversation of the session, unless its client
  // compacted it.
  const std::optional<FoundRequest> main =
      find_key(store, sent.tenant, {keys.key("session", {session_of(request)})});
  if (main) {
    const bool goes_on = has_client_summary(request) || !is_followed(request) ||
                         moves_to_cache(store, sent, request, keys, *main);
    return goes_on ? Found{main->conversation} : Found{};
  }
  // Made, and not recorded: the program ended before the answer did. One with records is of another
  // session, whose id makes the same name.
  const std::string id = preferred_id(sent, request);
  const Result<std::string> maker = Conversation::stored_maker(store, id);
  if (maker && *maker == keys.user() && store.last_request(id).value() == 0) return {id};
  return is_followed(request) ? find_origin(store, sent, request, keys) : Found{};
}

// A list that its client compacted: the summary tells once it was sent; before, the conversation
// that the compaction was asked in, or else the one that gave an answer which the client kept, or
// was asked with the same tools. What stands behind the summary may begin another conversation of
// the session, such as one that makes a title of the same words.
TurnRecorder::Found TurnRecorder::find_behind_summary(Store& store, const SentRequest& sent,
                                                      const ClientRequest& request,
                                                      const RecordKeys& keys) {
  const auto& list = request.reconcile.list;
  const std::string session = session_of(request);
  std::vector<std::string> some;
  for (auto each = list.rbegin(); each != list.rend() && some.size() < keys_at_once; ++each)
    if (each->is_summary) some.push_back(keys.key(first_kind, {session, text(each->identity)}));
  some.push_back(compaction_key_of(request, keys));
  if (const std::optional<FoundRequest> found = find_key(store, sent.tenant, some))
    return {found->conversation};
  const auto is_of_session = [&](const FoundRequest& found) {
    const std::vector<RequestRecord> last =
        options_.open(sent.tenant, found.conversation)->requests({.last = 1}).value();
    const std::string key = keys.key("session", {session});
    return !last.empty() &&
           std::find(last[0].keys.begin(), last[0].keys.end(), key) != last[0].keys.end();
  };
  if (const std::optional<FoundRequest> found = find_reply(store, sent, request, keys);
      found && is_of_session(*found))
    return {found->conversation};
  const ClientProfile client = client_of(sent.dialect, sent.head);
  const std::string_view body = sent.body ? std::string_view(*sent.body) : "[]";
  const RequestRecord record = describe_request(client, request, body, sent.head);
  std::vector<std::string> setting = keys_of_setting(client, request, body, record, keys);
  std::reverse(setting.begin(), setting.end());  // the prompt may have changed
  const std::optional<FoundRequest> found = find_key(store, sent.tenant, setting);
  return found ? Found{found->conversation} : Found{};
}

// Whether the session's conversation has not named this cache yet: what was said is in there, and
// the list begins behind it.
bool TurnRecorder::moves_to_cache(Store& store, const SentRequest& sent,
                                  const ClientRequest& request, const RecordKeys& keys,
                                  const FoundRequest& main) {
  if (!goes_by_cache(request)) return false;
  const std::shared_ptr<Conversation> conversation = options_.open(sent.tenant, main.conversation);
  if (newest(sent.tenant, *conversation).cached.key == cache_key(keys, request)) return false;
  return !find_key(store, sent.tenant, {cache_key_in(keys, request, main.conversation)});
}

// Whether the conversation was asked with this system prompt, or with these tools.
bool TurnRecorder::is_asked_alike(Store& store, const SentRequest& sent,
                                  const ClientRequest& request, const RecordKeys& keys,
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

// A session that begins with another's messages was forked from it: its client says so, or it has
// an answer that only that one was given.
TurnRecorder::Found TurnRecorder::find_origin(Store& store, const SentRequest& sent,
                                              const ClientRequest& request,
                                              const RecordKeys& keys) {
  std::optional<FoundRequest> origin;
  if (!request.parent.empty()) {
    ClientRequest parent;
    parent.session = request.parent;
    parent.reconcile.client = request.reconcile.client;
    origin = find_key(store, sent.tenant, {keys.key("session", {session_of(parent)})});
  }
  if (!origin) origin = find_list(store, sent, request, keys);
  if (!origin || origin->number == 0 ||
      (request.parent.empty() && !origin->key.starts_with(answered_kind)))
    return {};
  const std::shared_ptr<Conversation> conversation =
      options_.open(sent.tenant, origin->conversation);
  const std::vector<RequestRecord> left =
      conversation->requests({.first = origin->number, .limit = 1}).value();
  if (left.empty()) return {};
  return {origin->conversation, version_at(left[0], origin->key), left[0].version,
          cached_by(conversation->history(), left[0])};
}

TurnRecorder::Found TurnRecorder::find_by_list(Store& store, const SentRequest& sent,
                                               const ClientRequest& request,
                                               const RecordKeys& keys) {
  std::optional<FoundRequest> found = find_list(store, sent, request, keys);
  if (found && found->key == keys.beginnings(request.reconcile.list).back() &&
      is_asked_anew(sent, request, *found))
    return asked_anew(sent, request, *found);
  // The system prompt of a session that is resumed may tell another day.
  if (!found && holds_answer(request)) found = find_said(store, sent, request, keys);
  Found at = found ? found_at(store, sent, *found) : Found{};
  if (at.fork && names_answer_behind(found->key, request, keys))
    at = found_at(store, sent, {answered(found->key), found->conversation, found->number});
  if (!at.conversation.empty() && (!at.fork || holds_last_answer(found->key, request, keys)))
    return at;
  if (Found window = find_window(store, sent, request, keys); !window.conversation.empty())
    return window;
  return found ? at : find_by_reply(store, sent, request, keys);
}

// A client that leaves out some of what was said goes on with the conversation, as long as that has
// not gone on without it.
TurnRecorder::Found TurnRecorder::find_window(Store& store, const SentRequest& sent,
                                              const ClientRequest& request,
                                              const RecordKeys& keys) const {
  const auto& list = request.reconcile.list;
  const auto last = std::find_if(list.rbegin(), list.rend(), [](const auto& each) {
    return each.message.role() == Role::assistant;
  });
  if (last == list.rend()) return {};
  const std::optional<FoundRequest> found =
      find_key(store, sent.tenant, {reply_key(keys, last->identity)});
  if (!found || found->number == 0) return {};
  const bool is_window =
      is_window_of(options_.open(sent.tenant, found->conversation)->history(), request.reconcile);
  return is_window ? Found{found->conversation} : Found{};
}

// A list behind a cache is that of the requests that named the cache before. One that moves to a
// cache has an answer which only its conversation was given.
TurnRecorder::Found TurnRecorder::find_by_cache(Store& store, const SentRequest& sent,
                                                const ClientRequest& request,
                                                const RecordKeys& keys) {
  const std::string cache = cache_key(keys, request);
  const std::vector<std::string> lists = keys.beginnings(request.reconcile.list);
  std::optional<FoundRequest> found =
      find_longest(store, sent, lists, [&](const std::string& list) {
        return std::vector<std::string>{keys.key(cached_answered_kind, {cache, list}),
                                        keys.key(cached_list_kind, {cache, list})};
      });
  const bool is_whole =
      found && !lists.empty() && found->key == keys.key(cached_list_kind, {cache, lists.back()});
  if (is_whole && is_asked_anew(sent, request, *found)) return asked_anew(sent, request, *found);
  if (!found) found = find_reply(store, sent, request, keys);
  return found ? found_at(store, sent, *found) : Found{};
}

// The main conversation of a session, of a turn that is in another one: a sub-agent's, a request
// for a title, or one that began otherwise. Its name where it is still to come.
std::string TurnRecorder::session_conversation(const SentRequest& sent,
                                               const ClientRequest& request, const RecordKeys& keys,
                                               const std::string& own) {
  if (!sent.conversation.empty()) {
    const std::string named = id_of(sent.conversation);
    if (ending_beside(sent, request).empty() || own == named) return {};
    const Result<std::string> maker =
        Conversation::stored_maker(*options_.store(sent.tenant), named);
    return !maker || may_go_on_with(*maker, keys) ? named : std::string();
  }
  if (request.session.empty()) return {};
  const std::string asked_by = asking_session(sent);
  const bool is_beside = !asked_by.empty() || !request.agent.empty() ||
                         request.kind == ClientRequestKind::side_request;
  ClientRequest main;
  main.session = asked_by.empty() ? request.session : asked_by;
  main.reconcile.client = request.reconcile.client;
  Store& store = *options_.store(sent.tenant);
  if (is_beside)
    if (const std::optional<FoundRequest> found =
            find_key(store, sent.tenant, {keys.key("session", {session_of(main)})}))
      return found->conversation;
  const std::string id = preferred_id({.body = std::make_shared<const std::string>()}, main);
  if (id == own) return {};
  const Result<std::string> maker = Conversation::stored_maker(store, id);
  return maker ? *maker == keys.user() ? id : std::string() : is_beside ? id : std::string();
}

// The longest of these beginnings of a list that a record has one of its keys of.
std::optional<FoundRequest> TurnRecorder::find_longest(
    Store& store, const SentRequest& sent, const std::vector<std::string>& lists,
    const std::function<std::vector<std::string>(const std::string& list)>& keys_of_list) const {
  std::vector<std::string> some;
  for (std::size_t i = lists.size(); i-- > 0;) {
    for (std::string& key : keys_of_list(lists[i])) some.push_back(std::move(key));
    if (some.size() < keys_at_once && i > 0) continue;
    if (std::optional<FoundRequest> found = find_key(store, sent.tenant, some)) return found;
    some.clear();
  }
  return std::nullopt;
}

// The longest beginning of the list that was sent before, or sent and answered.
std::optional<FoundRequest> TurnRecorder::find_list(Store& store, const SentRequest& sent,
                                                    const ClientRequest& request,
                                                    const RecordKeys& keys) const {
  const auto keys_of_list = [](const std::string& list) {
    return std::vector<std::string>{answered(list), list};
  };
  return find_longest(store, sent, keys.beginnings(request.reconcile.list), keys_of_list);
}

// A client that writes the beginning of its list anew when it resumes still has the answers that it
// was given: it goes on from the last one, as a fork.
TurnRecorder::Found TurnRecorder::find_by_reply(Store& store, const SentRequest& sent,
                                                const ClientRequest& request,
                                                const RecordKeys& keys) {
  const std::optional<FoundRequest> found = find_reply(store, sent, request, keys);
  if (!found || found->number == 0) return {};
  const std::shared_ptr<Conversation> origin = options_.open(sent.tenant, found->conversation);
  const std::vector<RequestRecord> left =
      origin->requests({.first = found->number, .limit = 1}).value();
  if (left.empty() || left[0].answer_version.value == 0) return {};
  return {found->conversation, left[0].answer_version, left[0].version};
}

// The newest answer of the list that hardly any other conversation was given.
std::optional<FoundRequest> TurnRecorder::find_reply(Store& store, const SentRequest& sent,
                                                     const ClientRequest& request,
                                                     const RecordKeys& keys) const {
  std::vector<std::string> replies;
  const auto& list = request.reconcile.list;
  for (auto each = list.rbegin(); each != list.rend() && replies.size() < keys_at_once; ++each)
    if (each->message.role() == Role::assistant && is_telling(each->message))
      replies.push_back(reply_key(keys, each->identity));
  return replies.empty() ? std::nullopt : find_key(store, sent.tenant, replies);
}

// The longest beginning without system prompts, up to an answer.
std::optional<FoundRequest> TurnRecorder::find_said(Store& store, const SentRequest& sent,
                                                    const ClientRequest& request,
                                                    const RecordKeys& keys) const {
  return find_longest(store, sent, keys.beginnings(without_system(request.reconcile.list)),
                      [](const std::string& list) { return std::vector<std::string>{said(list)}; });
}

std::shared_ptr<Conversation> TurnRecorder::open(const SentRequest& sent,
                                                 const ClientRequest& request, const Found& found,
                                                 const RecordKeys& keys) {
  if (!found.conversation.empty() && !found.fork)
    return options_.open(sent.tenant, found.conversation);
  const auto make = [&](const std::string& id) -> Result<void> {
    if (found.fork) {
      const auto forked =
          options_.open(sent.tenant, found.conversation)->fork(*found.fork, id, keys.user());
      return forked ? Result<void>() : forked.error();
    }
    const auto made = Conversation::open(
        options_.store(sent.tenant), id, {},
        {.make = OpenOptions::Make::always, .note = options_.note, .made_by = keys.user()});
    return made ? Result<void>() : made.error();
  };
  std::string id = found.fork ? fork_id(found.conversation, sent) : preferred_id(sent, request);
  for (int tries = 0;; ++tries) {
    const Result<void> made = make(id);
    if (made) break;
    if (made.error().code != ErrorCode::conflict || tries == 3) throw Failure(made.error());
    // The name is another user's, or of another line of work.
    id = found.fork ? fork_id(found.conversation, sent)
                    : id_with(preferred_id(sent, request), '-' + some_chance(sent));
  }
  std::shared_ptr<Conversation> conversation = options_.open(sent.tenant, id);
  if (found.fork) {
    if (newest_.size() >= newest_max) newest_.erase(newest_.begin());
    Newest& newest = newest_[{sent.tenant, id}];
    newest.cached = found.cached;
  }
  return conversation;
}

// What happens in the conversation

TurnRecorder::Newest& TurnRecorder::newest(const std::string& tenant,
                                           const Conversation& conversation) {
  if (const auto found = newest_.find({tenant, conversation.id()}); found != newest_.end())
    return found->second;
  if (newest_.size() >= newest_max) newest_.erase(newest_.begin());
  Newest newest;
  if (const std::vector<RequestRecord> last = conversation.requests({.last = 1}).value();
      !last.empty())
    newest = {0, cached_by(conversation.history(), last[0])};
  return newest_[{tenant, conversation.id()}] = std::move(newest);
}

void TurnRecorder::follow(ObservedTurn& turn, op::Reconcile request) {
  Conversation& conversation = *turn.conversation;
  const bool is_delta = request.is_delta;
  Newest& left = newest(turn.tenant, conversation);
  conversation.apply({std::move(request)}).value();
  turn.number = ++turns_;
  left = {turn.number};
  if (!turn.cached.key.empty()) {
    turn.record.version = conversation.version();
    left.cached = turn.cached = cached_by(conversation.history(), turn.record);
    if (is_delta)
      take_list_keys(turn,
                     list_at(conversation.history(), conversation.version(), turn.volatile_parts));
  }
}

// A client may be faster than what tells of its answer's end: its next request is here already, and
// has the answer, or has it not.
void TurnRecorder::add_answer(ObservedTurn& turn, const ProviderResponse& response, bool is_torn) {
  const auto newest = newest_.find({turn.tenant, turn.conversation->id()});
  if (newest == newest_.end() || newest->second.turn == turn.number)
    return append_answer(turn, response, is_torn);
  const History history = turn.conversation->history();
  const std::vector<Ordinal> list = history.client_list();
  const std::uint64_t place = turn.cached.count + turn.record.messages;
  if (place >= list.size()) return;
  const Message& next = history.log()[list[place].value];
  if (identity(next, turn.volatile_parts) == identity(response.messages[0], turn.volatile_parts))
    turn.record.answer_version = turn.conversation->version();
}

void TurnRecorder::append_answer(ObservedTurn& turn, const ProviderResponse& response,
                                 bool is_torn) {
  Conversation& conversation = *turn.conversation;
  const std::uint64_t first = conversation.history().log().size();
  conversation.apply({op::Append{response.messages}}).value();
  if (is_torn) {
    std::vector<std::uint64_t> ordinals(response.messages.size());
    std::iota(ordinals.begin(), ordinals.end(), first);
    conversation.apply({op::Mark{Names::ordinals(std::move(ordinals)), "torn"}}).value();
  }
  turn.record.answer_version = conversation.version();
  newest_[{turn.tenant, conversation.id()}] = {turn.number, turn.cached};
}

std::uint64_t TurnRecorder::finish_turn(ObservedTurn& turn, const GivenAnswer& answer) {
  RequestRecord& record = turn.record;
  const std::optional<SentView::Which> sent = turn.sent->get();
  if (sent) record.version = sent->version;
  for (const std::string& key : record.keys)
    if (const auto mine = under_way_.find({turn.tenant, key});
        mine != under_way_.end() && mine->second.turn == &turn)
      under_way_.erase(mine);
  ProviderResponse response =
      read_response(turn.dialect, answer.body, answer.form, options_.limits, turn.made_ids);
  take_items(response);
  if (turn.awaited != 0 && !takes_late(turn, answer, response)) return 0;
  record.status = answer.status;
  record.first_byte_ms = answer.first_byte_ms;
  record.duration_ms = answer.duration_ms;
  record.response_id = response.id;
  if (!response.model.empty()) record.model = response.model;
  if (!response.id.empty()) record.keys.push_back(turn.keys.key(response_kind, {response.id}));
  const bool is_answered =
      answer.status >= 200 && answer.status < 300 && !response.messages.empty();
  // Of some upstreams the end of the connection is the end of the answer: only the stream tells
  // that it was cut.
  record.is_torn = answer.is_torn || (is_answered && !response.complete);
  if (response.usage != ProviderUsage{}) {
    record.usage = {.request_id = response.id.empty() ? fresh_id(record.at_ms) : response.id,
                    .model = record.model,
                    .prompt = response.usage.prompt,
                    .completion = response.usage.completion,
                    .cached = std::min(response.usage.cached, response.usage.prompt),
                    .at_ms = record.at_ms,
                    .estimated_prompt = sent ? sent->estimated_prompt : 0};
    record.usage.cache_written =
        std::min(response.usage.cache_written, record.usage.prompt - record.usage.cached);
    record.usage.cache_written_hour =
        std::min(response.usage.cache_written_hour, record.usage.cache_written);
    // one that is reported twice stays as it was
    static_cast<void>(turn.conversation->record_usage(record.usage));
  }
  if (is_answered && turn.is_followed) {
    add_answer(turn, response, record.is_torn);
    if (!turn.list.empty()) {
      std::vector<Identity> identities;
      for (const Message& message : response.messages)
        identities.push_back(identity(message, turn.volatile_parts));
      record.keys.push_back(answered(turn.keys.longer(turn.list, identities)));
      if (!turn.said.empty()) record.keys.push_back(said(turn.keys.longer(turn.said, identities)));
      if (!turn.cached_list.empty())
        record.keys.push_back(
            turn.keys.key(cached_answered_kind,
                          {turn.cached.key, turn.keys.longer(turn.cached_list, identities)}));
      record.keys.push_back(reply_key(turn.keys, identities.back()));
    }
  }
  const bool keeps_bytes = !turn.request.empty() || turn.awaited != 0;
  std::string kept = keeps_bytes ? answer.body : std::string();
  // What a model says is kept as it is: its client sends it back.
  if (!is_answered || record.is_torn) black_out(kept, answer.secrets);
  return turn.conversation->record_request(std::move(record), turn.request, kept).value();
}

}  // namespace undertext
