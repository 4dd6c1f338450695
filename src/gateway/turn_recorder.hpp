// Keeps what clients ask and providers answer: finds the conversation that a request goes on with, lets it follow the request (RECONCILE), and adds the
// answer and a request record when that has ended.
//
//     TurnRecorder recorder({.store = store_of, .open = open_conversation, .secret = secret});
//     std::shared_ptr<ObservedTurn> turn = recorder.begin(sent).value();      // the request has arrived
//     recorder.finish(*turn, answer);                                 // its answer has ended
//
// Which conversation: the one that the request names; else the one of the client's session; else one whose whole list the request goes on with. A request
// that left such a list earlier is a fork of it. docs/gateway.md tells more.
//
// For one thread. May wait for the store; nothing here is on the way of a request to its provider.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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

#include "gateway/record_keys.hpp"

namespace undertext {

struct SentRequest {
  std::string tenant = {};
  std::string user = {};  // see RecordKeys
  Dialect dialect = Dialect::openai_chat;
  std::string method = {};
  ClientRequestHead head = {};
  std::optional<std::string> body = {};  // decoded; unset: only its metadata is kept
  std::string conversation = {};         // X-Undertext-Conversation; empty: none
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
};

// A request whose answer has not ended.
struct ObservedTurn {
  std::string tenant;
  RecordKeys keys;
  Dialect dialect = Dialect::openai_chat;
  std::shared_ptr<Conversation> conversation = {};
  RequestRecord record = {};
  std::string request = {};  // its bytes, where they are kept
  bool is_followed = false;  // the conversation has its messages, and gets its answer
  std::uint64_t number = 0;  // of all turns that a recorder has begun
  std::string list = {};     // the key of its list; empty: it is found by other keys
  std::string said = {};     // the same without the system prompt
  VolatileParts volatile_parts = {};
  std::uint64_t made_ids = 0;  // see read_response()
};

struct TurnRecorderOptions {
  std::function<std::shared_ptr<Store>(const std::string& tenant)> store;
  // One that is there, with the settings it was made with; kept open for the next request. May throw Failure.
  std::function<std::shared_ptr<Conversation>(const std::string& tenant, const std::string& id)> open;
  std::string secret = {};
  MessageLimits limits = {};
  std::optional<std::string> note = {};  // of conversations that are made: OpenOptions::note
};

class TurnRecorder {
 public:
  explicit TurnRecorder(TurnRecorderOptions options) : options_(std::move(options)) {}

  // null: it belongs to no conversation, such as a count of tokens before the first turn. invalid_argument: the body is no request of its dialect. Others: as the store says. Never throws Failure.
  Result<std::shared_ptr<ObservedTurn>> begin(const SentRequest& sent);
  // The number of the record.
  Result<std::uint64_t> finish(ObservedTurn& turn, const GivenAnswer& answer);

 private:
  struct Found {
    std::string conversation = {};     // empty: none
    std::optional<Version> fork = {};  // set: go on from there, in a conversation of its own
    Version asked = {};                // of a fork: before the answer that it begins with
  };

  std::shared_ptr<ObservedTurn> begin_turn(const SentRequest& sent);
  std::uint64_t finish_turn(ObservedTurn& turn, const GivenAnswer& answer);

  Found find(const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys);
  Found find_by_session(Store& store, const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys);
  Found find_origin(Store& store, const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys);
  Found find_by_list(Store& store, const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys);
  std::optional<FoundRequest> find_list(Store& store, const SentRequest& sent, const ClientRequest& request,
                                        const RecordKeys& keys) const;
  Found find_by_reply(Store& store, const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys);
  std::optional<FoundRequest> find_said(Store& store, const SentRequest& sent, const ClientRequest& request,
                                        const RecordKeys& keys) const;
  bool is_asked_alike(Store& store, const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys,
                      const std::string& conversation) const;
  Found found_at(Store& store, const SentRequest& sent, const FoundRequest& found);
  std::string session_conversation(const SentRequest& sent, const ClientRequest& request, const RecordKeys& keys,
                                   const std::string& own);
  std::optional<FoundRequest> find_key(Store& store, const std::string& tenant, const std::vector<std::string>& keys) const;
  std::shared_ptr<Conversation> open(const SentRequest& sent, const ClientRequest& request, const Found& found,
                                     const RecordKeys& keys);
  void follow(ObservedTurn& turn, op::Reconcile request);
  void add_answer(ObservedTurn& turn, const ProviderResponse& response, bool is_torn);
  void append_answer(ObservedTurn& turn, const ProviderResponse& response, bool is_torn);

  TurnRecorderOptions options_;
  std::map<std::pair<std::string, std::string>, std::string>
      under_way_;  // (tenant, key) -> conversation, of turns that are not recorded yet
  // Of each conversation, by tenant and id, what its newest turn has left.
  struct Newest {
    std::uint64_t turn = 0;
    std::vector<std::uint64_t> answer = {};  // ordinals
  };
  std::map<std::pair<std::string, std::string>, Newest> newest_;
  std::uint64_t turns_ = 0;
};

}  // namespace undertext
