#include "json/strategy_json.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <undertext/models.hpp>

#include "json/dialect_json.hpp"

namespace undertext {
namespace {

void read_milliseconds(Fields& fields, std::string_view name, std::uint32_t& to) {
  std::optional<std::uint64_t> number;
  fields.take(name, number);
  if (number) to = static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, std::numeric_limits<std::uint32_t>::max()));
}

void read_endpoint(Fields& fields, const std::string& name, std::shared_ptr<const Summariser>& summariser) {
  EndpointSettings settings;
  settings.name = name;
  std::string kind;
  fields.need("kind", kind);
  if (kind == "anthropic") {
    settings.kind = EndpointSettings::Kind::anthropic;
  } else if (!kind.empty() && kind != "openai") {
    fields.fail("kind", "is \"openai\" or \"anthropic\"");
  }
  fields.need("baseUrl", settings.base_url);
  fields.need("model", settings.model);
  fields.take("keyEnv", settings.key_variable);
  fields.take("keyFile", settings.key_file);
  fields.take("prompt", settings.prompt);
  read_milliseconds(fields, "timeoutMs", settings.timeout_ms);
  read_milliseconds(fields, "attempts", settings.attempts_max);
  read_milliseconds(fields, "backoffMs", settings.backoff_ms);
  fields.take("stream", settings.stream);
  if (settings.base_url.empty() || settings.model.empty()) return;  // has been said
  Result<std::shared_ptr<const Summariser>> made = endpoint_summariser(std::move(settings));
  if (made) {
    summariser = std::move(*made);
  } else {
    fields.fail("baseUrl", "cannot be used: " + made.error().message);
  }
}

constexpr std::string_view shipped[] = {
    "default",       "none",         "keep_recent", "keep_system_and_recent", "sliding_window", "clear_tool_results",
    "smart_summary", "prefer_cache", "pipeline"};

// The strategies of one request.
class StrategyReader {
 public:
  explicit StrategyReader(const Settings& settings) : settings_(settings) {}

  // Nothing, and an error, for a name that is none.
  StrategyPtr read_by_name(Fields& fields, const std::string& name, bool may_nest);

 private:
  std::vector<StrategyPtr> read_steps(Fields& fields, const std::string& of, bool may_nest);
  void read_summarisers(Fields& fields, SmartSummary& options);
  std::shared_ptr<const Summariser> find_summariser(Fields& fields, std::string_view field, const std::string& name);
  const Settings& settings_;
};

StrategyPtr read_recent(Fields& fields, StrategyPtr (*make)(std::uint64_t)) {
  std::uint64_t n = 10;
  fields.take("n", n);
  return make(n);
}

std::vector<StrategyPtr> StrategyReader::read_steps(Fields& fields, const std::string& of, bool may_nest) {
  std::vector<StrategyPtr> steps;
  if (!may_nest) fields.fail("name", "\"" + of + "\" cannot be a step of a pipeline");
  fields.take_objects("steps", [&](Fields& step) {
    std::string name;
    step.need("name", name);
    if (StrategyPtr made = read_by_name(step, name, false)) steps.push_back(std::move(made));
  });
  if (steps.empty()) fields.missing("steps", "must hold at least one strategy");
  return steps;
}

// Nothing for the digest, which is there by default and last in any case; and for a name that is none, with an error.
std::shared_ptr<const Summariser> StrategyReader::find_summariser(Fields& fields, std::string_view field, const std::string& name) {
  if (is_shipped_summariser(name)) return {};
  const auto found = settings_.summarisers.find(name);
  if (found != settings_.summarisers.end()) return found->second;
  fields.fail(field, "\"" + clipped(name) + "\" is neither \"digest\" nor among the summarisers of the settings");
  return {};
}

void StrategyReader::read_summarisers(Fields& fields, SmartSummary& options) {
  std::string name = "digest";
  std::vector<std::string> fallbacks;
  fields.take("summariser", name);
  fields.take("fallbacks", fallbacks);
  options.summariser = find_summariser(fields, "summariser", name);
  for (const std::string& fallback : fallbacks) options.fallbacks.push_back(find_summariser(fields, "fallbacks", fallback));
}

