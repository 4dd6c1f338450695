#include "gateway/recall_dialects.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "client/cached_content.hpp"
#include "dialect/write.hpp"
#include "message/read_part.hpp"
#include "message/turn.hpp"

namespace undertext {
namespace {

// A JSON text with other values in some places.
class JsonEdits {
 public:
  explicit JsonEdits(const JsonValue& root) : root_(root) {}

  void set(const JsonValue& value, std::string json) {
    edits_.push_back({value.offset() - root_.offset(), value.raw().size(), std::move(json)});
  }
  std::string text() {
    std::sort(edits_.begin(), edits_.end(),
              [](const Edit& a, const Edit& b) { return a.at < b.at; });
    std::string out;
    std::uint64_t at = 0;
    for (const Edit& edit : edits_) {
      out += root_.raw().substr(at, edit.at - at);
      out += edit.json;
      at = edit.at + edit.size;
    }
    return out += root_.raw().substr(at);
  }

 private:
  struct Edit {
    std::uint64_t at = 0, size = 0;
    std::string json;
  };
  const JsonValue root_;
  std::vector<Edit> edits_;
};

std::optional<JsonValue> member(const std::optional<JsonValue>& object, std::string_view key,
                                JsonType type) {
  if (!object || !object->is(JsonType::object)) return {};
  std::optional<JsonValue> found = object->find(key);
  return found && found->is(type) ? found : std::nullopt;
}
std::optional<JsonValue> first_of(const std::optional<JsonValue>& object, std::string_view key) {
  const std::optional<JsonValue> list = member(object, key, JsonType::array);
  if (!list || list->empty()) return {};
  return *list->elements().begin();
}
bool text_is(const std::optional<JsonValue>& object, std::string_view key, std::string_view text) {
  const std::optional<JsonValue> found = member(object, key, JsonType::string);
  return found && found->string_is(text);
}
bool is_absent(const std::optional<JsonValue>& value) {
  return !value || value->is(JsonType::null);
}

// Whether the bytes, read as an element of a list, hold a call that the client runs.
bool calls_client(Dialect dialect, const JsonValue& element) {
  Arena arena;
  ToolIds ids;
  return has_calls(read_in(dialect, element, arena, ids));
}

// Borrows `answered` and the arena.
Block result_block(const AnsweredCall& answered, Arena& arena) {
  Block block;
  block.kind = BlockKind::result;
  block.id = answered.id;
  block.has_own_id = !is_made_id(answered.id);
  block.name = answered.name;
  block.text = arena.keep(escaped(answered.text));
  block.is_error = answered.is_error;
  return block;
}

// An element of a list that holds these results.
std::string results_element(Dialect dialect, std::span<const AnsweredCall> results) {
  Arena arena;
  Turn turn;
  turn.role = Role::tool;
  for (const AnsweredCall& each : results) turn.blocks.push_back(result_block(each, arena));
  std::string out;
  write_in(dialect, out, turn);
  return out;
}

using Parts = std::vector<std::string>;
std::string list_of(const Parts& parts) {
  std::string out = "[";
  for (const std::string& part : parts) (out += out.size() > 1 ? "," : "") += part;
  return out + "]";
}

// As OpenAI has it: "auto" and "required" leave the choice to the model, a named tool does not.
bool leaves_choice(const JsonValue& request) {
  const std::optional<JsonValue> choice = request.find("tool_choice");
  return is_absent(choice) || text_is(request, "tool_choice", "auto") ||
         text_is(request, "tool_choice", "required");
}

class AnthropicRecall final : public RecallDialect {
 public:
  std::string_view list_key() const override { return "messages"; }

  bool may_offer(const JsonValue& request) override {
    const std::optional<JsonValue> choice = request.find("tool_choice");
    return is_absent(choice) || text_is(choice, "type", "auto") || text_is(choice, "type", "any");
  }

  std::string elements(const JsonValue& said,
                       const std::vector<AnsweredCall>& results) const override {
    return std::string(said.raw()) + "," + results_element(Dialect::anthropic, results);
  }

