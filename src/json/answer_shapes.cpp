#include "json/answer_shapes.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <undertext/blocks.hpp>
#include <undertext/client.hpp>
#include <undertext/compression.hpp>
#include <undertext/conversation.hpp>
#include <undertext/dialect.hpp>
#include <undertext/error.hpp>
#include <undertext/history.hpp>

#include "dialect/codes.hpp"
#include "history/operation_table.hpp"
#include "json/ledger_json.hpp"

namespace undertext {
namespace {

// The names of an enumeration up to and with `last`.
template <class Enum>
std::string type_of_names(Enum last) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
    names.push_back(name(static_cast<Enum>(i)));
  return type_of_words(names);
}

void describe_blocks(Shapes& shapes) {
  const auto add = [&](std::string_view kind, std::string_view text,
                       std::initializer_list<AnswerMember> members) {
    Shape shape = answer_shape(pascal_case(kind) + "Block", text, members);
    shape.members.insert(
        shape.members.begin(),
        {{.name = "kind", .type = "\"" + std::string(kind) + "\"", .required = true},
         {.name = "type",
          .type = "string",
          .text = "The format's own word, where it says more than kind."}});
    shapes.add(std::move(shape));
  };
  add("text", "Text.", {{"text", "string"}});
  add("call", "A call of a tool by the model.",
      {{"callId?", "string"},
       {"name?", "string", "Of the tool."},
       {"arguments", "Json",
        "As given: mostly an object, or a string that holds one. {} where there are none."},
       {"isError?", "true", "The call holds its own result, and failed."},
       {"byProvider?", "true", "The provider runs the tool itself."},
       {"blocks?", "Block[]", "What came of it, where the call holds its own result."}});
  add("result", "The result of a call.",
      {{"callId?", "string"},
       {"name?", "string", "Of the tool."},
       {"isError?", "true", "The tool failed."},
       {"byProvider?", "true", "The provider ran the tool itself."},
       {"blocks", "Block[]", "What it says."}});
  add("reasoning", "What the model thought; without text where only the provider can read it.",
      {{"text?", "string"}});
  add("media", "An image, a sound, a video, a file.",
      {{"media", "MediaKind"},
       {"source", "MediaSource"},
       {"data", "string", "The base64 text, the URL, the id or the text."},
       {"mime?", "string"},
       {"detail?", "string"},
       {"filename?", "string"}});
  add("opaque", "Anything else.", {{"json", "Json", "As given."}});
  shapes.add({.name = "Block",
              .text = "One thing that a message says, in whichever format the message is.",
              .type = "TextBlock|CallBlock|ResultBlock|ReasoningBlock|MediaBlock|OpaqueBlock",
              .told_by = "kind"});
  shapes.add(answer_shape("MessageBlocks", "What a message says.",
                          {{"ordinal", "integer", "Its place in the log."},
                           {"role", "Role", "`system` for `developer`."},
                           {"blocks", "Block[]"}}));
}

void describe_events(Shapes& shapes) {
  std::string all;
  const auto add = [&](Event::Type type, std::string_view text,
                       std::initializer_list<AnswerMember> members) {
    Shape shape = answer_shape(pascal_case(name(type)) + "Event", text, members);
    shape.members.insert(
        shape.members.begin(),
        {.name = "type", .type = "\"" + std::string(name(type)) + "\"", .required = true});
    all += (all.empty() ? "" : "|") + shape.name;
    shapes.add(std::move(shape));
  };
  using Type = Event::Type;
  add(Type::message_added, "A message was stored.",
      {{"version", "integer"}, {"ordinal", "integer"}});
  add(Type::batch_opened, "A batch was opened.",
      {{"version", "integer"}, {"batchIndex", "integer"}});
  add(Type::rolled_back, "An earlier batch is current again.",
      {{"version", "integer"}, {"batchIndex", "integer"}});
  add(Type::context_changed, "An operation made a version.", {{"version", "integer"}});
  add(Type::token_limit_exceeded, "The view has grown beyond the limit.",
      {{"tokensUsed", "integer"}, {"tokenLimit", "integer"}});
  add(Type::compression_threshold_exceeded, "The view has grown beyond the threshold.",
      {{"tokensUsed", "integer"}, {"threshold", "integer"}});
  add(Type::compressed, "The conversation was compressed without being asked.",
      {{"version", "integer"},
       {"strategy", "string"},
       {"tokensBefore", "integer"},
       {"tokensAfter", "integer"},
       {"targetReached?", "boolean"}});
  add(Type::compression_failed, "Nothing was changed.",
      {{"strategy", "string"}, {"error", "ErrorBody"}});
  add(Type::compression_discarded,
      "What a summary stands for was changed meanwhile; nothing was done.",
      {{"strategy", "string"}, {"error", "ErrorBody"}});
  add(Type::rewritten,
      "Messages were redacted, versions pruned, or all counted by another tokenizer.",
      {{"version", "integer"}});
  shapes.add({.name = "Event",
              .text = "What happens to a conversation.",
              .type = std::move(all),
              .told_by = "type"});
}

void describe_outcomes(Shapes& shapes) {
  shapes.add(answer_shape(
      "ErrorBody", "What went wrong. Nothing has changed.",
      {{"code", "ErrorCode", "What to do about it."},
       {"field?", "string", "The bare name of the member at fault."},
       {"path?", "string", "Where it stands, when it is nested: `messages[2].content`."},
       {"operationIndex?", "integer", "Which operation of a list."},
       {"byteOffset?", "integer", "Of JSON text."},
       {"minimum?", "integer", "`cannot_fit`: the fewest tokens that can be reached."},
       {"message", "string", "For a person."}}));
  shapes.add(answer_shape("ErrorAnswer", "The answer to whatever fails.",
                          {{"ok", "false"}, {"error", "ErrorBody"}}));
  shapes.add(answer_shape("Stats", "How large a conversation is.",
                          {{"totalMessages", "integer", "In the log."},
                           {"currentBatchMessages", "integer", "In the view."},
                           {"totalBatches", "integer"},
                           {"currentBatchIndex", "integer"},
                           {"tokens", "integer", "Of the view."}}));
  shapes.add(answer_shape("Warning", "A message of which a part has left the view.",
                          {{"code", "WarningCode"},
                           {"ordinal", "integer"},
                           {"toolCallId?", "string", "Not of `reasoning_without_call`."}}));
  shapes.add(answer_shape("SummaryCost", "What a summary cost, as its provider reported.",
                          {{"promptTokens", "integer"}, {"completionTokens", "integer"}}));
  shapes.add(answer_shape(
      "StandsFor", "A summary, and the messages it stands for.",
      {{"ordinal", "integer", "Of the summary."}, {"standsFor", "integer[]", "Ordinals."}}));
  shapes.add(answer_shape("Receipt", "What a COMPRESS did.",
                          {{"version", "integer"},
                           {"timestamp", "signed", "Milliseconds since 1970."},
                           {"strategy?", "string"},
                           {"summariser?", "string"},
                           {"model?", "string", "That wrote the summary."},
                           {"reason?", "string"},
                           {"tokensBefore", "integer"},
                           {"tokensAfter", "integer"},
                           {"targetTokens?", "integer", "What the view was to come down to."},
                           {"targetReached?", "boolean", "Whether it did."},
                           {"cost?", "SummaryCost"},
                           {"ordinals", "integer[]", "That were hidden."},
                           {"summaries", "StandsFor[]"}}));
  shapes.add(answer_shape(
      "Outcome", "What an operation did.",
      {{"ok", "true"},
       {"operation", "OperationName", "In its canonical spelling."},
       {"version", "integer", "The new head."},
       {"affectedBatchIndex", "integer"},
       {"stats", "Stats"},
       {"outcome?", R"("fits"|"compressed"|"same"|"appended"|"edited"|"compacted")",
        "Of a COMPRESS by a strategy, or of a RECONCILE."},
       {"common?", "integer", "Of a RECONCILE: messages in the client's list before and now."},
       {"added?", "integer", "Messages only in the list as it is now."},
       {"removed?", "integer", "Messages only in the list as it was."},
       {"targetReached?", "boolean", "Where there was a target."},
       {"receipt?", "Receipt"},
       {"warnings?", "Warning[]"},
       {"events?", "Event[]", "What it set off beyond itself."}}));
  shapes.add(answer_shape("Outcomes", "What a list of operations did.",
                          {{"ok", "true"}, {"results", "Outcome[]"}}));
}

void describe_reading(Shapes& shapes) {
  shapes.add(answer_shape("MessagesAnswer", "Messages, and where they stand in the log.",
                          {{"ok", "true"},
                           {"messages", "Message[]", "As they were given."},
                           {"ordinals", "integer[]"}}));
  shapes.add(answer_shape("CountAnswer", "How many messages there are.",
                          {{"ok", "true"}, {"count", "integer"}, {"tokens", "integer"}}));
  shapes.add(answer_shape(
      "RecalledUnit", "A message that was found, with its unit and its neighbours.",
      {{"ordinals", "integer[]", "In the log's order."},
       {"matched", "integer[]", "Those that share words with the text, best first."},
       {"messages", "Message[]", "In the order of `ordinals`."},
       {"tokens", "integer"},
       {"score", "number", "Of the best one; comparable within one answer only."},
       {"hiddenIn?", "integer", "The version that last hid the best one; absent: it is visible."},
       {"representedBy?", "integer", "The visible message that stands for the best one."}}));
  shapes.add(answer_shape("Recalled", "What a search found.",
                          {{"units", "RecalledUnit[]", "Best first; no message is in two of them."},
                           {"tokens", "integer", "Of all units."}}));
  for (const auto& [shape, text, element] :
       {std::array<std::string_view, 3>{"RoleCounts", "A number for each role.", "integer"},
        std::array<std::string_view, 3>{"RoleIndices", "Ordinals for each role.", "integer[]"}}) {
    shapes.add(answer_shape(
        shape, text,
        {{"system", element}, {"user", element}, {"assistant", element}, {"tool", element}}));
  }
  shapes.add(answer_shape("MarkMap", "The view and the batches as ordinals.",
                          {{"originalIndices", "integer[]", "The view: ordinals in its order."},
                           {"typeIndices", "RoleIndices", "The same by role."},
                           {"batchBoundaries", "integer[]", "Where each batch begins in the log."},
                           {"boundaryToBatch", "integer[]", "The batch of each boundary."},
                           {"currentBatch", "integer"}}));
  shapes.add(answer_shape("BatchSnapshot", "The view as it was when a batch was left.",
                          {{"batchIndex", "integer"},
                           {"timestamp", "signed", "When it was left."},
                           {"messages", "Message[]"},
                           {"messageCount", "integer"},
                           {"description?", "string"}}));
  shapes.add(answer_shape("State", "The view with the snapshots of all batches.",
                          {{"messages", "Message[]"},
                           {"batchSnapshots", "BatchSnapshot[]"},
                           {"currentBatchIndex", "integer"},
                           {"totalMessageCount", "integer", "Of the view."}}));
  shapes.add(answer_shape("Batch", "A batch of the stack.",
                          {{"index", "integer"},
                           {"boundary", "integer", "Where it begins in the log."},
                           {"openedBy", "OperationName|null", "null for the first."},
                           {"openedAt", "signed", "Milliseconds since 1970."},
                           {"messageCount", "integer"},
                           {"description?", "string"}}));
  shapes.add(answer_shape(
      "VersionEntry", "A version.",
      {{"version", "integer"},
       {"parent", "integer|null", "The head before; null for version 0."},
       {"operation", "OperationName|null", "That made it; null for version 0."},
       {"batchIndex", "integer"},
       {"timestamp", "signed", "Milliseconds since 1970."},
       {"description", "string|null"},
       {"messageCount", "integer", "Of the view."},
       {"tokens", "integer", "Of the view."},
       {"restores?", "integer", "Of UNDO, REDO and RESTORE: whose state came back."},
       {"targetReached?", "boolean", "Of a COMPRESS by a strategy that had a target."}}));
  shapes.add(
      answer_shape("Diff", "What differs between two versions, as ordinals.",
                   {{"removed", "integer[]"}, {"added", "integer[]"}, {"moved", "integer[]"}}));
  shapes.add(answer_shape("BlameEntry", "An operation that stored, hid or showed a message.",
                          {{"version", "integer"},
                           {"operation", "OperationName"},
                           {"timestamp", "signed", "Milliseconds since 1970."},
                           {"description?", "string"}}));
  shapes.add(answer_shape(
      "ForkedFrom", "The fork that a message came from.",
      {{"conversation", "string", "The fork's id."},
       {"version", "integer", "Its head by then."},
       {"ordinal?", "integer", "In its log. Absent: the message is a summary of the fork."}}));
  shapes.add(answer_shape("Blame", "What became of a message.",
                          {{"ordinal", "integer"},
                           {"stored", "BlameEntry"},
                           {"hidden", "BlameEntry[]"},
                           {"shown", "BlameEntry[]"},
                           {"visible", "boolean"},
                           {"from?", "ForkedFrom", "Of what MERGE_FORK brought."}}));
}

void describe_counting(Shapes& shapes) {
  shapes.add(answer_shape("MessageTokens", "The tokens of a message.",
                          {{"ordinal", "integer"}, {"tokens", "integer"}}));
  shapes.add(answer_shape("TokenCounts", "The tokens of a view.",
                          {{"total", "integer"},
                           {"byRole", "RoleCounts"},
                           {"tokenizer", "string"},
                           {"costs", "string", "What counts beside text."},
                           {"exact", "boolean", "Every part of the count is."},
                           {"messages?", "MessageTokens[]", "With `perMessage`."}}));
  shapes.add(answer_shape("ModelLimits", "What a model takes.",
                          {{"window?", "integer", "Tokens of a request and its answer."},
                           {"answer?", "integer", "Tokens of an answer."},
                           {"source?", "string"},
                           {"date?", "string"}}));
  shapes.add(answer_shape("ModelPrices", "US dollars for a million tokens.",
                          {{"input?", "number"},
                           {"output?", "number"},
                           {"cacheRead?", "number"},
                           {"cacheWrite?", "number"},
                           {"cacheWriteHour?", "number", "Of what the cache keeps for an hour."},
                           {"source?", "string"},
                           {"date?", "string"}}));
  shapes.add(answer_shape("Model", "What is known of a model; what is unknown is absent.",
                          {{"name", "string", "As it was given."},
                           {"known", "boolean", "A row of the table fits."},
                           {"row?", "string", "The most specific one."},
                           {"tokenizer", "string"},
                           {"costs", "string", "What counts beside text."},
                           {"profiles", "string[]", "What its providers accept."},
                           {"source?", "string"},
                           {"date?", "string"},
                           {"limits?", "ModelLimits"},
                           {"prices?", "ModelPrices"}}));
  shapes.add(answer_shape(
      "ToolsCount", "What the tools of a request cost, which is in no message.",
      {{"tokens", "integer"}, {"tools", "integer", "How many there are."}, {"exact", "boolean"}}));
  shapes.add({.name = "ToolDeclaration",
              .text = "A tool, in the words of the dialect.",
              .type = "JsonObject"});
  shapes.add(answer_shape(
      "ToolResult", "What a model is sent back as the result of its call.",
      {{"text", "string", "Quoted messages stand between marks that no text can forge."},
       {"isError", "boolean", "The text says what to change."}}));
  shapes.add(answer_shape("PlannedReplacement", "Messages to hide, and what would stand for them.",
                          {{"ordinals", "integer[]"}, {"summary?", "Message"}}));
  shapes.add(answer_shape("FitPlan", "What a strategy would do.",
                          {{"strategy", "string"},
                           {"reason?", "string"},
                           {"tokensBefore", "integer"},
                           {"tokensAfter", "integer"},
                           {"replacements", "PlannedReplacement[]"}}));
  shapes.add(
      answer_shape("Fit", "Whether a view is within a budget.",
                   {{"outcome", "FitOutcome"},
                    {"tokens", "integer"},
                    {"tokensMax", "integer", "What the budget leaves for messages."},
                    {"minimum?", "integer", "`cannot_fit`: the fewest tokens that can be reached."},
                    {"plan?", "FitPlan"}}));
}

void describe_rendering(Shapes& shapes) {
  shapes.add(answer_shape("Finding", "What a provider would refuse.",
                          {{"code", "FindingCode"},
                           {"path?", "string", "In the request."},
                           {"index?", "integer", "In the view."},
                           {"ordinal?", "integer"},
                           {"about?", "string", "Such as the id of a call."},
                           {"error", "string", "In the provider's words."},
                           {"repair", "string", "What was done about it."}}));
  shapes.add(answer_shape("Loss", "What the other format has no place for.",
                          {{"code", "LossCode"},
                           {"severity", "LossSeverity"},
                           {"path?", "string"},
                           {"index?", "integer", "In the view."},
                           {"ordinal?", "integer"},
                           {"note", "string"}}));
  shapes.add(
      answer_shape("Rendered", "A request for a provider.",
                   {{"request", "JsonObject",
                     "What carries the conversation: put model, tools and settings beside it."},
                    {"findings", "Finding[]"},
                    {"losses", "Loss[]"},
                    {"toolNames?", "ToolNames", "Tools that are sent under another name."},
                    {"advice?", "string[]", "What the request has to set besides."}}));
  shapes.add(
      answer_shape("Imported", "Messages of a provider's request or response.",
                   {{"messages", "Message[]"},
                    {"rest", "JsonObject", "Its other fields."},
                    {"known", "integer", "How many were there already, and are left out."}}));
  shapes.add(answer_shape("Validated", "Whether a provider would take the view.",
                          {{"valid", "boolean"}, {"findings", "Finding[]"}}));
  shapes.add(
      answer_shape("EditCost", "What an edit costs at a provider that caches prompts, in tokens.",
                   {{"stable", "integer", "Of the prefix that both versions share."},
                    {"reusable", "integer", "That a cache can still serve."},
                    {"invalidated", "integer", "That it can no longer serve."},
                    {"rewritten", "integer", "To be written to it."},
                    {"oneTime", "number", "Of the next request, beside what it would have cost."},
                    {"savedPerTurn", "number"},
                    {"breakEvenTurns", "number|null", "null: never."},
                    {"brokenThinking", "integer", "Signed blocks that can no longer be sent."}}));
}

void describe_usage_answers(Shapes& shapes) {
  shapes.add(answer_shape("UsageTotals", "What requests came to.",
                          {{"requests", "integer"},
                           {"prompt", "integer"},
                           {"completion", "integer"},
                           {"cached", "integer"},
                           {"total", "integer"},
                           {"cost", "number"}}));
  shapes.add(answer_shape(
      "RequestUsage", "What was reported of a request.",
      {{"requestId", "string"},
       {"model", "string"},
       {"prompt", "integer"},
       {"completion", "integer"},
       {"cached", "integer"},
       {"total", "integer"},
       {"cost", "number"},
       {"estimatedPrompt", "integer"},
       {"timestamp", "signed"},
       {"cacheWritten?", "integer", "Tokens of the request that were written to a cache."},
       {"cacheWrittenHour?", "integer", "Of these, the ones that it keeps for an hour."}}));
  shapes.add(answer_shape("ModelUsage", "What was reported of a model, and what that taught.",
                          {{"model", "string"},
                           {"totals", "UsageTotals"},
                           {"promptMax?", "integer", "Of a request."},
                           {"completionMax?", "integer", "Of a request."},
                           {"factor", "number", "Reported tokens by estimated ones."},
                           {"factorHigh", "number", "The same, on the safe side."},
                           {"learnedFrom", "integer", "Requests."}}));
  shapes.add(answer_shape("UsageStatistics", "What a request comes to.",
                          {{"promptMean", "number"},
                           {"completionMean", "number"},
                           {"promptMax", "integer"},
                           {"completionMax", "integer"},
                           {"cachedShare", "number", "Of all prompt tokens, 0 to 1."}}));
  shapes.add(answer_shape("Usage", "What providers reported.",
                          {{"totals", "UsageTotals"},
                           {"statistics", "UsageStatistics"},
                           {"models", "ModelUsage[]"},
                           {"open", "RequestUsage[]", "Of which more will be reported."},
                           {"recent", "RequestUsage[]", "The last hundred, the newest last."}}));
}

void describe_request_records(Shapes& shapes) {
  shapes.add(answer_shape(
      "VolatilePart", "A part of a request that changes from request to request.",
      {{"kind", R"("marker"|"text")",
        "A cache marker on a block, or a block of the system prompt."},
       {"index", "integer", "Of the message, in the request's list."},
       {"ordinal?", "integer", "Of the same message, in the log."},
       {"block", "integer", "In the message."},
       {"inner?", "integer", "Of a marker inside a tool result: the block in its content."},
       {"json", "JsonObject", "The marker, or the block."}}));
  Shape record = answer_shape(
      "RequestRecord", "A request of a client that was recorded.",
      {{"number", "integer", "From 1 on."},
       {"version", "integer", "What the request saw."},
       {"answerVersion?", "integer", "The version that has the answer."},
       {"timestamp", "signed", "When it came, in milliseconds since 1970."},
       {"client?", "string"},
       {"dialect?", "string"},
       {"kind", "ClientRequestKind"},
       {"method?", "string"},
       {"path?", "string"},
       {"model?", "string"},
       {"toolsDigest?", "string", "Of the tools' bytes."},
       {"parametersDigest?", "string", "Of all other fields but the list."},
       {"messages", "integer", "In its list."},
       {"responseId?", "string"},
       {"belongsTo?", "string", "Of a sub-agent or a title: the session's conversation."},
       {"status", "integer", "Of HTTP; 0: no answer came."},
       {"torn", "boolean", "The answer ended before its end."},
       {"usage?", "RequestUsage"},
       {"firstByteMs?", "signed"},
       {"durationMs?", "signed"},
       {"requestBytes", "integer"},
       {"answerBytes", "integer"},
       {"hasRawRequest", "boolean", "The query request has its text."},
       {"hasRawAnswer", "boolean"},
       {"volatileParts", "VolatilePart[]"},
       {"keys", "string[]", "By which it is found again."}});
  Shape whole = record;
  whole.name = "WholeRequest";
  whole.text = "A recorded request with its raw texts.";
  for (const auto& [name, text] : {std::pair("request", "The raw request."),
                                   std::pair("requestBase64", "The same, where it is no UTF-8."),
                                   std::pair("answer", "The raw answer."),
                                   std::pair("answerBase64", "The same, where it is no UTF-8.")})
    whole.members.push_back({.name = name, .type = "string", .text = text});
  shapes.add(std::move(record));
  shapes.add(std::move(whole));
}

}  // namespace

