// Any bytes, as lines said to a server of the Model Context Protocol. Every answer is one line of
// JSON-RPC, and without edits nothing changes.
#include "mcp/mcp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <undertext/conversation.hpp>

#include "base/json_text.hpp"
#include "json/kept_settings.hpp"
#include "json/request.hpp"
#include "require.hpp"

namespace {

using namespace undertext;

struct Served {
  std::shared_ptr<Store> store = memory_store();
  std::shared_ptr<Conversation> conversation;
  Served() {
    Settings settings;
    settings.clock_ms = [] { return std::int64_t{1700000000000}; };
    conversation = std::make_shared<Conversation>(
        open_kept(store, "c", {.config = "{}", .own = std::move(settings)}).value());
    answer(
        *conversation,
        R"({"operation":"APPEND","messages":[{"role":"user","content":"hidden words"},{"role":"user","content":"x"}]})");
    answer(*conversation, R"({"operation":"DELETE","ordinals":[0]})");
  }
};

void check_answer(const std::string& line) {
  require(line.find_first_of("\r\n") == std::string::npos, "an answer is one line", line);
  const Result<JsonText> text = JsonText::parse(line, {.depth = 200});
  require(static_cast<bool>(text), "an answer is JSON", line);
  if (!text->root().is(JsonType::object))
    return require(text->root().is(JsonType::array), "or a list of answers", line);
  require(text->root().find("jsonrpc").has_value(), "an answer is of JSON-RPC", line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  std::string_view input(reinterpret_cast<const char*>(data), size_bytes);
  const Served served;
  const auto open = [&](const std::string&) { return served.conversation; };
  McpOptions options{.scope = {.store = served.store, .open = open}};
  const McpFields fields{"2026-07-28", "tools/call", "context_search"};
  const Version before = served.conversation->version();
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    for (const McpFields* said : {static_cast<const McpFields*>(nullptr), &fields})
      for (const std::string& message : answer_mcp(line, options, said).messages)
        check_answer(message);
    require(served.conversation->version() == before, "without edits nothing changes", line);
    options.tools = ContextTools::with_edits;
    for (const std::string& message : answer_mcp(line, options).messages) check_answer(message);
    options.tools = ContextTools::reading;
    if (served.conversation->version() != before) return 0;
  }
  return 0;
}
