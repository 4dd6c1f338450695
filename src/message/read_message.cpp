// Messages of Chat Completions, of Anthropic, and of the engine's own form, which is both and more.
// What a message may stand as without change is found on the way: each member, part and field takes
// away the dialects that do not know it.
#include <algorithm>
#include <unordered_map>

#include "message/read_fields.hpp"
#include "message/read_part.hpp"
#include "message/turn.hpp"

namespace undertext {
namespace {

constexpr DialectSet none = 0;

class MessageReader {
 public:
  MessageReader(std::optional<Dialect> origin, Arena& arena, ToolIds& ids, KeptItems items)
      : origin_(origin ? bit(*origin) : DialectSet{0}), arena_(arena), ids_(ids), items_(items) {}

  Turn read(JsonValue message) {
    turn_.raw = message.raw();
    turn_.shape = Turn::Shape::absent;
    native_ = in_chat | in_anthropic | in_responses;
    for (const JsonMember member : message.members()) read_role(member);
    std::optional<JsonValue> content;
    for (const JsonMember member : message.members()) read_member(member, content);
    if (content) read_content(*content);
    for (std::vector<Block>& list : calls_) add_calls(std::move(list));
    if (turn_.role == Role::tool) become_results();
    if (item_ && items_ == KeptItems::read) become_item();
    if (turn_.shape == Turn::Shape::absent || turn_.shape == Turn::Shape::null) native_ &= in_chat;
    turn_.native = origin_ != 0 ? origin_ : native_;
    return std::move(turn_);
  }

 private:
  void read_role(const JsonMember& member) {
    if (!member.key.string_is("role") || !member.value.is(JsonType::string)) return;
    const JsonValue& role = member.value;
    if (role.string_is("developer")) {
      turn_.role = Role::system;
      turn_.is_developer = true;
      native_ &= in_chat | in_responses;
    } else if (role.string_is("function")) {
      turn_.role = Role::tool;
      is_function_ = true;
      native_ &= in_chat;
    } else {
      turn_.role = role_named(role.string()).value_or(Role::user);
      if (turn_.role == Role::tool) native_ &= in_chat;
    }
  }

  // Anthropic has nothing beside the content, and a tool calls and thinks nothing.
  bool may_have(const JsonValue& key) const {
    if (origin_ == in_anthropic) return false;
    return turn_.role != Role::tool ||
           !is_one_of(key, {"tool_calls", "toolCalls", "function_call", "refusal",
                            "reasoning_content", "reasoning", "reasoning_details", "audio"});
  }

  void read_member(const JsonMember& member, std::optional<JsonValue>& content) {
    const JsonValue &key = member.key, &value = member.value;
    if (key.string_is("role")) return;
    if (key.string_is("content")) {
      content = value;
      turn_.content = value.raw();
      return;
    }
    if (!may_have(key)) {
      native_ = 0;
      turn_.has_unknown = true;
      return;
    }
    if (names_tool_calls(key)) {
      const bool is_chat = key.string_is("tool_calls");
      native_ &= is_chat ? in_chat : none;
      if (value.is(JsonType::array) && has_room_for(value)) {
        turn_.has_empty_calls = turn_.has_empty_calls || (is_chat && value.empty());
        std::vector<Block>& list = calls_[is_chat ? 1 : 0];
        list.reserve(value.count());
        for (const JsonValue call : value.elements()) {
          if (!arena_.take_block()) break;
          read_call(call, list);
        }
      }
    } else if (names_tool_call_id(key)) {
      native_ &= key.string_is("tool_call_id") ? in_chat : none;
      if (value.is(JsonType::string)) result_id_ = decoded_of(value, arena_);
    } else if (key.string_is("name")) {
      native_ &= in_chat;
      if (value.is(JsonType::string)) turn_.name = value.string_raw();
    } else if (key.string_is("refusal")) {
      native_ &= in_chat;
      if (value.is(JsonType::string)) add_text(BlockKind::refusal, value, "refusal");
    } else if (key.string_is("reasoning_content") || key.string_is("reasoning")) {
      native_ &= in_chat;
      if (value.is(JsonType::string))
        add_text(BlockKind::reasoning, value, decoded_of(key, arena_));
    } else if (key.string_is("reasoning_details")) {
      native_ &= in_chat;
      if (!value.is(JsonType::array) || value.empty()) return;
      Block block = block_of(BlockKind::reasoning, value, in_chat);
      block.type = "reasoning_details";
      turn_.blocks.push_back(std::move(block));
    } else if (key.string_is("function_call")) {
      native_ &= in_chat;
      if (value.is(JsonType::object)) {
        native_ = 0;  // it has no id, which the engine needs
        read_legacy_call(value);
      }
    } else if (key.string_is("audio")) {
      native_ &= in_chat;
      if (value.is(JsonType::object)) {
        Block block = block_of(BlockKind::media, value, in_chat);
        block.type = "audio";
        block.media = {MediaKind::audio, MediaSource::file_id, body_of(value, "id")};
        turn_.blocks.push_back(std::move(block));
      }
    } else if (key.string_is("annotations")) {
      native_ &= in_chat;
      if (value.is(JsonType::array) && !value.empty()) turn_.has_annotations = true;
    } else if (key.string_is("openaiItem") && origin_ == 0) {
      native_ = 0;
      if (const std::optional<JsonValue> item = value.find("item");
          item && item->is(JsonType::object))
        item_ = *item;
    } else if (is_one_of(key, {"id", "timestamp", "metadata", "native"})) {
      native_ = 0;  // the engine's own
    } else {
      native_ = 0;
      turn_.has_unknown = true;
    }
  }

