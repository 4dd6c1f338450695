#include "cli/shell.hpp"

namespace undertext {

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < line.size() &&
                         (quote == '\0' || line[i + 1] == '"' || line[i + 1] == '\\');
    if (escapes) {
      word += line[++i];
      begun = true;
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      begun = true;
    } else if (c == ' ' || c == '\t') {
      if (begun) words.push_back(word);
      word.clear();
      begun = false;
    } else {
      word += c;
      begun = true;
    }
  }
  if (quote != '\0') return Error{ErrorCode::invalid_argument, "a quote is not closed"};
  if (begun) words.push_back(word);
  return words;
}

}  // namespace undertext
