// Other contents for tool results. Every byte of the message that is no such content stays.
#include <algorithm>
#include <string>
#include <vector>

#include "base/json_string.hpp"
#include "base/json_text.hpp"
#include "message/edit.hpp"
#include "message/reading.hpp"

namespace undertext {
namespace {

struct Change {
  std::string_view old;  // in the message
  std::string with;      // JSON
};

// An output such as a shell's is no string: of its texts, the first says the stub and the others
// nothing.
void change_texts(const Block& result, const std::string& stub, std::vector<Change>& changes) {
  bool is_first = true;
  const auto change = [&](std::string_view body) {
    changes.push_back({body, is_first ? escaped(stub) : std::string()});
    is_first = false;
    return true;
  };
  visit_texts(result.inner, change);
}

}  // namespace

Result<Message> replace_tool_results(const Message& message, const StubOf& stub,
                                     const MessageLimits& limits) {
  const MessageReading reading(message, KeptItems::ignored);
  std::vector<Change> changes;
  for (const Block& block : reading.turn().blocks) {
    if (!is_client(block, BlockKind::result) || block.id.empty() || block.content.empty()) continue;
    const std::optional<std::string> with = stub(block.id);
    if (!with) continue;
    if (block.has_own_form && block.is_list) {
      change_texts(block, *with, changes);
    } else {
      changes.push_back({block.content, '"' + escaped(*with) + '"'});
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.old.data() < b.old.data(); });
  const std::string_view json = message.json();
  std::string out;
  std::size_t copied = 0;
  for (const Change& change : changes) {
    const auto begin = static_cast<std::size_t>(change.old.data() - json.data());
    out.append(json, copied, begin - copied);
    out += change.with;
    copied = begin + change.old.size();
  }
  out.append(json, copied);
  return Message::parse(out, limits);
}

}  // namespace undertext
