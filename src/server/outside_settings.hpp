// Settings that come from whoever may call, or go to them. Such a caller is not the one who runs
// the server: they must not name files of this machine, nor where keys and messages are sent.
#pragma once

#include <string>
#include <string_view>

#include <undertext/conversation.hpp>

namespace undertext {

// The settings in `json`; empty: the defaults. Throws Failure: as read_settings(), and
// invalid_argument for summarisers and for a tokenizer in a file.
Settings outside_settings(std::string_view json);

// Of a tokenizer's name: throws Failure when it is a file.
void check_outside_tokenizer(std::string_view name);

// What was kept with a conversation, as JSON; of summarisers, their names alone.
void append_shown_settings(std::string& out, std::string_view note);

// The same for others to take over: where there are summarisers, without them and without the
// compression that may name them.
std::string exported_settings(std::string note);

}  // namespace undertext