  std::string said(const JsonValue& answer) const override {
    const std::optional<JsonValue> content = member(answer, "content", JsonType::array);
    return content ? R"({"role":"assistant","content":)" + std::string(content->raw()) + "}" : "";
  }

  void keep(const JsonValue& said) override {
    Arena arena;
    ToolIds ids;
    for (const Block& block : read_message(said, Dialect::anthropic, arena, ids).blocks)
      if (!is_client(block, BlockKind::call)) kept_.emplace_back(block.raw);
  }

  std::string joined(const JsonValue& answer) const override {
    const std::optional<JsonValue> content = member(answer, "content", JsonType::array);
    if (!content) return std::string(answer.raw());
    Parts all = kept_;
    for (const JsonValue block : content->elements()) all.emplace_back(block.raw());
    JsonEdits edits(answer);
    edits.set(*content, list_of(all));
    return edits.text();
  }

  void begin_stream() override { blocks_before_ = blocks_; }

  bool is_call(const JsonValue& event) const override {
    if (!text_is(event, "type", "content_block_start")) return false;
    const std::optional<JsonValue> block = member(event, "content_block", JsonType::object);
    if (!block) return false;
    Arena arena;
    ToolIds ids;
    DialectSet native = bit(Dialect::anthropic);
    return is_client(read_part(*block, native, native, arena, ids), BlockKind::call);
  }

  void passed(const JsonValue& event) override {
    blocks_ += text_is(event, "type", "content_block_start") ? 1u : 0u;
  }

  std::optional<std::string> passed_on(const JsonValue& event) override {
    if (text_is(event, "type", "message_start")) return {};
    passed(event);
    JsonEdits edits(event);
    if (const std::optional<JsonValue> index = member(event, "index", JsonType::number))
      edits.set(*index, std::to_string(index->uint64_saturated().value_or(0) + blocks_before_));
    return edits.text();
  }

 private:
  Parts kept_;
  std::uint64_t blocks_ = 0, blocks_before_ = 0;
};

class ChatRecall final : public RecallDialect {
 public:
  std::string_view list_key() const override { return "messages"; }

  bool may_offer(const JsonValue& request) override {
    const std::optional<JsonValue> count = member(request, "n", JsonType::number);
    return leaves_choice(request) && (!count || count->uint64_saturated() == 1u) &&
           is_absent(request.find("functions"));
  }

  std::string elements(const JsonValue& said,
                       const std::vector<AnsweredCall>& results) const override {
    std::string out(said.raw());
    for (const AnsweredCall& each : results)
      out += "," + results_element(Dialect::openai_chat, {&each, 1});
    return out;
  }

  std::string said(const JsonValue& answer) const override {
    const std::optional<JsonValue> message =
        member(first_of(answer, "choices"), "message", JsonType::object);
    return message ? std::string(message->raw()) : "";
  }

  void keep(const JsonValue& said) override {
    if (const std::optional<JsonValue> text = member(said, "content", JsonType::string))
      kept_ += text->string_raw();
  }

  std::string joined(const JsonValue& answer) const override {
    const std::optional<JsonValue> message =
        member(first_of(answer, "choices"), "message", JsonType::object);
    const std::optional<JsonValue> content = message ? message->find("content") : std::nullopt;
    if (kept_.empty() || !content) return std::string(answer.raw());
    const bool has_text = content->is(JsonType::string);
    if (!has_text && !content->is(JsonType::null)) return std::string(answer.raw());
    JsonEdits edits(answer);
    edits.set(*content, "\"" + kept_ + std::string(has_text ? content->string_raw() : "") + "\"");
    return edits.text();
  }

  bool is_call(const JsonValue& event) const override {
    const std::optional<JsonValue> delta = delta_of(event);
    return delta && calls_client(Dialect::openai_chat, *delta);
  }

  void passed(const JsonValue& event) override {
    if (const std::optional<JsonValue> id = member(event, "id", JsonType::string);
        id && id_.empty())
      id_ = id->raw();
  }

