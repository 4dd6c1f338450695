#include "dialect/tool_names.hpp"

#include <functional>
#include <map>
#include <optional>

#include "base/json_string.hpp"
#include "base/json_text.hpp"
#include "dialect/rules.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

std::string digest_of(std::string_view text, std::uint64_t number) {
  const std::string id = made_id(text, number);
  return id.substr(id.size() - 8);
}

std::string made_name(std::string_view own, std::uint64_t number, const Profile& profile) {
  const std::string end = "_" + digest_of(own, number);
  std::string name(own.substr(0, profile.tool_name_max > end.size() ? profile.tool_name_max - end.size() : 0));
  for (char& c : name)
    if (!may_name_tool(c, profile.dialect)) c = '_';
  name += end;
  if (!is_good_tool_name(name, profile)) name[0] = '_';
  return name.substr(0, profile.tool_name_max);
}

// Puts other strings in the place of some of a text's.
class Splices {
 public:
  explicit Splices(std::string_view text) : text_(text) {}
  void put(const JsonValue& string, std::string_view with) { places_[string.offset()] = {string.raw().size(), std::string(with)}; }
  std::string done() const {
    std::string out;
    std::size_t at = 0;
    for (const auto& [offset, place] : places_) {
      out += text_.substr(at, offset - at);
      append_json_string(out, place.with);
      at = offset + place.size;
    }
    return out += text_.substr(at);
  }

 private:
  struct Place {
    std::size_t size;
    std::string with;
  };
  std::string_view text_;
  std::map<std::size_t, Place> places_;
};

using Visit = std::function<void(const JsonValue& name)>;

void visit_name(const JsonValue& object, const Visit& visit) {
  if (const std::optional<JsonValue> name = string_of(object, "name")) visit(*name);
}
void visit_inner_names(const JsonValue& object, std::initializer_list<std::string_view> keys, const Visit& visit) {
  for (const std::string_view key : keys)
    if (const std::optional<JsonValue> inner = object.find(key)) visit_name(*inner, visit);
}
template <class See>
void each_of(const JsonValue& object, std::string_view key, See see) {
  const std::optional<JsonValue> list = object.find(key);
  if (!list || !list->is(JsonType::array)) return;
  for (const JsonValue element : list->elements()) see(element);
}

// A call, a result, or the definition of a tool.
void visit_tool(const JsonValue& tool, const Visit& visit) {
  visit_name(tool, visit);
  visit_inner_names(tool, {"function", "custom", "functionCall", "function_call", "functionResponse", "function_response"}, visit);
  for (const std::string_view list : {"functionDeclarations", "function_declarations"})
    each_of(tool, list, [&visit](const JsonValue& declaration) { visit_name(declaration, visit); });
}

void visit_message(const JsonValue& message, const Visit& visit) {
  if (message.is(JsonType::array)) {
    for (const JsonValue element : message.elements()) visit_message(element, visit);
    return;
  }
  const std::string_view type = body_of(message, "type");
  if (type.starts_with("function_call") || type.starts_with("custom_tool_call") || body_of(message, "role") == "function")
    visit_name(message, visit);
  visit_inner_names(message, {"function_call"}, visit);
  each_of(message, "tool_calls", [&visit](const JsonValue& call) { visit_tool(call, visit); });
  each_of(message, "content", [&visit](const JsonValue& part) {
    if (body_of(part, "type") == "tool_use") visit_name(part, visit);
  });
  each_of(message, "parts", [&visit](const JsonValue& part) { visit_tool(part, visit); });
}

template <class See>
std::string rewritten(std::string_view json, See see) {
  const Result<JsonText> text = JsonText::parse(json, {.depth = 4096});
  if (!text) return std::string(json);
  Splices splices(json);
  see(text->root(), splices);
  return splices.done();
}

}  // namespace

std::string sendable_tool_name(std::string_view own, const Profile& profile, const std::set<std::string, std::less<>>& tools,
                               ToolNames& names) {
  if (own.empty()) return "tool";
  for (std::uint64_t number = 0;; ++number) {
    std::string name = made_name(own, number, profile);
    if (tools.count(name) == 0 && names.try_emplace(name, own).first->second == own) return name;
  }
}

std::string with_tool_name(std::string_view json, std::string_view name) {
  return rewritten(json, [name](const JsonValue& root, Splices& splices) {
    visit_tool(root, [&](const JsonValue& old) { splices.put(old, name); });
  });
}

std::string sendable_tools(std::string_view tools, const ToolNames& names) {
  std::map<std::string_view, std::string_view> sent;
  for (const auto& [as_sent, own] : names) sent.emplace(own, as_sent);
  return rewritten(tools, [&sent](const JsonValue& root, Splices& splices) {
    for (const JsonValue tool : root.elements())
      visit_tool(tool, [&](const JsonValue& name) {
        if (const auto found = sent.find(name.string()); found != sent.end()) splices.put(name, found->second);
      });
  });
}

std::string with_own_tool_names(std::string_view json, const ToolNames& names) {
  if (names.empty()) return std::string(json);
  return rewritten(json, [&names](const JsonValue& root, Splices& splices) {
    visit_message(root, [&](const JsonValue& name) {
      if (const auto found = names.find(name.string()); found != names.end()) splices.put(name, found->second);
    });
  });
}

}  // namespace undertext
