// The settings of a conversation and its door, as JSON: what `--config` takes.
//
//     {"tokenLimit":8000,"pairs":"shrink","limits":{"messageBytes":1000000}}
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <undertext/conversation.hpp>
#include <undertext/error.hpp>
#include <undertext/store.hpp>

namespace undertext {

struct DoorSettings {
  Settings settings = {};
  std::uint64_t line_bytes = std::uint64_t{256} << 20;  // a longer line is too_large; a matter of the door alone
};

// invalid_argument: no JSON object, an unknown field, or one of the wrong type. unsupported: something that is part of the
// contract but not of this build. Fields that are absent have their defaults.
Result<DoorSettings> read_settings(std::string_view json);

// A stored conversation with the settings that it was made with, which are its note, and the tokenizer that it was counted by: who only looks must not have
// everything counted anew. Errors: as Conversation::open() and read_settings().
Result<Conversation> open_as_stored(std::shared_ptr<Store> store, std::string_view id, const OpenOptions& options);

}  // namespace undertext