  std::optional<std::string> passed_on(const JsonValue& event) override {
    // Of a second beginning, clients make "assistantassistant".
    const std::optional<JsonValue> choice = first_of(event, "choices"), delta = delta_of(event);
    const bool is_over = choice && !is_absent(choice->find("finish_reason"));
    if (!is_over && member(delta, "role", JsonType::string) && says_nothing(*delta)) return {};
    JsonEdits edits(event);
    if (const std::optional<JsonValue> id = member(event, "id", JsonType::string);
        id && !id_.empty())
      edits.set(*id, id_);
    return edits.text();
  }

 private:
  static std::optional<JsonValue> delta_of(const JsonValue& event) {
    return member(first_of(event, "choices"), "delta", JsonType::object);
  }
  static bool says_nothing(const JsonValue& delta) {
    for (const JsonMember each : delta.members()) {
      const bool is_empty = each.value.is(JsonType::null) ||
                            (each.value.is(JsonType::string) && each.value.string_raw().empty());
      if (!is_empty && !each.key.string_is("role")) return false;
    }
    return true;
  }

  std::string kept_;  // as the body of a JSON string
  std::string id_;    // as JSON
};

// Items that the client answers. What the provider runs itself has its result in the answer.
bool is_client_call(const JsonValue& item) { return calls_client(Dialect::openai_responses, item); }

class ResponsesRecall final : public RecallDialect {
 public:
  std::string_view list_key() const override { return "input"; }

  bool may_offer(const JsonValue& request) override {
    const std::optional<JsonValue> store = member(request, "store", JsonType::boolean);
    is_stored_ = !store || store->boolean();
    const std::optional<JsonValue> background = member(request, "background", JsonType::boolean);
    return leaves_choice(request) && (!background || !background->boolean());
  }

  // Only calls of functions have results that can be made up here. Without its encrypted content a
  // reasoning item can be repeated to nobody but a provider that kept it.
  std::string elements(const JsonValue& said,
                       const std::vector<AnsweredCall>& results) const override {
    std::string out;
    const auto add = [&out](std::string_view item) { (out += out.empty() ? "" : ",") += item; };
    Arena arena;
    std::vector<std::string_view> functions;  // that were called, by the ids of the calls
    for (const JsonValue item : said.elements()) {
      const Turn turn = read_responses(item, arena);
      if (has_calls(turn)) {
        if (!is_function(turn.blocks.front())) continue;
        functions.push_back(turn.blocks.front().id);
      }
      if (is_stored_ || !is_bare_reasoning(turn)) add(item.raw());
    }
    for (const AnsweredCall& each : results)
      if (std::find(functions.begin(), functions.end(), each.id) != functions.end())
        add(results_element(Dialect::openai_responses, {&each, 1}));
    return out;
  }

  std::string said(const JsonValue& answer) const override {
    const std::optional<JsonValue> output = member(answer, "output", JsonType::array);
    return output ? std::string(output->raw()) : "";
  }

  void keep(const JsonValue& said) override {
    for (const JsonValue item : said.elements())
      if (!is_client_call(item)) kept_.emplace_back(item.raw());
  }

  std::string joined(const JsonValue& answer) const override {
    const std::optional<JsonValue> output = member(answer, "output", JsonType::array);
    if (!output) return std::string(answer.raw());
    Parts all = kept_;
    for (const JsonValue item : output->elements()) all.emplace_back(item.raw());
    JsonEdits edits(answer);
    edits.set(*output, list_of(all));
    return edits.text();
  }

  void begin_stream() override { items_before_ = items_; }

  bool is_call(const JsonValue& event) const override {
    const std::optional<JsonValue> item = member(event, "item", JsonType::object);
    return text_is(event, "type", "response.output_item.added") && item && is_client_call(*item);
  }

  void passed(const JsonValue& event) override {
    if (text_is(event, "type", "response.output_item.added")) ++items_;
    if (text_is(event, "type", "response.output_item.done"))
      if (const std::optional<JsonValue> item = member(event, "item", JsonType::object))
        streamed_.emplace_back(item->raw());
    if (const std::optional<JsonValue> number = member(event, "sequence_number", JsonType::number))
      next_number_ = number->uint64_saturated().value_or(0) + 1;
  }

