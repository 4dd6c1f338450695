#include <undertext/cache_break.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/json_text.hpp"
#include "client/cached_content.hpp"
#include "message/item_id.hpp"

namespace undertext {
namespace {

struct Section {
  std::string_view name;
  std::string_view spelling = {};  // another one
  // not read by the model, but a cache that was made under another one is not used
  bool is_condition = false;
};

constexpr std::array anthropic_order = {Section{"model", {}, true},
                                        Section{"tools"},
                                        Section{"system"},
                                        Section{"tool_choice", {}, true},
                                        Section{"thinking", {}, true},
                                        Section{"messages"}};
constexpr std::array chat_order = {Section{"model", {}, true}, Section{"tools"},
                                   Section{"messages"}};
constexpr std::array responses_order = {Section{"model", {}, true}, Section{"instructions"},
                                        Section{"tools"}, Section{"input"}};
constexpr std::array gemini_order = {Section{"model", {}, true},
                                     Section{"systemInstruction", "system_instruction"},
                                     Section{"tools"}, Section{"contents"}};

std::span<const Section> order_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::anthropic: return anthropic_order;
    case Dialect::openai_chat: return chat_order;
    case Dialect::openai_responses: return responses_order;
    case Dialect::gemini: return gemini_order;
  }
  return {};
}

// Members by which a request refers to what the provider has of earlier ones.
constexpr std::array<std::string_view, 2> responses_references = {"previous_response_id",
                                                                  "conversation"};

std::span<const std::string_view> references_of(Dialect dialect) {
  if (dialect == Dialect::openai_responses) return responses_references;
  if (dialect == Dialect::gemini) return cached_content_names;
  return {};
}

std::optional<JsonValue> given(const JsonValue& object, std::string_view name) {
  const std::optional<JsonValue> value = name.empty() ? std::nullopt : object.find(name);
  return value && !value->is(JsonType::null) ? value : std::nullopt;
}

bool is_plain_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  };
  const auto is_other = [](char c) { return (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_other(c); });
}

std::string member_path(const std::string& path, std::string_view name) {
  if (is_plain_name(name)) return path + '.' + std::string(name);
  std::string quoted = path + '[';
  append_json_string(quoted, name);
  return quoted + ']';
}
std::string item_path(const std::string& path, std::size_t index) {
  return path + '[' + std::to_string(index) + ']';
}

// Markers say what is to be cached, and are no part of it: clients move them with every request.
bool is_marker(std::string_view name, const JsonValue& value) {
  if (name != "cache_control") return false;
  if (value.is(JsonType::null)) return true;
  const std::optional<JsonValue> type = value.find("type");
  return type && type->is(JsonType::string);
}

// Items of Responses carry what is about them, and not read by the model: an id is new in every
// session. A reference is nothing but its id.
bool is_about_item(std::string_view name) {
  return name == "id" || name == "status" || name.starts_with("internal_");
}

// A leaf, and the punctuation and names since the one before it.
struct Piece {
  std::string path;
  std::string lead;
  std::string value;  // JSON
  std::string text;   // of a string: decoded; else as value
  bool is_condition = false;
  std::uint64_t size() const { return is_condition ? 0 : lead.size() + value.size(); }
  friend bool operator==(const Piece&, const Piece&) = default;
};

// Writes a request as the prefix that the cache sees.
class PrefixWriter {
 public:
  explicit PrefixWriter(Dialect dialect) : dialect_(dialect) {}

  std::vector<Piece> write(const JsonValue& request) {
    for (const Section& section : order_of(dialect_)) {
      std::string_view name = section.name;
      std::optional<JsonValue> value = given(request, name);
      if (!value) value = given(request, name = section.spelling);
      if (!value) continue;
      is_condition_ = section.is_condition;
      const std::string lead = lead_;
      (lead_ += '"').append(section.name) += "\":";
      write_section(std::string(name), *value);
      lead_ = section.is_condition ? lead : lead_ + ',';
    }
    return std::move(pieces_);
  }

 private:
  void write_section(const std::string& name, const JsonValue& value) {
    const bool is_list = value.is(JsonType::array) && !value.empty();
    if (dialect_ == Dialect::anthropic && name == "system") return write_texts(name, value);
    if (dialect_ == Dialect::openai_responses && name == "input" && value.is(JsonType::string)) {
      lead_ += R"([{"role":)";
      write_leaf(name + "[0].role", R"("user")", "user");
      lead_ += R"(,"content":)";
      write_value(name + "[0].content", value);
      lead_ += "}]";
      return;
    }
    const bool has_items = (dialect_ == Dialect::anthropic && name == "messages") ||
                           (dialect_ == Dialect::openai_responses && name == "input");
    if (!has_items || !is_list) return write_value(name, value);
    lead_ += '[';
    std::size_t index = 0;
    for (const JsonValue item : value.elements()) {
      if (index > 0) lead_ += ',';
      write_item(item_path(name, index++), item);
    }
    lead_ += ']';
  }

  // A message of Anthropic's, or an item of Responses.
  void write_item(const std::string& path, const JsonValue& item) {
    const bool is_reference = is_item_reference(item);
    const bool is_responses = dialect_ == Dialect::openai_responses;
    write_object(
        path, item,
        [&](std::string_view name) { return is_responses && !is_reference && is_about_item(name); },
        [&](const std::string& at, std::string_view name, const JsonValue& value) {
          !is_responses&& name == "content" ? write_texts(at, value) : write_value(at, value);
        });
  }

  // A text stands for a list of one text: a client that marks a text has to write it as a list, and
  // as a text again later.
  void write_texts(const std::string& path, const JsonValue& value) {
    if (!value.is(JsonType::string)) return write_value(path, value);
    lead_ += R"([{"type":)";
    write_leaf(path + "[0].type", R"("text")", "text");
    lead_ += R"(,"text":)";
    write_value(path + "[0].text", value);
    lead_ += "}]";
  }

