// The codes of findings, whose rows are in rules.cpp, and of losses, with theirs. A test compares
// docs/dialects.md with both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <undertext/dialect.hpp>

namespace undertext {

enum class FindingCode : std::uint8_t {
  pair_orphan_result,
  pair_missing_result,
  pair_dup_result,
  pair_dup_call_id,
  gem_count,
  gem_call_position,
  result_not_first,
  server_pair_orphan,
  think_modified,
  think_last_block,
  think_unsigned,
  think_missing,
  think_prefix_changed,
  reasoning_no_follower,
  reasoning_missing,
  item_ref_unstored,
  reasoning_not_portable,
  gem_sig_missing,
  reasoning_content_missing,
  empty_message,
  empty_text,
  content_null,
  first_not_user,
  trailing_assistant,
  trailing_ws,
  role_alternation,
  user_after_tool,
  system_position,
  system_role_unsupported,
  media_in_tool_result,
  args_not_object,
  call_id_format,
  tool_name_format,
  cache_too_many,
  cache_on_empty,
  cache_on_thinking,
  cache_ttl_order,
  compaction_not_first,
  compaction_multiple,
  compaction_trigger_not_last,
  state_conflict,
  tool_undefined,
  gem_part_union,
  gem_role,
  empty_list,
  media_unsupported,
  media_url,
  result_error_content,
  no_messages,
  gem_id,
  item_dup_id,
};
inline constexpr std::size_t finding_code_count =
    static_cast<std::size_t>(FindingCode::item_dup_id) + 1;

enum class LossCode : std::uint8_t {
  reasoning_dropped,
  signature_dropped,
  signature_sentinel,
  compaction_opaque,
  compaction_as_text,
  server_tool_dropped,
  item_reference,
  args_wrapped,
  order_text_after_call,
  media_moved,
  media_unsupported,
  file_id,
  audio_ref,
  error_flag_as_text,
  role_developer,
  system_mid,
  system_as_user,
  name,
  phase,
  refusal_as_text,
  annotations,
  image_detail,
  cache_hint,
  call_id_rewritten,
  unknown_field,
  part_dropped,
  control_dropped,
  media_url,
  file_name,
  tool_name_rewritten,
  result_dropped,
  call_dropped,
};
struct LossText {
  std::string_view code;
  Loss::Severity severity;
  std::string_view note;
};
std::string_view name(FindingCode code);
std::string_view name(LossCode code);
inline constexpr LossCode last_loss_code = LossCode::call_dropped;
const LossText& text_of(LossCode code);
std::span<const LossText> loss_texts();

}  // namespace undertext
