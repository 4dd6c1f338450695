// Keeps what clients ask and providers answer: finds the conversation that a request goes on with,
// lets it follow the request (RECONCILE), and adds the answer and a request record when that has
// ended.
//
//     TurnRecorder recorder({.store = store_of, .open = open_conversation, .secret = secret});
//     std::shared_ptr<ObservedTurn> turn = recorder.begin(sent).value();      // the request has arrived
//     recorder.finish(*turn, answer);                                 // its answer has ended
//
// Which conversation: the one that the request names; else the one of the client's session; else
// one whose whole list the request goes on with. A request that left such a list earlier is a fork
// of it. docs/gateway.md tells more.
//
// For one thread. May wait for the store; nothing here is on the way of a request to its provider.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/client.hpp>
#include <undertext/conversation.hpp>
#include <undertext/request_record.hpp>
#include <undertext/response.hpp>
#include <undertext/store.hpp>

#include "gateway/compaction_seal.hpp"
#include "gateway/record_keys.hpp"

namespace undertext {

struct SentRequest {
  std::string tenant = {};
  std::string user = {};  // see RecordKeys
  Dialect dialect = Dialect::openai_chat;
  std::string method = {};
  ClientRequestHead head = {};
  std::shared_ptr<const std::string> body = {};  // decoded; null: only its metadata is kept
  std::string conversation = {};                 // X-Undertext-Conversation; empty: none
  std::int64_t at_ms = 0;
};

struct GivenAnswer {
  std::uint32_t status = 0;  // 0: none came
  ResponseForm form = ResponseForm::whole;
  std::string body = {};  // decoded; empty: not kept
  std::uint64_t body_bytes = 0;
  bool is_torn = false;
  std::optional<std::int64_t> first_byte_ms = {};
  std::optional<std::int64_t> duration_ms = {};
  // What the upstream was shown to be let in: an error that repeats it is kept without.
  std::vector<std::string> secrets = {};
};

// Messages that a request does not send: they stand in what it names as cached.
struct CachedMessages {
  std::string key = {};     // of the cache; empty: none is named
  std::uint64_t count = 0;  // at the beginning of the client's list
};

// What the upstream got in place of the request's list: whoever sends it says so on one thread, and
// the recorder reads it on another.
class SentView {
 public:
  struct Which {
    Version version = {};
    std::uint64_t estimated_prompt = 0;  // RequestUsage::estimated_prompt
  };
  void set(Which which) {
    const std::lock_guard lock(mutex_);
    which_ = which;
  }
  std::optional<Which> get() const {  // none: the list went as it came
    const std::lock_guard lock(mutex_);
    return which_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Which> which_;
};

// A request whose answer has not ended.
struct ObservedTurn {
  std::string tenant;
  RecordKeys keys;
  Dialect dialect = Dialect::openai_chat;
  std::shared_ptr<Conversation> conversation = {};
  RequestRecord record = {};
  std::shared_ptr<const std::string> body = {};  // as SentRequest has it
  std::string_view request = {};                 // its bytes, where they are kept
  // the conversation has its messages, and gets its answer
  bool is_followed = false;
  std::uint64_t number = 0;  // of all turns that a recorder has begun
  // the key of its list; empty: it is found by other keys
  std::string list = {};
  std::string said = {};  // the same without the system prompt
  // the last of its list where that is an assistant's: the answer may go on with it
  std::optional<Message> prefill = {};
  std::string list_before_prefill = {}, said_before_prefill = {};
  CachedMessages cached = {};
  std::string cached_list = {};  // the key of its list alone; empty: it is found by other keys
  VolatileParts volatile_parts = {};
  std::uint64_t made_ids = 0;  // see read_response()
  // it asks for a compaction that the gateway makes: the conversation has its list
  bool is_compaction = false;
  // its list has a compaction item of the gateway's: it cannot be sent as it is
  bool has_pointer = false;
  std::string whose = {};  // for whom items are sealed
  // Of a compaction that the provider makes: its list, which the conversation does not follow.
  std::optional<op::Reconcile> aside = {};
  std::string rest = {};  // the request's other fields, as a JSON object
  bool is_delta = false;  // it holds only what is new to the provider
  std::shared_ptr<SentView> sent = std::make_shared<SentView>();
  // It asks how far the provider has come with the answer to this record; 0: it asks for an answer.
  std::uint64_t awaited = 0;
};

struct TurnRecorderOptions {
  std::function<std::shared_ptr<Store>(const std::string& tenant)> store;
  // One that is there, with the settings it was made with; kept open for the next request. May
  // throw Failure.
  std::function<std::shared_ptr<Conversation>(const std::string& tenant, const std::string& id)>
      open;
  std::string secret = {};
  MessageLimits limits = {};
  std::optional<std::string> note = {};  // of conversations that are made: OpenOptions::note
  // Pointer compaction (compaction_seal.hpp). Whether the gateway answers a tenant's requests for
  // compactions of this model's conversation, whose id is empty where it has none yet; unset:
  // never. Null seal: the same.
  std::function<bool(const std::string& tenant, const std::string& model,
                     const std::string& conversation)>
      compacts = {};
  std::shared_ptr<const CompactionSeal> seal = {};
};

// For whom a compaction item of this request is sealed.
std::string whose_item(std::string_view secret, const SentRequest& sent);

class TurnRecorder {
 public:
  explicit TurnRecorder(TurnRecorderOptions options) : options_(std::move(options)) {}

