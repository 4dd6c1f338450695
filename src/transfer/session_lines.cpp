#include "transfer/session_lines.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace undertext {
namespace {

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return {};
  int number = 0;
  const auto read = std::from_chars(text.data() + at, text.data() + at + count, number);
  if (read.ec != std::errc() || read.ptr != text.data() + at + count || text[at] == '-') return {};
  return number;
}

}  // namespace

std::optional<std::int64_t> read_iso_time(std::string_view text) {
  using namespace std::chrono;
  const auto y = digits(text, 0, 4), mo = digits(text, 5, 2), d = digits(text, 8, 2);
  const auto h = digits(text, 11, 2), mi = digits(text, 14, 2), s = digits(text, 17, 2);
  if (!y || !mo || !d || !h || !mi || !s) return {};
  if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':') return {};
  const year_month_day date{year(*y), month(static_cast<unsigned>(*mo)), day(static_cast<unsigned>(*d))};
  if (!date.ok() || *h > 23 || *mi > 59 || *s > 60) return {};
  std::int64_t ms = duration_cast<milliseconds>(sys_days(date).time_since_epoch()).count();
  ms += ((*h * 60LL + *mi) * 60 + *s) * 1000;
  std::size_t at = 19;
  if (at < text.size() && text[at] == '.') {
    std::int64_t scale = 100;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10) ms += (text[at] - '0') * scale;
  }
  const std::string_view zone = text.substr(at);
  if (zone == "Z" || zone.empty()) return ms;
  const auto zone_hours = digits(zone, 1, 2), zone_minutes = digits(zone, 4, 2);
  if ((zone[0] != '+' && zone[0] != '-') || zone.size() != 6 || !zone_hours || !zone_minutes) return {};
  const std::int64_t away = (*zone_hours * 60LL + *zone_minutes) * 60'000;
  return zone[0] == '+' ? ms - away : ms + away;
}

std::string text_member(JsonValue object, std::string_view name) {
  const std::optional<JsonValue> value = object.find(name);
  return value && value->is(JsonType::string) ? value->string() : std::string();
}

bool true_member(JsonValue object, std::string_view name) {
  const std::optional<JsonValue> value = object.find(name);
  return value && value->is(JsonType::boolean) && value->boolean();
}

std::string members_without(JsonValue object, std::initializer_list<std::string_view> names) {
  std::string out;
  for (const JsonMember member : object.members()) {
    if (std::any_of(names.begin(), names.end(), [&](std::string_view name) { return member.key.string_is(name); })) continue;
    out += out.empty() ? "{" : ",";
    (out += member.key.raw()) += ':';
    out += member.value.raw();
  }
  return out.empty() ? out : out + "}";
}

void add_message(ImportedTranscript& transcript, const MessageFields& fields, const MessageLimits& limits) {
  std::string json = R"({"role":)";
  append_json_string(json, fields.role);
  json += R"(,"content":)" + fields.content;
  if (!fields.tool_calls.empty()) json += R"(,"toolCalls":)" + fields.tool_calls;
  if (!fields.tool_call_id.empty()) append_json_string(json += R"(,"toolCallId":)", fields.tool_call_id);
  if (!fields.id.empty()) append_json_string(json += R"(,"id":)", fields.id);
  if (fields.timestamp_ms) json += R"(,"timestamp":)" + std::to_string(*fields.timestamp_ms);
  if (!fields.rest.empty()) {
    append_json_string(json += R"(,"metadata":{)", fields.origin);
    json += ":" + fields.rest + "}";
  }
  Result<Message> message = Message::parse(json + "}", limits);
  if (message) {
    transcript.messages.push_back(std::move(*message));
  } else {
    ++transcript
          .left_out["refused, " + (message.error().field.empty() ? "" : message.error().field + ": ") + message.error().message];
  }
}

}  // namespace undertext
