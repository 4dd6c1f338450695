#include "dialect/codes.hpp"

namespace undertext {
namespace {

// In the order of FindingCode.
constexpr FindingText findings[] = {
    {"PAIR_ORPHAN_RESULT",
     "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
     "moved behind its call if that is there, else left out",
     "unexpected `tool_use_id` found in `tool_result` blocks. Each `tool_result` block must have a corresponding `tool_use` block "
     "in the previous message.",
     "No tool call found for function call output with call_id …",
     "Please ensure that the number of function response parts is equal to the number of function call parts of the function call "
     "turn."},
    {"PAIR_MISSING_RESULT",
     "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
     "the result is moved here if it is elsewhere, else a result is made that says it was removed",
     "`tool_use` ids were found without `tool_result` blocks immediately after. Each `tool_use` block must have a corresponding "
     "`tool_result` block in the next message.",
     "No tool output found for function call …",
     "Please ensure that the number of function response parts is equal to the number of function call parts of the function call "
     "turn."},
    {"PAIR_DUP_RESULT", "each tool_use must have a single result", "the last one stays"},
    {"PAIR_DUP_CALL_ID", "tool_use ids must be unique", "the later call and its result get another id"},
    {"GEM_COUNT",
     "Please ensure that the number of function response parts is equal to the number of function call parts of the function call "
     "turn.",
     "missing responses are made, those of one set are put into one content"},
    {"GEM_CALL_POSITION",
     "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
     "contents of the model are merged, or a user's text is put before"},
    {"RESULT_NOT_FIRST", "tool_use ids were found without tool_result blocks immediately after",
     "results are put first in their turn"},
    {"SERVER_PAIR_ORPHAN", "Each server tool result block must have a corresponding server_tool_use block before it.",
     "both halves are left out"},
    {"THINK_MODIFIED", "thinking or redacted_thinking blocks in the latest assistant message cannot be modified.",
     "the block is left out"},
    {"THINK_LAST_BLOCK", "The final block in an assistant message cannot be `thinking`.", "the block is left out"},
    {"THINK_UNSIGNED", "Invalid `signature` in `thinking` block", "the block is left out"},
    {"THINK_MISSING",
     "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message "
     "must start with a thinking block",
     "cannot be made: thinking must be disabled for this request, as the advice says"},
    {"THINK_PREFIX_CHANGED", "Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
     "by policy: strip that block and all later ones, refuse, or let the provider drop them"},
    {"REASONING_NO_FOLLOWER", "Item 'rs_…' of type 'reasoning' was provided without its required following item.",
     "the reasoning item is left out"},
    {"REASONING_MISSING", "Item 'msg_…' was provided without its required 'reasoning' item: 'rs_…'.", "the item's id is left out"},
    {"ITEM_REF_UNSTORED", "Item with id '…' not found. Items are not persisted when `store` is set to false.",
     "the reference is left out"},
    {"REASONING_NOT_PORTABLE", "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false.",
     "the reasoning item is left out"},
    {"GEM_SIG_MISSING", "Function call is missing a thought_signature in functionCall parts.",
     "the documented placeholder signature is put there"},
    {"REASONING_CONTENT_MISSING", "The `reasoning_content` in the thinking mode must be passed back to the API.",
     "an empty one is put there"},
    {"EMPTY_MESSAGE", "all messages must have non-empty content except for the optional final assistant message",
     "the message is left out"},
    {"EMPTY_TEXT", "text content blocks must be non-empty", "the block is left out"},
    {"CONTENT_NULL", "Invalid value for 'content': expected a string, got null.", "an empty string is put there"},
    {"FIRST_NOT_USER", "first message must use the user role", "a user's text is put before"},
    {"TRAILING_ASSISTANT", "This model does not support assistant message prefill. The conversation must end with a user message.",
     "a user's \"Continue.\" is added"},
    {"TRAILING_WS", "final assistant content cannot end with trailing whitespace", "the white space is cut off"},
    {"ROLE_ALTERNATION", "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
     "neighbours of one role are merged"},
    {"USER_AFTER_TOOL", "Unexpected role 'user' after role 'tool'", "a short assistant message is put between"},
    {"SYSTEM_POSITION", "role 'system' is not supported here", "it becomes a user's text in its place"},
    {"SYSTEM_ROLE_UNSUPPORTED", "System role not supported",
     "it becomes a user's text in its place; a developer's, a system message"},
    {"MEDIA_IN_TOOL_RESULT",
     "Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
     "a placeholder stays, and a user message behind the results carries it"},
    {"ARGS_NOT_OBJECT", "tool_use.input: Input should be a valid dictionary", "they are wrapped: {\"_raw\":…}"},
    {"CALL_ID_FORMAT", "string too long / String should match pattern '^[a-zA-Z0-9_-]+$'",
     "call and result get a short id made from the long one"},
    {"TOOL_NAME_FORMAT", "function name does not match '^[a-zA-Z0-9_-]{1,64}$'", "other characters become _, the name is cut"},
    {"CACHE_TOO_MANY", "A maximum of 4 blocks with cache_control may be provided.",
     "the markers of the instructions and the last ones stay"},
    {"CACHE_ON_EMPTY", "cache_control cannot be set for empty text blocks", "the block is left out"},
    {"CACHE_ON_THINKING", "cache_control cannot be set for thinking blocks", "the marker is taken off"},
    {"CACHE_TTL_ORDER", "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
     "the later marker is taken off"},
    {"COMPACTION_NOT_FIRST", "compaction_block_misplaced", "the block is left out"},
    {"COMPACTION_MULTIPLE", "compaction_block_ambiguous", "all but the one at the front are left out"},
    {"COMPACTION_TRIGGER_NOT_LAST", "compaction_trigger must be the last input item", "it is left out"},
    {"STATE_CONFLICT", "previous_response_id and conversation are mutually exclusive",
     "none here: the request must hold one of them, or none for an edited history"},
    {"TOOL_UNDEFINED", "a tool is called that is not among the tools of the request",
     "none here: keep its definition in the request"},
    {"GEM_PART_UNION", "required oneof field 'data' must have one initialized field",
     "the part is split, or left out when it has none"},
    {"GEM_ROLE", "Please use a valid role: user, model.", "another role becomes user"},
    {"EMPTY_LIST", "empty array. Expected an array with minimum length 1, but got an empty array instead.",
     "an empty list of calls is left out, an empty content becomes an empty string"},
};
static_assert(std::size(findings) == static_cast<std::size_t>(FindingCode::empty_list) + 1);

using Severity = Loss::Severity;
// In the order of LossCode.
constexpr LossText losses[] = {
    {"L_REASONING_DROPPED", Severity::high, "reasoning is readable by the provider that made it only"},
    {"L_SIGNATURE_DROPPED", Severity::medium, "a thought signature has no place in this dialect"},
    {"L_SIGNATURE_SENTINEL", Severity::medium, "a call without a thought signature got the documented placeholder"},
    {"L_COMPACTION_OPAQUE", Severity::blocking, "an encrypted compaction is readable by the provider that made it only"},
    {"L_COMPACTION_AS_TEXT", Severity::medium, "a signed summary became text"},
    {"L_SERVER_TOOL_DROPPED", Severity::high, "what a provider's own tool did has no place in this dialect"},
    {"L_ITEM_REFERENCE", Severity::blocking, "a reference to an item that the provider keeps"},
    {"L_ARGS_WRAPPED", Severity::low, "arguments that are no JSON object were put into one"},
    {"L_ORDER_TEXT_AFTER_CALL", Severity::low, "text behind a tool call now stands before it"},
    {"L_MEDIA_MOVED", Severity::medium, "an image or file of a tool's result now stands in a user message behind it"},
    {"L_MEDIA_UNSUPPORTED", Severity::high, "this dialect does not take such media; a word stands in its place"},
    {"L_FILE_ID", Severity::high, "a file is known by its id to another provider only; a word stands in its place"},
    {"L_AUDIO_REF", Severity::high, "spoken output is known to its provider only"},
    {"L_ERROR_FLAG_AS_TEXT", Severity::low, "that a tool failed is now said in the text"},
    {"L_ROLE_DEVELOPER", Severity::low, "a developer message became a system message"},
    {"L_SYSTEM_MID", Severity::medium, "a system message changed its place"},
    {"L_SYSTEM_AS_USER", Severity::medium, "a system message became a user's text"},
    {"L_NAME", Severity::low, "the name of a participant has no place in this dialect"},
    {"L_PHASE", Severity::low, "the phase of an answer has no place in this dialect"},
    {"L_REFUSAL_AS_TEXT", Severity::low, "a refusal became text"},
    {"L_ANNOTATIONS", Severity::low, "annotations have no place in this dialect"},
    {"L_IMAGE_DETAIL", Severity::low, "how closely to look at an image has no place in this dialect"},
    {"L_CACHE_HINT", Severity::low, "a cache marker of another provider"},
    {"L_CALL_ID_REWRITTEN", Severity::low, "a tool-call id that this dialect forbids was replaced"},
    {"L_UNKNOWN_FIELD", Severity::low, "a field that this dialect does not know"},
    {"L_PART_DROPPED", Severity::high, "a part that only its own dialect understands"},
    {"L_CONTROL_DROPPED", Severity::low, "an item that steers its own provider only"},
};
static_assert(std::size(losses) == static_cast<std::size_t>(LossCode::control_dropped) + 1);

}  // namespace

const FindingText& text_of(FindingCode code) { return findings[static_cast<std::size_t>(code)]; }
std::span<const FindingText> finding_texts() { return findings; }
const LossText& text_of(LossCode code) { return losses[static_cast<std::size_t>(code)]; }
std::span<const LossText> loss_texts() { return losses; }

std::string_view name(Loss::Severity severity) {
  switch (severity) {
    case Loss::Severity::low: return "low";
    case Loss::Severity::medium: return "medium";
    case Loss::Severity::high: return "high";
    case Loss::Severity::blocking: return "blocking";
  }
  return "";
}

}  // namespace undertext
