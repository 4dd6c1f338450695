// Forms of a word that stem() does not bring together: "bought" and "buys", "gekauft" and "kaufte".
// Questions alone are read so. An index has the words as they stand, so these forms can change
// without it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

enum class Language : std::uint8_t { any, german };

// The stems under which a word may stand in a text, its own first, without repeats. Irregular forms
// of English and German; of German also participles and past forms, by rule. A stem need not be a
// word.
std::vector<std::string> forms_of(const std::string& stem, Language language);

// Whether a stop word is one of German questions, and not of English ones.
bool is_german(std::string_view stop_word);

}  // namespace undertext
