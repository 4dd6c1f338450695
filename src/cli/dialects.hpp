// Requests of providers on the command line: what export, import and validate share.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "cli/command.hpp"
#include "cli/desk.hpp"

namespace undertext {

struct DialectOptions {
  std::optional<std::string> dialect = {};
  std::optional<std::string> profile = {};  // a name of the library's, else a file

  bool are_given() const { return dialect || profile; }
};
void declare_dialect(Arguments& arguments, DialectOptions& options);  // --dialect, --profile

// The profile, or what the settings or their model have for the dialect, or the dialect's own.
// Throws Failure. invalid_argument: neither is given, or the profile is of another dialect or
// cannot be read; not_found: no such profile, no such file.
Profile chosen_profile(const DialectOptions& options, const Settings& settings = {});

// The toolNames of an answer of render, in a file. Throws Failure.
ToolNames read_tool_names_of(const std::string& file);

// What the rules ask for besides the messages.
struct RuleOptions {
  std::optional<std::uint64_t> at_version = {};
  std::optional<std::uint64_t> sent_version = {};
  std::optional<std::string> request = {};  // a file
  std::string bound = "strip";
  std::string markers = "given";
};
// --cache-markers
void declare_cache_markers(Arguments& arguments, std::string& markers, const std::string& help);
// "given" or "auto"
CacheMarkers markers_named(const std::string& name);
// --sent-version, --request
void declare_rules(Arguments& arguments, RuleOptions& options);

// As the queries of exec have them. `request` keeps what the answer borrows. Throws Failure:
// not_found, no such version or file.
RenderOptions render_options(const RuleOptions& given, const History& history,
                             const Profile& profile, std::string& request);

// default: the head's. Throws Failure: not_found
View view_at(const History& history, std::optional<std::uint64_t> version);

// "messages[1] (#2, call_1)"
std::string in_words(const Place& place, std::string_view about = {});

// Findings, losses and advice on standard error, for people: the first of each when there are many.
void note_rendering(const Desk& desk, const Rendering& rendering);

// What of a request or response did not become messages, as import reports it.
std::map<std::string, std::uint64_t> left_out_of(const Imported& imported, std::string_view given);

}  // namespace undertext
