// What the definitions of tools cost in a request.
//
// The published rule is one for a flat list of properties. Schemas within schemas are counted in
// the same way, and are then no exact count.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include <undertext/models.hpp>
#include <undertext/tokenizer.hpp>

#include "base/json_text.hpp"
#include "tokens/counting.hpp"

namespace undertext {
namespace {

constexpr std::uint32_t depth_max = 64;  // of schemas within schemas

std::string text_of(const JsonValue& object, std::string_view key) {
  const std::optional<JsonValue> value = object.find(key);
  return value && value->is(JsonType::string) ? value->string() : std::string();
}

std::optional<JsonValue> first_object(const JsonValue& of,
                                      std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (const std::optional<JsonValue> value = of.find(key); value && value->is(JsonType::object))
      return value;
  return std::nullopt;
}

// A sentence is sent without its full stop.
std::string without_stop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

class ToolsCost {
 public:
  ToolsCost(const Tokenizer& tokenizer, const ToolRule& rule)
      : tokenizer_(tokenizer),
        rule_(rule),
        exact_(tokenizer.is_exact() && rule.certainty == Certainty::exact) {}

  // The definition of one tool, or Gemini's list of several.
  void add(const JsonValue& tool) {
    for (const std::string_view key : {"functionDeclarations", "function_declarations"}) {
      const std::optional<JsonValue> list = tool.find(key);
      if (!list || !list->is(JsonType::array)) continue;
      for (const JsonValue element : list->elements())
        if (element.is(JsonType::object)) add_function(element);
      return;
    }
    if (const std::optional<JsonValue> function = first_object(tool, {"function", "custom"}))
      return add_function(*function);
    if (is_function(tool)) return add_function(tool);
    // A tool that the provider runs: what it makes of it is its own.
    ++tools_;
    exact_ = false;
    tokens_ += rule_.each + static_cast<std::int64_t>(tokenizer_.count(tool.raw()));
  }

  ToolsCount count() const {
    const std::int64_t tokens = tools_ == 0 ? 0 : tokens_ + rule_.once;
    return {static_cast<std::uint64_t>(std::max<std::int64_t>(tokens, 0)), tools_, exact_};
  }

 private:
  static bool is_function(const JsonValue& tool) {
    const std::string type = text_of(tool, "type");
    return tool.find("name") && (type.empty() || type == "function" || type == "custom");
  }

  void add_function(const JsonValue& tool) {
    ++tools_;
    tokens_ +=
        rule_.each + text(text_of(tool, "name") + ":" + without_stop(text_of(tool, "description")));
    if (const std::optional<JsonValue> schema = first_object(
            tool, {"parameters", "input_schema", "inputSchema", "parametersJsonSchema"}))
      add_properties(*schema, 0);
  }

  void add_properties(const JsonValue& schema, std::uint32_t depth) {
    const std::optional<JsonValue> properties = first_object(schema, {"properties"});
    if (!properties || properties->empty() || depth == depth_max) return;
    tokens_ += rule_.properties;
    for (const JsonMember member : properties->members())
      add_property(member.key.string(), member.value, depth);
  }

  void add_property(const std::string& name, const JsonValue& schema, std::uint32_t depth) {
    tokens_ += rule_.property;
    if (!schema.is(JsonType::object)) return;
    if (const std::optional<JsonValue> values = schema.find("enum");
        values && values->is(JsonType::array)) {
      tokens_ += rule_.enumeration;
      for (const JsonValue value : values->elements())
        tokens_ += rule_.item +
                   text(value.is(JsonType::string) ? value.string() : std::string(value.raw()));
    }
    tokens_ += text(name + ":" + text_of(schema, "type") + ":" +
                    without_stop(text_of(schema, "description")));
    exact_ = exact_ && is_plain(schema);
    add_properties(schema, depth + 1);
    if (const std::optional<JsonValue> items = first_object(schema, {"items"}))
      add_properties(*items, depth + 1);
  }

  // What the published rule speaks of.
  static bool is_plain(const JsonValue& schema) {
    for (const JsonMember member : schema.members()) {
      const std::string key = member.key.string();
      const bool is_text =
          member.value.is(JsonType::string) && (key == "type" || key == "description");
      if (!is_text && key != "enum") return false;
    }
    return true;
  }

  std::int64_t text(const std::string& said) const {
    return static_cast<std::int64_t>(tokenizer_.count(said));
  }

  const Tokenizer& tokenizer_;
  const ToolRule& rule_;
  bool exact_;
  std::int64_t tokens_ = 0;
  std::uint64_t tools_ = 0;
};

}  // namespace

Result<ToolsCount> count_tools(std::string_view tools_json, std::string_view counting) {
  const Result<Counting> by = counting_by(counting);
  if (!by) return by.error();
  const Result<JsonText> text = JsonText::parse(tools_json, {});
  if (!text) return text.error();
  const auto refuse = [](std::string message) {
    return Error{ErrorCode::invalid_argument, std::move(message), "tools"};
  };
  if (!text->root().is(JsonType::array))
    return refuse("tools must be a list, as it stands in a request");
  ToolsCost cost(*by->tokenizer, by->costs->tools);
  std::size_t index = 0;
  for (const JsonValue tool : text->root().elements()) {
    if (!tool.is(JsonType::object))
      return refuse("tools[" + std::to_string(index) + "] must be an object");
    cost.add(tool);
    ++index;
  }
  return cost.count();
}

}  // namespace undertext
