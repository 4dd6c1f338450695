// Profiles: what a provider accepts, as data.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "dialect/builtin_profiles.hpp"
#include "dialect/rules.hpp"

namespace undertext {
namespace {

Error bad_member(std::string field, std::string message) {
  return {.code = ErrorCode::invalid_argument,
          .message = std::move(message),
          .field = std::move(field)};
}

struct Flag {
  std::string_view name;
  bool Profile::* member;
};
constexpr Flag flags[] = {
    {"system_role", &Profile::system_role},
    {"system_anywhere", &Profile::system_anywhere},
    {"developer_role", &Profile::developer_role},
    {"strict_alternation", &Profile::strict_alternation},
    {"first_user", &Profile::first_user},
    {"prefill", &Profile::prefill},
    {"prefill_twice", &Profile::prefill_twice},
    {"user_after_tool", &Profile::user_after_tool},
    {"empty_text", &Profile::empty_text},
    {"content_null", &Profile::content_null},
    {"results_first", &Profile::results_first},
    {"unique_call_ids", &Profile::unique_call_ids},
    {"images_in_results", &Profile::images_in_results},
    {"arguments_object", &Profile::arguments_object},
    {"requires_reasoning_content", &Profile::requires_reasoning_content},
    {"thinking_bound", &Profile::thinking_bound},
    {"thinking_required", &Profile::thinking_required},
    {"gemini3", &Profile::gemini3},
    {"store", &Profile::store},
};
struct Number {
  std::string_view name;
  std::uint64_t Profile::* member;
};
constexpr Number numbers[] = {
    {"call_id_max", &Profile::call_id_max},
    {"tool_name_max", &Profile::tool_name_max},
    {"cache_markers_max", &Profile::cache_markers_max},
};

// Figures such as 0.1: the JSON is checked, so strtod sees a number and nothing else.
std::optional<double> factor_of(const JsonValue& value) {
  if (!value.is(JsonType::number)) return std::nullopt;
  const double factor = std::strtod(std::string(value.raw()).c_str(), nullptr);
  return factor >= 0 && factor < 1e6 ? std::optional(factor) : std::nullopt;
}

std::optional<Error> read_cache(const JsonValue& cache, CacheRules& rules) {
  if (!cache.is(JsonType::object)) return bad_member("cache", "cache must be an object");
  for (const JsonMember member : cache.members()) {
    const std::string key = member.key.string();
    const JsonValue& value = member.value;
    const std::optional<std::uint64_t> count = value.uint64_saturated();
    const std::optional<double> factor = factor_of(value);
    if (key == "kind" && value.is(JsonType::string)) {
      const std::string kind = value.string();
      if (kind != "none" && kind != "prefix" && kind != "breakpoints")
        return bad_member("kind", "kind is none, prefix or breakpoints");
      rules.kind = kind == "none"     ? CacheRules::Kind::none
                   : kind == "prefix" ? CacheRules::Kind::prefix
                                      : CacheRules::Kind::breakpoints;
    } else if (key == "min" && count) {
      rules.tokens_min = *count;
    } else if (key == "step" && count && *count > 0) {
      rules.step = *count;
    } else if (key == "lookback" && count) {
      rules.lookback = *count;
    } else if (key == "write" && factor) {
      rules.write = *factor;
    } else if (key == "read" && factor) {
      rules.read = *factor;
    } else {
      return bad_member(key,
                        "cache holds kind, min, step, lookback, write and read; this member is "
                        "unknown or of the wrong type");
    }
  }
  return std::nullopt;
}

std::optional<Error> read_without(const JsonValue& codes, std::vector<std::string>& without) {
  if (!codes.is(JsonType::array)) return bad_member("without", "without must be a list of codes");
  for (const JsonValue code : codes.elements()) {
    const std::string name = code.is(JsonType::string) ? code.string() : std::string();
    const auto rule = std::find_if(rules().begin(), rules().end(),
                                   [&name](const Rule& each) { return each.name == name; });
    if (rule == rules().end())
      return bad_member("without", "without holds codes of findings, such as \"EMPTY_TEXT\"");
    without.push_back(name);
  }
  return std::nullopt;
}

std::optional<Error> read_member(const JsonMember& member, Profile& profile) {
  const std::string key = member.key.string();
  const JsonValue& value = member.value;
  if (key == "dialect") return std::nullopt;
  if (key == "name") {
    if (!value.is(JsonType::string)) return bad_member(key, "name must be a string");
    profile.name = value.string();
    return std::nullopt;
  }
  if (key == "cache") return read_cache(value, profile.cache);
  if (key == "without") return read_without(value, profile.without);
  for (const Flag& flag : flags) {
    if (flag.name != key) continue;
    if (!value.is(JsonType::boolean)) return bad_member(key, key + " must be true or false");
    profile.*flag.member = value.boolean();
    return std::nullopt;
  }
  for (const Number& number : numbers) {
    if (number.name != key) continue;
    const std::optional<std::uint64_t> count = value.uint64_saturated();
    if (!count) return bad_member(key, key + " must be a count");
    profile.*number.member = *count;
    return std::nullopt;
  }
  return bad_member(key, "a profile has no member \"" + key.substr(0, 40) + "\"");
}

}  // namespace

std::string_view member_name(bool Profile::* flag) {
  for (const Flag& each : flags)
    if (each.member == flag) return each.name;
  return {};
}

Profile default_profile(Dialect dialect) {
  Profile profile;
  profile.name = name(dialect);
  profile.dialect = dialect;
  switch (dialect) {
    case Dialect::openai_chat:
      profile.images_in_results = false;
      profile.call_id_max = 40;
      profile.tool_name_max = 64;
      break;
    case Dialect::openai_responses:
      profile.unique_call_ids = true;
      profile.call_id_max = 64;
      profile.tool_name_max = 64;
      break;
    case Dialect::anthropic:
      profile.first_user = true;
      profile.prefill = false;
      profile.empty_text = false;
      profile.results_first = true;
      profile.unique_call_ids = true;
      profile.arguments_object = true;
      profile.call_id_max = 64;
      profile.tool_name_max = 128;
      profile.cache_markers_max = 4;
      break;
    case Dialect::gemini:
      profile.system_anywhere = false;
      profile.first_user = true;
      profile.empty_text = false;
      profile.arguments_object = true;
      profile.tool_name_max = 64;
      break;
  }
  return profile;
}

Result<Profile> Profile::parse(std::string_view json) {
  Result<JsonText> text = JsonText::parse(json, {});
  if (!text) return std::move(text.error());
  const JsonValue root = text->root();
  if (!root.is(JsonType::object)) return bad_member("", "a profile must be a JSON object");
  const std::optional<JsonValue> given = root.find("dialect");
  const std::optional<Dialect> dialect =
      given && given->is(JsonType::string) ? dialect_named(given->string()) : std::nullopt;
  if (!dialect)
    return bad_member(
        "dialect", "a profile needs a dialect: openai_chat, openai_responses, anthropic or gemini");
  Profile profile = default_profile(*dialect);
  for (const JsonMember member : root.members())
    if (std::optional<Error> error = read_member(member, profile)) return std::move(*error);
  return profile;
}

std::span<const std::string_view> profile_names() {
  static const std::array<std::string_view, builtin_profiles.size()> names = [] {
    std::array<std::string_view, builtin_profiles.size()> list;
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = builtin_profiles[i].name;
    return list;
  }();
  return names;
}

Result<Profile> find_profile(std::string_view name) {
  for (const BuiltinProfile& profile : builtin_profiles)
    if (profile.name == name) return Profile::parse(profile.json);
  return Error{.code = ErrorCode::not_found,
               .message = "there is no profile \"" + std::string(name.substr(0, 60)) + "\"",
               .field = "profile"};
}

}  // namespace undertext