  template <class LeavesOut, class Write>
  void write_object(const std::string& path, const JsonValue& object, LeavesOut leaves_out,
                    Write write) {
    bool is_first = true;
    if (object.is(JsonType::object)) {
      for (const JsonMember member : object.members()) {
        const std::string name = member.key.string();
        if (is_marker(name, member.value) || leaves_out(name)) continue;
        lead_ += is_first ? '{' : ',';
        is_first = false;
        append_json_string(lead_, name);
        lead_ += ':';
        write(member_path(path, name), name, member.value);
      }
    }
    if (!is_first) {
      lead_ += '}';
    } else if (object.is(JsonType::object)) {
      write_leaf(path, "{}", "{}");
    } else {
      write_value(path, object);
    }
  }

  void write_value(const std::string& path, const JsonValue& value) {
    if (value.is(JsonType::string)) {
      std::string text = value.string(), json;
      append_json_string(json, text);
      return write_leaf(path, std::move(json), std::move(text));
    }
    if (value.is(JsonType::object)) {
      return write_object(
          path, value, [](std::string_view) { return false; },
          [&](const std::string& at, std::string_view, const JsonValue& member) {
            write_value(at, member);
          });
    }
    if (!value.is(JsonType::array) || value.empty()) {
      const std::string raw = value.is(JsonType::array) ? "[]" : std::string(value.raw());
      return write_leaf(path, raw, raw);
    }
    lead_ += '[';
    std::size_t index = 0;
    for (const JsonValue item : value.elements()) {
      if (index > 0) lead_ += ',';
      write_value(item_path(path, index++), item);
    }
    lead_ += ']';
  }

  void write_leaf(std::string path, std::string json, std::string text) {
    pieces_.push_back({std::move(path), std::exchange(lead_, {}), std::move(json), std::move(text),
                       is_condition_});
  }

  const Dialect dialect_;
  std::string lead_ = "{";
  bool is_condition_ = false;
  std::vector<Piece> pieces_;
};

// How many bytes both begin with, without parting a character.
std::size_t common_start(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t common = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin()).first -
      a.begin());
  const auto is_inside = [](std::string_view text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (common > 0 && (is_inside(a, common) || is_inside(b, common))) --common;
  return common;
}

// At most `most` bytes from `at` on, or before it, of whole characters.
std::string some(std::string_view text, std::size_t at, std::size_t most) {
  std::size_t end = std::min(text.size(), at + most);
  while (end > at && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return std::string(text.substr(at, end - at));
}
std::string some_before(std::string_view text, std::size_t end, std::size_t most) {
  std::size_t at = end > most ? end - most : 0;
  while (at < end && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return std::string(text.substr(at, end - at));
}

// The item of a list that begins with `path`: the outermost one that does not hold `last`.
std::string item_of(const std::string& path, std::string_view last) {
  for (std::size_t at = path.find(']'); at != path.npos; at = path.find(']', at + 1)) {
    const std::string item = path.substr(0, at + 1);
    if (!last.starts_with(item)) return item;
  }
  return path;
}

CacheBreak broken_at(CacheBreak found, const Piece& old, const Piece& now) {
  constexpr std::size_t before_bytes = 60, after_bytes = 200;
  found.kind = CacheBreak::Kind::broken;
  const std::size_t common = old.path == now.path ? common_start(old.text, now.text) : 0;
  found.path = now.path;
  found.was = old.path;
  found.byte_in_value = common;
  found.same = some_before(now.text, common, before_bytes);
  found.before = some(old.text, common, after_bytes);
  found.after = some(now.text, common, after_bytes);
  if (!old.is_condition && !now.is_condition)
    found.equal_bytes += common_start(old.lead + old.value, now.lead + now.value);
  return found;
}

CacheBreak compared(const std::vector<Piece>& old, const std::vector<Piece>& now) {
  CacheBreak found;
  std::size_t at = 0;
  for (; at < old.size() && at < now.size() && old[at] == now[at]; ++at)
    found.equal_bytes += now[at].size();
  const std::string_view last = at == 0 ? std::string_view() : std::string_view(now[at - 1].path);
  found.bytes = found.equal_bytes;
  if (at == now.size()) {
    found.kind = at == old.size() ? CacheBreak::Kind::same : CacheBreak::Kind::shortened;
    if (at < old.size()) found.path = item_of(old[at].path, last);
    return found;
  }
  for (std::size_t rest = at; rest < now.size(); ++rest) found.bytes += now[rest].size();
  if (at < old.size()) return broken_at(std::move(found), old[at], now[at]);
  found.kind = CacheBreak::Kind::extended;
  found.path = item_of(now[at].path, last);
  return found;
}

}  // namespace

std::string_view name(CacheBreak::Kind kind) {
  constexpr std::array<std::string_view, 6> names = {"unknown",  "reference", "same",
                                                     "extended", "shortened", "broken"};
  return names[static_cast<std::size_t>(kind)];
}

CacheBreak cache_break(Dialect dialect, std::string_view before, std::string_view after) {
  const Result<JsonText> old = JsonText::parse(before, {}), now = JsonText::parse(after, {});
  if (!old || !now || !old->root().is(JsonType::object) || !now->root().is(JsonType::object))
    return {};
  for (const std::string_view reference : references_of(dialect)) {
    if (!given(now->root(), reference)) continue;
    CacheBreak found;
    found.kind = CacheBreak::Kind::reference;
    found.path = reference;
    return found;
  }
  return compared(PrefixWriter(dialect).write(old->root()),
                  PrefixWriter(dialect).write(now->root()));
}

}  // namespace undertext
