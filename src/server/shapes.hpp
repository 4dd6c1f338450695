// The shapes of what the server takes and answers: those of the protocol, and what routes have
// besides.
#pragma once

#include <string>
#include <string_view>

#include "json/fields.hpp"
#include "json/shape.hpp"

namespace undertext {

// Made once.
const Shapes& server_shapes();

// The body that carries a query, which need not name it: RenderRequest of "render".
std::string query_request(std::string_view query);

// What POST /v1/conversations and …/fork take.
struct NewConversationBody {
  std::string id;
  std::string settings = {};  // as JSON; empty: none were given
  std::optional<Version> version = {};
};
void read_new_conversation(Fields& fields, NewConversationBody& made);
void read_new_fork(Fields& fields, NewConversationBody& made);

}  // namespace undertext
