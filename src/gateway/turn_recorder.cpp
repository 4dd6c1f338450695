#include "gateway/turn_recorder.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include <undertext/blocks.hpp>
#include <undertext/identity.hpp>

#include "base/answering_failure.hpp"
#include "base/json_text.hpp"
#include "client/pointer.hpp"
#include "engine/request_log.hpp"
#include "gateway/turn_keys.hpp"
#include "store/fresh_id.hpp"

namespace undertext {

using namespace turn_keys;

namespace {

constexpr std::size_t newest_max = 4096;  // conversations whose newest turn is remembered

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

// Chats of Gemini's SDKs keep each piece of a streamed answer as a content of its own. Contents of
// the model that follow each other are one, as the pieces are that are recorded. Empty: there is
// nothing to join.
std::string with_joined_pieces(std::string_view body) {
  const Result<JsonText> json = JsonText::parse(body, {.depth = 4096});
  if (!json || !json->root().is(JsonType::object)) return {};
  const std::optional<JsonValue> list = json->root().find("contents");
  if (!list || !list->is(JsonType::array)) return {};
  std::string joined;
  std::string_view left = body;
  std::vector<std::string_view> pieces;
  const auto join = [&] {
    if (pieces.size() < 2) return pieces.clear();
    StreamAssembler assembler(Dialect::gemini);
    const bool is_whole = std::all_of(pieces.begin(), pieces.end(), [&](std::string_view piece) {
      return bool(assembler.feed(R"({"candidates":[{"content":)" + std::string(piece) + "}]}"));
    });
    if (const std::string message = assembler.finish().message; is_whole && !message.empty()) {
      const auto at = static_cast<std::size_t>(pieces.front().data() - left.data());
      joined += left.substr(0, at);
      joined += message;
      const char* const end = pieces.back().data() + pieces.back().size();
      left.remove_prefix(static_cast<std::size_t>(end - left.data()));
    }
    pieces.clear();
  };
  for (const JsonValue content : list->elements()) {
    const bool is_object = content.is(JsonType::object);
    const std::optional<JsonValue> role = is_object ? content.find("role") : std::nullopt,
                                   parts = is_object ? content.find("parts") : std::nullopt;
    const bool is_piece =
        role && role->string_is("model") && parts && parts->is(JsonType::array) && !parts->empty();
    if (!is_piece) join();
    if (is_piece) pieces.push_back(content.raw());
  }
  join();
  return joined.empty() ? joined : joined.append(left);
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

// A list may end with the beginning of its answer. The client joins the two, and sends that next.
// Unset: this one does not, or one of the two is more than a text.
std::optional<Message> joined_answer(const ObservedTurn& turn, const ProviderResponse& response,
                                     const MessageLimits& limits) {
  if (!turn.prefill || response.messages.size() != 1) return std::nullopt;
  std::string text;
  for (const Message* const message : {&*turn.prefill, &response.messages[0]}) {
    const std::vector<ContentBlock> blocks = read_blocks(*message);
    if (blocks.size() != 1 || blocks[0].kind != ContentBlock::Kind::text) return std::nullopt;
    text += blocks[0].text;
  }
  Result<Message> joined = Message::make(Role::assistant, text, limits);
  return joined ? std::optional(*std::move(joined)) : std::nullopt;
}

// By a list with this answer behind it, the next request finds the conversation.
void add_answer_keys(ObservedTurn& turn, const std::string& list, const std::string& list_said,
                     const std::vector<Identity>& answer) {
  turn.record.keys.push_back(answered(turn.keys.longer(list, answer)));
  if (!list_said.empty()) turn.record.keys.push_back(said(turn.keys.longer(list_said, answer)));
  turn.record.keys.push_back(reply_key(turn.keys, answer.back()));
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
  std::string joined;
  if (sent.body && sent.dialect == Dialect::gemini) joined = with_joined_pieces(*sent.body);
  const std::string_view body = !joined.empty() ? std::string_view(joined)
                                : sent.body     ? std::string_view(*sent.body)
                                                : "[]";
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
  if (list.back().message.role() != Role::assistant || lists.size() < 2) return;
  turn.prefill = list.back().message;
  turn.list_before_prefill = turn.keys.beginnings(list)[list.size() - 2];
  turn.said_before_prefill = lists[lists.size() - 2];
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
      add_answer_keys(turn, turn.list, turn.said, identities);
      if (!turn.cached_list.empty())
        record.keys.push_back(
            turn.keys.key(cached_answered_kind,
                          {turn.cached.key, turn.keys.longer(turn.cached_list, identities)}));
      if (const std::optional<Message> joined = joined_answer(turn, response, options_.limits))
        add_answer_keys(turn, turn.list_before_prefill, turn.said_before_prefill,
                        {identity(*joined, turn.volatile_parts)});
    }
  }
  const bool keeps_bytes = !turn.request.empty() || turn.awaited != 0;
  std::string kept = keeps_bytes ? answer.body : std::string();
  // What a model says is kept as it is: its client sends it back.
  if (!is_answered || record.is_torn) black_out(kept, answer.secrets);
  return turn.conversation->record_request(std::move(record), turn.request, kept).value();
}

}  // namespace undertext
