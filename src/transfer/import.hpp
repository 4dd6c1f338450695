// An exported conversation, taken over with its history into a store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>

namespace undertext {

// The next line without its line break, valid until the next call; nothing at the end.
using LineSource = std::function<std::optional<std::string_view>()>;

struct ImportedConversation {
  std::uint64_t versions = 0, messages = 0;
};

// Whether the lines are a whole export: each can be read, their numbers go on, the counts and the
// digest of the last line hold. Stores nothing.
// invalid_argument, with the line; corrupt: one was changed or left out; unsupported.
Result<ImportedConversation> check_export(const LineSource& next_line);

struct ImportOptions {
  std::optional<std::string> config = {};  // settings instead of the exported ones, as JSON
  // Exported settings may name summarisers: which file holds a key, and where it is sent. They are
  // refused unless they are trusted.
  bool trust_settings = false;
  std::string made_by = {};  // as OpenOptions
  std::function<void(std::uint64_t version)> progress = {};
};

// Makes the conversation `id` and carries out in it what was carried out, with the times and
// messages of then; every version is checked against what the export says of it. Needs memory for
// some of its messages at a time. It is staged until it is whole: nobody sees any of it before, and
// an import that fails, or whose process is killed, leaves the id free. conflict: the id is taken.
// What is wrong with the lines has the field `lines`. Else as check_export() and
// Conversation::open().
Result<ImportedConversation> import_conversation(std::shared_ptr<Store> store, std::string_view id,
                                                 const LineSource& next_line,
                                                 const ImportOptions& options = {});

// The same for lines with a message on each (are_message_lines() of transcript.hpp): an APPEND for
// some megabytes of them. No line says settings, so the options' config is all there is.
Result<ImportedConversation> check_message_lines(const LineSource& next_line);
Result<ImportedConversation> import_message_lines(std::shared_ptr<Store> store, std::string_view id,
                                                  const LineSource& next_line,
                                                  const ImportOptions& options = {});

// Takes out what was staged or hidden more than a day ago: no import takes so long, so its process
// was killed. Answers how many. Every import does it first.
Result<std::uint64_t> discard_abandoned(Store& store, std::int64_t now_ms);

}  // namespace undertext
