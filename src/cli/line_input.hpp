// Lines that somebody types: with editing, history and completion where a terminal is at both ends
// and libedit was found; else as they come.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

class LineInput {
 public:
  // The words that may stand where `word` is being typed, after `before` on the same line.
  using Complete =
      std::function<std::vector<std::string>(std::string_view before, std::string_view word)>;

  // `history_file` is read, and written for its owner alone; empty: none.
  LineInput(std::string history_file, Complete complete);
  ~LineInput();
  LineInput(const LineInput&) = delete;
  LineInput& operator=(const LineInput&) = delete;

  bool next(const std::string& prompt, std::string& line);  // false at the end of input

 private:
  std::string history_file_;
  [[maybe_unused]] bool editing_;  // only with libedit
};

}  // namespace undertext
