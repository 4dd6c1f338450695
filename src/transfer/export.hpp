// A stored conversation with its history, as lines of text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>

namespace undertext {

struct ExportCalls {
  // without its line break; what it throws passes through
  std::function<void(std::string_view line)> write;
  std::function<void(std::uint64_t version, std::uint64_t head)> progress = {};
  std::function<std::string(std::string settings)> settings =
      {};  // what to write instead of those that are kept; unset: as they are
};

// As of the conversation's version at the call. Needs memory for some of its messages at a time.
// unsupported: versions were pruned.
std::optional<Error> export_conversation(Store& store, const Conversation& conversation,
                                         const ExportCalls& calls);

}  // namespace undertext