void describe_words(Shapes& shapes) {
  const auto add = [&](std::string_view name, std::string_view text, std::string type) {
    shapes.add({.name = std::string(name), .text = std::string(text), .type = std::move(type)});
  };
  add("Role", "Of a message; `developer` counts as `system`.",
      type_of_names(static_cast<Role>(role_count - 1)));
  add("MessageRole", "As a message may spell it.",
      type_of_names(static_cast<Role>(role_count - 1)) + "|\"developer\"");
  add("ClientRequestKind", "What a request is for.",
      type_of_names(ClientRequestKind::count_tokens));
  add("ClientName", "A client whose requests are known.", type_of_words(client_names()));
  add("Dialect", "A message format of providers.",
      type_of_names(static_cast<Dialect>(dialect_count - 1)));
  add("ProfileName", "What a provider accepts: the profiles of the engine.",
      type_of_words(profile_names()));
  add("Pairs", "What becomes of the rest of a tool pair: nothing, it goes too, or both stay.",
      type_of_words(words_of<Pairs>));
  add("ErrorCode", "What kind of failure it is.",
      type_of_names(static_cast<ErrorCode>(error_code_count - 1)));
  add("EventType", "", type_of_names(Event::Type::rewritten));
  add("WarningCode", "", type_of_names(Warning::Code::reasoning_without_call));
  add("FindingCode", "What a provider would refuse: docs/dialects.md has the meanings.",
      type_of_names(static_cast<FindingCode>(finding_code_count - 1)));
  add("LossCode", "What another format has no place for: docs/dialects.md has the meanings.",
      type_of_names(last_loss_code));
  add("LossSeverity", "", type_of_names(Loss::Severity::blocking));
  add("FitOutcome", "", type_of_names(Fit::Outcome::cannot_fit));
  add("CacheMarkers", "Who marks requests: the caller, or render.", R"("given"|"auto")");
  add("ToolNames", "Names of tools as they are sent, and the caller's.", "{string}");
  add("MediaKind", "", type_of_names(MediaBlock::Kind::file));
  add("MediaSource", "", type_of_names(MediaBlock::Source::text));
  std::vector<std::string_view> operations;
  for (const OperationRow& row : operation_rows)
    if (operations.empty() || operations.back() != row.name) operations.push_back(row.name);
  add("OperationName", "In its canonical spelling.", type_of_words(operations));
}

