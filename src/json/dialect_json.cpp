#include "json/dialect_json.hpp"

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/models.hpp>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"

namespace undertext {
namespace {

void append_text(std::string& out, std::string_view lead, std::string_view text) {
  out += lead;
  append_json_string(out, text);
}

void append_number(std::string& out, std::string_view lead, double number) {
  out += lead;
  append_json_number(out, number);
}
void append_count(std::string& out, std::string_view lead, std::uint64_t number) {
  out += lead;
  append_json(out, number);
}

void append_place(std::string& out, const Place& place) {
  if (!place.path.empty()) append_text(out, R"(,"path":)", place.path);
  if (place.index) append_count(out, R"(,"index":)", *place.index);
  if (place.ordinal) append_count(out, R"(,"ordinal":)", place.ordinal->value);
}

}  // namespace

// The profile of the settings, or of their model, for a dialect; of any, the first.
std::optional<Profile> settled_profile(const Settings& settings, std::optional<Dialect> dialect) {
  std::vector<std::string> names = find_model(settings.model).profiles;
  if (!settings.profile.empty()) names.insert(names.begin(), settings.profile);
  for (const std::string& name : names) {
    Result<Profile> profile = find_profile(name);
    if (!profile) throw Failure(std::move(profile.error()));  // of a row that was added
    if (!dialect || profile->dialect == *dialect) return std::move(*profile);
  }
  return std::nullopt;
}

void read_profile(Fields& fields, const Settings& settings, Profile& profile,
                  std::optional<Dialect> own) {
  std::string dialect;
  fields.take("dialect", dialect,
              {"The message format. Default: that of the settings, or of their model.", "Dialect"});
  const std::optional<JsonValue> given = fields.find(
      "profile",
      {"What a provider accepts, by name or as an object.", "ProfileName|string|JsonObject"});
  fields.exclude("profile", "dialect", ": a profile has its dialect");
  if (fields.has("dialect") && given) return;
  if (!fields.has("dialect") && !given) {
    std::optional<Profile> settled = settled_profile(settings, own);
    if (!settled && own) settled = default_profile(*own);
    if (!settled)
      return fields.missing("dialect",
                            "needed: openai_chat, openai_responses, anthropic or gemini; or give a "
                            "profile, or set a model");
    profile = std::move(*settled);
    return;
  }
  if (given && given->is(JsonType::object)) {
    Result<Profile> parsed = Profile::parse(given->raw());
    if (!parsed) return fields.fail("profile", "cannot be used: " + parsed.error().message);
    profile = std::move(*parsed);
    return;
  }
  std::string name = dialect;
  if (given) fields.take("profile", name);
  if (name.empty()) {
    if (given ? given->is(JsonType::string) : fields.find("dialect")->is(JsonType::string))
      fields.fail(given ? "profile" : "dialect", "must not be empty");
    return;
  }
  if (!given && !dialect_named(name))
    return fields.fail(
        "dialect", "\"" + clipped(name) +
                       "\" is none; there are openai_chat, openai_responses, anthropic and gemini");
  if (!given) {
    if (std::optional<Profile> settled = settled_profile(settings, dialect_named(name))) {
      profile = std::move(*settled);
      return;
    }
  }
  Result<Profile> found = find_profile(name);
  if (!found) return fields.fail("profile", "\"" + clipped(name) + "\" is unknown");
  profile = std::move(*found);
}

void read_bound_thinking(Fields& fields, BoundThinking& bound) {
  std::string policy = "strip";
  fields.take(
      "boundThinking", policy,
      {"What becomes of thinking that an edit has made void.", R"("strip"|"refuse"|"drop_block")"});
  if (policy == "refuse") {
    bound = BoundThinking::refuse;
  } else if (policy == "drop_block") {
    bound = BoundThinking::drop_block;
  } else if (policy != "strip") {
    fields.fail("boundThinking", "is \"strip\", \"refuse\" or \"drop_block\"");
  }
}

void read_cache_markers(Fields& fields, CacheMarkers& markers) {
  std::string policy = "given";
  fields.take("cacheMarkers", policy,
              {"Who marks requests for the provider's prompt cache: the caller, or render.",
               "CacheMarkers"});
  if (policy == "auto") {
    markers = CacheMarkers::automatic;
  } else if (policy != "given") {
    fields.fail("cacheMarkers", "is \"given\" or \"auto\"");
  }
}

void read_tool_names(Fields& fields, ToolNames& names) {
  const std::optional<JsonValue> given = fields.find(
      "toolNames",
      {"Tools that were sent under another name: that name, and the caller's.", "ToolNames"});
  if (!given) return;
  if (!given->is(JsonType::object))
    return fields.fail("toolNames", "must be an object: a name as sent, and the caller's");
  for (const JsonMember member : given->members()) {
    if (!member.value.is(JsonType::string)) return fields.fail("toolNames", "must hold strings");
    names[member.key.string()] = member.value.string();
  }
}

void append_json(std::string& out, const Finding& finding) {
  append_text(out, R"({"code":)", finding.code);
  append_place(out, finding.place);
  if (!finding.about.empty()) append_text(out, R"(,"about":)", finding.about);
  append_text(out, R"(,"error":)", finding.error);
  append_text(out, R"(,"repair":)", finding.repair);
  out += '}';
}

void append_json(std::string& out, const Loss& loss) {
  append_text(out, R"({"code":)", loss.code);
  append_text(out, R"(,"severity":)", name(loss.severity));
  append_place(out, loss.place);
  append_text(out, R"(,"note":)", loss.note);
  out += '}';
}

namespace {

template <class T>
void append_each(std::string& out, const std::vector<T>& list) {
  out += '[';
  const char* separator = "";
  for (const T& element : list) {
    out += separator;
    if constexpr (std::is_same_v<T, std::string>) {
      append_json_string(out, element);
    } else {
      append_json(out, element);
    }
    separator = ",";
  }
  out += ']';
}

}  // namespace

void append_json(std::string& out, const Rendering& rendering) {
  out += R"({"request":)";
  out += rendering.json;
  out += R"(,"findings":)";
  append_each(out, rendering.findings);
  out += R"(,"losses":)";
  append_each(out, rendering.losses);
  if (!rendering.advice.empty()) {
    out += R"(,"advice":)";
    append_each(out, rendering.advice);
  }
  if (!rendering.tool_names.empty()) {
    out += R"(,"toolNames":{)";
    const char* separator = "";
    for (const auto& [sent, own] : rendering.tool_names) {
      append_text(out, separator, sent);
      append_text(out, ":", own);
      separator = ",";
    }
    out += '}';
  }
  out += '}';
}

void append_findings(std::string& out, const std::vector<Finding>& findings) {
  out += findings.empty() ? R"({"valid":true,"findings":)" : R"({"valid":false,"findings":)";
  append_each(out, findings);
  out += '}';
}

void append_json(std::string& out, const Imported& imported) {
  out += R"({"messages":[)";
  const char* separator = "";
  for (const Message& message : imported.messages) {
    out.append(separator) += message.json();
    separator = ",";
  }
  out += R"(],"rest":)" + (imported.rest.empty() ? "{}" : imported.rest);
  append_count(out, R"(,"known":)", imported.known);
  out += '}';
}

void append_json(std::string& out, const EditCost& cost) {
  append_count(out, R"({"stable":)", cost.stable);
  append_count(out, R"(,"reusable":)", cost.reusable);
  append_count(out, R"(,"invalidated":)", cost.invalidated);
  append_count(out, R"(,"rewritten":)", cost.rewritten);
  append_number(out, R"(,"oneTime":)", cost.one_time);
  append_number(out, R"(,"savedPerTurn":)", cost.saved_per_turn);
  out += R"(,"breakEvenTurns":)";
  if (cost.break_even_turns) {
    append_number(out, "", *cost.break_even_turns);
  } else {
    out += "null";
  }
  append_count(out, R"(,"brokenThinking":)", cost.broken_thinking);
  out += '}';
}

}  // namespace undertext
