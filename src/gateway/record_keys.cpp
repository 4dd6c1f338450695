#include "gateway/record_keys.hpp"

#include "store/chain.hpp"

namespace undertext {
namespace {

constexpr std::size_t key_digits = 32;

void append_word(std::string& out, std::string_view word) {
  out += std::to_string(word.size());
  out += ':';
  out += word;
}

}  // namespace

RecordKeys::RecordKeys(std::string_view secret, std::string_view user) {
  append_word(base_, secret);
  append_word(base_, user);
  base_ = hex(sha256(base_));
}

std::string RecordKeys::key(std::string_view kind,
                            std::initializer_list<std::string_view> words) const {
  std::string all = base_;
  append_word(all, kind);
  for (const std::string_view word : words) append_word(all, word);
  return std::string(kind) + ':' + hex(sha256(all)).substr(0, key_digits);
}

std::vector<std::string> RecordKeys::beginnings(
    const std::vector<op::Reconcile::Sent>& list) const {
  std::vector<std::string> keys;
  keys.reserve(list.size());
  std::string before;
  for (const op::Reconcile::Sent& sent : list)
    keys.push_back(before = longer(before, {sent.identity}));
  return keys;
}

std::string RecordKeys::longer(const std::string& beginning,
                               const std::vector<Identity>& more) const {
  std::string list = beginning;
  for (const Identity& identity : more) list = key("list", {list, text(identity)});
  return list;
}

std::string session_of(const ClientRequest& request) {
  if (request.session.empty()) return {};
  std::string session;
  for (const std::string& word : {request.reconcile.client, request.session, request.agent})
    append_word(session, word);
  if (request.kind == ClientRequestKind::side_request) session += "side";
  return session;
}

std::vector<Identity> first_messages(const ClientRequest& request, std::size_t count_max) {
  std::vector<Identity> found;
  for (const op::Reconcile::Sent& sent : request.reconcile.list) {
    if (found.size() == count_max) break;
    if (sent.message.role() != Role::system) found.push_back(sent.identity);
    if (sent.is_summary) break;
  }
  return found;
}

std::string text(const Identity& identity) {
  return std::to_string(identity.high) + '.' + std::to_string(identity.low);
}

}  // namespace undertext
