// Normalization Form C of Unicode 16.0: characters and the marks on them as one character, where
// there is one. Some tokenizers, those of Qwen among them, see text in this form only.
#pragma once

#include <string>
#include <string_view>

namespace undertext {

// The text itself where it is in that form; else a copy, kept in `storage`. Valid UTF-8. Linear,
// but for a run of marks on one character, which is sorted.
std::string_view normalize_nfc(std::string_view text, std::string& storage);

}  // namespace undertext
