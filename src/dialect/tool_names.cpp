#include "dialect/tool_names.hpp"

#include <map>
#include <optional>

#include "base/json_string.hpp"
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
  std::string name(
      own.substr(0, profile.tool_name_max > end.size() ? profile.tool_name_max - end.size() : 0));
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
  void put(std::string_view string, std::string_view with) {
    const std::size_t offset = static_cast<std::size_t>(string.data() - text_.data());
    if (string.data() >= text_.data() && offset + string.size() <= text_.size())
      places_[offset] = {string.size(), std::string(with)};
  }
  bool empty() const { return places_.empty(); }
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

}  // namespace

std::string sendable_tool_name(std::string_view own, const Profile& profile,
                               const std::set<std::string, std::less<>>& tools, ToolNames& names) {
  if (own.empty()) return "tool";
  for (std::uint64_t number = 0;; ++number) {
    std::string name = made_name(own, number, profile);
    if (tools.count(name) == 0 && names.try_emplace(name, own).first->second == own) return name;
  }
}

void visit_tool_names(const JsonValue& tools,
                      const std::function<void(const JsonValue& name)>& visit) {
  if (!tools.is(JsonType::array)) return;
  const auto see = [&visit](const JsonValue& tool) {
    if (const std::optional<JsonValue> name = string_of(tool, "name")) visit(*name);
  };
  for (const JsonValue tool : tools.elements()) {
    see(tool);
    for (const std::string_view inner : {"function", "custom"})
      if (const std::optional<JsonValue> object = tool.find(inner)) see(*object);
    for (const std::string_view list : {"functionDeclarations", "function_declarations"})
      if (const std::optional<JsonValue> declarations = tool.find(list);
          declarations && declarations->is(JsonType::array))
        for (const JsonValue declaration : declarations->elements()) see(declaration);
  }
}

std::string sendable_tools(std::string_view tools, const ToolNames& names) {
  std::map<std::string_view, std::string_view> sent;
  for (const auto& [as_sent, own] : names) sent.emplace(own, as_sent);
  const Result<JsonText> text = JsonText::parse(tools, {.depth = 4096});
  Splices splices(tools);
  visit_tool_names(text->root(), [&](const JsonValue& name) {
    if (const auto found = sent.find(name.string()); found != sent.end())
      splices.put(name.raw(), found->second);
  });
  return splices.done();
}

std::string with_tool_name(const Block& block, std::string_view name) {
  Splices splices(block.raw);
  splices.put(block.named, name);
  return splices.empty() ? std::string() : splices.done();
}

std::string with_own_tool_names(Dialect dialect, std::string_view json, const ToolNames& names) {
  const Result<JsonText> text = JsonText::parse(json, {.depth = 4096});
  if (names.empty() || !text) return std::string(json);
  Splices splices(json);
  Arena arena;
  ToolIds ids;
  const auto restore = [&](const JsonValue& message) {
    if (!message.is(JsonType::object)) return;
    for (const Block& block : read_in(dialect, message, arena, ids).blocks)
      if (const auto found = names.find(block.name); found != names.end())
        splices.put(block.named, found->second);
  };
  if (text->root().is(JsonType::array)) {
    for (const JsonValue element : text->root().elements()) restore(element);
  } else {
    restore(text->root());
  }
  return splices.done();
}

}  // namespace undertext
