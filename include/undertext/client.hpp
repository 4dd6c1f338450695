// Clients that keep their own list of messages and send all of it with every request: coding agents, SDKs, frameworks.
//
//     ClientProfile client = find_client("claude_code").value();
//     ClientRequest request = read_client_request(client, {}, body).value();
//     conversation.apply({std::move(request.reconcile)});          // the conversation follows: docs/clients.md
//
// A profile is data: what a client changes from request to request without meaning anything by it, how its own compaction looks, where the id of
// its conversation stands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/dialect_name.hpp>
#include <undertext/export.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>

namespace undertext {

struct ClientProfile {
  std::string name;
  std::optional<Dialect> dialect = {};  // what it speaks; none: the engine's own form, or what the caller says
  VolatileParts volatile_parts = VolatileParts::common();
  std::vector<std::string> summary_texts = {};     // how a message of the user begins that stands for what the client compacted
  std::vector<std::string> compaction_texts = {};  // how a text begins that asks for a compaction
  std::vector<std::string> own_headers = {};       // any of these tells that it is this client
  std::vector<std::string> session_headers = {};   // where the id of its conversation stands; the first that is there
  std::vector<std::string> session_pointers = {};  // the same in the body; a # leads into a text that holds JSON
  std::vector<std::string> agent_headers = {};     // of a sub-agent, which is a conversation of its own
  std::vector<std::string> parent_pointers =
      {};  // of the conversation that it was forked from; "header#/pointer" into a header's JSON
  std::vector<std::string> stable_system = {};  // pointers to parts of the system prompt that stay as they are
  bool is_given_view = false;                   // it loads the view, and the list that it saves takes the view's place
};

UNDERTEXT_API Result<ClientProfile> find_client(std::string_view name);  // not_found
UNDERTEXT_API std::span<const std::string_view> client_names();

// What stands around the body of a request, where it is known.
struct ClientRequestHead {
  std::string path = {};
  std::vector<std::pair<std::string, std::string>> headers = {};

  UNDERTEXT_API std::string header(std::string_view name) const;  // without case; empty: it is not there
};

// The client that sent it: one of its own headers is there, or it is the dialect's own.
UNDERTEXT_API ClientProfile client_of(Dialect dialect, const ClientRequestHead& head);

// What a request is for. Only turns, and what the client asks to be compacted, are part of a conversation.
enum class ClientRequestKind : std::uint8_t {
  turn,
  compaction,    // asks for a summary of its list
  side_request,  // asks for a title or the like, with a list of its own
  count_tokens,
};
UNDERTEXT_API std::string_view name(ClientRequestKind kind);

struct ClientRequest {
  op::Reconcile reconcile;
  ClientRequestKind kind = ClientRequestKind::turn;
  std::string session = {};            // the client's id of its conversation; empty: it gives none
  std::string agent = {};              // of a sub-agent; empty: the main loop
  std::string parent = {};             // the conversation that it says it was forked from
  std::string previous_response = {};  // of a request that holds only what is new: the response that it follows
  std::string conversation = {};       // or the provider's own conversation
  std::string cached_content = {};     // or what the provider has cached
  std::string rest = {};               // the body's other fields, as a JSON object
};

// `json`: a request body, or a bare array of messages. `dialect`: overrides the profile's.
// invalid_argument with the path: not of the dialect. too_large: a message over the limit.
UNDERTEXT_API Result<ClientRequest> read_client_request(const ClientProfile& client, std::optional<Dialect> dialect,
                                                        std::string_view json, const MessageLimits& limits = {},
                                                        const ClientRequestHead& head = {});

// The same for messages in the engine's own form.
UNDERTEXT_API op::Reconcile client_list(const ClientProfile& client, const std::vector<Message>& messages);

}  // namespace undertext
