// eval: what compactions keep, of a conversation that had some, or of a strategy that is tried on a
// transcript.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/models.hpp>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/terminal.hpp"
#include "json/operation_json.hpp"
#include "transfer/transcript.hpp"

namespace undertext {
namespace {

struct EvalOptions : Common {
  std::optional<std::string> subject, strategy, target, facts, model;
  std::vector<std::string> least;
  bool lost = false;
};

using FactsByName = std::vector<std::pair<std::string, std::vector<std::string>>>;

// One compaction, as it was or as it would be.
struct Compaction {
  std::uint64_t version = 0;  // the one it made; 0: it was only tried
  std::string strategy, summariser;
  std::uint64_t tokens_before = 0, tokens_after = 0, prefix_tokens = 0;
  std::vector<std::pair<std::string, Survival::Count>> kinds;
};

double number_of(std::string_view text, std::string_view option) {
  constexpr double number_max = 1e15;  // exact, and no less than any number of tokens
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // from_chars reads "nan" and "inf" too
  if (error != std::errc() || end != text.data() + text.size() || !(number >= 0) ||
      number > number_max)
    fail(ErrorCode::invalid_argument,
         std::string(option) + " takes a number, and \"" + std::string(text) + "\" is none");
  return number;
}

// "15%" of the tokens, or as many.
std::uint64_t target_of(const std::string& text, std::uint64_t tokens) {
  if (!text.ends_with('%')) return static_cast<std::uint64_t>(number_of(text, "--target"));
  return static_cast<std::uint64_t>(
      number_of(std::string_view(text).substr(0, text.size() - 1), "--target") / 100 *
      static_cast<double>(tokens));
}

// {"constraints":["…"],…}: of a file of facts, or the member `facts` of a transcript.
FactsByName facts_in(const JsonValue& object) {
  FactsByName facts;
  for (const JsonMember member : object.members()) {
    facts.emplace_back(member.key.string(), std::vector<std::string>());
    if (!member.value.is(JsonType::array))
      fail(ErrorCode::invalid_argument, "facts are lists of texts, by kind", "facts");
    for (const JsonValue fact : member.value.elements()) {
      if (!fact.is(JsonType::string))
        fail(ErrorCode::invalid_argument, "a fact is a text", "facts");
      facts.back().second.push_back(fact.string());
    }
  }
  return facts;
}

std::optional<FactsByName> facts_of_text(const std::string& text) {
  const Result<JsonText> json = JsonText::parse(text, {});
  if (!json || !json->root().is(JsonType::object)) return {};
  const std::optional<JsonValue> facts = json->root().find("facts");
  return facts && facts->is(JsonType::object) ? std::optional(facts_in(*facts)) : std::nullopt;
}

FactsByName facts_of_file(const std::string& file) {
  return of_option("--facts", [&] {
    const std::string text = read_whole(file);  // which its JSON refers to
    const JsonText json = JsonText::parse(text, {}).value();
    if (!json.root().is(JsonType::object))
      fail(ErrorCode::invalid_argument, "facts are lists of texts, by kind", "facts");
    return facts_in(json.root());
  });
}

std::vector<std::pair<std::string, Survival::Count>> kinds_of(
    const History& before, const History& after, const std::optional<FactsByName>& facts) {
  std::vector<std::pair<std::string, Survival::Count>> kinds;
  if (facts) {
    for (const auto& [kind, texts] : *facts) kinds.emplace_back(kind, survival_of(texts, after));
    return kinds;
  }
  const Survival survived = survival(before, after);
  for (std::size_t i = 0; i < fact_kind_count; ++i)
    kinds.emplace_back(name(static_cast<FactKind>(i)), survived.kinds[i]);
  return kinds;
}

Compaction compaction_at(const History& history, const Receipt& receipt,
                         const std::optional<FactsByName>& facts) {
  const History after = history.fork(Version(receipt.version)).value();
  const History before = history.fork(Version(receipt.version - 1)).value();
  Compaction made{receipt.version,
                  receipt.strategy.empty() ? "by hand" : receipt.strategy,
                  receipt.summariser,
                  receipt.tokens_before,
                  receipt.tokens_after,
                  0,
                  kinds_of(before, after, facts)};
  made.prefix_tokens =
      edit_cost(after, before.version(), after.version(), CacheRules()).value().stable;
  return made;
}

StrategyPtr strategy_named(const std::string& given, const Settings& settings) {
  std::string line = R"({"operation":"COMPRESS","strategy":)";
  if (given.starts_with('{')) {
    line += given;
  } else {
    append_json_string(line, given);
  }
  line += "}";
  return of_option("--strategy", [&] {
    const JsonText text = JsonText::parse(line, {}).value();
    return read_operation(text.root(), settings).value().compress_by.strategy;
  });
}

// Tries the strategy on the head, in memory.
Compaction tried(Conversation conversation, const EvalOptions& given,
                 const std::optional<FactsByName>& facts) {
  const History before = conversation.history();
  const StrategyPtr strategy =
      strategy_named(given.strategy.value_or("default"), conversation.settings());
  const std::uint64_t target = target_of(given.target.value_or("15%"), before.stats().tokens);
  const Outcome outcome = conversation.compress(*strategy, {.tokens_max = target}).value();
  const History after = conversation.history();
  Compaction made{0,
                  outcome.receipt ? outcome.receipt->strategy : std::string(strategy->name()),
                  outcome.receipt ? outcome.receipt->summariser : std::string(),
                  before.stats().tokens,
                  after.stats().tokens,
                  0,
                  kinds_of(before, after, facts)};
  made.prefix_tokens =
      edit_cost(after, before.version(), after.version(), CacheRules()).value().stable;
  return made;
}

Conversation conversation_of(const std::string& text, const EvalOptions& given) {
  Settings settings;
  settings.model = given.model.value_or("");
  Conversation conversation = Conversation::open(settings).value();
  const ImportedTranscript transcript = read_transcript(text).value();
  for (Operation& operation : operations_of(transcript))
    conversation.apply(std::move(operation)).value();
  return conversation;
}

std::string dollars(std::uint64_t tokens, double price) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "$%.4f", static_cast<double>(tokens) * price / 1e6);
  return digits;
}