  // Of a list that is too long nothing is read.
  bool has_room_for(const JsonValue& list) {
    if (list.count() <= arena_.blocks_left()) return true;
    arena_.limit_blocks(0);
    return arena_.take_block();
  }

  // A text that stands beside the content; `type` is its member.
  void add_text(BlockKind kind, const JsonValue& value, std::string_view type) {
    Block block;
    block.kind = kind;
    block.text = value.string_raw();
    block.type = type;
    turn_.blocks.push_back(std::move(block));
  }

  // A call that was given before, as a part or in the other list, is the same call. Calls that
  // share an id in one list are several.
  void add_calls(std::vector<Block> list) {
    if (list.empty()) return;
    if (turn_.blocks.empty()) {
      turn_.blocks = std::move(list);
      return;
    }
    if (!has_kind(turn_, BlockKind::call)) {
      for (Block& call : list) turn_.blocks.push_back(std::move(call));
      return;
    }
    std::unordered_map<std::string_view, std::size_t> given, here;
    for (const Block& block : turn_.blocks)
      if (block.kind == BlockKind::call && !block.id.empty()) ++given[block.id];
    for (Block& call : list)
      if (call.id.empty() || ++here[call.id] > given[call.id])
        turn_.blocks.push_back(std::move(call));
  }

  void read_call(const JsonValue& call, std::vector<Block>& list) {
    if (!call.is(JsonType::object)) return;
    Block block = block_of(BlockKind::call, call, 0);
    block.id = decoded_of(call, "id", arena_);
    const std::optional<JsonValue> function = call.find("function"), custom = call.find("custom");
    const bool is_custom = custom && custom->is(JsonType::object);
    const JsonValue& inner = is_custom                                    ? *custom
                             : function && function->is(JsonType::object) ? *function
                                                                          : call;
    read_name(inner, "name", block, arena_);
    block.is_custom = is_custom;
    block.json = arguments_of(inner);
    const bool is_chat =
        string_of(call, "id") && string_of(call, "type") && string_of(inner, "name") &&
        (is_custom ||
         (function && function->is(JsonType::object) && string_of(*function, "arguments")));
    if (is_chat) block.native = in_chat;
    if (!is_chat) native_ &= origin_;
    // such as the signature that Gemini's Chat endpoint puts there
    for (const JsonMember member : call.members())
      if (is_chat && !is_one_of(member.key, {"id", "type", "function", "custom", "index"}))
        block.has_unknown = true;
    list.push_back(std::move(block));
  }

  std::string_view id_without_one(bool is_call, std::string_view tool) {
    std::string_view id;
    if (ids_.used < ids_.given.size()) {
      id = ids_.given[ids_.used++];
    } else if (!is_call) {
      for (std::size_t i = ids_.open.size(); i-- > 0 && id.empty();)
        if (ids_.open[i].first == tool) id = ids_.open[i].second;
    }
    if (id.empty()) id = arena_.keep(std::string(legacy_id_begin) + std::to_string(++ids_.next));
    if (is_call) ids_.open.emplace_back(tool, id);
    return id;
  }

  void read_legacy_call(const JsonValue& call) {
    Block block = block_of(BlockKind::call, call, in_chat);
    block.is_legacy = true;
    block.has_own_id = false;
    read_name(call, "name", block, arena_);
    block.id = id_without_one(true, block.name);
    block.json = arguments_of(call);
    calls_[1].push_back(std::move(block));
  }

  void read_content(const JsonValue& content) {
    if (content.is(JsonType::string)) {
      turn_.shape = Turn::Shape::string;
      turn_.blocks.push_back(text_block(content.string_raw()));
    } else if (content.is(JsonType::array)) {
      turn_.shape = Turn::Shape::list;
      native_ &= in_chat | in_anthropic;
      if (!has_room_for(content)) return;
      turn_.blocks.reserve(turn_.blocks.size() + content.count());
      for (const JsonValue part : content.elements()) {
        if (!arena_.take_block()) break;
        turn_.blocks.push_back(read_part(part, origin_, native_, arena_, ids_));
      }
    } else {
      turn_.shape = Turn::Shape::null;
    }
  }

