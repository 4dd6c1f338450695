// The rules of a profile, asked of a draft.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dialect/request_draft.hpp"

namespace undertext {

inline constexpr std::size_t no_block = ~std::size_t{0};
inline constexpr std::size_t top_turn = ~std::size_t{0};  // stands for all that is outside of the list

struct Fault {
  FindingCode code;
  std::size_t turn = top_turn;
  std::size_t block = no_block;
  std::string about = {};
};

// Everything wrong with the draft, in the order of its turns for each rule.
std::vector<Fault> check(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts);

// The same for what depends on what was sent before: bound and modified thinking, reasoning that an item needs.
// A block is held against the first of `sent` that has it: to what stood before it then it is bound.
std::vector<Fault> check_against(const std::vector<RequestDraft>& sent, const RequestDraft& draft, const Profile& profile);

// Where the calls of turns [calls_begin, calls_end) must be answered.
struct Exchange {
  std::size_t calls_begin = 0, calls_end = 0;      // turns that make the calls
  std::size_t results_begin = 0, results_end = 0;  // turns that must hold the results
};
// The exchange that begins at `turn`, which is an assistant's. Not for Responses, where a result may stand anywhere later.
Exchange exchange_at(const std::vector<Turn>& turns, std::size_t turn, Dialect dialect);

bool is_good_call_id(std::string_view id, const Profile& profile);
bool may_name_tool(char c, Dialect dialect);
bool is_good_tool_name(std::string_view name, const Profile& profile);
bool ends_twice(const std::vector<Turn>& turns, const Profile& profile);  // with an assistant's turns, where one may
bool has_empty_calls(const Turn& turn);                                   // Chat: "tool_calls":[]
bool is_empty_content(const Turn& turn);                                  // Chat: "content":[]
std::size_t current_turn_begin(const std::vector<Turn>& turns);  // Gemini: behind the last thing a user said that is no result
bool is_long_lived(std::string_view cache_marker);               // "ttl":"1h"
bool needs_reasoning_content(const RequestDraft& draft, const Profile& profile);
bool is_signature_missing(const Turn& turn, std::size_t block);  // Gemini: the first call has none

// For Anthropic's system messages in mid-conversation, and for all where none may stand.
bool is_system_misplaced(const std::vector<Turn>& turns, std::size_t turn, const Profile& profile);

}  // namespace undertext
