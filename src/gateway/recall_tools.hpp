// A turn in which the gateway offers the context tools (docs/tools.md) to the model and answers its
// calls: the client sees one answer, and neither the tools nor the calls.
//
//     RecallTurn turn = *RecallTurn::begin(Dialect::anthropic, body);
//     send(turn.request());
//     turn.begin_answer(ResponseForm::event_stream);
//     write(turn.read(bytes));                             // what of it the client gets now
//     if (std::vector<RecallCall> calls = turn.end_answer(); !calls.empty())
//       send(turn.continued(results));                     // and read the next answer
//     write(turn.rest());
//
// Text and reasoning reach the client as they arrive. From the first call of an answer on
// everything is held until the answer has ended: calls of the client's own tools are released then,
// unless one of these tools is called beside them. In that case the model gets what it asked of
// these, and is told to repeat the others: no provider takes a turn in which some calls have no
// result.
//
// A value: no socket, no clock. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/context_tools.hpp>
#include <undertext/dialect_name.hpp>
#include <undertext/response.hpp>

#include "base/event_stream.hpp"

namespace undertext {

struct RecallCall {
  std::string id, name, arguments_json;
};

class RecallTurn {
 public:
  // Answers of one turn that may end in calls. Calls of the last one go to the client as they are.
  static constexpr std::uint32_t answers_max = 8;
  static constexpr std::size_t held_bytes_max = std::size_t{32} << 20;

  // Nothing where no tools can be offered: no request of the dialect, several answers asked for, a
  // tool that is forbidden or forced by `tool_choice`, or a tool of the client's with one of these
  // names.
  static std::optional<RecallTurn> begin(Dialect dialect, std::string_view body);

  const std::string& request() const;  // what the upstream gets

  void begin_answer(ResponseForm form);
  // Bytes of the answer as they came. Returns what goes to the client: nothing of a whole answer.
  std::string read(std::string_view bytes);
  // The calls of context tools to be carried out; none: the turn is over, and rest() is what the
  // client has not got of it.
  std::vector<RecallCall> end_answer();
  // One result for each call. Returns request().
  const std::string& continued(const std::vector<ContextToolResult>& results);
  std::string rest();

  std::uint32_t answers() const;  // begun so far

  RecallTurn(RecallTurn&&) noexcept;
  RecallTurn& operator=(RecallTurn&&) noexcept;
  ~RecallTurn();

 private:
  struct Rep;
  explicit RecallTurn(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace undertext
