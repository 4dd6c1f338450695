// What providers reported, as bytes: stored with a conversation.
#pragma once

#include <string>
#include <string_view>

#include <undertext/usage.hpp>

namespace undertext {

// With the last 100 finished requests. Empty: nothing was reported.
std::string usage_bytes(const UsageTracker& usage);
UsageTracker read_usage_bytes(std::string_view bytes);  // throws Failure: corrupt

}  // namespace undertext
