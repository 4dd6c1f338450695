#include "cli/demo.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/conversation.hpp>

#include "base/json_text.hpp"
#include "cli/demo_picture.hpp"
#include "cli/terminal.hpp"
#include "json/operation_json.hpp"

namespace undertext {

namespace {

constexpr std::uint64_t token_budget = 800;

// What the agent's tools answered, as bodies of JSON strings. The first is long, and of no use a
// few turns later.
std::string test_log() {
  std::string log = "1 failed, 44 passed: test_discount, 118 != 119\\n";
  for (int i = 1; i <= 44; ++i)
    log += "PASSED tests/test_cart.py::test_total[case " + std::to_string(i) + "]\\n";
  return log;
}

constexpr std::string_view source_file =
    R"(# cart.py\nfrom decimal import Decimal, ROUND_HALF_UP\n\nTAX = Decimal('0.10')\n\n\ndef rounded(amount):\n)"
    R"(    return amount.quantize(Decimal('1'), ROUND_HALF_UP)\n\n\n)"
    R"(class Cart:\n    def __init__(self):\n        self.lines = []\n\n)"
    R"(    def add(self, name, price, count=1):\n        self.lines.append((name, Decimal(price), count))\n\n)"
    R"(    def net(self):\n        return sum(price * count for _, price, count in self.lines)\n\n)"
    R"(    def total(self, discount=Decimal(0)):\n        taxed = rounded(self.net() * (1 + TAX))\n)"
    R"(        return rounded(taxed * (1 - discount))\n)";

std::string append_first_messages() {
  std::string json = R"({"operation":"APPEND","messages":[)";
  json += R"({"role":"system","content":"You are a coding agent. Test what you change."},)";
  json += R"({"role":"user","content":"The build is red. Please find out why."},)";
  json += R"({"role":"assistant","content":"I will run the tests first.",)";
  json += R"("toolCalls":[{"id":"call_1","name":"run_tests","arguments":{"path":"tests"}}]},)";
  json += R"({"role":"tool","toolCallId":"call_1","content":")" + test_log() + R"("},)";
  json += R"({"role":"assistant","content":"One fails. I will read the code.",)";
  json += R"("toolCalls":[{"id":"call_2","name":"read_file","arguments":{"path":"cart.py"}}]},)";
  json +=
      R"({"role":"tool","toolCallId":"call_2","content":")" + std::string(source_file) + R"("},)";
  json += R"({"role":"assistant","content":"Done: I deleted the test that failed."},)";
  json += R"({"role":"user","content":"What do we tell our customer in Tokyo?"}],)";
  json += R"("description":"a bug report, and work on it"})";
  return json;
}

// One performance: a conversation, the screen it is shown on, and a copy of every view, taken when
// its version was made.
class Performance {
 public:
  Performance(Conversation conversation, Screen& screen)
      : conversation_(std::move(conversation)), screen_(screen) {
    remember();
  }

  void title() {
    leave_gap();
    say("Undertext", {.color = tint::accent, .bold = true}, 2);
    say("keeps the message array that an agent sends to its model.", {}, 2);
    say("Every edit is an operation, and no edit loses anything.", {}, 2);
    screen_.pause_ms(600);
  }

  void scene(int number, std::string_view caption) {
    leave_gap();
    const std::vector<std::string> lines = wrap(caption, room_after(5));
    for (const std::string& text : lines) {
      Line line;
      if (&text == &lines.front())
        line.add(" " + std::to_string(number) + " ", {.color = 231, .background = tint::accent});
      print(line.pad_to(5).add(text, {.bold = true}));
    }
    leave_gap();
    screen_.pause_ms(600);
  }

  // Carries out the operation that the JSON spells, and shows the JSON.
  Outcome apply(std::string_view json) {
    before_ = conversation_.version();
    const JsonText text = JsonText::parse(json, {}).value();
    SpelledOperation spelled = read_operation(text.root()).value();
    const StrategyPtr strategy = spelled.compress_by.strategy;
    Outcome outcome =
        (strategy ? conversation_.compress(*strategy,
                                           {.operation = std::move(spelled.operation.options)})
                  : conversation_.apply(std::move(spelled.operation)))
            .value();
    remember();
    Line line;
    line.add_right("v" + std::to_string(outcome.version.value), 6, {.color = tint::accent})
        .pad_to(8);
    print(line.add(clip(printable(json), room_after(8)), {.color = tint::quiet}));
    screen_.pause_ms(150);
    return outcome;
  }

