// features_of() for machines with AVX2.
#pragma once

#include <string_view>

#include "tokens/estimate_features.hpp"

namespace undertext {

using FeaturesFunction = Features(std::string_view text);

// Null where this machine, or the compiler, has no AVX2.
FeaturesFunction* avx2_features();

}  // namespace undertext
