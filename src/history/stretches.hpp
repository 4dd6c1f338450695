// Stretches of a view: which indices are meant, as rising ranges that do not touch.
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/operation.hpp>

namespace undertext {

using Stretches = std::vector<Range>;

// Adds a stretch at the end; joins it with the last one where they touch.
void add_stretch(Stretches& stretches, std::uint64_t start, std::uint64_t end);
Stretches with_indices(const Stretches& stretches, const std::vector<std::uint64_t>& rising);
Stretches without_indices(const Stretches& stretches, const std::vector<std::uint64_t>& rising);
Stretches without(const Stretches& stretches, const Stretches& others);
Stretches joined_stretches(const Stretches& a, const Stretches& b);  // that do not overlap
bool keeps(const Stretches& stretches, std::uint64_t index);
Stretches complement(const Stretches& stretches, std::uint64_t size);

}  // namespace undertext
