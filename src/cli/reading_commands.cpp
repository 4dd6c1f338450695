// show, log, diff, blame, search: looking at a conversation.
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include <undertext/store_recall.hpp>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "cli/transcript_lines.hpp"
#include "json/answer_json.hpp"
#include "recall/passage.hpp"

namespace undertext {
namespace {

constexpr Style good{.color = 71};
constexpr Style gone{.color = 167};

std::vector<Role> roles_named(const std::vector<std::string>& names) {
  std::vector<Role> roles;
  for (const std::string& role : names) roles.push_back(*role_named(role));
  return roles;
}

const std::vector<std::string>& role_names() {
  static const std::vector<std::string> names{"system", "user", "assistant", "tool"};
  return names;
}

struct ShowOptions : Common {
  std::optional<std::uint64_t> first, last, at_version, at_batch;
  std::vector<std::string> roles;
  std::optional<std::string> marked, contains;
  bool all = false;
};

void print_message(Desk& desk, const ShownMessage& shown) {
  desk.screen().print(head_of(shown));
  for (const std::string& line : lines_of(shown.message)) desk.say("      " + line);
  desk.say("");
}

int show(Desk& desk, const ShowOptions& given) {
  const Conversation conversation = desk.conversation(given);
  MessageQuery query;
  query.all = given.all;
  query.roles = roles_named(given.roles);
  query.first = given.first;
  query.last = given.last;
  query.marked = given.marked;
  query.contains = given.contains;
  if (given.at_version) query.at_version = Version(*given.at_version);
  if (given.at_batch) query.at_batch = BatchIndex(*given.at_batch);
  const History history = conversation.history();
  const MessageList list = history.messages(query).value();
  if (given.json) {
    std::string out;
    append_answer(out, list);
    desk.put_json(std::move(out));
    return 0;
  }
  const View view = query.at_version ? history.view_at(*query.at_version).value()
                    : query.at_batch ? history.view_at(*query.at_batch).value()
                                     : history.view();
  const View log = history.log();
  const std::vector<std::uint64_t> pinned = history.marked(pinned_mark);
  for (std::size_t i = 0; i < list.messages.size(); ++i) {
    const std::uint64_t ordinal = list.ordinals[i].value;
    print_message(desk, {.message = list.messages[i],
                         .ordinal = list.ordinals[i],
                         .index = view.index_of(list.ordinals[i]),
                         .tokens = log.tokens(ordinal),
                         .time_ms = log.time_ms(ordinal),
                         .pinned = std::binary_search(pinned.begin(), pinned.end(), ordinal)});
  }
  return 0;
}

Run declare_show(Arguments& arguments) {
  auto given = std::make_shared<ShowOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"--first", &given->first, "Only the first N of them", "N"});
  arguments.add({"-n,--last", &given->last, "Only the last N of them", "N"});
  arguments.add({.names = "--role",
                 .to = &given->roles,
                 .help = "Only messages of this role",
                 .value = "ROLE",
                 .choices = role_names()});
  arguments.add({"--marked", &given->marked, "Only messages with this mark", "MARK"});
  arguments.add({"--contains", &given->contains, "Only messages whose text contains this", "TEXT"});
  arguments.add({"--all", &given->all, "The log: hidden messages too"});
  arguments.add({"--at-version", &given->at_version, "As it was at version V", "V"});
  arguments.add({"--at-batch", &given->at_batch, "As batch B was last seen", "B"});
  return [given](Desk& desk) { return show(desk, *given); };
}

struct LogOptions : Common {
  std::optional<std::uint64_t> count;
};

Line as_line(const VersionInfo& version) {
  Line line;
  line.add_right("v" + std::to_string(version.version), 8, {.bold = true}).pad_to(10);
  line.add(spelled_time(version.timestamp_ms), quiet).pad_to(31);
  line.add(version.version == 0 ? "(made)" : version.operation).pad_to(44);
  line.add("batch " + std::to_string(version.batch_index), quiet).pad_to(53);
  line.add_right(std::to_string(version.message_count) +
                     (version.message_count == 1 ? " message" : " messages"),
                 70)
      .add_right(std::to_string(version.tokens) + " tokens", 86);
  if (version.restores || !version.description.empty()) line.pad_to(88);
  if (version.restores) line.add("= v" + std::to_string(*version.restores) + " ", quiet);
  return line.add(printable(version.description));
}

