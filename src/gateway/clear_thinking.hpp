// What clear_thinking_20251015 asks for: the thinking of older turns of an assistant leaves the
// view. Copies of the messages without it stand for them, so that EXPAND brings it back.
#pragma once

#include <cstdint>

#include <undertext/compression.hpp>

namespace undertext {

// The newest `keep` turns keep theirs: what an assistant says and calls between two messages of the
// user. Deterministic.
StrategyPtr clear_thinking(std::uint64_t keep);

}  // namespace undertext
