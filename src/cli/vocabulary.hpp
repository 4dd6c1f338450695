// `undertext vocabulary`: makes the file that is mapped out of the file that is published.
// scripts/vocabularies calls it.
#pragma once

#include <string>

namespace undertext {

struct VocabularyOptions {
  std::string ranks;  // a .tiktoken file, whose name says which one it is
  std::string out;    // replaced at once, or left as it was
};

// The exit status: 0; 1, with the reason on standard error.
int run_vocabulary(const VocabularyOptions& options);

}  // namespace undertext
