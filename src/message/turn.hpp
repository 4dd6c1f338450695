// What is read of a message, in whichever format it is: the neutral form in memory, and the only
// reader of messages (blocks.hpp is its public face).
//
// A Turn is one element of a request: a message, an item, a content. A Block is one thing it holds.
// Both keep the bytes they were read from (`raw`) and the dialects in which these bytes may stand
// (`native`), so that what was not touched is written by copying.
//
// Texts are *bodies* of JSON strings: the bytes between the quotes, as spelled. Ids and names are
// decoded. All of them are borrowed from the messages they were read from, or from the Arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/blocks.hpp>
#include <undertext/dialect_name.hpp>
#include <undertext/message.hpp>

#include "base/json_text.hpp"

namespace undertext {

using DialectSet = std::uint8_t;
constexpr DialectSet bit(Dialect dialect) {
  return static_cast<DialectSet>(1u << static_cast<unsigned>(dialect));
}

// What turns borrow: texts made along the way, and messages. They stay where they are.
class Arena {
 public:
  // A block takes some hundred bytes, and the text of one may have three. Reading stops after
  // `most` blocks; what was read is then incomplete, and is_over() says so. Default: no limit.
  void limit_blocks(std::size_t most) {
    blocks_left_ = most;
    is_over_ = false;
  }
  std::size_t blocks_left() const { return blocks_left_; }
  bool is_over() const { return is_over_; }
  // Whether one more may be read.
  bool take_block() {
    is_over_ = is_over_ || blocks_left_ == 0;
    if (blocks_left_ > 0) --blocks_left_;
    return !is_over_;
  }

  std::string_view keep(std::string text) { return texts_.emplace_front(std::move(text)); }
  // The message's bytes. A stored message that was read may be evicted from the cache at any time;
  // here it stays.
  std::string_view keep(const Message& message) {
    messages_.push_back(message);
    return messages_.back().json();
  }

 private:
  std::forward_list<std::string> texts_;  // takes no memory until something is kept
  std::vector<Message> messages_;
  std::size_t blocks_left_ = std::numeric_limits<std::size_t>::max();
  bool is_over_ = false;
};

enum class BlockKind : std::uint8_t {
  text,
  refusal,
  media,
  call,
  result,
  reasoning,
  compaction,
  control,
  opaque
};
using MediaKind = MediaBlock::Kind;
using MediaSource = MediaBlock::Source;

struct Media {
  MediaKind kind = MediaKind::image;
  MediaSource source = MediaSource::base64;
  std::string_view data = {};  // bodies
  std::string_view mime = {};
  std::string_view detail = {};
  std::string_view filename = {};
};

inline constexpr std::uint64_t no_source = ~std::uint64_t{0};

struct Block {
  BlockKind kind = BlockKind::text;
  DialectSet native = 0;      // where `raw` may stand as it is
  std::string_view raw = {};  // empty: write it from the facts
  // body: of text, refusal, readable reasoning, a summary; of a result that is a string
  std::string_view text = {};
  std::string_view id = {};    // of a call, or the call that a result answers
  std::string_view name = {};  // of the tool
  // the string that says the name, as it stands in the bytes that were read
  std::string_view named = {};
  // arguments, or a result: an object, or a string that holds text
  std::string_view json = {};
  std::string_view signature = {};  // body
  std::string_view cache = {};      // the marker's value
  std::string_view type = {};       // as the dialect names it, where that says more than `kind`
  // of a result: the value that holds what it says, in the bytes that were read
  std::string_view content = {};
  std::string_view item_id = {};  // Responses: the server's id of the item that it is
  Media media = {};
  // of a result that is a list of parts; texts of the result that a call holds
  std::vector<Block> inner = {};
  bool is_error = false;      // a result, or a call whose own result is one
  bool is_list = false;       // a result given as parts
  bool is_server = false;     // a tool that the provider runs
  bool is_complete = false;   // a call that no other block answers
  bool has_own_form = false;  // an item such as shell_call, which only its own bytes can say
  bool is_custom = false;     // a call whose input is free text
  bool is_legacy = false;     // function_call, role function
  bool is_async = false;      // its result may come at any time
  bool has_own_id = true;     // false: the dialect gave none
  bool has_unknown = false;   // members that no other dialect knows
  bool has_citations = false;
  std::uint8_t payloads = 1;  // Gemini: how many things the part holds, which should be one
  // of a request: index in the view of the message that it comes from
  std::uint64_t source = no_source;
};

// How ids begin that a reader makes for calls and results that have none. They tell the two halves
// of one request apart, and mean nothing outside of it.
inline constexpr std::string_view gemini_id_begin = "gemini_call_", legacy_id_begin = "legacy_fn_";
inline bool is_made_id(std::string_view id) {
  return id.starts_with(gemini_id_begin) || id.starts_with(legacy_id_begin);
}

struct Turn {
  enum class Shape : std::uint8_t { string, list, null, absent, item };
  Role role = Role::user;
  Shape shape = Shape::list;
  bool is_developer = false;
  bool is_top = false;        // stands outside of the list: system, instructions, systemInstruction
  bool is_labelled = false;   // its dialect was written down with it
  bool is_made = false;       // by a repair
  bool is_item = false;       // of the Responses API
  bool has_bad_role = false;  // one that Gemini does not know
  bool has_unknown = false;   // members that nobody here knows
  bool has_annotations = false;
  bool has_empty_calls = false;  // Chat: "tool_calls":[]
  DialectSet native = 0;
  std::string_view raw = {};
  std::string_view content = {};  // the value of `content`, in raw
  std::string_view name = {};     // body
  std::string_view item_id = {};  // Responses: the server's id of the item
  std::string_view phase = {};    // Responses; body
  std::vector<Block> blocks = {};
  std::uint64_t source = no_source;  // index in the view

