#include "gateway/turn_keys.hpp"

#include <algorithm>
#include <utility>

#include "base/json_text.hpp"
#include "client/pointer.hpp"
#include "engine/request_log.hpp"
#include "store/chain.hpp"
#include "store/fresh_id.hpp"

namespace undertext::turn_keys {
namespace {

constexpr std::size_t first_messages_max = 4;  // that tell the conversations of one session apart
constexpr std::size_t id_bytes_max = 100;

// Without its messages nothing tells which conversation a request is of: those without a session
// are of their day.
std::string day_of(const SentRequest& sent) {
  return "requests-" + fresh_id(sent.at_ms).substr(0, 8);
}

constexpr std::string_view side_ending = "-side";

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

}  // namespace

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

std::string ending_beside(const SentRequest& sent, const ClientRequest& request) {
  const bool is_agent_session = !sent.conversation.empty() && !request.asked_by.empty();
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

std::string id_with(std::string_view base, const std::string& ending) {
  return id_of(base.substr(0, id_bytes_max - ending.size())) + ending;
}

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

bool is_followed(const ClientRequest& request) {
  return request.kind == ClientRequestKind::turn || request.kind == ClientRequestKind::side_request;
}

std::string compaction_key_of(const ClientRequest& request, const RecordKeys& keys) {
  return keys.key("compaction", {session_of(request)});
}

std::string answered(const std::string& list) {
  return std::string(answered_kind) + list.substr(list_kind.size());
}

std::string said(const std::string& list) {
  return std::string(said_kind) + list.substr(list_kind.size());
}

std::vector<op::Reconcile::Sent> without_system(std::vector<op::Reconcile::Sent> list) {
  std::erase_if(
      list, [](const op::Reconcile::Sent& sent) { return sent.message.role() == Role::system; });
  return list;
}

std::string cache_key(const RecordKeys& keys, const ClientRequest& request) {
  return keys.key(cache_kind, {request.cached_content});
}

std::string cache_key_in(const RecordKeys& keys, const ClientRequest& request,
                         const std::string& conversation) {
  return keys.key("cache_in", {request.cached_content, conversation});
}

bool goes_by_cache(const ClientRequest& request) {
  return !request.cached_content.empty() && request.previous_response.empty() &&
         request.conversation.empty();
}

std::string behind_key(const RecordKeys& keys, const ClientRequest& request) {
  const std::vector<std::string> lists = keys.beginnings(request.reconcile.list);
  return keys.key("behind",
                  {request.previous_response, lists.empty() ? std::string() : lists.back()});
}

CachedMessages cached_by(const History& history, const RequestRecord& record) {
  const auto key = std::find_if(
      record.keys.begin(), record.keys.end(),
      [](const std::string& each) { return each.starts_with(std::string(cache_kind) + ':'); });
  if (key == record.keys.end()) return {};
  const std::uint64_t listed = client_tree_at(history, record.version).size();
  return {*key, listed - std::min(listed, record.messages)};
}

op::Reconcile::Sent as_sent(const View& log, std::uint64_t ordinal, const VolatileParts& parts) {
  const Message message = log[ordinal];
  return {message, identity(message, parts), false, ordinal, {}};
}

std::string reply_key(const RecordKeys& keys, const Identity& identity) {
  return keys.key(reply_kind, {text(identity)});
}

Version version_at(const RequestRecord& record, std::string_view key) {
  const bool is_of_list =
      key.starts_with(list_kind) || key.starts_with(std::string(cached_list_kind) + ':');
  const bool has_answer = record.answer_version.value != 0 && !is_of_list;
  return has_answer ? record.answer_version : record.version;
}

std::vector<std::string> keys_of_beginning(const ClientRequest& request, const RecordKeys& keys) {
  std::vector<std::string> all;
  const std::string session = session_of(request);
  for (const Identity& each : first_messages(request, first_messages_max)) {
    std::string key = keys.key(first_kind, {session, text(each)});
    // The same may be said twice; a record has each key once.
    if (std::find(all.begin(), all.end(), key) == all.end()) all.push_back(std::move(key));
  }
  return all;
}

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

}  // namespace undertext::turn_keys
