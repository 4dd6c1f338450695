#include "policy/policy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/json_text.hpp"

namespace undertext {
namespace {

using Mode = GatewayPolicy::Mode;
using Setter = std::function<void(GatewayPolicy&)>;

constexpr std::array<std::string_view, 4> mode_names = {"observe", "fit", "tidy", "compact"};
constexpr std::array<std::string_view, 2> when_names = {"limit", "cold"};
constexpr std::array<std::string_view, 2> tools_names = {"none", "recall"};
constexpr std::array<std::string_view, 2> compaction_names = {"off", "pointer"};
constexpr std::array<std::string_view, 2> switch_names = {"off", "on"};

Failure wrong(const std::string& field, const std::string& why) {
  return Failure(Error{.code = ErrorCode::invalid_argument,
                       .message = "a policy's " + field + " " + why,
                       .field = field});
}

template <std::size_t count>
std::size_t read_name(const JsonValue& value, const std::array<std::string_view, count>& names,
                      const std::string& field) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) {
    if (value.is(JsonType::string) && value.string_is(names[i])) return i;
    all += (i == 0 ? "" : i + 1 == count ? " or " : ", ") + std::string(names[i]);
  }
  throw wrong(field, "is " + all);
}

std::uint64_t read_count(const JsonValue& value, const std::string& field, std::uint64_t most) {
  const std::optional<std::uint64_t> count =
      value.is(JsonType::number) ? value.uint64_saturated() : std::nullopt;
  if (!count || *count > most)
    throw wrong(field, "is an integer from 0 to " + std::to_string(most));
  return *count;
}

double read_part(const JsonValue& value, const std::string& field) {
  double part = -1;
  const std::string_view digits = value.is(JsonType::number) ? value.raw() : std::string_view();
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), part);
  if (digits.empty() || end.ec != std::errc() || part < 0 || part > 1)
    throw wrong(field, "is a number from 0 to 1");
  return part;
}

SurvivalPolicy read_survival(const JsonValue& value, const std::string& field) {
  if (!value.is(JsonType::object)) throw wrong(field, "is an object");
  SurvivalPolicy survival;
  for (const JsonMember member : value.members()) {
    std::size_t kind = 0;
    while (kind < fact_kind_count && !member.key.string_is(name(static_cast<FactKind>(kind))))
      ++kind;
    const std::string inner = field + "." + member.key.string();
    if (kind == fact_kind_count) throw wrong(inner, "is no kind of facts");
    survival.least[kind] = read_part(member.value, inner);
  }
  return survival;
}

constexpr std::uint64_t tokens_most = 1'000'000'000;

// Of tokens and per cent, the one that was given last counts.
Setter amount_in_tokens(std::optional<std::uint64_t> GatewayPolicy::* tokens,
                        std::optional<std::uint64_t> GatewayPolicy::* percent,
                        std::uint64_t amount) {
  return [=](GatewayPolicy& policy) {
    policy.*tokens = amount;
    (policy.*percent).reset();
  };
}

// One member of a policy. Null: there is none of this name.
Setter read_member(std::string_view name, const JsonValue& value, const std::string& field) {
  using P = GatewayPolicy;
  const auto count = [&](std::uint64_t most) { return read_count(value, field, most); };
  if (name == "mode") {
    return [mode = static_cast<Mode>(read_name(value, mode_names, field))](P& p) { p.mode = mode; };
  }
  if (name == "when") {
    return
        [when = static_cast<P::When>(read_name(value, when_names, field))](P& p) { p.when = when; };
  }
  if (name == "windowTokens") return [n = count(tokens_most)](P& p) { p.window_tokens = n; };
  if (name == "thresholdTokens")
    return amount_in_tokens(&P::threshold_tokens, &P::threshold_percent, count(tokens_most));
  if (name == "thresholdPercent")
    return amount_in_tokens(&P::threshold_percent, &P::threshold_tokens, count(100));
  if (name == "targetTokens")
    return amount_in_tokens(&P::target_tokens, &P::target_percent, count(tokens_most));
  if (name == "targetPercent")
    return amount_in_tokens(&P::target_percent, &P::target_tokens, count(100));
  if (name == "headroomTurns") return [n = count(1'000'000)](P& p) { p.headroom_turns = n; };
  if (name == "keepResults") return [n = count(1'000'000)](P& p) { p.keep_results = n; };
  if (name == "cacheSeconds") return [n = count(31'536'000)](P& p) { p.cache_seconds = n; };
  if (name == "survival")
    return [survival = read_survival(value, field)](P& p) { p.survival = survival; };
  if (name == "repair")
    return [on = read_name(value, switch_names, field) == 1](P& p) { p.repair = on; };
  if (name == "tools") {
    return [tools = static_cast<P::Tools>(read_name(value, tools_names, field))](P& p) {
      p.tools = tools;
    };
  }
  if (name == "compaction") {
    return [how = static_cast<P::Compaction>(read_name(value, compaction_names, field))](P& p) {
      p.compaction = how;
    };
  }
  return {};
}