  std::optional<std::string> passed_on(const JsonValue& event) override {
    for (const std::string_view begins :
         {"response.created", "response.in_progress", "response.queued"})
      if (text_is(event, "type", begins)) return {};
    JsonEdits edits(event);
    const std::uint64_t number = next_number_;
    passed(event);
    if (const std::optional<JsonValue> old = member(event, "sequence_number", JsonType::number)) {
      edits.set(*old, std::to_string(number));
      next_number_ = number + 1;
    }
    if (const std::optional<JsonValue> index = member(event, "output_index", JsonType::number))
      edits.set(*index, std::to_string(index->uint64_saturated().value_or(0) + items_before_));
    if (const auto output =
            member(member(event, "response", JsonType::object), "output", JsonType::array))
      edits.set(*output, list_of(streamed_));
    return edits.text();
  }

 private:
  static bool is_function(const Block& call) { return !call.has_own_form && !call.is_custom; }
  static bool is_bare_reasoning(const Turn& turn) {
    return has_kind(turn, BlockKind::reasoning) && turn.blocks.front().signature.empty();
  }

  bool is_stored_ = true;  // by the provider
  Parts kept_, streamed_;
  std::uint64_t items_ = 0, items_before_ = 0, next_number_ = 0;
};

class GeminiRecall final : public RecallDialect {
 public:
  std::string_view list_key() const override { return "contents"; }

  // Models refuse functions beside tools of the provider, beside cached content and for answers in
  // JSON.
  bool may_offer(const JsonValue& request) override {
    for (const std::string_view key : cached_content_names)
      if (!is_absent(request.find(key))) return false;
    for (const std::string_view key : {"toolConfig", "tool_config"})
      if (!is_absent(request.find(key))) return false;
    const std::optional<JsonValue> config = member(request, "generationConfig", JsonType::object);
    if (config && !is_absent(config->find("responseMimeType"))) return false;
    const std::optional<JsonValue> count = member(config, "candidateCount", JsonType::number);
    if (count && count->uint64_saturated() != 1u) return false;
    const std::optional<JsonValue> tools = member(request, "tools", JsonType::array);
    if (!tools) return true;
    for (const JsonValue tool : tools->elements())
      if (!member(tool, "functionDeclarations", JsonType::array)) return false;
    return true;
  }

  std::string elements(const JsonValue& said,
                       const std::vector<AnsweredCall>& results) const override {
    return std::string(said.raw()) + "," + results_element(Dialect::gemini, results);
  }

  std::string said(const JsonValue& answer) const override {
    const std::optional<JsonValue> content =
        member(first_of(answer, "candidates"), "content", JsonType::object);
    return content ? std::string(content->raw()) : "";
  }

  void keep(const JsonValue& said) override {
    Arena arena;
    ToolIds ids;
    for (const Block& block : read_gemini(said, arena, ids).blocks)
      if (!is_client(block, BlockKind::call)) kept_.emplace_back(block.raw);
  }

  std::string joined(const JsonValue& answer) const override {
    const auto parts = member(member(first_of(answer, "candidates"), "content", JsonType::object),
                              "parts", JsonType::array);
    if (!parts) return std::string(answer.raw());
    Parts all = kept_;
    for (const JsonValue part : parts->elements()) all.emplace_back(part.raw());
    JsonEdits edits(answer);
    edits.set(*parts, list_of(all));
    return edits.text();
  }

  bool is_call(const JsonValue& event) const override {
    const auto content = member(first_of(event, "candidates"), "content", JsonType::object);
    return content && calls_client(Dialect::gemini, *content);
  }

  std::optional<std::string> passed_on(const JsonValue& event) override {
    return std::string(event.raw());
  }

 private:
  Parts kept_;
};

}  // namespace

std::unique_ptr<RecallDialect> RecallDialect::of(Dialect dialect) {
  switch (dialect) {
    case Dialect::openai_chat: return std::make_unique<ChatRecall>();
    case Dialect::openai_responses: return std::make_unique<ResponsesRecall>();
    case Dialect::anthropic: return std::make_unique<AnthropicRecall>();
    case Dialect::gemini: return std::make_unique<GeminiRecall>();
  }
  return nullptr;
}

}  // namespace undertext
