// Stored conversations, opened with the settings that are kept with them: as JSON, since code
// cannot be kept.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>

namespace undertext {

struct KeptOpen {
  // JSON as read_settings() takes it, to be kept from now on; unset: what was kept
  std::optional<std::string> config = {};
  // summarisers and strategies of the program's, which the JSON may name
  Settings own = {};
  OpenOptions options = {};  // `note` is the config's
};

// Without a config the tokenizer stays what it is counted by: who only looks must not have
// everything counted anew. Errors: as Conversation::open() and read_settings().
Result<Conversation> open_kept(std::shared_ptr<Store> store, std::string_view id,
                               KeptOpen how = {});

}  // namespace undertext
