// `undertext count`: how many tokens files are.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace undertext {

struct CountOptions {
  std::optional<std::string> tokenizer =
      // as find_tokenizer() takes it; unset: o200k_base where it is installed, else the estimate
      {};
  bool json = false;      // one line of JSON a file
  bool messages = false;  // the files hold messages: a JSON array, or one message a line
  bool tools = false;     // the files hold the tools of a request, a JSON array
  std::optional<std::string> models = {};  // a file, for add_models()
  std::vector<std::string> files = {};     // "-" is standard input
};

// The exit status: 0; 1 when a file cannot be counted, the others are; 2 when there is no such
// tokenizer. Errors go to standard error.
int run_count(const CountOptions& options);

}  // namespace undertext
