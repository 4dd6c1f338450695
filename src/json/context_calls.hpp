// The table of tools for models: what each is called and takes. Schemas and readers are the same
// code (fields.hpp), so no tool takes an argument that its schema does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <undertext/context_tools.hpp>
#include <undertext/error.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>

#include "base/json_text.hpp"

namespace undertext {

namespace tool {
struct Search {
  std::string text;
  std::optional<Role> role = {};
  bool all = false;
  std::uint64_t budget_tokens = 2000;
};
struct Expand {
  std::vector<Ordinal> ordinals = {};  // or a range, both ends included
  std::optional<std::uint64_t> from = {}, to = {};
  std::uint64_t skip = 0;    // of the messages that `ordinals` stand for: those read before
  std::uint64_t offset = 0;  // bytes of the next message's text that were read before
  std::uint64_t budget_tokens = 4000;
};
struct Status {};
struct Pin {
  std::vector<Ordinal> ordinals = {};
  bool unpin = false;
};
struct Checkpoint {
  std::string description = {};
};
struct TakeBack {
  std::optional<std::uint64_t> checkpoint = {};
};
struct ShowAgain {
  std::vector<Ordinal> ordinals = {};
};
}  // namespace tool

using ContextCallKind = std::variant<tool::Search, tool::Expand, tool::Status, tool::Pin,
                                     tool::Checkpoint, tool::TakeBack, tool::ShowAgain>;

struct ContextCall {
  ContextCallKind what;
  std::optional<std::string> conversation = {};  // only where there are several
};

// Whether a call names its conversation.
enum class ContextScope : std::uint8_t { one, several };

struct ContextToolRow {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  bool edits;
};
std::span<const ContextToolRow> context_tool_rows(ContextTools which);

// The JSON Schema of its arguments.
std::string context_tool_schema(std::string_view name, ContextScope scope);

// not_found: no such tool among `which`. invalid_argument: arguments, with their field.
Result<ContextCall> read_context_call(std::string_view name, JsonValue arguments,
                                      ContextTools which, ContextScope scope);

}  // namespace undertext
