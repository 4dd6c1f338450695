#include "sessions/info.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include <undertext/models.hpp>

#include "transfer/session_lines.hpp"

namespace undertext {
namespace {

constexpr std::size_t title_bytes_max = 160;

std::uint64_t number_member(JsonValue object, std::string_view name) {
  const std::optional<JsonValue> value = object.find(name);
  return value && value->is(JsonType::number) ? value->uint64_saturated().value_or(0) : 0;
}

// The first text of a message's content; empty where there is none.
std::string first_text(JsonValue content) {
  if (content.is(JsonType::string)) return content.string();
  if (!content.is(JsonType::array)) return {};
  for (const JsonValue part : content.elements()) {
    if (!part.is(JsonType::object)) continue;
    if (std::string text = text_member(part, "text"); !text.empty()) return text;
  }
  return {};
}

// What programs put before the user's words begins with a tag.
bool is_of_the_program(std::string_view text) {
  return text.empty() || text.front() == '<' || text.starts_with("Caveat:") ||
         text.starts_with("This session is being continued") || text.starts_with("# AGENTS.md");
}

std::string on_one_line(std::string text) {
  if (text.size() > title_bytes_max) {
    std::size_t end = title_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "…";
  }
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

SessionTokens difference(const SessionTokens& now, const SessionTokens& before) {
  const auto less = [](std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); };
  return {less(now.input, before.input), less(now.output, before.output),
          less(now.cache_read, before.cache_read), less(now.cache_write, before.cache_write),
          less(now.cache_write_hour, before.cache_write_hour)};
}

SessionTokens larger(const SessionTokens& a, const SessionTokens& b) {
  return {std::max(a.input, b.input), std::max(a.output, b.output),
          std::max(a.cache_read, b.cache_read), std::max(a.cache_write, b.cache_write),
          std::max(a.cache_write_hour, b.cache_write_hour)};
}

// What a program says that an answer cost. Nothing where that can be no cost: a file may say
// anything.
std::optional<double> reported_cost(JsonValue of) {
  const std::optional<JsonValue> value = of.find("cost");
  if (!value || !value->is(JsonType::number)) return {};
  const double cost = std::strtod(std::string(value->raw()).c_str(), nullptr);
  return cost > 0 && cost <= session_cost_max ? std::optional(cost) : std::nullopt;
}

bool has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

}  // namespace

void SessionReader::note_title(std::string text) {
  if (info_.has_title || !info_.title.empty() || is_of_the_program(text)) return;
  info_.title = on_one_line(std::move(text));
}

void SessionReader::note_time(JsonValue line) {
  const std::optional<std::int64_t> at_ms = read_iso_time(text_member(line, "timestamp"));
  if (!at_ms) return;
  if (info_.began_at_ms == 0) info_.began_at_ms = *at_ms;
  info_.last_at_ms = std::max(info_.last_at_ms, *at_ms);
}

void SessionReader::add(const SessionTokens& tokens, std::optional<double> cost) {
  const auto add_to = [](std::uint64_t& sum, std::uint64_t more) {
    sum += std::min(more, std::numeric_limits<std::uint64_t>::max() - sum);
  };
  add_to(info_.tokens.input, tokens.input);
  add_to(info_.tokens.output, tokens.output);
  add_to(info_.tokens.cache_read, tokens.cache_read);
  add_to(info_.tokens.cache_write, tokens.cache_write);
  add_to(info_.tokens.cache_write_hour, tokens.cache_write_hour);
  if (!cost) {
    const Model::Prices prices = find_model(info_.model).prices;
    const double input = prices.input.value_or(0), write = prices.cache_write.value_or(input);
    const std::uint64_t hour = std::min(tokens.cache_write_hour, tokens.cache_write);
    constexpr double million = 1e6;
    cost = (static_cast<double>(tokens.input) * input +
            static_cast<double>(tokens.output) * prices.output.value_or(0) +
            static_cast<double>(tokens.cache_read) * prices.cache_read.value_or(input) +
            static_cast<double>(tokens.cache_write - hour) * write +
            static_cast<double>(hour) * prices.cache_write_hour.value_or(write)) /
           million;
  }
  info_.cost = std::min(info_.cost + *cost, session_cost_max);
}

// Most bytes of a session are results of tools, of which a list says nothing: they are counted and
// not read.
bool SessionReader::matters(std::string_view line) {
  const std::string_view head = line.substr(0, 600);
  switch (format_) {
    case TranscriptFormat::claude_code:
      if (has(head, R"("type":"user")") && !info_.title.empty() && !info_.project.empty()) {
        ++info_.messages;
        return false;
      }
      return !has(head, R"("type":"file-history-snapshot")") && !has(head, R"("type":"progress")");
    case TranscriptFormat::codex:
      if (!has(head, R"("type":"response_item")")) return !has(head, R"("type":"world_state")");
      if (info_.title.empty() && has(head, R"("role":"user")")) return true;
      ++info_.messages;
      return false;
    default: return true;
  }
}

void SessionReader::read(std::string_view line) {
  if (line.empty() || line.front() != '{' || !matters(line)) return;
  constexpr std::size_t kept_bytes = 1 << 20;
  json_.release_above(kept_bytes);
  if (json_.read(line, {.depth = 512})) {
    json_ = JsonText();
    return;
  }
  const JsonValue root = json_.root();
  if (!root.is(JsonType::object)) return;
  note_time(root);
  switch (format_) {
    case TranscriptFormat::claude_code: return read_claude_code(root);
    case TranscriptFormat::codex: return read_codex(root);
    case TranscriptFormat::pi: return read_pi(root);
    case TranscriptFormat::opencode: return read_opencode(root);
    case TranscriptFormat::messages: return;
  }
}

void SessionReader::read_claude_code(JsonValue line) {
  const std::string type = text_member(line, "type");
  if (info_.project.empty()) info_.project = text_member(line, "cwd");
  for (const std::string_view field : {"summary", "customTitle", "aiTitle"}) {
    std::string title = text_member(line, field);
    if (title.empty() || type == "user" || type == "assistant") continue;
    info_.title = on_one_line(std::move(title));
    info_.has_title = true;
  }
  const std::optional<JsonValue> message = line.find("message");
  if ((type != "user" && type != "assistant") || !message || !message->is(JsonType::object)) return;
  const std::optional<JsonValue> content = message->find("content");
  if (type == "user") {
    ++info_.messages;
    if (content && !true_member(line, "isMeta")) note_title(first_text(*content));
    return;
  }
  const std::string model = text_member(*message, "model");
  if (model.empty() || model == "<synthetic>") return;
  info_.model = model;
  // The lines of one answer repeat its usage, as far as it was known: what an answer has put out
  // grows from one to the next.
  const std::string id = text_member(*message, "id");
  if (id.empty() || id != info_.answer) {
    info_.answer = id;
    info_.before = {};
    ++info_.messages;
  }
  const std::optional<JsonValue> usage = message->find("usage");
  if (!usage || !usage->is(JsonType::object)) return;
  const std::optional<JsonValue> written = usage->find("cache_creation");
  const SessionTokens now{number_member(*usage, "input_tokens"),
                          number_member(*usage, "output_tokens"),
                          number_member(*usage, "cache_read_input_tokens"),
                          number_member(*usage, "cache_creation_input_tokens"),
                          written ? number_member(*written, "ephemeral_1h_input_tokens") : 0};
  add(difference(now, info_.before));
  info_.before = larger(now, info_.before);
}

void SessionReader::read_codex(JsonValue line) {
  const std::string type = text_member(line, "type");
  const std::optional<JsonValue> payload = line.find("payload");
  if (!payload || !payload->is(JsonType::object)) return;
  if (type == "session_meta" || type == "turn_context") {
    if (info_.project.empty()) info_.project = text_member(*payload, "cwd");
    if (std::string model = text_member(*payload, "model"); !model.empty())
      info_.model = std::move(model);
    return;
  }
  if (type == "response_item") {
    ++info_.messages;
    if (const std::optional<JsonValue> content = payload->find("content");
        content && text_member(*payload, "role") == "user")
      note_title(first_text(*content));
    return;
  }
  if (type != "event_msg" || text_member(*payload, "type") != "token_count") return;
  const std::optional<JsonValue> about = payload->find("info");
  const std::optional<JsonValue> total =
      about && about->is(JsonType::object) ? about->find("total_token_usage") : std::nullopt;
  if (!total || !total->is(JsonType::object)) return;
  // Sums since the session began; what was read from the cache is part of the input.
  const std::uint64_t cached = number_member(*total, "cached_input_tokens"),
                      input = number_member(*total, "input_tokens");
  const SessionTokens now{input - std::min(input, cached), number_member(*total, "output_tokens"),
                          cached, number_member(*total, "cache_write_input_tokens"), 0};
  add(difference(now, info_.before));
  info_.before = now;
}

void SessionReader::read_pi(JsonValue line) {
  const std::string type = text_member(line, "type");
  if (type == "session") {
    info_.project = text_member(line, "cwd");
    return;
  }
  if (type == "session_info") {
    if (std::string title = text_member(line, "name"); !title.empty())
      info_.title = on_one_line(std::move(title)), info_.has_title = true;
    return;
  }
  const std::optional<JsonValue> message = line.find("message");
  if (type != "message" || !message || !message->is(JsonType::object)) return;
  ++info_.messages;
  const std::optional<JsonValue> content = message->find("content");
  const std::string role = text_member(*message, "role");
  if (role == "user" && content) note_title(first_text(*content));
  if (role != "assistant") return;
  if (std::string model = text_member(*message, "model"); !model.empty())
    info_.model = std::move(model);
  if (const std::optional<JsonValue> usage = message->find("usage");
      usage && usage->is(JsonType::object))
    add({number_member(*usage, "input"), number_member(*usage, "output"),
         number_member(*usage, "cacheRead"), number_member(*usage, "cacheWrite"), 0});
}

// The session's own line, and messages with or without their parts.
void SessionReader::read_opencode(JsonValue line) {
  const std::optional<JsonValue> info = line.find("info");
  if (!info || !info->is(JsonType::object)) return;
  const std::optional<JsonValue> time = info->find("time");
  const auto note = [&](std::string_view field) {
    const auto at_ms = static_cast<std::int64_t>(time ? number_member(*time, field) : 0);
    if (at_ms == 0) return;
    if (info_.began_at_ms == 0) info_.began_at_ms = at_ms;
    info_.last_at_ms = std::max(info_.last_at_ms, at_ms);
  };
  for (const std::string_view field : {"created", "updated", "completed"}) note(field);
  const std::string role = text_member(*info, "role");
  if (role.empty()) {
    info_.project = text_member(*info, "directory");
    info_.title = on_one_line(text_member(*info, "title"));
    info_.has_title = !info_.title.empty();
    return;
  }
  ++info_.messages;
  if (role != "assistant") return;
  if (std::string model = text_member(*info, "modelID"); !model.empty())
    info_.model = std::move(model);
  const std::optional<JsonValue> tokens = info->find("tokens");
  if (!tokens || !tokens->is(JsonType::object)) return;
  const std::optional<JsonValue> cache = tokens->find("cache");
  add({number_member(*tokens, "input"),
       number_member(*tokens, "output") + number_member(*tokens, "reasoning"),
       cache ? number_member(*cache, "read") : 0, cache ? number_member(*cache, "write") : 0, 0},
      reported_cost(*info));
}

}  // namespace undertext