Run declare_log(Arguments& arguments) {
  auto given = std::make_shared<LogOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"-n,--last", &given->count, "Only the newest N versions", "N"});
  return [given](Desk& desk) {
    const Conversation conversation = desk.conversation(*given);
    const History history = conversation.history();
    const std::uint64_t first = history.first_version().value;
    std::uint64_t left = given->count.value_or(std::uint64_t(-1));
    for (std::uint64_t v = history.version().value + 1; v-- > first && left-- > 0;) {
      const VersionInfo version = history.version_info(Version(v));
      if (given->json) {
        std::string out;
        append_json(out, version);
        desk.put_json(std::move(out));
      } else {
        desk.screen().print(as_line(version));
      }
    }
    return 0;
  };
}

struct DiffOptions : Common {
  Words words{.name = "VERSION", .taken_max = 2, .are_numbers = true};
};

Run declare_diff(Arguments& arguments) {
  auto given = std::make_shared<DiffOptions>();
  declare_words(arguments, *given, given->words,
                "From which version, and to which; default: to the head");
  return [given](Desk& desk) {
    const std::vector<std::uint64_t> versions = given->words.numbers(*given);
    const Conversation conversation = desk.conversation(*given);
    const History history = conversation.history();
    const Diff diff = history
                          .diff(Version(versions.front()),
                                versions.size() == 2 ? Version(versions[1]) : history.version())
                          .value();
    if (given->json) {
      std::string out;
      append_result(out, diff);
      desk.put_json(std::move(out));
      return 0;
    }
    const View log = history.log();
    const auto print = [&](const std::vector<std::uint64_t>& ordinals, const char* sign,
                           Style style) {
      for (const std::uint64_t ordinal : ordinals) {
        const Message message = log[ordinal];
        Line line;
        line.add(sign, style)
            .add(" #" + std::to_string(ordinal), style)
            .pad_to(9)
            .add(name(message.role()), style_of(message.role()));
        line.pad_to(20).add(gist_of(message, std::min<std::size_t>(desk.screen().columns(), 400)));
        desk.screen().print(line);
      }
    };
    print(diff.removed, "-", gone);
    print(diff.added, "+", good);
    print(diff.moved, "~", quiet);
    return 0;
  };
}

struct BlameOptions : Common {
  Words words{.name = "ORDINAL", .are_numbers = true};
};

Run declare_blame(Arguments& arguments) {
  auto given = std::make_shared<BlameOptions>();
  declare_words(arguments, *given, given->words,
                "The message's place in the log: the number after #");
  return [given](Desk& desk) {
    const Ordinal ordinal(given->words.numbers(*given).front());
    const Conversation conversation = desk.conversation(*given);
    const Blame blame = conversation.history().blame(ordinal).value();
    if (given->json) {
      std::string out;
      append_result(out, blame);
      desk.put_json(std::move(out));
      return 0;
    }
    const auto print = [&](const char* what, const BlameEntry& entry) {
      Line line;
      line.add(what)
          .pad_to(8)
          .add_right("v" + std::to_string(entry.version), 14, {.bold = true})
          .pad_to(16);
      line.add(spelled_time(entry.timestamp_ms), quiet).pad_to(37).add(entry.operation);
      if (!entry.description.empty()) line.pad_to(50).add(printable(entry.description));
      desk.screen().print(line);
    };
    print("stored", blame.stored);
    for (const BlameEntry& entry : blame.shown) print("shown", entry);
    for (const BlameEntry& entry : blame.hidden) print("hidden", entry);
    desk.say(blame.visible ? "visible now" : "hidden now");
    return 0;
  };
}

struct SearchOptions : Common {
  Words words{.name = "TEXT"};
  std::string text;
  std::vector<std::string> roles;
  std::uint64_t most = 20;
  bool hidden = false;
};

struct FoundMessage {
  std::string conversation;
  Ordinal ordinal;
  Message message;
  double score = 0;
  std::optional<Version> hidden_in;
};

// In all conversations. What is hidden its conversation knows.
void search_everywhere(Desk& desk, const SearchOptions& given, std::vector<FoundMessage>& found) {
  constexpr std::uint64_t tried_each = 8;  // where only hidden ones are wanted
  StoreRecall recall(desk.store(given));
  const std::uint64_t most = given.hidden ? given.most * tried_each : given.most;
  const StoreRecallQuery query{
      .text = given.text, .messages_max = most, .roles = roles_named(given.roles)};
  std::map<std::string, History> histories;
  for (StoreFound& each : recall.search(query).value().found) {
    if (found.size() >= given.most) return;
    auto history = histories.find(each.conversation);
    if (history == histories.end()) {
      Common which = given;
      which.conversation = each.conversation;
      history = histories.emplace(each.conversation, desk.conversation(which).history()).first;
    }
    const Blame blame = history->second.blame(each.ordinal).value();
    if (given.hidden && blame.visible) continue;
    std::optional<Version> hidden_in;
    if (!blame.visible && !blame.hidden.empty()) hidden_in = Version(blame.hidden.back().version);
    found.push_back({std::move(each.conversation), each.ordinal, std::move(each.message),
                     each.score, hidden_in});
  }
}