  // null: it belongs to no conversation, such as a count of tokens before the first turn. A GET asks
  // for a response of Responses that was made in the background, and belongs to the turn that asked
  // for it.
  // invalid_argument: the body is no request of its dialect. Others: as the store says. Never
  // throws Failure.
  Result<std::shared_ptr<ObservedTurn>> begin(const SentRequest& sent);
  // The number of the record.
  Result<std::uint64_t> finish(ObservedTurn& turn, const GivenAnswer& answer);

 private:
  struct Found {
    std::string conversation = {};     // empty: none
    std::optional<Version> fork = {};  // set: go on from there, in a conversation of its own
    Version asked = {};                // of a fork: before the answer that it begins with,
    CachedMessages cached = {};        // and what that request had in a cache
  };

  // A compaction item of the gateway's, and where it stands in a list.
  struct PointerAt {
    std::size_t place = 0;
    CompactionPointer pointer = {};
  };

  std::shared_ptr<ObservedTurn> begin_turn(const SentRequest& sent);
  std::shared_ptr<ObservedTurn> begin_late(const SentRequest& sent);
  bool takes_late(ObservedTurn& turn, const GivenAnswer& answer, const ProviderResponse& response);
  std::optional<PointerAt> last_pointer(const SentRequest& sent,
                                        const ClientRequest& request) const;
  Found find_pointed_at(const SentRequest& sent, const RecordKeys& keys,
                        const CompactionPointer& pointer, Found found, bool is_of_session);
  bool is_of_origin(const SentRequest& sent, const Conversation& conversation,
                    const std::string& origin) const;
  // What asks for a compaction that the gateway may make.
  struct CompactionAsk {
    std::string model = {};
    std::optional<op::Reconcile::Sent> trigger = {};  // an item that only asks, taken from the list
  };
  std::optional<CompactionAsk> take_compaction(const SentRequest& sent,
                                               ClientRequest& request) const;
  std::uint64_t finish_turn(ObservedTurn& turn, const GivenAnswer& answer);

