// How the demo draws a conversation: what changed between two versions, and all versions as a
// timeline.
#pragma once

#include <cstdint>

#include <undertext/history.hpp>
#include <undertext/ids.hpp>

#include "cli/terminal.hpp"

namespace undertext {

// The few colours of the demo: readable on dark and on light grounds.
namespace tint {
inline constexpr std::uint8_t quiet = 244;
inline constexpr std::uint8_t fill = 247;
inline constexpr std::uint8_t good = 71;
inline constexpr std::uint8_t warning = 172;
inline constexpr std::uint8_t over = 167;
inline constexpr std::uint8_t accent = 68;
inline constexpr std::uint8_t summary = 134;
}  // namespace tint

enum class ShownRows : std::uint8_t {
  all,
  near_changes,  // three or more unchanged messages in a row stand in one line
};

// The view, one row a message, against the view of `before`: what is new has a plus, what has been
// hidden a minus and no index.
// Bars have one scale, that of `token_budget`, so that those of the rows add up to that of the last
// line.
void draw_view(Screen& screen, const History& history, Version before, std::uint64_t token_budget,
               ShownRows rows);

// One row a version; a batch is a column, and what opens or leaves one is a branch.
//
//     3  ├─●      START_BATCH
//     4  │ ●      APPEND
//     5  ●─╯      END_BATCH
void draw_timeline(Screen& screen, const History& history, std::uint64_t token_budget);

}  // namespace undertext
