#include "json/context_calls.hpp"

#include <array>
#include <iterator>
#include <utility>

#include "json/fields.hpp"
#include "json/schema_json.hpp"

namespace undertext {
namespace {

// Less is too little to say anything, more is no answer to a model.
constexpr std::uint64_t budget_tokens_min = 200, budget_tokens_max = 100'000;
constexpr std::size_t ordinals_max = 1000;

void take_budget(Fields& fields, std::uint64_t& tokens) {
  fields.take("budgetTokens", tokens, "Tokens of the answer, at most.");
  if (tokens < budget_tokens_min || tokens > budget_tokens_max)
    fields.fail("budgetTokens", "must be from " + std::to_string(budget_tokens_min) + " to " +
                                    std::to_string(budget_tokens_max));
}

void need_numbers(Fields& fields, std::vector<Ordinal>& ordinals, std::string_view text) {
  fields.take_filled("ordinals", ordinals, text);
  fields.require("ordinals");
  if (ordinals.size() > ordinals_max) fields.fail("ordinals", "may be 1000 at most");
}

void read_tool(Fields& fields, tool::Search& search) {
  fields.need("text", search.text, "Words to look for.");
  fields.take("role", search.role,
              {"Only messages of this role.", R"("user"|"assistant"|"tool"|"system")"});
  fields.take("all", search.all, "Also messages that are visible now.");
  take_budget(fields, search.budget_tokens);
  if (fields.has("text") && search.text.empty()) fields.fail("text", "must not be empty");
}

void read_tool(Fields& fields, tool::Expand& expand) {
  fields.take_filled("ordinals", expand.ordinals,
                     "Message numbers. Of a summary, what it stands for is read.");
  fields.take("from", expand.from, "Instead: the first number of a range.");
  fields.take("to", expand.to, "The last number of the range.");
  fields.take("skip", expand.skip, "Messages of these ordinals that you have read already.");
  fields.take("offset", expand.offset, "Bytes of the first text that you have read already.");
  take_budget(fields, expand.budget_tokens);
  if (fields.describes()) return;
  if (expand.ordinals.empty() == !expand.from)
    fields.fail("ordinals", "or from: give one of the two");
  if (expand.to && !expand.from) fields.fail("to", "needs from");
  if (expand.skip > 0 && expand.from) fields.fail("skip", "needs ordinals");
  if (expand.to && expand.from && *expand.to < *expand.from)
    fields.fail("to", "must not be below from");
  if (expand.ordinals.size() > ordinals_max) fields.fail("ordinals", "may be 1000 at most");
}

void read_tool(Fields&, tool::Status&) {}

void read_tool(Fields& fields, tool::Pin& pin) {
  need_numbers(fields, pin.ordinals, "Message numbers.");
  fields.take("unpin", pin.unpin, "Take the pin off instead.");
}

void read_tool(Fields& fields, tool::Checkpoint& checkpoint) {
  fields.take("description", checkpoint.description, "What it is for.");
}

void read_tool(Fields& fields, tool::TakeBack& undo) {
  fields.take("checkpoint", undo.checkpoint,
              "Return to this checkpoint instead of undoing one operation.");
}

void read_tool(Fields& fields, tool::ShowAgain& show) {
  need_numbers(fields, show.ordinals, "Numbers of hidden messages.");
}

template <class Tool>
ContextCallKind read_arguments_of(Fields& fields) {
  Tool tool;
  read_tool(fields, tool);
  return tool;
}

struct Row {
  ContextToolRow about;
  ContextCallKind (*read)(Fields& fields);
};

constexpr Row tool_rows[] = {
    {{"context_search", "Search the conversation",
      "Find earlier messages of the conversation that are no longer in your context, by the words "
      "they share with a text. "
      "Use it before you say that you do not remember, and before work is done again.",
      false},
     read_arguments_of<tool::Search>},
    {{"context_expand", "Read hidden messages",
      "Read earlier messages in full: by the numbers that a search, a summary or a stub gives. "
      "Changes nothing.",
      false},
     read_arguments_of<tool::Expand>},
    {{"context_status", "Show the state of the conversation",
      "How many messages and tokens are in context, what is hidden, and which summaries stand for "
      "what.",
      false},
     read_arguments_of<tool::Status>},
    {{"context_pin", "Pin messages",
      "Keep messages in context when the conversation is compressed.", true},
     read_arguments_of<tool::Pin>},
    {{"context_checkpoint", "Set a checkpoint", "Set a point that context_undo can return to.",
      true},
     read_arguments_of<tool::Checkpoint>},
    {{"context_undo", "Undo",
      "Take back the last operation on the conversation, or return to a checkpoint.", true},
     read_arguments_of<tool::TakeBack>},
    {{"context_show", "Show hidden messages",
      "Bring hidden messages back into context, each to its place.", true},
     read_arguments_of<tool::ShowAgain>},
};
constexpr std::size_t reading_rows = 3;

constexpr auto row_abouts = [] {
  std::array<ContextToolRow, std::size(tool_rows)> abouts{};
  for (std::size_t i = 0; i < abouts.size(); ++i) abouts[i] = tool_rows[i].about;
  return abouts;
}();

const Row* find_row(std::string_view name, ContextTools which) {
  for (const Row& row : tool_rows)
    if (row.about.name == name && (which == ContextTools::with_edits || !row.about.edits))
      return &row;
  return nullptr;
}

ContextCall read_call(const Row& row, Fields& fields, ContextScope scope) {
  ContextCall call{row.read(fields)};
  if (scope == ContextScope::several)
    fields.take("conversation", call.conversation, "Which conversation. Default: the current one.");
  return call;
}

}  // namespace

std::span<const ContextToolRow> context_tool_rows(ContextTools which) {
  return std::span(row_abouts)
      .first(which == ContextTools::with_edits ? row_abouts.size() : reading_rows);
}

std::string context_tool_schema(std::string_view name, ContextScope scope) {
  // Providers take different parts of JSON Schema; all take what this writes.
  Shape shape{.name = "Arguments", .is_answer = true};
  Shapes none;
  Reading reading;
  Fields fields(shape, none, reading);
  read_call(*find_row(name, ContextTools::with_edits), fields, scope);
  return SchemaWriter(none, "").of_shape(shape);
}

Result<ContextCall> read_context_call(std::string_view name, JsonValue arguments,
                                      ContextTools which, ContextScope scope) {
  const Row* const row = find_row(name, which);
  if (row == nullptr) {
    std::string names;
    for (const ContextToolRow& known : context_tool_rows(which))
      names += (names.empty() ? "" : ", ") + std::string(known.name);
    return Error{ErrorCode::not_found, "there is no tool " + clipped(name) + "; there are " + names,
                 "name"};
  }
  static const JsonText none = JsonText::parse("{}", {}).value();
  if (arguments.is(JsonType::null)) arguments = none.root();
  if (!arguments.is(JsonType::object))
    return Error{ErrorCode::invalid_argument, "the arguments must be an object", "arguments"};
  Reading reading;
  Fields fields(arguments, row->about.name, reading);
  ContextCall call = read_call(*row, fields, scope);
  fields.done();
  if (reading.failed()) return reading.take_error();
  return call;
}

}  // namespace undertext
