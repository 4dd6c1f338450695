#include "cli/exec.hpp"

#include <cerrno>
#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/desk.hpp"
#include "cli/line_reader.hpp"
#include "cli/terminal.hpp"
#include "json/request.hpp"
#include "json/settings_json.hpp"
#include "system/files.hpp"
#include "system/signals.hpp"
#include "system/terminal.hpp"

namespace undertext {

namespace {

std::string answer_too_long(std::uint64_t line_bytes) {
  return answer(
      Error{ErrorCode::too_large,
            "the line is longer than " + std::to_string(line_bytes) + " bytes (limits.lineBytes)"});
}

// With the reason that errno gives.
int fail(const char* what) {
  std::fprintf(stderr, "undertext: %s: %s\n", what, std::generic_category().message(errno).c_str());
  return 1;
}

int refuse(const Error& error) {
  std::fprintf(stderr, "%s\n", answer(error).c_str());
  return 2;
}

}  // namespace

int exec_lines(Conversation& conversation, int in, int out, std::uint64_t line_bytes) {
  // Without heap, for when there is none left.
  static constexpr std::string_view no_memory =
      "{\"ok\":false,\"error\":{\"code\":\"too_large\",\"message\":\"there is not enough memory "
      "for this line\"}}\n";
  LineReader reader(in, line_bytes);
  const bool terminal = leads_to_terminal(out);
  for (;;) {
    std::string text;
    switch (reader.next()) {
      case LineReader::Got::end: return 0;
      case LineReader::Got::failed: return fail("cannot read the input");
      case LineReader::Got::too_long: text = answer_too_long(line_bytes); break;
      case LineReader::Got::line: try { text = answer(conversation, reader.line());
        } catch (const std::bad_alloc&) {
          if (!write_all(out, no_memory)) return fail("cannot write the answer");
          continue;
        }
        break;
    }
    if (terminal) text = json_for_terminal(text);
    text += '\n';
    if (!write_all(out, text)) return fail("cannot write the answer");
  }
}

int run_exec(const ExecOptions& options) {
  std::shared_ptr<Store> store;  // null: in memory
  std::optional<std::string> given;
  try {
    add_models_of(options.models);
    given = with_model(config_of(options.config), options.model);
  } catch (const Failure& failure) {
    return refuse(failure.error());
  }
  std::optional<std::string> config = given;
  if (options.store != "memory:") {
    Result<std::shared_ptr<Store>> opened = open_store(options.store);
    if (!opened) return refuse(opened.error());
    store = std::move(*opened);
    // The settings of a conversation that was made before are its own until others are given.
    if (!config) {
      Result<std::string> kept = Conversation::stored_note(*store, options.conversation);
      if (!kept && kept.error().code != ErrorCode::not_found) return refuse(kept.error());
      if (kept && !kept->empty()) config = std::move(*kept);
    }
  }
  DoorSettings door;
  if (config) {
    Result<DoorSettings> read = read_settings(*config);
    if (!read) return refuse(read.error());
    door = std::move(*read);
  }
  if (store && !given) {
    // Nor is it counted anew because nobody said by what.
    const Result<std::string> tokenizer =
        Conversation::stored_tokenizer(*store, options.conversation);
    if (tokenizer) door.settings.tokenizer = *tokenizer;
  }
  Result<Conversation> conversation =
      store
          ? Conversation::open(store, options.conversation, std::move(door.settings),
                               {.checkpoint_versions = options.checkpoint_versions, .note = given})
          : Conversation::open(std::move(door.settings));
  if (!conversation) return refuse(conversation.error());
  ignore_broken_pipes();
  return exec_lines(*conversation, standard_input, standard_output, door.line_bytes);
}

}  // namespace undertext
