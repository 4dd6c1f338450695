// The line protocol: one JSON line in, one JSON line out. Every door that speaks it calls this and
// nothing else of this room.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <undertext/conversation.hpp>
#include <undertext/ids.hpp>

#include "base/json_text.hpp"

namespace undertext {

// Carries out the operation, the atomic list of operations, or the query in `line`. The answer is
// one line without its newline; every failure is an answer too ({"ok":false,"error":{…}}), and has
// then changed nothing. Throws only std::bad_alloc.
std::string answer(Conversation& conversation, std::string_view line);

// Line breaks between the tokens of JSON text become spaces: messages are handed out as they are,
// and may hold some.
void keep_to_one_line(std::string& json);

// The history as it would be after a list of operations. Throws Failure: it is no such list, or one
// of them fails.
History try_operations(const Conversation& conversation, std::string_view list);

// The answer that says `error`.
std::string answer(const Error& error);

// What an answer to a query may need.
struct AnswerRoom {
  // too_large: the answer would have more
  std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max();
  // Asked before an answer is made that may be large, with about as many bytes as it will have.
  // false: unavailable. Unset: yes.
  std::function<bool(std::uint64_t bytes)> reserve = {};
};

// What a door says of a request besides its line.
struct RequestOptions {
  enum class Takes : std::uint8_t { anything, operations, queries };
  Takes takes = Takes::anything;
  // A strategy that asks a model is refused (unsupported): the answer would wait for the model.
  bool refuse_slow_strategies = false;
  std::stop_token cancel = {};             // of a COMPRESS by a strategy that is no part of a list
  OnCompressionProgress on_progress = {};  // likewise; on the calling thread
  // Of the operation, or the first of a list; invalid_argument when the line says another.
  std::optional<Version> expected_version = {};
  // Of the operation; invalid_argument when the line says another. Of a list, "ID/0", "ID/1" and so
  // on for those that have none of their own, so that the whole list is answered as the first time
  // when it is repeated.
  std::string operation_id = {};
  // too_large: more operations in a list, or messages in an operation.
  std::size_t operations_max = std::numeric_limits<std::size_t>::max();
  std::size_t messages_max = std::numeric_limits<std::size_t>::max();
  // Of a client's whole list, most of which is stored already.
  std::size_t client_list_max = std::numeric_limits<std::size_t>::max();
  AnswerRoom room = {};
  std::shared_ptr<Work> work = {};  // null: without limits. Also of what a query reads
  std::string tenant = {};          // whose conversation it is, for policies that differ by tenant
};

struct LineAnswer {
  std::string line;
  std::optional<Error> error = {};  // what the line says; unset: {"ok":true,…}
  bool is_list = false;             // the line has "results", one for each operation
  Version version = {};             // that was made, or read; of an error, nothing
};

// As answer(), for doors that have more to tell and to know.
LineAnswer answer_request(Conversation& conversation, std::string_view line,
                          const RequestOptions& options = {});

// A conversation as it was at one version, to be asked. Without a way to count and an aim, queries
// that need them are `unsupported`.
struct Asked {
  const History& history;
  const Settings& settings;
  std::string counting = {};  // Conversation::counting()
  std::optional<Aim> aim = {};
  AnswerRoom room = {};
  // The history after a list of operations that changes nothing. Throws Failure: what the
  // operations fail with.
  std::function<History(JsonValue list)> try_operations = {};
  const Conversation* conversation = nullptr;  // for its requests; null: they are `unsupported`
  // of what is read besides `history`; null: without limits
  std::shared_ptr<Work> work = {};
  std::string tenant = {};  // RequestOptions::tenant
};
// The same for a line that is a query.
LineAnswer answer_query(const Asked& asked, std::string_view line);

}  // namespace undertext