  Found find(const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys);
  Found find_behind(Store& store, const SentRequest& sent, const ClientRequest& request,
                    const RecordKeys& keys, const FoundRequest& response);
  Found find_by_session(Store& store, const SentRequest& sent, const ClientRequest& request,
                        const RecordKeys& keys);
  Found find_behind_summary(Store& store, const SentRequest& sent, const ClientRequest& request,
                            const RecordKeys& keys);
  Found find_origin(Store& store, const SentRequest& sent, const ClientRequest& request,
                    const RecordKeys& keys);
  Found find_by_list(Store& store, const SentRequest& sent, const ClientRequest& request,
                     const RecordKeys& keys);
  std::optional<FoundRequest> find_list(Store& store, const SentRequest& sent,
                                        const ClientRequest& request, const RecordKeys& keys) const;
  Found find_window(Store& store, const SentRequest& sent, const ClientRequest& request,
                    const RecordKeys& keys) const;
  Found find_by_reply(Store& store, const SentRequest& sent, const ClientRequest& request,
                      const RecordKeys& keys);
  Found find_by_cache(Store& store, const SentRequest& sent, const ClientRequest& request,
                      const RecordKeys& keys);
  std::optional<FoundRequest> find_reply(Store& store, const SentRequest& sent,
                                         const ClientRequest& request,
                                         const RecordKeys& keys) const;
  std::optional<FoundRequest> find_longest(
      Store& store, const SentRequest& sent, const std::vector<std::string>& lists,
      const std::function<std::vector<std::string>(const std::string& list)>& keys_of_list) const;
  std::optional<FoundRequest> find_said(Store& store, const SentRequest& sent,
                                        const ClientRequest& request, const RecordKeys& keys) const;
  bool moves_to_cache(Store& store, const SentRequest& sent, const ClientRequest& request,
                      const RecordKeys& keys, const FoundRequest& main);
  bool is_of_session(const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys,
                     const std::string& conversation) const;
  Found find_said_in_session(Store& store, const SentRequest& sent, const ClientRequest& request,
                             const RecordKeys& keys) const;
  Found find_by_beginning(Store& store, const SentRequest& sent, const ClientRequest& request,
                          const RecordKeys& keys) const;
  static std::vector<std::string> setting_of(const SentRequest& sent, const ClientRequest& request,
                                             const RecordKeys& keys);
  bool is_beside_named(const SentRequest& sent, const ClientRequest& request,
                       const RecordKeys& keys) const;
  bool is_asked_anew(const SentRequest& sent, const ClientRequest& request,
                     const FoundRequest& found) const;
  Found asked_anew(const SentRequest& sent, const ClientRequest& request,
                   const FoundRequest& found) const;
  Found found_at(Store& store, const SentRequest& sent, const FoundRequest& found);
  std::string session_conversation(const SentRequest& sent, const ClientRequest& request,
                                   const RecordKeys& keys, const std::string& own);
  std::optional<FoundRequest> find_key(Store& store, const std::string& tenant,
                                       const std::vector<std::string>& keys) const;
  std::shared_ptr<Conversation> open(const SentRequest& sent, const ClientRequest& request,
                                     const Found& found, const RecordKeys& keys);
  static void take_list_keys(ObservedTurn& turn, const std::vector<op::Reconcile::Sent>& list);
  void put_behind_cached(ObservedTurn& turn, const std::string& key_here, op::Reconcile& request);
  std::optional<RequestRecord> find_cached(const ObservedTurn& turn,
                                           const std::string& key_here) const;
  void follow(ObservedTurn& turn, op::Reconcile request);
  void add_answer(ObservedTurn& turn, const ProviderResponse& response, bool is_torn);
  void append_answer(ObservedTurn& turn, const ProviderResponse& response, bool is_torn);

  TurnRecorderOptions options_;
  // A turn that is not recorded yet.
  struct UnderWay {
    std::string conversation;
    Version version;                     // with its list
    const ObservedTurn* turn = nullptr;  // only compared
  };
  std::map<std::pair<std::string, std::string>, UnderWay> under_way_;  // by tenant and key
  // Of each conversation, by tenant and id, what its newest turn has left.
  struct Newest {
    std::uint64_t turn = 0;
    CachedMessages cached = {};
  };
  // What its last record tells, where nothing is remembered.
  Newest& newest(const std::string& tenant, const Conversation& conversation);
  std::map<std::pair<std::string, std::string>, Newest> newest_;
  std::uint64_t turns_ = 0;
};

}  // namespace undertext
