// validate: what a provider would refuse. cost: what edits cost in its cache.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/dialects.hpp"
#include "json/dialect_json.hpp"
#include "json/request.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

struct ValidateOptions : Common {
  std::optional<std::string> subject;  // a conversation, a file, or -
  RuleOptions rules;
  DialectOptions dialect;
};

bool is_file(const std::string& path) {
  const std::optional<FileStatus> about = status_of(path);
  return about && !about->is_folder;
}

bool is_conversation(Desk& desk, const Common& common, const std::string& id) {
  try {
    return static_cast<bool>(Conversation::stored_note(*desk.store(common), id));
  } catch (const Failure&) {
    return false;  // no store, no conversation
  }
}

// Which of the two a word names. A path with a slash is no id.
bool names_file(Desk& desk, const ValidateOptions& given) {
  if (!given.subject) return false;
  const std::string& subject = *given.subject;
  if (given.conversation)
    fail(ErrorCode::invalid_argument, "one at a time: a conversation, or a file", "conversation");
  if (subject == "-" || subject.find('/') != std::string::npos) return true;
  if (!is_file(subject)) return false;
  if (is_conversation(desk, given, subject))
    fail(ErrorCode::invalid_argument,
         "there is a file and a conversation of this name: say ./" + subject + " or -c " + subject,
         "conversation");
  return true;
}

std::vector<Finding> findings_of(Desk& desk, const ValidateOptions& given, Profile& profile) {
  if (names_file(desk, given)) {
    profile = chosen_profile(given.dialect);
    if (given.rules.at_version || given.rules.sent_version)
      fail(ErrorCode::invalid_argument, "a file has no versions",
           given.rules.at_version ? "at-version" : "sent-version");
    if (given.rules.request)
      fail(ErrorCode::invalid_argument, "the file is the request", "request");
    return validate_request(read_whole(*given.subject), profile).value();
  }
  Common common = given;
  if (given.subject) common.conversation = given.subject;
  const Conversation conversation = desk.conversation(common);
  const History history = conversation.history();
  profile = chosen_profile(given.dialect, conversation.settings());
  std::string request;
  return validate(view_at(history, given.rules.at_version), profile,
                  render_options(given.rules, history, profile, request))
      .value();
}

// The words of errors and repairs are long, and a cut would take what matters: on a terminal they
// are wrapped.
void print_findings(Desk& desk, const std::vector<Finding>& findings) {
  std::size_t code_cells = 0;
  for (const Finding& finding : findings) code_cells = std::max(code_cells, finding.code.size());
  const std::size_t label_at = code_cells + 2, text_at = label_at + 8;
  const std::size_t text_cells =
      std::max<std::size_t>(desk.screen().columns(), text_at + 20) - text_at;
  for (const Finding& finding : findings) {
    Line head;
    head.add(finding.code, {.bold = true})
        .pad_to(label_at)
        .add(printable(in_words(finding.place, finding.about)));
    desk.screen().print(head);
    for (auto [label, text] :
         {std::pair("error", finding.error), std::pair("repair", finding.repair)}) {
      for (const std::string& piece : wrap(printable(text), text_cells)) {
        Line line;
        line.pad_to(label_at).add(std::exchange(label, ""), quiet).pad_to(text_at).add(piece);
        desk.screen().print(line);
      }
    }
  }
}

int run_validate(Desk& desk, const ValidateOptions& given) {
  Profile profile;
  const std::vector<Finding> findings = findings_of(desk, given, profile);
  if (given.json) {
    std::string out = R"({"ok":true,"result":)";
    append_findings(out, findings);
    desk.put_json(out + "}");
  } else if (findings.empty()) {
    desk.say("nothing that " + profile.name + " would refuse");
  } else {
    print_findings(desk, findings);
    desk.finish();
    desk.note(profile.name + " would refuse this: " + std::to_string(findings.size()) +
              (findings.size() == 1 ? " finding" : " findings"));
  }
  return findings.empty() ? 0 : 2;
}

