// Where in a text the words of a question stand: the part that is worth showing of a long one.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "recall/words.hpp"

namespace undertext {

// Where the stretch of at most `bytes_max` bytes begins that has most of the words asked: at the
// first of them. A word that is rare in the text counts more; of equal stretches the first one.
// Nothing: the text has none of the words. Time linear in the text, but for a sort of what is
// found.
std::optional<std::size_t> best_passage(std::string_view text, const AskedWords& asked,
                                        std::size_t bytes_max);

// Where to begin to show a text, so that at most `bytes` lead to `at`: where a line begins, or else
// a code point.
std::size_t lead_to(std::string_view text, std::size_t at, std::size_t bytes);

}  // namespace undertext