  // The view, against the one before the last operation, or before those since `before`.
  void draw(ShownRows rows) { draw_since(before_, rows); }
  void draw_since(Version before, ShownRows rows) {
    leave_gap();
    draw_view(screen_, conversation_.history(), before, token_budget, rows);
    gap_ = false;
    leave_gap();
    screen_.pause_ms(750);
  }
  void draw_versions() {
    leave_gap();
    draw_timeline(screen_, conversation_.history(), token_budget);
    gap_ = false;
    leave_gap();
    screen_.pause_ms(750);
  }

  void say(std::string_view text, Style style = {}, std::size_t column = 8) {
    for (const std::string& line : wrap(text, room_after(column)))
      print(Line().pad_to(column).add(line, style));
  }
  void leave_gap() {
    if (!gap_) screen_.print();
    gap_ = true;
  }
  void pause_ms(std::uint32_t time_ms) { screen_.pause_ms(time_ms); }

  const Conversation& conversation() const { return conversation_; }
  Version version() const { return conversation_.version(); }
  bool same_view(Version a, Version b) const { return views_[a.value] == views_[b.value]; }
  std::size_t version_count() const { return views_.size(); }

  // How many versions read now, byte for byte, as they did when they were made.
  std::size_t count_intact_versions() const {
    const History history = conversation_.history();
    std::size_t count = 0;
    for (std::size_t v = 0; v < views_.size(); ++v) {
      if (const Result<View> view = history.view_at(Version(v));
          view && bytes_of(*view) == views_[v])
        ++count;
    }
    return count;
  }

 private:
  static std::string bytes_of(const View& view) {
    std::string bytes;
    for (const Message& message : view) bytes.append(message.json()).append("\n");
    return bytes;
  }
  void remember() { views_.push_back(bytes_of(conversation_.view())); }
  void print(const Line& line) {
    screen_.print(line);
    gap_ = false;
  }
  std::size_t room_after(std::size_t column) const {
    return screen_.columns() - std::min(screen_.columns(), column);
  }

  Conversation conversation_;
  Screen& screen_;
  std::vector<std::string> views_;  // by version
  Version before_;
  bool gap_ = false;  // the last line is empty
};

// Shows whether something that must hold does.
bool show_check(Performance& show, bool holds, std::string_view text) {
  show.say((holds ? "✓ " : "✗ ") + std::string(text), {.color = holds ? tint::good : tint::over});
  show.pause_ms(500);
  return holds;
}

bool show_same(Performance& show, Version then, Version now) {
  return show_check(show, show.same_view(then, now),
                    "v" + std::to_string(now.value) + " is v" + std::to_string(then.value) +
                        " again, byte for byte");
}

void play_edits(Performance& show) {
  show.scene(1, "An agent has worked on a bug. This is what its model will read next.");
  show.apply(append_first_messages());
  show.apply(
      R"({"operation":"MARK","indices":[0],"mark":"pinned","description":"protect the system prompt"})");
  show.draw_since(Version(0), ShownRows::all);
  show.say("+ new · − hidden · ◆ pinned · ╭╰ a tool call and its result", {.color = tint::quiet});

  show.scene(2, "A hint for one turn only: the hint goes, the answer it brought stays.");
  const Version before_hint = show.version();
  show.apply(R"({"operation":"START_BATCH","description":"a point to come back to"})");
  show.apply(
      R"({"operation":"APPEND","messages":[{"role":"user","content":"For this turn only: she reads Japanese."}],)"
      R"("description":"a hint"})");
  show.apply(R"({"operation":"APPEND","messages":[{"role":"assistant","content":")"
             R"(原因は消費税の丸め方です。割引の後に丸めます。"}],"description":"the answer"})");
  show.draw_since(before_hint, ShownRows::near_changes);
  show.apply(
      R"({"operation":"END_BATCH","targetBatch":0,"carry":["assistant"],"description":"hint gone"})");
  show.draw(ShownRows::near_changes);

  show.scene(3, "A wrong answer misleads every later turn. Replace it; the log keeps it.");
  show.apply(
      R"({"operation":"REPLACE","index":6,"message":{"role":"assistant","content":)"
      R"("Done: the tax is now rounded once, and last."},"description":"the wrong answer put right"})");
  show.draw(ShownRows::near_changes);
}