StrategyPtr StrategyReader::read_by_name(Fields& fields, const std::string& name, bool may_nest) {
  if (name == "none") return no_strategy();
  if (name == "sliding_window") return sliding_window();
  if (name == "keep_recent") return read_recent(fields, keep_recent);
  if (name == "keep_system_and_recent") return read_recent(fields, keep_system_and_recent);
  if (name == "clear_tool_results") {
    ClearToolResults options;
    fields.take("keep", options.keep);
    fields.take("exclude", options.exclude);
    fields.take("minGain", options.tokens_gain_min);
    fields.take("late", options.late);
    return clear_tool_results(std::move(options));
  }
  if (name == "smart_summary") {
    SmartSummary options;
    fields.take("keep", options.keep);
    fields.take("summaryTokens", options.summary_tokens_max);
    read_summarisers(fields, options);
    return smart_summary(std::move(options));
  }
  if (name == "default") {
    SmartSummary options;
    read_summarisers(fields, options);
    return default_strategy(std::move(options));
  }
  if (name == "pipeline") return pipeline(read_steps(fields, name, may_nest));
  if (name == "prefer_cache") {
    PreferCache options;
    Profile profile;
    std::uint64_t turns = 10;
    read_profile(fields, settings_, profile);
    options.rules = profile.cache;
    fields.take("overhead", options.overhead);
    fields.take("turns", turns);
    options.turns = static_cast<double>(turns);
    std::uint64_t keep_percent = 90;
    fields.take("keepPercent", keep_percent);
    if (keep_percent > 100) fields.fail("keepPercent", "is 100 at most");
    options.keep_percent = static_cast<double>(keep_percent);
    read_cache_markers(fields, options.markers);
    return prefer_cache(read_steps(fields, name, may_nest), options);
  }
  if (const auto own = settings_.strategies.find(name); own != settings_.strategies.end()) return own->second;
  if (!name.empty()) {
    std::string all;
    for (const std::string_view one : shipped) all += std::string(one) + ", ";
    fields.fail("name", "\"" + clipped(name) + "\" is no strategy; there are " + all + "and what the settings name");
  }
  return {};
}

}  // namespace

bool is_shipped_strategy(std::string_view name) {
  return std::find(std::begin(shipped), std::end(shipped), name) != std::end(shipped);
}

bool is_shipped_summariser(std::string_view name) { return name == "digest"; }

void read_summarisers(Fields& fields, Summarisers& summarisers) {
  fields.take_named_objects("summarisers", [&](const std::string& name, Fields& inner) {
    if (is_shipped_summariser(name)) inner.fail("name", "\"digest\" is one of the engine's own; choose another");
    read_endpoint(inner, name, summarisers[name]);
  });
}

void read_strategy(Fields& fields, std::string_view name, const Settings& settings, StrategyPtr& strategy) {
  StrategyReader strategies(settings);
  const std::optional<JsonValue> given = fields.find(name);
  if (!given) return;
  if (given->is(JsonType::string)) {
    // As if it were {"name":…}: what the strategy needs besides has its default.
    const std::string text = "{\"name\":" + std::string(given->raw()) + "}";
    const Result<JsonText> object = JsonText::parse(text, {});
    Reading reading;
    Fields inner(object->root(), "a strategy", reading);
    inner.find("name");
    strategy = strategies.read_by_name(inner, given->string(), true);
    if (reading.failed()) fields.fail(name, reading.take_error().message);
    return;
  }
  fields.take_object(name, [&](Fields& inner) {
    std::string which;
    inner.need("name", which);
    strategy = strategies.read_by_name(inner, which, true);
  });
}

std::optional<std::uint64_t> settled_window(const Settings& settings) {
  return settings.window ? settings.window : find_model(settings.model).limits.window;
}

void read_budget(Fields& fields, const Settings& settings, std::optional<Budget>& budget) {
  fields.take_object("budget", [&](Fields& inner) {
    budget.emplace();
    if (const std::optional<std::uint64_t> window = settled_window(settings); window && !inner.has("window")) {
      budget->window = *window;
    } else {
      inner.need("window", budget->window);
    }
    inner.take("reserve", budget->reserve);
    inner.take("overhead", budget->overhead);
    inner.take("safety", budget->safety);
  });
}

void read_room(Fields& fields, const Settings& settings, std::optional<std::uint64_t>& tokens_max) {
  std::optional<Budget> budget;
  read_budget(fields, settings, budget);
  if (budget && fields.has("targetTokens")) fields.fail("targetTokens", "and budget exclude each other; give one of the two");
  fields.take("targetTokens", tokens_max);
  if (budget) tokens_max = budget->tokens_max();
}

}  // namespace undertext
