// Which conversation a request goes on with.
#include <algorithm>
#include <set>
#include <utility>

#include <undertext/identity.hpp>

#include "engine/request_log.hpp"
#include "gateway/turn_keys.hpp"
#include "gateway/turn_recorder.hpp"

namespace undertext {

using namespace turn_keys;

namespace {

constexpr std::size_t keys_at_once = 256;  // of one question to the store

// Whether an answer is hardly given twice: short ones are.
bool is_telling(const Message& message) {
  constexpr std::size_t telling_bytes_min = 24;
  return message.text().size() >= telling_bytes_min;
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

// Whether an answer is in the beginning of the list that this key is of.
bool holds_some_answer(std::string_view key, const ClientRequest& request, const RecordKeys& keys) {
  const auto& list = request.reconcile.list;
  const std::vector<std::string> lists = keys.beginnings(list);
  bool has_answer = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    has_answer = has_answer || list[i].message.role() == Role::assistant;
    if (key == lists[i] || key == answered(lists[i])) return has_answer;
  }
  return false;
}

bool is_system(const Message& message) { return message.role() == Role::system; }

// The client's list in the first request that is recorded, without system prompts.
std::size_t first_list_size(const Conversation& conversation) {
  const std::vector<RequestRecord> first = conversation.requests({.limit = 1}).value();
  if (first.empty()) return 0;
  const History history = conversation.history();
  const View log = history.log();
  const std::vector<std::uint64_t> list = client_list_at(history, first[0].version);
  return static_cast<std::size_t>(std::count_if(
      list.begin(), list.end(), [&](std::uint64_t ordinal) { return !is_system(log[ordinal]); }));
}

// What a list begins with that the conversation's begins with too, system prompts aside.
struct Common {
  std::size_t messages = 0;
  bool has_first_answer = false;  // to all that the conversation was asked first, in any words
};

Common common_with(const Conversation& conversation, const op::Reconcile& request) {
  const History history = conversation.history();
  const View log = history.log();
  Common common;
  const auto next_said = [&](auto sent) {
    while (sent != request.list.end() && is_system(sent->message)) ++sent;
    return sent;
  };
  const std::size_t asked_first = first_list_size(conversation);
  auto sent = next_said(request.list.begin());
  const auto note_answer = [&] {
    if (common.messages == asked_first && sent != request.list.end())
      common.has_first_answer = sent->message.role() == Role::assistant;
  };
  note_answer();
  for (const std::uint64_t ordinal : list_by_now(history)) {
    const Message message = log[ordinal];
    if (is_system(message)) continue;
    if (sent == request.list.end() || identity(message, request.volatile_parts) != sent->identity)
      break;
    sent = next_said(sent + 1);
    ++common.messages;
    note_answer();
  }
  return common;
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

// Whether a conversation that is named may be gone on with: it is this user's, or no user's, but made
// with the command or over the server's API, by a user of the store.
bool may_go_on_with(std::string_view maker, const RecordKeys& keys) {
  return maker == keys.user() || !maker.starts_with("user:");
}

}  // namespace

std::optional<TurnRecorder::PointerAt> TurnRecorder::last_pointer(
    const SentRequest& sent, const ClientRequest& request) const {
  if (!options_.seal) return std::nullopt;
  const std::string whose = whose_item(options_.secret, sent);
  const std::vector<op::Reconcile::Sent>& list = request.reconcile.list;
  for (std::size_t i = list.size(); i-- > 0;) {
    const std::string_view json = list[i].message.json();
    const std::vector<SealedItem> items = sealed_items(json);
    if (items.empty()) continue;
    // One that does not open is another user's: it means nothing here.
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
  if (found.number == 0) return true;  // another client waits for its answer
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
  if (Found found = find_said_in_session(store, sent, request, keys); !found.conversation.empty())
    return found;
  if (Found found = find_by_beginning(store, sent, request, keys); !found.conversation.empty())
    return found;
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
  if (const std::optional<FoundRequest> found = find_reply(store, sent, request, keys);
      found && is_of_session(sent, request, keys, found->conversation))
    return {found->conversation};
  std::vector<std::string> setting = setting_of(sent, request, keys);
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

// Whether the conversation's newest request is of this session.
bool TurnRecorder::is_of_session(const SentRequest& sent, const ClientRequest& request,
                                 const RecordKeys& keys, const std::string& conversation) const {
  const std::string key = keys.key("session", {session_of(request)});
  const auto found = under_way_.find({sent.tenant, key});
  if (found != under_way_.end() && found->second.conversation == conversation) return true;
  const std::vector<RequestRecord> last =
      options_.open(sent.tenant, conversation)->requests({.last = 1}).value();
  return !last.empty() &&
         std::find(last[0].keys.begin(), last[0].keys.end(), key) != last[0].keys.end();
}

// The conversation of the session that the list goes on with behind an answer, whole or as a
// window of it. Several may begin with the same words: their answers tell them apart.
TurnRecorder::Found TurnRecorder::find_said_in_session(Store& store, const SentRequest& sent,
                                                       const ClientRequest& request,
                                                       const RecordKeys& keys) const {
  if (!holds_answer(request) || goes_by_cache(request)) return {};
  const auto is_here = [&](const std::string& conversation) {
    return is_of_session(sent, request, keys, conversation);
  };
  std::optional<FoundRequest> found = find_list(store, sent, request, keys);
  if (found && holds_some_answer(found->key, request, keys) && is_here(found->conversation))
    return {found->conversation};
  found = find_said(store, sent, request, keys);
  if (found && is_here(found->conversation)) return {found->conversation};
  Found window = find_window(store, sent, request, keys);
  const bool is_window = !window.conversation.empty() && is_here(window.conversation);
  return is_window ? window : Found{};
}

// The conversation of the session that has most of the list's beginning, of those that are found by
// its first messages and of the newest that was asked alike, which is taken of two that have as
// much. It was asked with the same system prompt, or the list has an answer behind what it was asked
// first: examples of answers are the same for agents that differ in their prompts only.
TurnRecorder::Found TurnRecorder::find_by_beginning(Store& store, const SentRequest& sent,
                                                    const ClientRequest& request,
                                                    const RecordKeys& keys) const {
  const std::vector<std::string> firsts = keys_of_beginning(request, keys);
  if (firsts.empty()) return {};
  const auto conversation_of = [&](const std::string& key) {
    const std::optional<FoundRequest> found = find_key(store, sent.tenant, {key});
    return found ? found->conversation : std::string();
  };
  const std::vector<std::string> setting = setting_of(sent, request, keys);
  const std::string same_prompt = conversation_of(setting.front());
  Found best;
  std::size_t most = 0;
  const auto try_one = [&](const std::string& key, std::size_t messages_min) {
    const std::string conversation = conversation_of(key);
    if (conversation.empty()) return;
    const Common common = common_with(*options_.open(sent.tenant, conversation), request.reconcile);
    if (common.messages < messages_min || (conversation != same_prompt && !common.has_first_answer))
      return;
    most = common.messages;
    best = {conversation};
  };
  for (const std::string& key : setting) try_one(key, most + 1);
  for (const std::string& key : firsts) try_one(key, best.conversation.empty() ? 0 : most + 1);
  return best;
}

// By the better of these keys a conversation was asked alike.
std::vector<std::string> TurnRecorder::setting_of(const SentRequest& sent,
                                                  const ClientRequest& request,
                                                  const RecordKeys& keys) {
  const ClientProfile client = client_of(sent.dialect, sent.head);
  const std::string_view body = sent.body ? std::string_view(*sent.body) : "[]";
  const RequestRecord record = describe_request(client, request, body, sent.head);
  return keys_of_setting(client, request, body, record, keys);
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
  const std::string& asked_by = request.asked_by;
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

// A client that rewrites the beginning of its list when it resumes still has the answers that it
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

}  // namespace undertext