  // The message of role tool: parts that are results, and all else as the output of the one call
  // that the message names.
  void become_results() {
    std::vector<Block> results, others;
    for (Block& block : turn_.blocks)
      (block.kind == BlockKind::result ? results : others).push_back(std::move(block));
    for (Block& result : results)
      if (result.id.empty()) result.id = result_id_;
    turn_.blocks = std::move(results);
    const bool answers_named =
        std::any_of(turn_.blocks.begin(), turn_.blocks.end(),
                    [this](const Block& result) { return result.id == result_id_; });
    if (others.empty() && !turn_.blocks.empty() && (result_id_.empty() || answers_named)) return;
    if (turn_.blocks.empty() || !(result_id_.empty() || answers_named)) {
      Block named = result_of(std::move(others));
      if (!turn_.blocks.empty()) named.content = {};  // it is not alone there
      turn_.blocks.insert(turn_.blocks.begin(), std::move(named));
    } else {
      const bool is_alone = turn_.blocks.size() == 1 && !result_id_.empty();
      say_first(turn_.blocks.front(), std::move(others));
      if (is_alone) turn_.blocks.front().content = turn_.content;
    }
  }

  Block result_of(std::vector<Block> said) {
    Block result;
    result.kind = BlockKind::result;
    result.id = result_id_;
    result.is_legacy = is_function_;
    result.name = decoded_name();
    if (is_function_ && !turn_.name.empty())
      result.named = {turn_.name.data() - 1, turn_.name.size() + 2};
    result.content = turn_.content;
    if (is_function_) {
      result.has_own_id = false;
      result.id = id_without_one(false, result.name);
    }
    result.is_list = turn_.shape == Turn::Shape::list;
    if (result.is_list) {
      result.inner = std::move(said);
    } else {
      for (const Block& block : said)
        if (block.kind == BlockKind::text) result.text = block.text;
    }
    return result;
  }

  // What stands beside the parts of a result belongs to it.
  static void say_first(Block& result, std::vector<Block> others) {
    if (!result.is_list && !result.text.empty()) others.push_back(text_block(result.text));
    for (Block& inner : result.inner) others.push_back(std::move(inner));
    result.inner = std::move(others);
    result.text = {};
    result.is_list = true;
    result.raw = {};
  }

  // An item that an earlier adapter kept beside a text that stands for it: it counts while that
  // text is as it was.
  void become_item() {
    if (turn_.shape != Turn::Shape::string || turn_.blocks.size() != 1 ||
        decoded(turn_.blocks[0].text) != stand_in(*item_))
      return;
    std::vector<Block> read = read_responses(*item_, arena_).blocks;
    if (read.size() != 1) return;
    const BlockKind kind = read.front().kind;
    if (kind == BlockKind::call || kind == BlockKind::result || kind == BlockKind::reasoning)
      turn_.blocks = std::move(read);
  }

  static std::string stand_in(const JsonValue& item) {
    for (const std::string_view key : {"content", "summary", "output"}) {
      const std::optional<JsonValue> said = item.find(key);
      if (!said || said->is(JsonType::null)) continue;
      std::string words;
      const auto add = [&words](const JsonValue& part) {
        const std::string text =
            part.is(JsonType::string) ? part.string() : decoded(body_of(part, "text"));
        if (!words.empty() && !text.empty()) words += '\n';
        words += text;
      };
      if (said->is(JsonType::array)) {
        if (said->empty()) continue;
        for (const JsonValue part : said->elements()) add(part);
      } else {
        if (said->is(JsonType::string) && said->string_raw().empty()) continue;
        add(*said);
      }
      return words.empty() ? "(empty)" : words;
    }
    return decoded(body_of(item, "type"));
  }

  std::string_view decoded_name() {
    return turn_.name.find('\\') == std::string_view::npos ? turn_.name
                                                           : arena_.keep(decoded(turn_.name));
  }

  const DialectSet origin_;
  Arena& arena_;
  ToolIds& ids_;
  const KeptItems items_;
  Turn turn_;
  DialectSet native_ = 0;
  std::vector<Block> calls_[2];  // of `toolCalls`, and of `tool_calls` and `function_call`
  std::optional<JsonValue> item_;
  std::string_view result_id_;
  bool is_function_ = false;
};

}  // namespace

Turn read_message(JsonValue message, std::optional<Dialect> origin, Arena& arena, ToolIds& ids,
                  KeptItems items) {
  return MessageReader(origin, arena, ids, items).read(message);
}

}  // namespace undertext