Run declare_validate(Arguments& arguments) {
  auto given = std::make_shared<ValidateOptions>();
  declare_conversation(arguments, *given);
  arguments.add({"CONVERSATION", &given->subject,
                 "The conversation; or a file with a request, or - for standard input"});
  declare_dialect(arguments, given->dialect);
  arguments.add(
      {"--at-version", &given->rules.at_version, "As the conversation was at version V", "V"});
  declare_rules(arguments, given->rules);
  return [given](Desk& desk) { return run_validate(desk, *given); };
}

struct CostOptions : Common {
  std::optional<std::uint64_t> from, to;
  std::optional<std::string> operations;  // a file
  std::uint64_t overhead = 0;
  std::string markers = "given";
  DialectOptions dialect;
};

std::string rounded(double tokens) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.1f", tokens);
  return digits;
}

int run_cost(Desk& desk, const CostOptions& given) {
  const Conversation conversation = desk.conversation(given);
  const Profile profile = chosen_profile(given.dialect, conversation.settings());
  const History history = conversation.history();
  if (!given.from && !given.operations)
    fail(ErrorCode::invalid_argument,
         "say --from, the version that was sent last; or --operations, to try", "from");
  if (given.to && given.operations)
    fail(ErrorCode::invalid_argument, "--operations are tried on the head: leave --to out",
         "operations");
  const History after =
      given.operations
          ? of_option("--operations",
                      [&] { return try_operations(conversation, read_whole(*given.operations)); })
          : history;
  if (given.from)
    of_option("--from", [&] { return history.view_at(Version(*given.from)).value(); });
  if (given.to) of_option("--to", [&] { return after.view_at(Version(*given.to)).value(); });
  const EditCost cost =
      edit_cost(after, given.from ? Version(*given.from) : history.version(),
                given.to ? Version(*given.to) : after.version(), profile,
                {.overhead = given.overhead, .markers = markers_named(given.markers)})
          .value();
  if (given.json) {
    std::string out = R"({"ok":true,"result":)";
    append_json(out, cost);
    desk.put_json(out + "}");
    return 0;
  }
  desk.say("stable: " + std::to_string(cost.stable) + " tokens, of which the cache still serves " +
           std::to_string(cost.reusable));
  desk.say("billed again: " + std::to_string(cost.rewritten) + " tokens, which costs " +
           rounded(cost.one_time) + " input tokens once");
  desk.say("saved: " + rounded(cost.saved_per_turn) + " input tokens a turn" +
           (cost.break_even_turns
                ? ", so it has paid after " + rounded(*cost.break_even_turns) + " turns"
                : ""));
  if (!cost.break_even_turns) desk.say("it never pays for the cache that is lost");
  if (cost.broken_thinking > 0)
    desk.say("signed thinking that cannot be sent any more: " +
             std::to_string(cost.broken_thinking));
  return 0;
}

Run declare_cost(Arguments& arguments) {
  auto given = std::make_shared<CostOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"--from", &given->from,
                 "The version that was sent last; with --operations the head by default", "V"});
  arguments.add({"--to", &given->to, "The version to send; by default the head", "V"});
  arguments.add(
      {"--operations", &given->operations,
       "What to try on the head: a file with a JSON list of operations, or - for standard input",
       "FILE"});
  declare_cache_markers(arguments, given->markers,
                        "Who marks requests: the caller, or render as with auto");
  arguments.add({"--overhead", &given->overhead,
                 "Tokens of tools and instructions before the messages", "N"});
  declare_dialect(arguments, given->dialect);
  return [given](Desk& desk) { return run_cost(desk, *given); };
}

}  // namespace

std::vector<Command> dialect_commands() {
  return {
      {"validate", "What a provider would refuse of a conversation, or of a request",
       "The exit status is 2 when something is found. export --dialect repairs it on the way out.\n"
       "Examples:\n"
       "  undertext validate support-17 --dialect anthropic\n"
       "  undertext validate --profile mistral - < request.json",
       declare_validate},
      {"cost", "What edits cost in a provider's prompt cache",
       "The tokens billed again because of the edits between two versions, or of operations that "
       "are only tried, and the number "
       "of\n"
       "turns after which the shorter prompt has paid for them.\n"
       "Examples:\n"
       "  undertext cost support-17 --from 12 --dialect anthropic --overhead 8000\n"
       "  undertext cost support-17 --operations plan.json --dialect anthropic --cache-markers "
       "auto",
       declare_cost},
  };
}

}  // namespace undertext
