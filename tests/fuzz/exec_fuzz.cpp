// Any bytes, as lines said to a conversation. Every line gets one line of JSON back, and a line
// that is refused changes nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <undertext/conversation.hpp>

#include "base/json_text.hpp"
#include "json/request.hpp"
#include "json/settings_json.hpp"
#include "require.hpp"

namespace {

using namespace undertext;

// What a refused line must leave as it was.
std::string look(const Conversation& conversation) {
  const History history = conversation.history();
  const Stats stats = history.stats();
  std::string seen = std::to_string(history.version().value);
  for (const std::uint64_t number :
       {stats.total_messages, stats.current_batch_messages, stats.total_batches,
        stats.current_batch_index, stats.tokens}) {
    seen += " " + std::to_string(number);
  }
  return seen;
}

void say(Conversation& conversation, std::string_view line) {
  const std::string before = look(conversation);
  const std::uint64_t version = conversation.version().value;
  const std::string text = answer(conversation, line);
  require(text.find_first_of("\r\n") == std::string::npos, "an answer is one line");

  const Result<JsonText> json = JsonText::parse(text, {.depth = 200});
  require(static_cast<bool>(json), "an answer is JSON");
  const std::optional<JsonValue> ok = json->root().find("ok");
  require(ok && ok->is(JsonType::boolean), "an answer says whether it went well");
  if (ok->boolean()) {
    const std::optional<JsonValue> operation = json->root().find("operation");
    if (operation && line.find("operationId") == std::string_view::npos) {
      require(conversation.version().value == version + 1, "an operation makes one version");
    }
    return;
  }
  require(look(conversation) == before, "a line that is refused changes nothing");
  const std::optional<JsonValue> error = json->root().find("error");
  require(error && error->find("code") && error->find("message"), "a refusal says why");
}

Conversation open() {
  Settings settings;
  settings.token_limit = 100;
  settings.limits.message.message_bytes = 4096;  // edits can multiply a text; keep them cheap
  settings.clock_ms = [] { return std::int64_t{1700000000000}; };
  return Conversation::open(std::move(settings)).value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  std::string_view input(reinterpret_cast<const char*>(data), size_bytes);
  Conversation conversation = open();
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    say(conversation, line);
    if (Result<DoorSettings> settings = read_settings(line); !settings)
      require(!settings.error().message.empty(), "an error says what is wrong");
    input.remove_prefix(std::min(line.size() + 1, input.size()));
  }
  return 0;
}
