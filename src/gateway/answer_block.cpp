#include "gateway/answer_block.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json_text.hpp"

namespace undertext {
namespace {

constexpr JsonLimits block_limits{.depth = 4096};

bool is_of_type(const JsonValue& object, std::string_view type) {
  const std::optional<JsonValue> said =
      object.is(JsonType::object) ? object.find("type") : std::nullopt;
  return said && said->is(JsonType::string) && said->string_is(type);
}

// Behind the blank line that ends the first event; 0: it goes on. None ends before `from`.
std::size_t event_end(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('\n', from); at != text.npos; at = text.find('\n', at + 1)) {
    std::size_t next = at + 1;
    if (next < text.size() && text[next] == '\r') ++next;
    if (next < text.size() && text[next] == '\n') return next + 1;
  }
  return 0;
}

}  // namespace

std::string compaction_block(std::string_view summary, std::string_view item) {
  std::string block = R"({"type":"compaction","content":)";
  append_json_string(block, summary);
  append_json_string(block += R"(,"encrypted_content":)", item);
  return block + '}';
}

std::string compaction_events(std::string_view block) {
  const JsonText json = JsonText::parse(block, block_limits).value();
  const std::string content(json.root().find("content")->raw()),
      item(json.root().find("encrypted_content")->raw());
  return "event: content_block_start\ndata: "
         "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
         "{\"type\":\"compaction\",\"content\":null,\"encrypted_content\":" +
         item +
         "}}\n\n"
         "event: content_block_delta\ndata: "
         "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
         "{\"type\":\"compaction_delta\",\"content\":" +
         content + ",\"encrypted_content\":" + item +
         "}}\n\n"
         "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n";
}

std::string AnswerBlock::read(std::string_view bytes) {
  if (is_given_up_) return std::string(bytes);
  held_ += bytes;
  is_given_up_ = held_.size() > held_bytes_max;
  if (is_given_up_) return std::exchange(held_, {});
  if (form_ == ResponseForm::whole) return {};
  std::string out;
  std::size_t done = 0;
  while (const std::size_t size =
             event_end(std::string_view(held_).substr(done), std::exchange(looked_at_, 0))) {
    out += with_event(std::string_view(held_).substr(done, size));
    done += size;
  }
  held_.erase(0, done);
  constexpr std::size_t end_bytes_max = 3;  // of a blank line that may have come in part: \n\r\n
  looked_at_ = held_.size() - std::min(held_.size(), end_bytes_max);
  return out;
}

std::string AnswerBlock::end() {
  std::string rest = std::exchange(held_, {});
  if (form_ != ResponseForm::whole || is_given_up_) return rest;
  const Result<JsonText> json = JsonText::parse(rest, block_limits);
  const std::optional<JsonValue> content =
      json && is_of_type(json->root(), "message") ? json->root().find("content") : std::nullopt;
  if (content && content->is(JsonType::array))
    rest.insert(content->offset() + 1, block_ + (content->empty() ? "" : ","));
  return rest;
}

// One event, with what comes behind it.
std::string AnswerBlock::with_event(std::string_view event) {
  std::string out(event);
  const std::size_t line = event.starts_with("data:") ? 0 : event.find("\ndata:");
  if (line == event.npos) return out;
  const std::size_t begin = event.find('{', line), end = event.find('\n', line + 1);
  if (begin == event.npos || end == event.npos || begin > end) return out;
  const Result<JsonText> json = JsonText::parse(event.substr(begin, end - begin), block_limits);
  if (!json || !json->root().is(JsonType::object)) return out;
  if (is_of_type(json->root(), "message_start") && !is_said_) {
    is_said_ = true;
    return out + compaction_events(block_);
  }
  const std::optional<JsonValue> index = json->root().find("index");
  const std::optional<std::int64_t> number =
      index && index->is(JsonType::number) ? index->int64() : std::nullopt;
  if (is_said_ && number)
    out.replace(begin + index->offset(), index->raw().size(), std::to_string(*number + 1));
  return out;
}

}  // namespace undertext
