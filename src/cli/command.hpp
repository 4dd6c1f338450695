// The commands of the command line: what each is called, what it takes, what it does. main.cpp
// makes a command line of them, completion.cpp scripts for shells; neither knows what a command
// does.
//
//     Command{"undo", "Take the last operation back", "", [](Arguments& arguments) -> Run {
//               auto given = std::make_shared<Common>();
//               declare_conversation(arguments, *given);
//               return [given](Desk& desk) { … return 0; };
//             }};
//
// A command fails by throwing Failure (Result::value() does); whoever runs it tells the user and
// makes an exit status of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace undertext {

class Desk;

struct Argument {
  using Target = std::variant<bool*, std::string*, std::uint64_t*, std::optional<std::string>*,
                              std::optional<std::uint64_t>*, std::vector<std::string>*,
                              std::vector<std::uint64_t>*>;
  std::string names;  // "-n,--last"; or, for one that is known by its place, "TEXT"
  Target to;          // written before the command runs; a bool is a flag
  std::string help;
  std::string value = {};  // what stands for the value in help, such as "URL"
  bool required = false;
  std::vector<std::string> choices = {};  // empty: anything
  // of a list by place: every word from its first on, options too
  bool takes_rest = false;
  // of errors that are about it; default: its long name, as in atVersion for --at-version
  std::string field = {};

  bool is_option() const { return names.starts_with('-'); }
};

class Arguments {
 public:
  virtual ~Arguments() = default;
  virtual void add(Argument argument) = 0;
};

using Run = std::function<int(Desk&)>;  // answers the exit status

struct Command {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view more;     // for --help, below the options
  // what it takes, and what is to be run once that is known
  std::function<Run(Arguments&)> declare;
};

// In the order of help. Each group stands in a file of its own.
std::vector<Command> store_commands();     // init new list check backup gc
std::vector<Command> reading_commands();   // show log diff blame search
std::vector<Command> editing_commands();   // append edit rollback undo redo fork merge compress
std::vector<Command> request_commands();   // requests request record
std::vector<Command> eval_commands();      // eval
std::vector<Command> ledger_commands();    // ledger what-if
std::vector<Command> removing_commands();  // redact purge
std::vector<Command> transfer_commands();  // export import
std::vector<Command> session_commands();   // open forget
std::vector<Command> dialect_commands();   // validate cost
std::vector<Command> program_commands();   // exec count models vocabulary demo
std::vector<Command> serve_commands();     // serve token
std::vector<Command> gateway_commands();   // gateway wrap detach
std::vector<Command> mcp_commands();       // mcp
std::vector<Command> shell_commands();     // shell completion
std::vector<Command> all_commands();       // these

// What most commands take.
struct Common {
  std::optional<std::string> store = {};
  std::optional<std::string> models = {};
  std::optional<std::string> tenant = {};
  std::optional<std::string> conversation = {};
  bool json = false;
};
void declare_url(Arguments& arguments, Common& common);  // --store, --models
// --models, for add_models_of()
void declare_models(Arguments& arguments, std::optional<std::string>& models);
void declare_tenant(Arguments& arguments, Common& common);        // --tenant
void declare_store(Arguments& arguments, Common& common);         // --store, --tenant, --json
void declare_conversation(Arguments& arguments, Common& common);  // these, and --conversation
// These, and the conversation by its place too, for commands that take nothing else by place.
void declare_placed_conversation(Arguments& arguments, Common& common);

// What a command takes by place besides the conversation. Where that is not named by -c, it is the
// first of the words: if there are more words than are needed, and, of numbers, if it is none or
// there are too many.
struct Words {
  std::string name;  // such as "ORDINAL"
  std::size_t needed = 1;
  std::size_t taken_max = 1;
  bool are_numbers = false;

  // By taken(), which also sets common.conversation. Throws Failure: invalid_argument, with the
  // name.
  std::vector<std::string> taken(Common& common) const;
  std::vector<std::uint64_t> numbers(Common& common) const;

  std::optional<std::string> first = {};
  std::vector<std::string> rest = {};
};
void declare_words(Arguments& arguments, Common& common, Words& words, std::string help);

}  // namespace undertext
