// What a turn is found by: the names that conversations get, and the keys that records of requests
// bear for requests to come (RequestRecord::keys). Of each key only a digest is stored
// (record_keys.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/client.hpp>
#include <undertext/history.hpp>
#include <undertext/identity.hpp>
#include <undertext/request_record.hpp>

#include "gateway/record_keys.hpp"
#include "gateway/turn_recorder.hpp"

namespace undertext::turn_keys {

// An id of a conversation, of a name that may hold anything. What an id cannot hold is replaced, and
// a digest tells names apart that are alike without it.
std::string id_of(std::string_view name);
// What a conversation beside the main one has behind the name of that.
std::string ending_beside(const SentRequest& sent, const ClientRequest& request);
std::string preferred_id(const SentRequest& sent, const ClientRequest& request);
std::string some_chance(const SentRequest& sent);
// The base is cut where it is too long, and what tells the two apart is kept.
std::string id_with(std::string_view base, const std::string& ending);
// A fork of a fork is named after the conversation that both come from: names do not grow.
std::string fork_id(std::string_view origin, const SentRequest& sent);

bool has_client_summary(const ClientRequest& request);
// Whether the conversation follows its list. What asks for a compaction has the list that the next
// request has too, changed for the purpose.
bool is_followed(const ClientRequest& request);
std::vector<op::Reconcile::Sent> without_system(std::vector<op::Reconcile::Sent> list);
// What names more than a cache is found by that.
bool goes_by_cache(const ClientRequest& request);

// The key of a list with the answer behind it, of that of a list.
constexpr std::string_view list_kind = "list:", answered_kind = "answered:";
// Behind it stands the name of the session's main conversation.
constexpr std::string_view part_of_kind = "part_of:";
// The same of a list without its system prompt.
constexpr std::string_view said_kind = "said:";
std::string answered(const std::string& list);
std::string said(const std::string& list);
// That a client asked for a compaction: in this conversation of the session it goes on.
std::string compaction_key_of(const ClientRequest& request, const RecordKeys& keys);

// That a request names what the provider has cached.
constexpr std::string_view cache_kind = "cache";
std::string cache_key(const RecordKeys& keys, const ClientRequest& request);
// The same of one conversation: what stands in the cache is the beginning of the list that it had
// then.
std::string cache_key_in(const RecordKeys& keys, const ClientRequest& request,
                         const std::string& conversation);
// Of what it sends behind that, without a session: the same list may stand behind several caches.
constexpr std::string_view cached_list_kind = "cached_list",
                           cached_answered_kind = "cached_answered";
// How many messages of the client's list stand before what this request sent.
CachedMessages cached_by(const History& history, const RequestRecord& record);
// What is sent behind a response: the same again is a request that is tried again.
std::string behind_key(const RecordKeys& keys, const ClientRequest& request);

constexpr std::string_view reply_kind = "reply";
std::string reply_key(const RecordKeys& keys, const Identity& identity);
constexpr std::string_view response_kind = "response";
// The kinds of keys that a record has of its answer.
constexpr std::array<std::string_view, 5> of_answers = {response_kind, reply_kind, answered_kind,
                                                        said_kind, cached_answered_kind};
// What was there when the key was made.
Version version_at(const RequestRecord& record, std::string_view key);

constexpr std::string_view first_kind = "first";
std::vector<std::string> keys_of_beginning(const ClientRequest& request, const RecordKeys& keys);
// What a request asks with, by which a first turn is told from a request for its title: its system
// prompt, and its tools.
std::vector<std::string> keys_of_setting(const ClientProfile& client, const ClientRequest& request,
                                         std::string_view body, const RequestRecord& record,
                                         const RecordKeys& keys);
std::vector<std::string> keys_of(const ClientRequest& request, const RecordKeys& keys);

// A message of the log, as the client would send it.
op::Reconcile::Sent as_sent(const View& log, std::uint64_t ordinal, const VolatileParts& parts);
// What a client has by now: what it sent last, and what it was answered.
std::vector<std::uint64_t> list_by_now(const History& history);

}  // namespace undertext::turn_keys
