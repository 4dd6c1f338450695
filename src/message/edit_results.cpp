// Other contents for tool results. Every byte of the message that is no such content stays.
#include <limits>
#include <string>
#include <vector>

#include "base/json_string.hpp"
#include "base/json_text.hpp"
#include "message/edit.hpp"
#include "message/shape.hpp"

namespace undertext {

Result<Message> replace_tool_results(const Message& message, const StubOf& stub, const MessageLimits& limits) {
  const std::string_view json = message.json();
  JsonText text;
  text.read(json, {.depth = std::numeric_limits<std::uint32_t>::max()});  // has been read before and cannot fail

  std::string out;
  std::size_t copied = 0;
  const auto replace = [&](const std::optional<JsonValue>& content, const std::string& id) {
    if (!content) return;
    const std::optional<std::string> with = stub(id);
    if (!with) return;
    out.append(json, copied, content->offset() - copied);
    out += '"';
    append_json_escaped(out, *with);
    out += '"';
    copied = content->offset() + content->raw().size();
  };

  const JsonValue root = text.root();
  std::string id;
  for (const JsonMember member : root.members())
    if (names_tool_call_id(member.key) && member.value.is(JsonType::string)) id = member.value.string();
  if (message.role() == Role::tool && !id.empty()) {
    replace(root.find("content"), id);
  } else {
    visit_parts(root, "tool_result", [&](const JsonValue&, const JsonValue& result) {
      const std::optional<JsonValue> of = find_string(result, "tool_use_id");
      if (of) replace(result.find("content"), of->string());
    });
  }
  out.append(json, copied);
  return Message::parse(out, limits);
}

}  // namespace undertext
