#include "cli/dialects.hpp"

#include <algorithm>
#include <utility>

#include "base/json_text.hpp"
#include "json/dialect_json.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t profile_bytes_max = std::uint64_t{1} << 20;
constexpr std::size_t notes_max = 20;

std::vector<std::string> dialect_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < dialect_count; ++i) names.emplace_back(name(static_cast<Dialect>(i)));
  return names;
}

template <class Names>
std::string listed(const Names& names) {
  std::string out;
  for (const auto& name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

Profile profile_in(const std::string& path) {
  std::string json;
  try {
    json = read_whole(path, profile_bytes_max);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::not_found) throw;
    fail(ErrorCode::not_found,
         failure.error().message + "; profiles that need no file are " + listed(profile_names()),
         "profile");
  }
  Result<Profile> profile = Profile::parse(json);
  if (!profile) {
    profile.error().message = path + ": " + profile.error().message;
    throw Failure(profile.error());
  }
  return std::move(*profile);
}

template <class T, class Spell>
void note_each(const Desk& desk, const std::vector<T>& list, const Spell& spell) {
  for (std::size_t i = 0; i < list.size() && i < notes_max; ++i) desk.note(spell(list[i]));
  if (list.size() > notes_max)
    desk.note("and " + std::to_string(list.size() - notes_max) +
              " more of these (--json prints all)");
}

}  // namespace

void declare_dialect(Arguments& arguments, DialectOptions& options) {
  const std::vector<std::string> names = dialect_names();
  arguments.add({.names = "--dialect",
                 .to = &options.dialect,
                 .help = "The message format of a provider: " + listed(names),
                 .value = "NAME",
                 .choices = names});
  arguments.add({"--profile", &options.profile,
                 "What the provider accepts: a file (docs/dialects.md), or " +
                     listed(profile_names()) + " (default: the dialect's own)",
                 "FILE"});
}

Profile chosen_profile(const DialectOptions& options, const Settings& settings) {
  if (!options.profile) {
    const std::optional<Dialect> dialect =
        options.dialect ? dialect_named(*options.dialect) : std::nullopt;
    if (std::optional<Profile> settled = settled_profile(settings, dialect))
      return std::move(*settled);
    if (!options.dialect)
      fail(ErrorCode::invalid_argument,
           "say --dialect, one of " + listed(dialect_names()) + "; or --profile", "dialect");
    return find_profile(*options.dialect).value();
  }
  const auto names = profile_names();
  const bool is_known = std::find(names.begin(), names.end(), *options.profile) != names.end();
  Profile profile = is_known ? find_profile(*options.profile).value()
                             : of_option("--profile", [&] { return profile_in(*options.profile); });
  if (options.dialect && *options.dialect != name(profile.dialect)) {
    fail(ErrorCode::invalid_argument,
         "the profile is one of " + std::string(name(profile.dialect)) + ", not of " +
             *options.dialect,
         "profile");
  }
  return profile;
}

void declare_rules(Arguments& arguments, RuleOptions& options) {
  arguments.add({"--sent-version", &options.sent_version,
                 "What the provider saw last, where that is not the version before the edits",
                 "V"});
  arguments.add({"--request", &options.request,
                 "The other fields of the request (tools, store, …), for the rules that need them",
                 "FILE"});
}

void declare_cache_markers(Arguments& arguments, std::string& markers, const std::string& help) {
  arguments.add({.names = "--cache-markers",
                 .to = &markers,
                 .help = help,
                 .value = "WHO",
                 .choices = {"given", "auto"}});
}

CacheMarkers markers_named(const std::string& name) {
  return name == "auto" ? CacheMarkers::automatic : CacheMarkers::given;
}

ToolNames read_tool_names_of(const std::string& file) {
  const std::string json = R"({"toolNames":)" + read_whole(file) + '}';
  Result<JsonText> text = JsonText::parse(json, {});
  if (!text) throw Failure(std::move(text.error()));
  Reading reading;
  Fields fields(text->root(), file, reading);
  ToolNames names;
  read_tool_names(fields, names);
  fields.done();
  if (reading.failed()) throw Failure(reading.take_error());
  return names;
}

RenderOptions render_options(const RuleOptions& given, const History& history,
                             const Profile& profile, std::string& request) {
  RenderOptions options;
  if (given.request) request = of_option("--request", [&] { return read_whole(*given.request); });
  options.request = request;
  options.bound = given.bound == "refuse"       ? BoundThinking::refuse
                  : given.bound == "drop_block" ? BoundThinking::drop_block
                                                : BoundThinking::strip;
  const Version now = given.at_version ? Version(*given.at_version) : history.version();
  options.sent_before = views_sent(history, now, profile).value();
  if (given.sent_version)
    options.sent = of_option("--sent-version",
                             [&] { return history.view_at(Version(*given.sent_version)).value(); });
  options.cache_markers = markers_named(given.markers);
  if (options.cache_markers == CacheMarkers::automatic) {
    const LastRequest last{given.sent_version ? Version(*given.sent_version) : now,
                           given.sent_version.has_value()};
    options.cached = cached_prefixes(history, last, view_at(history, given.at_version)).value();
  }
  return options;
}

View view_at(const History& history, std::optional<std::uint64_t> version) {
  return version
             ? of_option("--at-version", [&] { return history.view_at(Version(*version)).value(); })
             : history.view();
}

std::string in_words(const Place& place, std::string_view about) {
  const std::string message =
      place.ordinal ? "#" + std::to_string(place.ordinal->value) : std::string();
  std::string out = !place.path.empty() ? place.path : !message.empty() ? message : "the request";
  std::string more = place.path.empty() ? std::string() : message;
  if (!more.empty() && !about.empty()) more += ", ";
  more += about;
  return more.empty() ? out : out + " (" + more + ")";
}

void note_rendering(const Desk& desk, const Rendering& rendering) {
  note_each(desk, rendering.findings, [](const Finding& finding) {
    return "found " + std::string(finding.code) + " at " + in_words(finding.place, finding.about) +
           ": " + std::string(finding.repair);
  });
  note_each(desk, rendering.losses, [](const Loss& loss) {
    return "lost " + std::string(loss.code) + " (" + std::string(name(loss.severity)) + ") at " +
           in_words(loss.place) + ": " + std::string(loss.note);
  });
  note_each(desk, rendering.advice, [](const std::string& advice) { return "advice: " + advice; });
}

std::map<std::string, std::uint64_t> left_out_of(const Imported& imported, std::string_view given) {
  std::map<std::string, std::uint64_t> left_out;
  const Result<JsonText> rest = JsonText::parse(imported.rest, {.depth = 512});
  if (rest && rest->root().is(JsonType::object)) {
    for (const JsonMember member : rest->root().members())
      ++left_out[member.key.string() + " of the request"];
  }
  // Of a response with several answers, the first is taken.
  const Result<JsonText> response = JsonText::parse(given, {.depth = 512});
  if (!response || !response->root().is(JsonType::object)) return left_out;
  for (const std::string_view list : {"choices", "candidates"}) {
    const std::optional<JsonValue> answers = response->root().find(list);
    if (!answers || !answers->is(JsonType::array)) continue;
    std::uint64_t count = 0;
    for ([[maybe_unused]] const JsonValue answer : answers->elements()) ++count;
    if (count > 1) left_out["further " + std::string(list) + " of the response"] = count - 1;
  }
  return left_out;
}

}  // namespace undertext
