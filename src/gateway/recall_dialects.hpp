// What a turn with context tools (recall_tools.hpp) has to know of a dialect: where a request has
// its tools and its list, what of an answer is a call of a tool that the client runs, and how
// several answers become one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/dialect_name.hpp>

#include "base/json_text.hpp"

namespace undertext {

// The result of one call, for the model.
struct AnsweredCall {
  std::string id, name, text;
  bool is_error = false;
};

class RecallDialect {
 public:
  static std::unique_ptr<RecallDialect> of(Dialect dialect);
  virtual ~RecallDialect() = default;

  // Requests

  virtual std::string_view list_key() const = 0;
  // Whether a request leaves it to the model what it calls, and asks for one answer.
  virtual bool may_offer(const JsonValue& request) = 0;
  // Elements of the list: what the model said, and the results of its calls.
  virtual std::string elements(const JsonValue& said,
                               const std::vector<AnsweredCall>& results) const = 0;

  // Whole answers

  // What the model said, as StreamAssembler gives it for a streamed answer; empty: nothing.
  virtual std::string said(const JsonValue& answer) const = 0;
  // What is no call goes to the client, with the last answer.
  virtual void keep(const JsonValue& said) = 0;
  // The last answer, with what was kept before it.
  virtual std::string joined(const JsonValue& answer) const = 0;

  // Streamed answers

  virtual void begin_stream() {}
  virtual bool is_call(const JsonValue& event) const = 0;
  // The event as the client gets it, whose first answer was another one; nothing: it does not get
  // it.
  virtual std::optional<std::string> passed_on(const JsonValue& event) = 0;
  // An event that the client gets as it came, of the first answer.
  virtual void passed(const JsonValue&) {}
};

}  // namespace undertext