// The best of each unit.
void search_in(Desk& desk, const SearchOptions& given, const std::string& id,
               std::vector<FoundMessage>& found) {
  constexpr std::uint64_t enough_tokens = 20'000;
  Common which = given;
  which.conversation = id;
  RecallQuery query{.text = given.text, .budget_tokens = enough_tokens};
  query.which.all = !given.hidden;
  query.which.roles = roles_named(given.roles);
  const Recalled recalled = desk.conversation(which).recall(query).value();
  for (const RecalledUnit& unit : recalled.units) {
    if (unit.matched.empty()) continue;
    const Ordinal best = unit.matched.front();
    const auto at =
        std::find(unit.ordinals.begin(), unit.ordinals.end(), best) - unit.ordinals.begin();
    found.push_back(
        {id, best, unit.messages[static_cast<std::size_t>(at)], unit.score, unit.hidden_in});
  }
}

// The line that shares most words with the text, a long one from its part that does; else the first
// one.
std::string telling_line(const Message& message, const AskedWords& asked) {
  constexpr std::size_t passage_bytes = 200, lead_bytes = 40;
  std::string text;
  for (const std::string& line : lines_of(message)) text += line + "\n";
  const std::size_t at = best_passage(text, asked, passage_bytes).value_or(0);
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const std::string line = text.substr(begin, text.find('\n', at) - begin);
  if (at - begin <= passage_bytes) return line;
  return "…" + line.substr(lead_to(line, at - begin, lead_bytes));
}

void print_found(Desk& desk, const SearchOptions& given, const FoundMessage& found) {
  if (given.json) {
    std::string out = R"({"conversation":)";
    append_json_string(out, found.conversation);
    out += R"(,"ordinal":)" + std::to_string(found.ordinal.value);
    if (found.hidden_in) out += R"(,"hiddenIn":)" + std::to_string(found.hidden_in->value);
    desk.put_json((out += R"(,"message":)").append(found.message.json()) + "}");
    return;
  }
  Line line;
  line.add(printable(found.conversation), {.bold = true})
      .add(" #" + std::to_string(found.ordinal.value) + " ", quiet);
  line.add(name(found.message.role()), style_of(found.message.role()));
  desk.screen().print(line.add("  ").add(telling_line(found.message, asked_words(given.text))));
}

Run declare_search(Arguments& arguments) {
  auto given = std::make_shared<SearchOptions>();
  declare_words(arguments, *given, given->words,
                "What to look for: messages that share words with it are found");
  arguments.add({.names = "--role",
                 .to = &given->roles,
                 .help = "Only messages of this role",
                 .value = "ROLE",
                 .choices = role_names()});
  arguments.add({"-n,--most", &given->most, "At most N messages, the best ones. Default: 20", "N"});
  arguments.add({"--hidden", &given->hidden, "Only messages that the model does not see"});
  return [given](Desk& desk) {
    given->text = given->words.taken(*given).front();
    std::vector<FoundMessage> found;
    if (given->conversation) {
      search_in(desk, *given, *given->conversation, found);
    } else {
      search_everywhere(desk, *given, found);
    }
    std::stable_sort(found.begin(), found.end(), [](const FoundMessage& a, const FoundMessage& b) {
      return a.score > b.score;
    });
    if (found.size() > given->most)
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(given->most), found.end());
    for (const FoundMessage& each : found) print_found(desk, *given, each);
    return 0;
  };
}

}  // namespace

std::vector<Command> reading_commands() {
  return {
      {"show", "Print the messages that the model sees now", "", declare_show},
      {"log", "List the versions, the newest first", "", declare_log},
      {"diff", "What one version shows and another does not", "", declare_diff},
      {"blame", "Which operations stored, hid and showed a message", "", declare_blame},
      {"search", "Find messages by their words, in one conversation or in all, best first",
       "Hidden messages are found too. Endings, case and the order of words do not matter.",
       declare_search},
  };
}

}  // namespace undertext