void print(Desk& desk, const Compaction& made, std::optional<double> price, bool lost) {
  Line head;
  head.add(made.version == 0 ? "tried" : "version " + std::to_string(made.version), {.bold = true});
  head.add("  " + printable(made.strategy) +
           (made.summariser.empty() ? "" : " (" + printable(made.summariser) + ")"));
  desk.screen().print(head);
  const auto say = [&](std::string_view what, const std::string& value) {
    Line line;
    line.add("  ").add(what, quiet).pad_to(18).add(value);
    desk.screen().print(line);
  };
  const double part = made.tokens_before == 0 ? 1
                                              : static_cast<double>(made.tokens_after) /
                                                    static_cast<double>(made.tokens_before);
  say("tokens", std::to_string(made.tokens_before) + " -> " + std::to_string(made.tokens_after) +
                    "  (" + percent(part) + ")");
  say("prefix kept", std::to_string(made.prefix_tokens) + " tokens");
  if (price)
    say("a request",
        dollars(made.tokens_before, *price) + " -> " + dollars(made.tokens_after, *price));
  for (const auto& [kind, count] : made.kinds) {
    if (count.facts == 0) continue;
    say(printable(kind), std::to_string(count.kept) + " of " + std::to_string(count.facts) + "  " +
                             percent(count.part()));
    if (!lost) continue;
    for (const std::string& fact : count.lost) {
      Line line;
      line.add("    lost: ", quiet).add(printable(fact));
      desk.screen().print(line);
    }
  }
}

void append_count(std::string& out, const Survival::Count& count) {
  out += R"({"facts":)" + std::to_string(count.facts) + R"(,"kept":)" + std::to_string(count.kept) +
         R"(,"lost":[)";
  for (std::size_t i = 0; i < count.lost.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, count.lost[i]);
  }
  out += "]}";
}

std::string json_of(const std::vector<Compaction>& compactions, std::optional<double> price) {
  std::string out = R"({"ok":true,"result":{"compactions":[)";
  for (std::size_t i = 0; i < compactions.size(); ++i) {
    const Compaction& made = compactions[i];
    out += i == 0 ? "{" : ",{";
    if (made.version > 0) out += R"("version":)" + std::to_string(made.version) + ",";
    out += R"("strategy":)";
    append_json_string(out, made.strategy);
    if (!made.summariser.empty()) {
      out += R"(,"summariser":)";
      append_json_string(out, made.summariser);
    }
    out += R"(,"tokensBefore":)" + std::to_string(made.tokens_before) + R"(,"tokensAfter":)" +
           std::to_string(made.tokens_after) + R"(,"prefixTokens":)" +
           std::to_string(made.prefix_tokens);
    if (price) {
      out += R"(,"dollarsBefore":)" + dollars(made.tokens_before, *price).substr(1) +
             R"(,"dollarsAfter":)" + dollars(made.tokens_after, *price).substr(1);
    }
    out += R"(,"survival":{)";
    for (std::size_t k = 0; k < made.kinds.size(); ++k) {
      if (k > 0) out += ',';
      append_json_string(out, made.kinds[k].first);
      out += ':';
      append_count(out, made.kinds[k].second);
    }
    out += "}}";
  }
  return out + "]}}";
}

