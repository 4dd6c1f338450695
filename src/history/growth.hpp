// How fast a conversation grows.
#pragma once

#include <cstdint>

#include <undertext/history.hpp>

#include "history/state.hpp"

namespace undertext {

// What a turn added of late: of the messages stored last, the tokens for each message of an
// assistant. They count also where a compression has hidden them since; what it put in their place
// is no growth.
inline std::uint64_t tokens_per_turn(const History& history) {
  constexpr std::uint64_t messages_looked_at = 64;
  const Log& log = history.rep().log;
  std::uint64_t tokens = 0, turns = 0;
  for (std::uint64_t ordinal = log.size(), seen = 0; ordinal-- > 0 && seen < messages_looked_at;) {
    if (log.stands_for(static_cast<std::uint32_t>(ordinal)) != nullptr) continue;
    ++seen;
    tokens += log.stored[ordinal].tokens;
    if (log.stored[ordinal].role() == Role::assistant) ++turns;
  }
  return turns == 0 ? tokens : tokens / turns;
}

}  // namespace undertext
