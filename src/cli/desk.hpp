// What commands work at: the stores they open, where they write, and how they talk to whoever sits
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/conversation.hpp>
#include <undertext/error.hpp>
#include <undertext/store.hpp>

#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace undertext {

// 0 is success, 1 a failure that has no number of its own, 2 a bad call; one for every other
// ErrorCode. docs/cli.md lists them.
int exit_status(ErrorCode code);

// $UNDERTEXT_STORE, else sqlite: with undertext/undertext.db in $XDG_DATA_HOME or ~/.local/share.
std::string default_store_url();
// "tokens" in the folder where the user's store would be, whatever $UNDERTEXT_STORE says; nothing
// for a user without a home.
std::optional<std::string> default_tokens_file();

// Makes the folders above `path` that are missing, for their owner alone.
void make_folders_above(const std::string& path);

class Desk {
 public:
  Desk();  // for standard input, output and error

  enum class Need : std::uint8_t {
    there,    // not_found when there is none
    make,     // made where there is none
    another,  // conflict when there is one; of a store, the same as make
  };
  std::string url(const Common& common) const;  // of the store that is meant
  // Opened once, and kept open. The folder of the default store is made too, for its owner alone.
  std::shared_ptr<Store> store(const Common& common, Need need = Need::there,
                               StoreOptions options = {});
  // Opens what store() would, at any time and on any thread. It may throw Failure.
  std::function<Result<std::shared_ptr<Store>>()> opener(const Common& common, Need need,
                                                         StoreOptions options) const;
  // With the settings it was made with; or `config`, which it then keeps. One called "default" is
  // always made.
  Conversation conversation(const Common& common, Need need = Need::there,
                            const std::optional<std::string>& config = {});
  std::string conversation_id(const Common& common) const;

  // Runs a command line, as from outside, and answers its exit status.
  std::function<int(const std::vector<std::string>&)> run = {};

  // What a command takes where nothing is said: a shell sets them.
  std::optional<std::string> chosen_store = {};
  std::string chosen_tenant = {};
  std::string chosen_conversation;

  // Output for people: lines without controls. What is too wide for a terminal is cut; a pipe gets
  // it whole.
  Screen& screen() { return screen_; }
  void say(std::string_view text);  // one line, not cut
  // Output for programs: one line. Line breaks within become spaces; on a terminal, characters that
  // could act on it are escaped.
  void put_json(std::string line);
  void put_line(std::string_view line);  // the same of a line that has no breaks, one of many
  bool is_terminal() const { return terminal_; }

  void tell(const Error& error, bool json) const;     // one line on standard error
  void note(std::string_view text) const;             // one line on standard error, for people
  bool confirm(std::string_view question, bool yes);  // where nobody can be asked: `yes`
  bool finish();                                      // false: not all that was written arrived

 private:
  bool terminal_;
  Screen screen_;
  // by URL and tenant
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Store>> stores_;
};

// Long work, shown on standard error while it lasts, where that is a terminal.
class Progress {
 public:
  explicit Progress(std::string_view what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(std::uint64_t done, std::uint64_t whole);  // whole 0: not known

 private:
  std::string what_;
  bool shown_;
  std::int64_t last_ms_ = 0;
  bool drawn_ = false;
};

std::string spelled_time(std::int64_t ms);  // local time, to the second
std::int64_t now_ms();
std::string user_name();
// its whole path, without links; empty: it is gone, or its name is no UTF-8
std::string current_folder();

// The whole of a file, or of standard input for "-". Throws Failure: not_found, unavailable,
// too_large.
std::string read_whole(const std::string& path, std::uint64_t bytes_max = std::uint64_t{1} << 30);

// Settings as JSON: `given` itself, or what the file of this name holds; - is standard input.
// Throws Failure, which names the option.
std::optional<std::string> config_of(const std::optional<std::string>& given);
// The same error, beginning with the option that it is about.
Error about_option(std::string_view option, Error error);
// What `work` returns; what it throws as Failure is about the option.
template <class Work>
auto of_option(std::string_view option, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const Failure& failure) {
    throw Failure(about_option(option, failure.error()));
  }
}

// Lays the models of a file over the table; nothing for none. Throws Failure.
void add_models_of(const std::optional<std::string>& path);
// Settings with a model among them: `config` as JSON, or none. Throws Failure: it is no object, or
// has one.
std::optional<std::string> with_model(std::optional<std::string> config,
                                      const std::optional<std::string>& model);

[[noreturn]] void fail(ErrorCode code, std::string message, std::string field = {});

}  // namespace undertext
