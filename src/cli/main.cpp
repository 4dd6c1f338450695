// The `undertext` command: what may be written on its command line. What the commands do stands in exec.hpp, count.hpp, vocabulary.hpp
// and demo.hpp.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <undertext/undertext.hpp>

#include "cli/count.hpp"
#include "cli/demo.hpp"
#include "cli/exec.hpp"
#include "cli/vocabulary.hpp"

namespace {

constexpr const char* examples = R"(Examples:
  undertext demo
      Shows in twenty seconds what Undertext does.

  echo '{"operation":"APPEND","messages":[{"role":"user","content":"Hello"}]}' | undertext exec
      Applies one operation to an empty conversation, and prints what it did.

  undertext exec --config '{"tokenLimit":8000,"pairs":"shrink"}' < lines.jsonl
      Plays operations and queries, one JSON line each, with settings.

'undertext exec --help' explains the lines.)";

constexpr const char* exec_lines_help = R"(Each line is an operation, a list of operations (all or nothing), or a query:
  {"operation":"APPEND","messages":[{"role":"user","content":"Hello"}]}
  {"operation":"TRUNCATE","keepLast":20}
  {"operation":"ROLLBACK","targetBatchIndex":0}
  [{"operation":"CLEAR"},{"operation":"APPEND","messages":[{"role":"user","content":"Again"}]}]
  {"operation":"COMPRESS","strategy":{"name":"smart_summary"},"targetTokens":4000}
  {"query":"messages","role":"user","last":3}
  {"query":"fit","budget":{"window":128000,"reserve":8000}}

Each is answered with one line, {"ok":true,...} or {"ok":false,"error":{"code":...,"field":...,"message":...}}.
The exit status is 0 at the end of input, 1 when input or output fails, 2 for options that are no good.)";

// https://no-color.org: set and not empty means no colour.
bool color_is_welcome() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

int run(int argc, char** argv) {
  CLI::App app(
      "Undertext keeps the message array that an LLM agent sends to its model.\n"
      "Every edit is an operation, no edit loses anything, every earlier state can be read and restored.",
      "undertext");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("undertext ") + std::string(undertext::library_version()),
                       "Print the version and exit");
  app.footer(examples);

  undertext::ExecOptions exec_options;
  CLI::App* exec = app.add_subcommand("exec", "Read JSON lines from standard input, answer each with one JSON line");
  exec->footer(exec_lines_help);
  exec->add_option("--store", exec_options.store, "Where the conversation is kept: memory:, sqlite:PATH or postgres://…")
      ->type_name("URL");
  exec->add_option("--conversation", exec_options.conversation, "Which conversation of the store")->type_name("ID");
  exec->add_option("--checkpoint", exec_options.checkpoint_versions, "Write a checkpoint after so many versions")
      ->type_name("VERSIONS")
      ->capture_default_str();
  exec->add_option("--config", exec_options.config,
                   "Settings: tokenizer, tokenLimit, pairs, limits {messageBytes, lineBytes}, compressionConfig, summarisers")
      ->type_name("JSON");

  undertext::CountOptions count_options;
  CLI::App* count = app.add_subcommand("count", "Count the tokens of files");
  count
      ->add_option("--tokenizer", count_options.tokenizer,
                   "o200k_base, cl100k_base, estimate, a model's name, or the path of a tokenizer.json; o200k_base unless told")
      ->type_name("NAME");
  count->add_flag("--json", count_options.json, "One line of JSON a file: file, bytes, tokens");
  count->add_flag("--messages", count_options.messages,
                  "The files hold messages, a JSON array or one a line: count what they cost in a request");
  count->add_option("FILE", count_options.files, "Files to count; - is standard input")->required()->type_name("");

  undertext::VocabularyOptions vocabulary_options;
  CLI::App* vocabulary = app.add_subcommand("vocabulary", "Make a vocabulary file out of a .tiktoken file");
  vocabulary->add_option("RANKS", vocabulary_options.ranks, "Such as o200k_base.tiktoken")->required()->type_name("");
  vocabulary->add_option("OUT", vocabulary_options.out, "Such as o200k_base.vocabulary")->required()->type_name("");

  bool no_color = false, no_wait = false;
  CLI::App* demo = app.add_subcommand("demo", "Play a short conversation in the terminal: edits, batches, rollback");
  demo->add_flag("--no-color", no_color, "Print without colours");
  demo->add_flag("--no-wait", no_wait, "Print without pauses");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_text) {  // --help, --version
    return app.exit(asked_for_text);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return 2;
  }
  if (exec->parsed()) return undertext::run_exec(exec_options);
  if (count->parsed()) return undertext::run_count(count_options);
  if (vocabulary->parsed()) return undertext::run_vocabulary(vocabulary_options);
  return undertext::run_demo({.color = color_is_welcome() && !no_color, .animate = isatty(STDOUT_FILENO) == 1 && !no_wait});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "undertext: %s\n", exception.what());
    return 1;
  }
}
