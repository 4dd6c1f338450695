#include "gateway/compaction_answer.hpp"

#include <optional>

#include "base/json_text.hpp"
#include "gateway/answer_block.hpp"

namespace undertext {
namespace {

std::string usage_json(const CompactionAnswer& answer) {
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  return R"({"input_tokens":)" + number(answer.tokens_before) +
         R"(,"input_tokens_details":{"cached_tokens":0},"output_tokens":)" +
         number(answer.tokens_after) +
         R"(,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":)" +
         number(answer.tokens_before + answer.tokens_after) + "}";
}

std::string item_json(const CompactionAnswer& answer) {
  return R"({"id":)" + json_string("cmp_" + answer.id) +
         R"(,"type":"compaction","encrypted_content":)" + json_string(answer.item) + "}";
}

// The user's own messages, which stand before the item. A client that cuts its list before the item
// loses nothing by them.
std::string user_messages(const JsonValue& body) {
  std::string out;
  const std::optional<JsonValue> input = body.find("input");
  if (!input || !input->is(JsonType::array)) return out;
  for (const JsonValue item : input->elements()) {
    const std::optional<JsonValue> role =
        item.is(JsonType::object) ? item.find("role") : std::nullopt;
    if (!role || !role->is(JsonType::string) || !role->string_is("user")) continue;
    if (item.find("type"))
      out += std::string(item.raw()) + ',';
    else
      out += R"({"type":"message",)" + std::string(item.raw().substr(1)) + ',';
  }
  return out;
}

std::string response_json(const CompactionAnswer& answer, const JsonValue& body,
                          std::string_view status, std::string_view output) {
  const std::optional<JsonValue> model = body.find("model");
  std::string json = R"({"id":)" + json_string("resp_" + answer.id) +
                     R"(,"object":"response","created_at":)" +
                     std::to_string(answer.created_at_ms / 1000) + R"(,"status":")" +
                     std::string(status) + R"(","error":null,)";
  json +=
      R"("incomplete_details":null,"instructions":null,"metadata":{},"parallel_tool_calls":true,"tool_choice":"auto",)";
  json += R"("tools":[],"temperature":null,"top_p":null,"model":)" +
          std::string(model ? model->raw() : "null");
  json += R"(,"output":[)" + std::string(output) + "]";
  json += R"(,"usage":)" + (status == "completed" ? usage_json(answer) : std::string("null")) + "}";
  return json;
}

std::string event_stream(const CompactionAnswer& answer, const JsonValue& body) {
  std::string events;
  std::uint64_t number = 0;
  const auto add = [&](std::string_view type, const std::string& members) {
    events += "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) +
              "\",\"sequence_number\":" + std::to_string(number++) + "," + members + "}\n\n";
  };
  const std::string item = item_json(answer);
  add("response.created", R"("response":)" + response_json(answer, body, "in_progress", ""));
  add("response.output_item.added", R"("output_index":0,"item":)" + item);
  add("response.output_item.done", R"("output_index":0,"item":)" + item);
  add("response.completed", R"("response":)" + response_json(answer, body, "completed", item));
  return events;
}

RequestEdit answered_with(std::string_view type, std::string body) {
  RequestEdit edit;
  edit.answer_body = std::move(body);
  edit.answer =
      http::RelayedHead{.status = 200,
                        .fields = {{"content-type", std::string(type)},
                                   {"content-length", std::to_string(edit.answer_body.size())}}};
  return edit;
}

bool is_streamed(const JsonValue& body) {
  const std::optional<JsonValue> stream = body.find("stream");
  return stream && stream->is(JsonType::boolean) && stream->boolean();
}

}  // namespace

RequestEdit paused_answer(const CompactionAnswer& answer, std::string_view summary,
                          std::string_view body) {
  const JsonText json = JsonText::parse(body, {.depth = 4096}).value();
  const std::optional<JsonValue> model = json.root().find("model");
  const std::string block = compaction_block(summary, answer.item);
  const std::string usage = R"("usage":{"input_tokens":)" + std::to_string(answer.tokens_before) +
                            R"(,"output_tokens":)" + std::to_string(answer.tokens_after) + "}";
  const auto message = [&](std::string_view content, std::string_view stop) {
    return R"({"id":)" + json_string("msg_" + answer.id) +
           R"(,"type":"message","role":"assistant","model":)" +
           std::string(model ? model->raw() : "null") + R"(,"content":[)" + std::string(content) +
           R"(],"stop_reason":)" + std::string(stop) + R"(,"stop_sequence":null,)" + usage + "}";
  };
  if (!is_streamed(json.root()))
    return answered_with("application/json", message(block, R"("compaction")"));
  return answered_with(
      "text/event-stream",
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":" + message("", "null") +
          "}\n\n" + compaction_events(block) +
          "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"
          "{\"stop_reason\":\"compaction\",\"stop_sequence\":null}," +
          usage + "}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

RequestEdit compaction_answer(const CompactionAnswer& answer, std::string_view path,
                              std::string_view body) {
  const JsonText json = JsonText::parse(body, {.depth = 4096}).value();
  const JsonValue root = json.root();
  if (path.ends_with("/responses/compact"))
    return answered_with("application/json",
                         R"({"id":)" + json_string("resp_" + answer.id) +
                             R"(,"object":"response.compaction","created_at":)" +
                             std::to_string(answer.created_at_ms / 1000) + R"(,"output":[)" +
                             user_messages(root) + item_json(answer) + R"(],"usage":)" +
                             usage_json(answer) + "}");
  if (is_streamed(root)) return answered_with("text/event-stream", event_stream(answer, root));
  return answered_with("application/json",
                       response_json(answer, root, "completed", item_json(answer)));
}

}  // namespace undertext
