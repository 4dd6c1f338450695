// exec, count, models, vocabulary, demo: commands that need no store, or bring their own.
#include <memory>
#include <string_view>

#include "cli/command.hpp"
#include "cli/count.hpp"
#include "cli/demo.hpp"
#include "cli/desk.hpp"
#include "cli/exec.hpp"
#include "cli/models.hpp"
#include "cli/terminal.hpp"
#include "cli/vocabulary.hpp"
#include "json/schema_json.hpp"
#include "system/files.hpp"
#include "system/terminal.hpp"

namespace undertext {
namespace {

constexpr std::string_view exec_lines_help =
    R"(Each line is an operation, a list of operations (all or nothing), or a query:
  {"operation":"APPEND","messages":[{"role":"user","content":"Hello"}]}
  {"operation":"TRUNCATE","keepLast":20}
  {"operation":"ROLLBACK","targetBatchIndex":0}
  [{"operation":"CLEAR"},{"operation":"APPEND","messages":[{"role":"user","content":"Again"}]}]
  {"operation":"COMPRESS","strategy":{"name":"smart_summary"},"targetTokens":4000}
  {"query":"messages","role":"user","last":3}
  {"query":"fit","budget":{"window":128000,"reserve":8000}}

The answer is one line, {"ok":true,...} or {"ok":false,"error":{"code":...,"field":...,"message":...}}.
The exit status is 0 at the end of input, 1 when input or output fails, 2 for invalid options.)";

Run declare_exec(Arguments& arguments) {
  auto given = std::make_shared<ExecOptions>();
  arguments.add(
      {"--store", &given->store,
       "The store of the conversation: memory:, sqlite:PATH or postgres://… (default: memory:)",
       "URL"});
  arguments.add({"-c,--conversation", &given->conversation,
                 "The conversation of the store (default: \"default\")", "ID"});
  arguments.add({"CONVERSATION", &given->conversation, "The same"});
  arguments.add({"--checkpoint", &given->checkpoint_versions,
                 "Write a checkpoint after so many versions (default: 512)", "N"});
  arguments.add({"--config", &given->config,
                 "Settings: model, tokenizer, costs, profile, window, tokenLimit, pairs, project, "
                 "contextTools, limits "
                 "{messageBytes, lineBytes}, "
                 "compressionConfig, summarisers, embeddings",
                 "JSON|FILE"});
  arguments.add({"--model", &given->model,
                 "The model of the conversation: the setting of this name", "NAME"});
  declare_models(arguments, given->models);
  return [given](Desk&) { return run_exec(*given); };
}

Run declare_count(Arguments& arguments) {
  auto given = std::make_shared<CountOptions>();
  arguments.add({"--tokenizer", &given->tokenizer,
                 "o200k_base, cl100k_base, estimate, a model's name, or the path of a "
                 "tokenizer.json (default: o200k_base)",
                 "NAME"});
  declare_models(arguments, given->models);
  arguments.add({"--json", &given->json, "One line of JSON a file: file, bytes, tokens, exact"});
  arguments.add(
      {"--messages", &given->messages,
       "The files have messages, a JSON array or one a line: count their tokens in a request"});
  arguments.add({"--tools", &given->tools,
                 "The files have the tools of a request, a JSON array: count their tokens in it"});
  arguments.add({.names = "FILE",
                 .to = &given->files,
                 .help = "Files to count; - is standard input",
                 .required = true});
  return [given](Desk&) { return run_count(*given); };
}

Run declare_model_table(Arguments& arguments) {
  auto given = std::make_shared<ModelsOptions>();
  arguments.add(
      {"NAME", &given->name, "A model's name, in any spelling (default: the whole table)"});
  declare_models(arguments, given->models);
  arguments.add({"--json", &given->json, "One line of JSON a model"});
  return [given](Desk& desk) { return run_models(desk, *given); };
}

Run declare_schema(Arguments&) {
  return [](Desk& desk) {
    desk.put_json(protocol_schema());
    return 0;
  };
}

Run declare_vocabulary(Arguments& arguments) {
  auto given = std::make_shared<VocabularyOptions>();
  arguments.add({.names = "RANKS",
                 .to = &given->ranks,
                 .help = "Such as o200k_base.tiktoken",
                 .required = true});
  arguments.add({.names = "OUT",
                 .to = &given->out,
                 .help = "Such as o200k_base.vocabulary",
                 .required = true});
  return [given](Desk&) { return run_vocabulary(*given); };
}

Run declare_demo(Arguments& arguments) {
  struct Given {
    bool no_color = false, no_wait = false;
  };
  auto given = std::make_shared<Given>();
  arguments.add({"--no-color", &given->no_color, "Print without colours"});
  arguments.add({"--no-wait", &given->no_wait, "Print without pauses"});
  return [given](Desk&) {
    const bool watched = leads_to_terminal(standard_output);
    return run_demo({.color = watched && color_is_welcome() && !given->no_color,
                     .animate = watched && !given->no_wait});
  };
}

}  // namespace

std::vector<Command> program_commands() {
  return {
      {"exec", "Read JSON lines from standard input, answer each with one JSON line",
       exec_lines_help, declare_exec},
      {"count", "Count the tokens of files", "", declare_count},
      {"models", "Show models: tokenizer, costs, profiles, window, prices",
       "Prices are US dollars for a million tokens. A name that ends with * is a family: the "
       "defaults of its models, "
       "which their own rows override.\n"
       "The exit status is 3 for a name that no row fits.",
       declare_model_table},
      {"schema", "Print the JSON Schema of operations, queries, answers, settings and errors",
       "A server has the same, with its routes, as OpenAPI: GET /openapi.json.", declare_schema},
      {"vocabulary", "Make a vocabulary file out of a .tiktoken file", "", declare_vocabulary},
      {"demo", "Play a short conversation in the terminal: edits, batches, rollback", "",
       declare_demo},
  };
}

}  // namespace undertext
