#include "dialect/codes.hpp"

namespace undertext {
namespace {

using Severity = Loss::Severity;
// In the order of LossCode.
constexpr LossText losses[] = {
    {"L_REASONING_DROPPED", Severity::high,
     "reasoning is readable by the provider that made it only"},
    {"L_SIGNATURE_DROPPED", Severity::medium, "a thought signature has no place in this dialect"},
    {"L_SIGNATURE_SENTINEL", Severity::medium,
     "a call without a thought signature got the documented placeholder"},
    {"L_COMPACTION_OPAQUE", Severity::blocking,
     "an encrypted compaction is readable by the provider that made it only"},
    {"L_COMPACTION_AS_TEXT", Severity::medium, "a signed summary became text"},
    {"L_SERVER_TOOL_DROPPED", Severity::high,
     "what a provider's own tool did has no place in this dialect"},
    {"L_ITEM_REFERENCE", Severity::blocking, "a reference to an item that the provider keeps"},
    {"L_ARGS_WRAPPED", Severity::low, "arguments that are no JSON object were put into one"},
    {"L_ORDER_TEXT_AFTER_CALL", Severity::low, "text behind a tool call now stands before it"},
    {"L_MEDIA_MOVED", Severity::medium,
     "an image or file of a tool's result now stands in a user message behind it"},
    {"L_MEDIA_UNSUPPORTED", Severity::high,
     "this dialect does not take such media; a word stands in its place"},
    {"L_FILE_ID", Severity::high,
     "a file is known by its id to another provider only; a word stands in its place"},
    {"L_AUDIO_REF", Severity::high, "spoken output is known to its provider only"},
    {"L_ERROR_FLAG_AS_TEXT", Severity::low, "that a tool failed is now said in the text"},
    {"L_ROLE_DEVELOPER", Severity::low, "a developer message became a system message"},
    {"L_SYSTEM_MID", Severity::medium, "a system message changed its place"},
    {"L_SYSTEM_AS_USER", Severity::medium, "a system message became a user's text"},
    {"L_NAME", Severity::low, "the name of a participant has no place in this dialect"},
    {"L_PHASE", Severity::low, "the phase of an answer has no place in this dialect"},
    {"L_REFUSAL_AS_TEXT", Severity::low, "a refusal became text"},
    {"L_ANNOTATIONS", Severity::low, "annotations have no place in this dialect"},
    {"L_IMAGE_DETAIL", Severity::low,
     "how closely to look at an image has no place in this dialect"},
    {"L_CACHE_HINT", Severity::low, "a cache marker of another provider"},
    {"L_CALL_ID_REWRITTEN", Severity::low, "a tool-call id that this dialect forbids was replaced"},
    {"L_UNKNOWN_FIELD", Severity::low, "a field that this dialect does not know"},
    {"L_PART_DROPPED", Severity::high, "a part that only its own dialect understands"},
    {"L_CONTROL_DROPPED", Severity::low, "an item that steers its own provider only"},
    {"L_MEDIA_URL", Severity::high,
     "an address that this provider cannot read; a word stands in its place"},
    {"L_FILE_NAME", Severity::low, "the name or title of a file has no place here"},
    {"L_TOOL_NAME_REWRITTEN", Severity::low,
     "a tool's name that this dialect forbids was replaced; toolNames has both"},
    {"L_RESULT_DROPPED", Severity::high,
     "a result that answers no call, or answers one a second time, was left out"},
    {"L_CALL_DROPPED", Severity::high, "a call that nothing can answer was left out"},
};
static_assert(std::size(losses) == static_cast<std::size_t>(last_loss_code) + 1);

}  // namespace

const LossText& text_of(LossCode code) { return losses[static_cast<std::size_t>(code)]; }
std::span<const LossText> loss_texts() { return losses; }
std::string_view name(LossCode code) { return text_of(code).code; }

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