void describe_message(Shapes& shapes) {
  shapes.add({.name = "Json", .text = "Any JSON value.", .type = "any"});
  shapes.add({.name = "JsonObject", .text = "Any JSON object.", .type = "{Json}"});
  const auto open = [&](Shape shape) {
    shape.is_answer = false;
    shape.is_open = true;
    shapes.add(std::move(shape));
  };
  open(answer_shape("Part",
                    "A part of a message's content. It is kept as it is, further members included.",
                    {{"type?", "string"}, {"text?", "Json"}}));
  open(answer_shape(
      "Message", "A message. It comes back as it was given, further members included.",
      {{"role", "MessageRole"},
       {"content", "string|Part[]|null", "Empty or null only of a tool, or beside tool calls."},
       {"id?", "string|null"},
       {"timestamp?", "signed", "Milliseconds since 1970."},
       {"toolCalls?", "JsonObject[]|null", "Of an assistant."},
       {"toolCallId?", "string|null", "Of a tool: the call it answers."},
       {"metadata?", "JsonObject|null"}}));
}

void describe_answers(Shapes& shapes) {
  describe_blocks(shapes);
  describe_outcomes(shapes);
  describe_events(shapes);
  describe_reading(shapes);
  describe_counting(shapes);
  describe_rendering(shapes);
  describe_usage_answers(shapes);
  describe_request_records(shapes);
  describe_ledger(shapes);
}

}  // namespace undertext