  bool is_raw_in(Dialect dialect) const { return (native & bit(dialect)) != 0 && !raw.empty(); }
  // Its bytes are void: what it holds has changed.
  void touch() { raw = {}; }
};

// The message of the view that a block came from.
inline std::uint64_t source_of(const Turn& turn, const Block& block) {
  return block.source != no_source ? block.source : turn.source;
}

inline bool has_kind(const Turn& turn, BlockKind kind) {
  for (const Block& block : turn.blocks)
    if (block.kind == kind) return true;
  return false;
}
inline bool is_client(const Block& block, BlockKind kind) {
  return block.kind == kind && !block.is_server;
}
inline bool has_calls(const Turn& turn) {
  for (const Block& block : turn.blocks)
    if (is_client(block, BlockKind::call)) return true;
  return false;
}
inline bool has_results(const Turn& turn) {
  for (const Block& block : turn.blocks)
    if (is_client(block, BlockKind::result)) return true;
  return false;
}

// Nothing but white space.
bool is_blank(std::string_view body);

inline void append_quoted(std::string& out, std::string_view body) {
  out += '"';
  out += body;
  out += '"';
}
std::string escaped(std::string_view utf8);  // as a body
std::string decoded(std::string_view body);

Block text_block(std::string_view body);

// How many blocks a new message may have: one for each 64 bytes that the limits allow it, and never
// fewer than 4096.
std::size_t blocks_max(const MessageLimits& limits);
Error too_many_blocks(const MessageLimits& limits);

// Reading. `table` is used for the JSON; the result borrows `json` and the arena.
struct ToolIds {
  // for calls and results without an id of their own, one each, in order
  std::vector<std::string_view> given = {};
  // where `given` has come to an end: a number of its own for each
  std::uint64_t next = 0;
  // calls not answered yet: name, id
  std::vector<std::pair<std::string_view, std::string_view>> open = {};
  std::size_t used = 0;
  bool in_model = false;  // Gemini: the last content was the model's
};

// The union of Chat, Anthropic and the engine's own form. `origin` is set for bytes that are known
// to come from that dialect.
// An item that an adapter of an earlier release kept beside a text is read instead of that text,
// unless `items` is ignored, as by edits, which change the text.
enum class KeptItems : std::uint8_t { read, ignored };
Turn read_message(JsonValue message, std::optional<Dialect> origin, Arena& arena, ToolIds& ids,
                  KeptItems items = KeptItems::read);
Turn read_gemini(JsonValue content, Arena& arena, ToolIds& ids);
Turn read_responses(JsonValue item, Arena& arena);
Turn read_in(Dialect dialect, JsonValue json, Arena& arena, ToolIds& ids);
Block read_gemini_part(JsonValue part, Arena& arena, ToolIds& ids);

// A call or result as an item of the Responses API, or as a part that is one. Nullopt: neither.
std::optional<Block> read_item(JsonValue item, Arena& arena);

// The parts of a result whose item has changed its form are written from what they say: each kind
// of item takes other parts.
void rewrite_parts(Block& result);

// Whether a result that is no list says a text, which may be empty.
inline bool has_text(const Block& result) {
  return result.json.empty() && result.text.data() != nullptr;
}

// Reasoning beside the content may be there and say nothing, as some servers write it.
inline bool is_reasoning(const Block& block) {
  return block.kind == BlockKind::reasoning && !(block.raw.empty() && block.text.empty());
}

// Whether a call says what came of it, as calls of a provider's own tools do.
inline bool holds_result(const Block& block) {
  return block.kind == BlockKind::call && !block.inner.empty();
}

// Calls visit(body) for each text of the message, in order: what is said, and what results say. Not
// reasoning, refusals or arguments.
// visit returns whether to go on; false when it was stopped.
template <class Visit>
bool visit_texts(const Block& block, Visit& visit);
template <class Visit>
bool visit_texts(const std::vector<Block>& blocks, Visit& visit) {
  for (const Block& block : blocks)
    if (!visit_texts(block, visit)) return false;
  return true;
}
template <class Visit>
bool visit_texts(const Block& block, Visit& visit) {
  if (block.kind == BlockKind::text) return visit(block.text);
  if (holds_result(block)) return visit_texts(block.inner, visit);
  if (block.kind != BlockKind::result) return true;
  return block.is_list ? visit_texts(block.inner, visit) : !has_text(block) || visit(block.text);
}

// Whether a call or result is one half of a pair with the other in another block.
inline bool is_linked(const Block& block) {
  return (block.kind == BlockKind::call || block.kind == BlockKind::result) && !block.id.empty() &&
         block.has_own_id && !block.is_complete;
}

}  // namespace undertext
