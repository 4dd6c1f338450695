#include "transfer/session_lines.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <undertext/blocks.hpp>

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
  if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
    return {};
  const year_month_day date{year(*y), month(static_cast<unsigned>(*mo)),
                            day(static_cast<unsigned>(*d))};
  if (!date.ok() || *h > 23 || *mi > 59 || *s > 60) return {};
  std::int64_t ms = duration_cast<milliseconds>(sys_days(date).time_since_epoch()).count();
  ms += ((*h * 60LL + *mi) * 60 + *s) * 1000;
  std::size_t at = 19;
  if (at < text.size() && text[at] == '.') {
    std::int64_t scale = 100;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10)
      ms += (text[at] - '0') * scale;
  }
  const std::string_view zone = text.substr(at);
  if (zone == "Z" || zone.empty()) return ms;
  const auto zone_hours = digits(zone, 1, 2), zone_minutes = digits(zone, 4, 2);
  if ((zone[0] != '+' && zone[0] != '-') || zone.size() != 6 || !zone_hours || !zone_minutes)
    return {};
  const std::int64_t away = (*zone_hours * 60LL + *zone_minutes) * 60'000;
  return zone[0] == '+' ? ms - away : ms + away;
}

std::string iso_time(std::int64_t ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(ms)};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss<milliseconds> of_day(time - day);
  const auto padded = [](std::int64_t number, std::size_t width) {
    std::string text = std::to_string(number);
    return std::string(width - std::min(width, text.size()), '0') + text;
  };
  return padded(int{date.year()}, 4) + "-" + padded(unsigned{date.month()}, 2) + "-" +
         padded(unsigned{date.day()}, 2) + "T" + padded(of_day.hours().count(), 2) + ":" +
         padded(of_day.minutes().count(), 2) + ":" + padded(of_day.seconds().count(), 2) + "." +
         padded(of_day.subseconds().count(), 3) + "Z";
}

std::string text_member(JsonValue object, std::string_view name) {
  const std::optional<JsonValue> value = object.find(name);
  return value && value->is(JsonType::string) ? value->string() : std::string();
}

bool true_member(JsonValue object, std::string_view name) {
  const std::optional<JsonValue> value = object.find(name);
  return value && value->is(JsonType::boolean) && value->boolean();
}

std::string without_whitespace(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false, is_escaped = false;
  for (const char c : json) {
    if (in_string || static_cast<unsigned char>(c) > 0x20) out += c;
    if (c == '"' && !is_escaped) in_string = !in_string;
    is_escaped = in_string && c == '\\' && !is_escaped;
  }
  return out;
}

std::string members_without(JsonValue object, std::initializer_list<std::string_view> names) {
  std::string out;
  for (const JsonMember member : object.members()) {
    if (std::any_of(names.begin(), names.end(),
                    [&](std::string_view name) { return member.key.string_is(name); }))
      continue;
    out += out.empty() ? "{" : ",";
    (out += member.key.raw()) += ':';
    out += member.value.raw();
  }
  return out.empty() ? out : out + "}";
}

Result<Message> message_of(const MessageFields& fields, const MessageLimits& limits) {
  std::string json = R"({"role":)";
  append_json_string(json, fields.role);
  json += R"(,"content":)" + fields.content;
  if (!fields.tool_calls.empty()) json += R"(,"toolCalls":)" + fields.tool_calls;
  if (!fields.tool_call_id.empty())
    append_json_string(json += R"(,"toolCallId":)", fields.tool_call_id);
  if (!fields.id.empty()) append_json_string(json += R"(,"id":)", fields.id);
  if (fields.timestamp_ms) json += R"(,"timestamp":)" + std::to_string(*fields.timestamp_ms);
  if (!fields.rest.empty()) {
    append_json_string(json += R"(,"metadata":{)", fields.origin);
    json += ":" + fields.rest + "}";
  }
  return Message::parse(json + "}", limits);
}

bool says_result(const Message& message) {
  for (const ContentBlock& block : read_blocks(message))
    if (block.kind == ContentBlock::Kind::result) return true;
  return false;
}

void leave_out(ImportedTranscript& transcript, const Error& refused) {
  ++transcript.left_out["refused, " + (refused.field.empty() ? "" : refused.field + ": ") +
                        refused.message];
}

