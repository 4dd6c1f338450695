// supersede() and dedupe() together.
#pragma once

#include <vector>

#include <undertext/compression.hpp>

namespace undertext {

// The plans of both, without those that fail. The calls of the view are read once.
std::vector<Plan> plans_of_older_results(const History& history, const Aim& aim);

}  // namespace undertext