std::vector<Setter> read_members(const JsonValue& object, const std::string& field) {
  if (!object.is(JsonType::object)) throw wrong(field, "is an object");
  std::vector<Setter> members;
  for (const JsonMember member : object.members()) {
    const std::string name = member.key.string();
    Setter setter = read_member(name, member.value, field + "." + name);
    if (!setter) throw wrong(field + "." + name, "is not known");
    members.push_back(std::move(setter));
  }
  return members;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

bool matches(std::string_view pattern, std::string_view name) {
  if (name.empty()) return false;
  if (!pattern.ends_with('*')) return equal_ignoring_case(pattern, name);
  pattern.remove_suffix(1);
  return name.size() >= pattern.size() &&
         equal_ignoring_case(pattern, name.substr(0, pattern.size()));
}

std::uint64_t percent_of(std::uint64_t whole, std::uint64_t percent) {
  return whole / 100 * percent + whole % 100 * percent / 100;
}

}  // namespace

std::string_view name(GatewayPolicy::Mode mode) {
  return mode_names[static_cast<std::size_t>(mode)];
}

bool GatewayPolicy::edits() const {
  return mode != Mode::observe || repair || compaction != Compaction::off;
}

std::uint64_t GatewayPolicy::default_threshold_percent() const {
  if (mode == Mode::fit) return 100;
  return when == When::cold ? 25 : 40;
}

Result<GatewayPolicies> GatewayPolicies::read(std::string_view text) {
  try {
    GatewayPolicies policies;
    if (const auto mode = std::find(mode_names.begin(), mode_names.end(), text);
        mode != mode_names.end()) {
      policies.own_.push_back([named = static_cast<Mode>(mode - mode_names.begin())](
                                  GatewayPolicy& p) { p.mode = named; });
      return policies;
    }
    const Result<JsonText> json = JsonText::parse(text, {});
    if (!json) return json.error();
    if (!json->root().is(JsonType::object))
      throw wrong("policy", "is an object, or observe, fit, tidy or compact");
    for (const JsonMember member : json->root().members()) {
      const std::string name = member.key.string();
      Layer* layer = name == "tenants"         ? &policies.tenants_
                     : name == "models"        ? &policies.models_
                     : name == "conversations" ? &policies.conversations_
                                               : nullptr;
      if (layer == nullptr) {
        Setter setter = read_member(name, member.value, name);
        if (!setter) throw wrong(name, "is not known");
        policies.own_.push_back(std::move(setter));
        continue;
      }
      if (!member.value.is(JsonType::object)) throw wrong(name, "is an object");
      for (const JsonMember each : member.value.members()) {
        const std::string whose = each.key.string();
        (*layer)[whose] = read_members(each.value, name + "." + whose);
      }
    }
    policies.note(policies.own_);
    for (const Layer* layer : {&policies.tenants_, &policies.models_, &policies.conversations_})
      for (const auto& each : *layer) policies.note(each.second);
    return policies;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

void GatewayPolicies::note(const Members& members) {
  GatewayPolicy policy;
  for (const Setter& set : members) set(policy);
  answers_compactions_ =
      answers_compactions_ || policy.compaction == GatewayPolicy::Compaction::pointer;
  offers_recall_ = offers_recall_ || policy.tools == GatewayPolicy::Tools::recall;
}

void GatewayPolicies::set_tools(GatewayPolicy::Tools tools) {
  own_.push_back([tools](GatewayPolicy& policy) { policy.tools = tools; });
  note(own_);
}

GatewayPolicy GatewayPolicies::of(const PolicySubject& subject) const {
  GatewayPolicy policy;
  const auto lay = [&](const Members& members) {
    for (const Setter& set : members) set(policy);
  };
  // The shorter names first, so that the longer ones have the last word.
  const auto lay_matching = [&](const Layer& layer, std::string_view name) {
    std::vector<Layer::const_iterator> found;
    for (auto each = layer.begin(); each != layer.end(); ++each)
      if (matches(each->first, name)) found.push_back(each);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a->first.size() < b->first.size();
    });
    for (const auto& each : found) lay(each->second);
  };
  lay(own_);
  if (const auto tenant = tenants_.find(subject.tenant); tenant != tenants_.end())
    lay(tenant->second);
  lay_matching(models_, subject.model);
  lay_matching(conversations_, subject.conversation);
  return policy;
}

bool GatewayPolicies::may_edit(std::string_view tenant) const {
  return !models_.empty() || !conversations_.empty() || of({.tenant = tenant}).edits();
}