// `compressed` becomes the version in which a summary stands for the old messages.
bool play_cuts(Performance& show, Version& compressed) {
  show.scene(4, "Over budget. Keeping the last four tears a tool result from its call.");
  const Outcome cut =
      show.apply(R"({"operation":"TRUNCATE","keepLast":4,"description":"the usual cut"})");
  show.draw(ShownRows::all);
  for (const Warning& warning : cut.warnings) {
    show.say("! " + std::string(name(warning.code)) + ": #" +
                 std::to_string(warning.ordinal.value) + " has lost " + warning.tool_call_id +
                 "; model providers refuse that",
             {.color = tint::warning});
  }
  show.pause_ms(1000);
  show.leave_gap();
  show.apply(R"({"operation":"UNDO"})");
  show.apply(
      R"({"operation":"TRUNCATE","keepLast":4,"pairs":"shrink","description":"whole pairs only"})");
  show.draw_since(cut.version, ShownRows::all);
  show.apply(R"({"operation":"UNDO"})");

  show.scene(5, "Strategies only propose, and never tear a pair: a stub for the long result,");
  const Version whole = show.version();
  show.apply(
      R"({"operation":"COMPRESS","strategy":{"name":"clear_tool_results","keep":1},"description":"a stub for the log"})");
  show.draw(ShownRows::near_changes);

  show.scene(6, "or a digest of all that is old, which still knows what it stands for.");
  show.apply(
      R"({"operation":"COMPRESS","strategy":{"name":"smart_summary","keep":2},"description":"six messages in one"})");
  compressed = show.version();
  show.draw(ShownRows::all);
  show.apply(R"({"operation":"EXPAND","index":1,"description":"the messages again"})");
  show.apply(R"({"operation":"EXPAND","index":3,"description":"and the log itself"})");
  show.draw(ShownRows::near_changes);
  return show_same(show, whole, show.version());
}

bool play_returns(Performance& show, Version compressed) {
  show.scene(7, "Roll back to batch 0: all is there. And on again from any version.");
  show.apply(R"({"operation":"ROLLBACK","targetBatchIndex":0,"description":"before any edit"})");
  show.draw(ShownRows::all);
  show.apply(R"({"operation":"RESTORE","version":)" + std::to_string(compressed.value) + "}");
  show.leave_gap();
  const bool restored = show_same(show, compressed, show.version());

  show.scene(8, "Every version is still there, with its batch and its tokens.");
  show.draw_versions();
  const std::size_t count = show.version_count(), intact = show.count_intact_versions();
  const bool all_intact =
      show_check(show, intact == count,
                 std::to_string(intact) + " of " + std::to_string(count) +
                     " versions read back, byte for byte as they were; " +
                     std::to_string(show.conversation().stats().total_messages) +
                     " messages in the log, none lost");
  show.leave_gap();
  show.say("Now you:");
  show.say("echo '{\"query\":\"stats\"}' | undertext exec", {.color = tint::accent}, 10);
  show.say("undertext exec --help", {.color = tint::accent}, 10);
  show.say("undertext --help", {.color = tint::accent}, 10);
  show.leave_gap();
  return restored && all_intact;
}

}  // namespace

int run_demo(const DemoOptions& options) {
  // Wider, the eye would lose the row.
  constexpr std::size_t columns_max = 100;
  Screen screen({.color = options.color,
                 .animate = options.animate,
                 .columns = std::min(terminal_columns(), columns_max)});
  // A clock of its own, so that two performances are alike.
  std::int64_t now_ms = 1'750'000'000'000;
  Settings settings{.token_limit = token_budget, .clock_ms = [&now_ms] { return now_ms += 1000; }};
  Performance show(Conversation::open(std::move(settings)).value(), screen);

  show.title();
  play_edits(show);
  Version compressed;
  const bool expanded = play_cuts(show, compressed);
  const bool returned = play_returns(show, compressed);
  return screen.flush() && expanded && returned ? 0 : 1;
}

}  // namespace undertext