void add_message(ImportedTranscript& transcript, const MessageFields& fields,
                 const MessageLimits& limits) {
  Result<Message> message = message_of(fields, limits);
  if (!message) return leave_out(transcript, message.error());
  transcript.messages.push_back(std::move(*message));
}

const std::vector<std::size_t>& CurrentList::list() {
  for (; read_ < transcript_.messages.size(); ++read_) list_.push_back(read_);
  return list_;
}

bool CurrentList::has(std::size_t message) {
  const std::vector<std::size_t>& all = list();
  return std::find(all.rbegin(), all.rend(), message) != all.rend();
}

void CurrentList::replace(std::vector<std::size_t> list) {
  list_ = std::move(list);
  floor_ = list_.size();
  read_ = transcript_.messages.size();
  for (const std::size_t each : list_) read_ = std::max(read_, each + 1);
}

// As it was when the program went on with another one.
std::vector<std::size_t> CurrentList::list_before(std::size_t compaction) const {
  const std::vector<ImportedTranscript::Compaction>& all = transcript_.compactions;
  std::vector<std::size_t> list =
      compaction == 0 ? std::vector<std::size_t>{} : all[compaction - 1].list;
  for (std::size_t i = compaction == 0 ? 0 : all[compaction - 1].end; i < all[compaction].at; ++i)
    list.push_back(i);
  return list;
}

// How much of the list the last of so many compactions made. Going back is none.
std::size_t CurrentList::floor_of(const std::vector<std::size_t>& list,
                                  std::size_t compactions) const {
  while (compactions-- > 0) {
    const ImportedTranscript::Compaction& made = transcript_.compactions[compactions];
    if (!made.summary && made.at == made.end) continue;
    const bool begins_so = made.list.size() <= list.size() &&
                           std::equal(made.list.begin(), made.list.end(), list.begin());
    return begins_so ? made.list.size() : 0;
  }
  return 0;
}

// Where it stands in the current list. Where it does not, the newest list that had it is current
// again: the user left a branch, or a compaction.
std::optional<CurrentList::Found> CurrentList::find_in_newest_list(std::size_t message) {
  const auto place_in = [&](const std::vector<std::size_t>& list) -> std::optional<std::size_t> {
    const auto at = std::find(list.rbegin(), list.rend(), message);
    if (at == list.rend()) return {};
    return static_cast<std::size_t>(list.rend() - at) - 1;
  };
  if (const std::optional<std::size_t> at = place_in(list())) return Found{*at, false};
  for (std::size_t i = transcript_.compactions.size(); i-- > 0;) {
    std::vector<std::size_t> before = list_before(i);
    const std::optional<std::size_t> at = place_in(before);
    if (!at) continue;
    floor_ = floor_of(before, i);
    list_ = std::move(before);
    return Found{*at, true};
  }
  return {};
}

void CurrentList::cut(std::size_t size) {
  list_.resize(size);
  floor_ = std::min(floor_, size);
  const std::size_t now = transcript_.messages.size();
  transcript_.compactions.push_back({now, now, list_});
}

void CurrentList::go_back_to(EntryPlace place) {
  std::size_t size = 0;
  bool is_another = false;
  if (place.message) {
    const std::optional<Found> found = find_in_newest_list(*place.message);
    if (!found) return;
    is_another = found->is_another_list;
    size = found->at + 1;
    if (transcript_.messages[*place.message].role() == Role::assistant)
      while (size < list_.size() && says_result(transcript_.messages[list_[size]])) ++size;
    size = std::max(size, floor_);
  } else {
    list();
  }
  const auto is_of_a_turn = [&](std::size_t each) {
    const Message& message = transcript_.messages[each];
    return message.role() == Role::assistant ||
           (message.role() == Role::user && !says_result(message));
  };
  if (!is_another &&
      std::none_of(list_.begin() + static_cast<std::ptrdiff_t>(size), list_.end(), is_of_a_turn))
    return;
  cut(size);
}

void CurrentList::take_back_from(std::size_t message) {
  if (const std::optional<Found> found = find_in_newest_list(message)) cut(found->at);
}

}  // namespace undertext