// Which parts are below what was asked for, one text each.
std::vector<std::string> below(const std::vector<Compaction>& compactions,
                               const std::vector<std::string>& least) {
  std::vector<std::string> found;
  for (const std::string& asked : least) {
    const std::size_t equals = asked.find('=');
    if (equals == asked.npos)
      fail(ErrorCode::invalid_argument, "--min takes KIND=PART, such as constraints=1");
    const std::string kind = asked.substr(0, equals);
    const double part = number_of(std::string_view(asked).substr(equals + 1), "--min");
    bool is_known = compactions.empty();
    for (const Compaction& made : compactions)
      for (const auto& [name, count] : made.kinds) {
        if (name != kind) continue;
        is_known = true;
        if (count.part() < part)
          found.push_back(kind + ": " + percent(count.part()) + " of them survive" +
                          (made.version == 0 ? "" : " in version " + std::to_string(made.version)) +
                          "; " + percent(part) + " was asked for");
      }
    if (!is_known)
      fail(ErrorCode::invalid_argument, "there are no facts of the kind \"" + kind + "\"", "min");
  }
  return found;
}

int run_eval(Desk& desk, const EvalOptions& given) {
  add_models_of(given.models);
  std::optional<FactsByName> facts;
  if (given.facts) facts = facts_of_file(*given.facts);
  std::vector<Compaction> compactions;
  std::string model = given.model.value_or("");
  const bool is_file =
      given.subject && (*given.subject == "-" || std::filesystem::is_regular_file(*given.subject));
  if (is_file) {
    const std::string text = read_whole(*given.subject);
    if (!facts) facts = facts_of_text(text);
    compactions.push_back(tried(conversation_of(text, given), given, facts));
  } else {
    Common common = given;
    if (given.subject) common.conversation = given.subject;
    const Conversation conversation = desk.conversation(common);
    if (model.empty()) model = conversation.settings().model;
    const History history = conversation.history();
    if (given.strategy || given.target) {
      compactions.push_back(
          tried(conversation.trial(conversation.version()).value(), given, facts));
    } else {
      for (const Receipt& receipt : history.receipts())
        compactions.push_back(compaction_at(history, receipt, facts));
    }
  }
  const std::optional<double> price = find_model(model).prices.input;
  if (given.json) {
    desk.put_json(json_of(compactions, price));
  } else {
    for (const Compaction& made : compactions) print(desk, made, price, given.lost);
    if (compactions.empty()) desk.say("this conversation has never been compressed");
  }
  const std::vector<std::string> too_low = below(compactions, given.least);
  desk.finish();
  for (const std::string& text : too_low) desk.note(text);
  return too_low.empty() ? 0 : 1;
}

Run declare_eval(Arguments& arguments) {
  auto given = std::make_shared<EvalOptions>();
  declare_conversation(arguments, *given);
  arguments.add({"CONVERSATION", &given->subject,
                 "Which conversation; or a file with a transcript, or - for standard input"});
  arguments.add({"--strategy", &given->strategy,
                 "Try this one, by name or as JSON (of a transcript: default)", "NAME"});
  arguments.add({"--target", &given->target,
                 "What it is to come down to: tokens, or a part such as 15% (default: 15%)", "N"});
  arguments.add(
      {"--facts", &given->facts,
       "Look for these: a JSON object of lists of texts, by kind (default: what the digest finds)",
       "FILE"});
  arguments.add({"--min", &given->least,
                 "Exit with status 1 where less of a kind survives, such as constraints=1",
                 "KIND=PART"});
  arguments.add({"--model", &given->model,
                 "Whose tokens and prices count (of a conversation: its own)", "NAME"});
  arguments.add({"--lost", &given->lost, "List what did not survive"});
  return [given](Desk& desk) { return run_eval(desk, *given); };
}

}  // namespace

std::vector<Command> eval_commands() {
  return {{"eval", "Show what compactions keep, of a conversation or a transcript",
           "Without --strategy, every compaction of a conversation is looked at. A transcript that "
           "is a JSON object may have\n"
           "its facts in a member `facts`.\n\n"
           "Examples:\n"
           "  undertext eval support-17\n"
           "  undertext eval session.jsonl --target 15% --min constraints=1 --min changedFiles=1\n"
           "  undertext eval session.jsonl --strategy sliding_window --lost",
           declare_eval}};
}

}  // namespace undertext
