// The rules in groups; check() asks them all.
#pragma once

#include <vector>

#include "dialect/check.hpp"

namespace undertext {

void check_pairs(const RequestDraft& draft, const Profile& profile, std::vector<Fault>& found);
void check_turns(const RequestDraft& draft, const Profile& profile, std::vector<Fault>& found);
void check_blocks(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Fault>& found);
void check_reasoning(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Fault>& found);
void check_cache(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Fault>& found);

}  // namespace undertext
