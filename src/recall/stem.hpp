// English and German endings, taken off: "connections" and "connected" have one stem, and so have
// "Verbindung" and "Verbindungen". One set of rules for both languages, since a message does not
// say which one it is in. A stem need not be a word.
#pragma once

#include <string>
#include <string_view>

namespace undertext {

// `word` is folded: lower case, without accents. Shortens it in place, or changes its end.
void stem(std::string& word);

// Whether it is one of the commonest words, which say nothing about what a text is about.
bool is_stop_word(std::string_view word);

}  // namespace undertext