std::optional<EditGoal> edit_goal(const GatewayPolicy& policy, const EditSituation& situation) {
  if (policy.mode == Mode::observe) return std::nullopt;
  const std::optional<std::uint64_t> window =
      policy.window_tokens ? policy.window_tokens : situation.window;
  EditGoal goal;
  goal.tokens_limit = window ? *window - std::min(*window, situation.reserve) : tokens_most;
  std::uint64_t threshold = goal.tokens_limit;
  if (policy.threshold_tokens)
    threshold = std::min(threshold, *policy.threshold_tokens);
  else if (window)
    threshold = std::min(
        threshold,
        percent_of(*window, policy.threshold_percent.value_or(policy.default_threshold_percent())));
  const std::int64_t lifetime_ms = policy.cache_seconds
                                       ? static_cast<std::int64_t>(*policy.cache_seconds) * 1000
                                       : situation.cache_lifetime_ms;
  goal.is_over_limit = situation.tokens > goal.tokens_limit;
  goal.is_cold = situation.idle_ms && *situation.idle_ms > lifetime_ms;
  const bool is_time = policy.when == GatewayPolicy::When::limit || goal.is_cold;
  if (!goal.is_over_limit && !(is_time && situation.tokens > threshold)) return std::nullopt;

  const std::uint64_t most_room = threshold - threshold / 4;
  // Coming down far costs hardly more than coming down a little, and it is long before the next
  // edit (docs/money.md).
  std::uint64_t target = policy.mode == Mode::fit ? most_room : threshold / 4;
  if (policy.target_tokens)
    target = std::min(*policy.target_tokens, threshold);
  else if (policy.target_percent && window)
    target = std::min(percent_of(*window, *policy.target_percent), threshold);
  // Headroom lowers a target, and never raises it: an edit that comes down less far is followed by
  // the next one sooner.
  if (policy.headroom_turns != 0) {
    const std::uint64_t growth = situation.tokens_per_turn;
    const std::uint64_t room = growth == 0 || policy.headroom_turns <= most_room / growth
                                   ? policy.headroom_turns * growth
                                   : most_room;
    target = std::min(target, threshold - std::min(room, most_room));
  }
  goal.tokens_max = target;
  goal.tokens_per_turn = situation.tokens_per_turn;
  if (situation.cache_read > 0)
    goal.rewrite_turns =
        std::max(0.0, situation.cache_write - situation.cache_read) / situation.cache_read;
  goal.tokens_gain = std::max<std::uint64_t>(threshold / 16, 1);
  return goal;
}

StrategyPtr edit_strategy(const GatewayPolicy& policy, const EditGoal& goal,
                          const StrategyPtr& summary) {
  switch (policy.mode) {
    case Mode::observe: return nullptr;
    case Mode::tidy: {
      // While the cache lives, no more than is needed, and the newest first: the longest beginning
      // stays as it was.
      const bool late = !goal.is_cold;
      const StrategyPtr clear = clear_tool_results({.keep = policy.keep_results, .late = late});
      if (summary) return clear;
      return pipeline({supersede({.late = late}), dedupe({.late = late}), clear});
    }
    case Mode::fit:
    case Mode::compact: break;
  }
  if (!summary) return default_strategy();
  return pipeline({summary, sliding_window()});
}

namespace {

// What a turn costs on average where requests are left to the client, in tokens read from the
// cache: coding agents compact by themselves at about four fifths of the window, and begin again
// with about a twentieth. Their compaction is a request of its own, with a summary as its answer,
// and what they begin with is written.
double tokens_left_alone(const EditGoal& goal) {
  constexpr double compacts_at = 0.8, begins_with = 0.05, compaction_turns = 2.5;
  return static_cast<double>(goal.tokens_limit) * (compacts_at + begins_with) / 2 +
         compaction_turns * static_cast<double>(goal.tokens_per_turn);
}

// An edit has the conversation grow once more from `after` to `before`, instead of what would
// follow. Those turns have to cost less than turns cost on average without it, by what the edit
// itself costs: while the cache lives, what is left is written again; else less is written than
// without it. Both sides in tokens read from the cache, times the growth of a turn.
bool is_cheaper_than_none(const EditGoal& goal, double before, double after) {
  const double freed = before - after, growth = static_cast<double>(goal.tokens_per_turn);
  const double gained_now =
      goal.is_cold ? freed * (goal.rewrite_turns + 1) : -after * goal.rewrite_turns;
  return gained_now * growth + freed * (tokens_left_alone(goal) - (before + after) / 2) >= 0;
}

}  // namespace

bool is_worth(const GatewayPolicy& policy, const EditGoal& goal, std::uint64_t before,
              std::uint64_t after) {
  if (after >= before) return false;
  if (policy.mode == Mode::fit) return after <= goal.tokens_limit;
  if (!goal.is_over_limit &&
      !is_cheaper_than_none(goal, static_cast<double>(before), static_cast<double>(after)))
    return false;
  if (!goal.is_over_limit && !goal.is_cold) {
    const double freed = static_cast<double>(before - after),
                 growth = static_cast<double>(goal.tokens_per_turn);
    // Else the request stays about as large as it was, and is written again and again.
    if (before - after < before / 2) return false;
    if (freed * freed < static_cast<double>(after) * growth * goal.rewrite_turns) return false;
  }
  return after <= goal.tokens_max || before - after >= goal.tokens_gain;
}

}  // namespace undertext
