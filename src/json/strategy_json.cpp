#include "json/strategy_json.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/window.hpp"
#include "json/dialect_json.hpp"

namespace undertext {
namespace {

void read_milliseconds(Fields& fields, std::string_view name, std::uint32_t& to, About about) {
  std::uint64_t number = to;
  fields.take(name, number, about);
  to = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

void read_endpoint(Fields& fields, const std::string& name,
                   std::shared_ptr<const Summariser>& summariser) {
  EndpointSettings settings;
  settings.name = name;
  std::string kind;
  fields.need("kind", kind, {"Chat completions, or messages.", R"("openai"|"anthropic")"});
  if (kind == "anthropic") {
    settings.kind = EndpointSettings::Kind::anthropic;
  } else if (!kind.empty() && kind != "openai") {
    fields.fail("kind", "is \"openai\" or \"anthropic\"");
  }
  fields.need("baseUrl", settings.base_url, "Such as the provider's, up to and with its version.");
  fields.need("model", settings.model, "The model to ask.");
  fields.take("keyEnv", settings.key_variable, "The environment variable that holds the key.");
  fields.take("keyFile", settings.key_file, "A file that holds the key.");
  fields.take("prompt", settings.prompt, "Instructions. Default: the built-in ones.");
  read_milliseconds(fields, "timeoutMs", settings.timeout_ms, "Of one attempt.");
  read_milliseconds(fields, "attempts", settings.attempts_max,
                    "How often to try, the first time included.");
  read_milliseconds(fields, "backoffMs", settings.backoff_ms,
                    "Before the second attempt; doubles.");
  fields.take("stream", settings.stream, "Ask for the answer piece by piece.");
  if (settings.base_url.empty() || settings.model.empty()) return;  // has been said
  Result<std::shared_ptr<const Summariser>> made = endpoint_summariser(std::move(settings));
  if (made) {
    summariser = std::move(*made);
  } else {
    fields.fail("baseUrl", "cannot be used: " + made.error().message);
  }
}

constexpr std::string_view shipped[] = {
    "default",        "none",         "keep_recent", "keep_system_and_recent",
    "sliding_window", "supersede",    "dedupe",      "clear_tool_results",
    "smart_summary",  "prefer_cache", "pipeline"};

// The strategies of one request.
class StrategyReader {
 public:
  explicit StrategyReader(const Settings& settings) : settings_(settings) {}

  // Nothing, and an error, for a name that is none.
  StrategyPtr read_by_name(Fields& fields, const std::string& name, bool may_nest);

 private:
  std::vector<StrategyPtr> read_steps(Fields& fields, const std::string& of, bool may_nest);
  void read_summary(Fields& fields, SmartSummary& options);
  std::shared_ptr<const Summariser> find_summariser(Fields& fields, std::string_view field,
                                                    const std::string& name);
  const Settings& settings_;
};

StrategyPtr read_recent(Fields& fields, StrategyPtr (*make)(std::uint64_t)) {
  std::uint64_t n = 10;
  fields.take("n", n, "How many messages to keep.");
  return make(n);
}

std::vector<StrategyPtr> StrategyReader::read_steps(Fields& fields, const std::string& of,
                                                    bool may_nest) {
  std::vector<StrategyPtr> steps;
  if (!may_nest) fields.fail("name", "\"" + of + "\" cannot be a step of a pipeline");
  const auto read = [&](Fields& step) {
    std::string name;
    step.need("name", name);
    if (StrategyPtr made = read_by_name(step, name, false)) steps.push_back(std::move(made));
  };
  if (fields.describes()) {
    fields.find("steps",
                {"Strategies that are no pipelines, one after the other.", "StrategyObject[+]"});
  } else {
    fields.take_objects("steps", read);
  }
  if (steps.empty()) fields.missing("steps", "must hold at least one strategy");
  fields.require("steps");
  return steps;
}

// Nothing for the digest, which is there by default and last in any case; and for a name that is
// none, with an error.
std::shared_ptr<const Summariser> StrategyReader::find_summariser(Fields& fields,
                                                                  std::string_view field,
                                                                  const std::string& name) {
  if (is_shipped_summariser(name)) return {};
  const auto found = settings_.summarisers.find(name);
  if (found != settings_.summarisers.end()) return found->second;
  fields.fail(field, "\"" + clipped(name) +
                         "\" is neither \"digest\" nor among the summarisers of the settings");
  return {};
}

void StrategyReader::read_summary(Fields& fields, SmartSummary& options) {
  fields.take("summaryTokens", options.summary_tokens_max,
              "How long the summaries may be together. Default: a quarter of the target, from 512 "
              "to 8192; 1024 without one.");
  std::string name = "digest";
  std::vector<std::string> fallbacks;
  fields.take("summariser", name,
              "`digest`, or a name of the setting `summarisers`. Default: digest.");
  fields.take("fallbacks", fallbacks, "Summarisers to ask in turn where that one fails.");
  options.summariser = find_summariser(fields, "summariser", name);
  for (const std::string& fallback : fallbacks)
    options.fallbacks.push_back(find_summariser(fields, "fallbacks", fallback));
}

StrategyPtr StrategyReader::read_by_name(Fields& fields, const std::string& name, bool may_nest) {
  if (name == "none") return no_strategy();
  if (name == "sliding_window") return sliding_window();
  if (name == "keep_recent") return read_recent(fields, keep_recent);
  if (name == "keep_system_and_recent") return read_recent(fields, keep_system_and_recent);
  if (name == "supersede" || name == "dedupe") {
    StubOlderResults options;
    fields.take("exclude", options.exclude, "Tools whose results stay.");
    fields.take("late", options.late, "The newest first, and no more than the target needs.");
    return name == "supersede" ? supersede(std::move(options)) : dedupe(std::move(options));
  }
  if (name == "clear_tool_results") {
    ClearToolResults options;
    fields.take("keep", options.keep, "How many of the newest results to keep.");
    fields.take("exclude", options.exclude, "Tools whose results stay.");
    fields.take("minGain", options.tokens_gain_min,
                "Does nothing where fewer tokens would be freed.");
    fields.take("late", options.late, "Clears only as many as the target needs.");
    return clear_tool_results(std::move(options));
  }
  if (name == "smart_summary") {
    SmartSummary options;
    fields.take("keep", options.keep, "How many of the newest messages to keep.");
    read_summary(fields, options);
    return smart_summary(std::move(options));
  }
  if (name == "default") {
    SmartSummary options;
    read_summary(fields, options);
    return default_strategy(std::move(options));
  }
  if (name == "pipeline") return pipeline(read_steps(fields, name, may_nest));
  if (name == "prefer_cache") {
    PreferCache options;
    Profile profile;
    std::uint64_t turns = 10;
    read_profile(fields, settings_, profile);
    options.rules = profile.cache;
    fields.take("overhead", options.overhead, "Tokens before the first message: tools and such.");
    fields.take("turns", turns, "How many requests are to come.");
    options.turns = static_cast<double>(turns);
    std::uint64_t keep_percent = 90;
    fields.take("keepPercent", keep_percent,
                "How much of what the fullest plan keeps a cheaper one must keep.");
    if (keep_percent > 100) fields.fail("keepPercent", "is 100 at most");
    options.keep_percent = static_cast<double>(keep_percent);
    read_cache_markers(fields, options.markers);
    return prefer_cache(read_steps(fields, name, may_nest), options);
  }
  if (const auto own = settings_.strategies.find(name); own != settings_.strategies.end())
    return own->second;
  if (!name.empty()) {
    std::string all;
    for (const std::string_view one : shipped) all += std::string(one) + ", ";
    fields.fail("name", "\"" + clipped(name) + "\" is no strategy; there are " + all +
                            "and what the settings name");
  }
  return {};
}

}  // namespace

bool is_shipped_strategy(std::string_view name) {
  return std::find(std::begin(shipped), std::end(shipped), name) != std::end(shipped);
}

bool is_shipped_summariser(std::string_view name) { return name == "digest"; }

void read_summarisers(Fields& fields, Summarisers& summarisers) {
  const auto read = [&](const std::string& name, Fields& inner) {
    if (is_shipped_summariser(name))
      inner.fail("name", "\"digest\" is one of the engine's own; choose another");
    if (!inner.describes()) return read_endpoint(inner, name, summarisers[name]);
    std::shared_ptr<const Summariser> none;
    read_endpoint(inner, name, none);
  };
  fields.take_named_objects(
      "summarisers", read,
      {"Models that write summaries, by a name of your choice.", "EndpointSettings"});
}

void read_strategy(Fields& fields, std::string_view name, const Settings& settings,
                   StrategyPtr& strategy, std::string_view about) {
  StrategyReader strategies(settings);
  const std::optional<JsonValue> given = fields.find(name, {about, "StrategyChoice"});
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

void read_survival(Fields& fields, std::optional<SurvivalPolicy>& policy) {
  const auto read = [&](Fields& inner) {
    policy.emplace();
    for (std::size_t i = 0; i < fact_kind_count; ++i) {
      const FactKind kind = static_cast<FactKind>(i);
      inner.take(name(kind), (*policy)[kind],
                 "The least part of them that must survive, from 0 to 1.");
      if ((*policy)[kind] < 0 || (*policy)[kind] > 1)
        inner.fail(name(kind), "is a number from 0 to 1");
    }
  };
  fields.take_object("survival", read,
                     {"What a compression must keep; else it is refused.", "SurvivalPolicy"});
}

void read_budget(Fields& fields, const Settings& settings, std::optional<Budget>& budget) {
  const auto read = [&](Fields& inner) {
    budget.emplace();
    if (inner.describes()) {
      inner.take("window", budget->window,
                 "Tokens that the model takes. Default: as the settings, or their model, say.");
    } else if (const std::optional<std::uint64_t> window = settled_window(settings);
               window && !inner.has("window")) {
      budget->window = *window;
    } else {
      inner.need("window", budget->window);
    }
    inner.take("reserve", budget->reserve, "Kept free for the answer.");
    inner.take("overhead", budget->overhead, "Tools, and instructions that are not in the view.");
    inner.take("safety", budget->safety, "For what a count may be wrong by.");
  };
  fields.take_object("budget", read, "What a request may hold.");
}

void read_room(Fields& fields, const Settings& settings, std::optional<std::uint64_t>& tokens_max) {
  std::optional<Budget> budget;
  read_budget(fields, settings, budget);
  fields.exclude("targetTokens", "budget");
  fields.take("targetTokens", tokens_max, "What the view is to come down to.");
  if (budget) tokens_max = budget->tokens_max();
}

void describe_strategies(Shapes& shapes) {
  const Settings none;
  std::string objects;
  for (const std::string_view name : shipped) {
    Shape shape{.name = pascal_case(name) + "Strategy",
                .text = "The strategy `" + std::string(name) + "`."};
    Reading reading;
    Fields fields(shape, shapes, reading);
    fields.find("name", {"Which strategy.", "\"" + std::string(name) + "\""});
    fields.require("name");
    StrategyReader(none).read_by_name(fields, std::string(name), true);
    objects += shape.name + "|";
    shapes.add(std::move(shape));
  }
  shapes.add(
      {.name = "OtherStrategy",
       .text = "A strategy of the program's own.",
       .members = {{.name = "name", .type = "string", .text = "Its name.", .required = true}}});
  shapes.add({.name = "StrategyName",
              .text = "The strategies of the engine.",
              .type = type_of_words(shipped)});
  shapes.add({.name = "StrategyObject",
              .text = "A strategy with its arguments.",
              .type = objects + "OtherStrategy"});
  shapes.add({.name = "StrategyChoice",
              .text = "A strategy by its name, or with arguments.",
              .type = "StrategyName|string|StrategyObject"});
}

}  // namespace undertext
