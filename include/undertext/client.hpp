// Clients that keep their own list of messages and send all of it with every request: coding
// agents, SDKs, frameworks.
//
//     ClientProfile client = find_client("claude_code").value();
//     ClientRequest request = read_client_request(client, {}, body).value();
//     conversation.apply({std::move(request.reconcile)});          // the conversation follows: docs/clients.md
//
// A profile is data: the volatile parts of a client's requests, the form of its own compactions,
// and where its conversation id is.
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
  // of its requests; unset: the engine's own form, or the caller's choice
  std::optional<Dialect> dialect = {};
  VolatileParts volatile_parts = VolatileParts::common();
  // prefixes of user messages that summarise compacted ones
  std::vector<std::string> summary_texts = {};
  // whole user messages that begin the list behind a compaction, answered by the summary
  std::vector<std::string> summary_questions = {};
  std::vector<std::string> compaction_texts = {};  // prefixes of texts that ask for a compaction
  std::vector<std::string> own_headers = {};       // any identifies it: "name", "name: beginning"
  // with the conversation id; the first one present is used
  std::vector<std::string> session_headers = {};
  // the same in the body; a # points into a string of JSON
  std::vector<std::string> session_pointers = {};
  // with the id of a sub-agent, which has its own conversation
  std::vector<std::string> agent_headers = {};
  // with the id of the session that asked for a sub-agent, which has its own session
  std::vector<std::string> asking_headers = {};
  // to the id of the parent of a fork; "header#/pointer" into a header's JSON
  std::vector<std::string> parent_pointers = {};
  // pointers to parts of the system prompt that never change
  std::vector<std::string> stable_system = {};
  // it loads the view, and the list that it saves replaces the view
  bool is_given_view = false;
};

UNDERTEXT_API Result<ClientProfile> find_client(std::string_view name);  // not_found
UNDERTEXT_API std::span<const std::string_view> client_names();

// Path and headers of a request, where they are known.
struct ClientRequestHead {
  std::string path = {};
  std::vector<std::pair<std::string, std::string>> headers = {};

  // case-insensitive; empty: missing
  UNDERTEXT_API std::string header(std::string_view name) const;
};

// The client that sent the request, by its own headers; else the dialect's default client.
UNDERTEXT_API ClientProfile client_of(Dialect dialect, const ClientRequestHead& head);

// The purpose of a request. Only turns and compactions are part of a conversation.
enum class ClientRequestKind : std::uint8_t {
  turn,
  compaction,    // asks for a summary of its list
  side_request,  // asks for a title or the like, with a separate list
  count_tokens,
};
UNDERTEXT_API std::string_view name(ClientRequestKind kind);

struct ClientRequest {
  op::Reconcile reconcile;
  ClientRequestKind kind = ClientRequestKind::turn;
  std::string session = {};   // the client's conversation id; empty: none
  std::string agent = {};     // of a sub-agent; empty: the main loop
  std::string asked_by = {};  // of a sub-agent's own session: the session that asked for it
  std::string parent = {};    // the id of the parent of a fork
  // of a request with only new messages: the response that it continues
  std::string previous_response = {};
  std::string conversation = {};    // or the provider's conversation
  std::string cached_content = {};  // or the provider's cached content
  std::string rest = {};            // the body's other fields, as a JSON object
};

// `json`: a request body, or a bare array of messages. `dialect`: overrides the profile's.
// invalid_argument with the path: not of the dialect. too_large: a message over the limit.
UNDERTEXT_API Result<ClientRequest> read_client_request(const ClientProfile& client,
                                                        std::optional<Dialect> dialect,
                                                        std::string_view json,
                                                        const MessageLimits& limits = {},
                                                        const ClientRequestHead& head = {});

// The same for messages in the engine's own form.
UNDERTEXT_API op::Reconcile client_list(const ClientProfile& client,
                                        const std::vector<Message>& messages);

}  // namespace undertext
