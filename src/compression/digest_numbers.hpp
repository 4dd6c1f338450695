// Numbers with units, with the few words around them without which they say nothing.
#pragma once

#include <string_view>

#include "compression/digest_findings.hpp"

namespace undertext::digest {

// Linear in the line.
void find_numbers(std::string_view line, Voice voice, Findings& findings);

}  // namespace undertext::digest
