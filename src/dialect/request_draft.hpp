// A request on its way: turns in the target's order, and what was lost to get there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <undertext/dialect.hpp>

#include "dialect/codes.hpp"
#include "message/turn.hpp"

namespace undertext {

struct Lost {
  LossCode code;
  std::uint64_t source;
};

struct RequestDraft {
  std::vector<Turn> top;  // instructions that stand outside of the list
  std::vector<Turn> turns;
  std::vector<Lost> lost;
  ToolNames tool_names = {};  // of tools that are sent under another name
};

// What the rest of the request says.
struct RequestFacts {
  bool store = true;
  bool has_tools = false;
  std::set<std::string, std::less<>> tools = {};
  std::uint64_t cache_markers = 0;  // on tools
  bool has_state_conflict = false;
  // the provider has the conversation, so the request may hold no messages
  bool has_stored_input = false;
  bool is_thinking_disabled = false;
  std::set<std::string, std::less<>> followed =
      {};  // Responses: reasoning that something else than reasoning followed when it was made
};
Result<RequestFacts> read_request_facts(std::string_view json, const Profile& profile);

// A message of the engine as a turn: the bytes it came with if they are what it says, else its own.
//
//     {"role":"assistant","content":[…],"native":{"dialect":"gemini","json":{"role":"model","parts":[…]}}}
//
// `native` counts only while reading it gives, byte for byte, all that stands before it. So an edit
// of the message makes it void, and nobody can have one thing shown and another sent.
Turn read_stored(const Message& message, Arena& arena);

// The message that keeps `turn`, read from `raw` in a dialect whose bytes the engine cannot take as
// they are.
std::string enveloped(const Turn& turn, Dialect dialect, std::string_view raw,
                      std::string_view field);

// What stands outside of the list, such as `system`, as a turn. `arena` keeps what it borrows.
Turn read_top(Dialect dialect, std::string_view value, Arena& arena);

// Takes turns of any dialect, one after another, and gives those of one.
class Adapter {
 public:
  Adapter(const Profile& profile, RequestDraft& draft, Arena& arena)
      : profile_(profile), draft_(draft), arena_(arena) {}
  void add(Turn turn);
  void finish();                                             // after the last one
  bool is_waiting() const { return !moved_media_.empty(); }  // finish() would add something

 private:
  void lose(LossCode code);
  void add_native(Turn turn);
  void convert(Turn turn);
  bool keep_block(Block& block, Role role);
  bool keep_reasoning(Block& block);
  void convert_media(Block& block, Role role);
  void convert_result(Block& block);
  void lose_names(const Block& block);
  void place_system(Turn turn);
  void place_chat(Turn turn);
  void place_responses(Turn turn);
  void place_merged(Turn turn);
  void push(Turn turn);
  void push_moved_media();

  const Profile& profile_;
  RequestDraft& draft_;
  Arena& arena_;
  std::uint64_t source_ = no_source;
  std::vector<Block> moved_media_;
  struct Called {
    std::string_view name;
    bool is_custom = false;
  };
  std::unordered_map<std::string, Called> calls_;  // by id
};

// The bytes of a turn in its dialect.
void append_turn(std::string& out, Dialect dialect, const Turn& turn);
std::string request_json(Dialect dialect, const RequestDraft& draft);
// up to the list's first element
void append_request_head(std::string& out, Dialect dialect, const RequestDraft& draft);

}  // namespace undertext
