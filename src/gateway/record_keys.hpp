// By which a request finds the conversation that it goes on with: keys of request records
// (request_record.hpp).
//
// A key is a digest with a secret of this installation, over the user and what is looked for. So a
// session's id leads to the conversations of its own user only, and a store tells nothing of
// sessions and credentials.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/client.hpp>

namespace undertext {

class RecordKeys {
 public:
  // `user`: the credential that the request came with, or the name of its token. Empty: there is
  // only one user.
  RecordKeys(std::string_view secret, std::string_view user);

  // Such as "session:3f…": the words are told apart, whatever they hold.
  std::string key(std::string_view kind, std::initializer_list<std::string_view> words) const;
  std::string user() const { return key("user", {}); }

  // Of each beginning of the list, the shortest first: the list that a client sent, or sent and was
  // answered.
  std::vector<std::string> beginnings(const std::vector<op::Reconcile::Sent>& list) const;
  // Of the list with more behind it.
  std::string longer(const std::string& beginning, const std::vector<Identity>& more) const;

 private:
  std::string base_;
};

// Names one line of work of a client: its session, and within it the sub-agent or the side request.
// Empty: the client gives no session.
std::string session_of(const ClientRequest& request);

// The first messages that are no system prompt, up to a summary of the client's own: any of these
// tells the conversations of one session apart.
std::vector<Identity> first_messages(const ClientRequest& request, std::size_t count_max);

std::string text(const Identity& identity);

}  // namespace undertext
