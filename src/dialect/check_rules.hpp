// The rules in groups; check() asks them all.
#pragma once

#include <vector>

#include "dialect/check.hpp"

namespace undertext {

void check_pairs(const Draft& draft, const Profile& profile, std::vector<Found>& found);
void check_turns(const Draft& draft, const Profile& profile, std::vector<Found>& found);
void check_blocks(const Draft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Found>& found);
void check_reasoning(const Draft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Found>& found);
void check_cache(const Draft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Found>& found);

}  // namespace undertext
