// Error messages: in what tools print, and in what people and models say about them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compression/digest_cues.hpp"
#include "compression/digest_findings.hpp"

namespace undertext::digest {

// Keeps an error message that is known to be one. Two that differ only in a time at their beginning
// are the same.
void add_error(std::string_view text, Voice voice, Findings& findings);

// Reads the lines of one text in turn.
class ErrorReader {
 public:
  explicit ErrorReader(Findings& findings) : findings_(findings) {}

  // `matches` are the cues of the line. What is printed is kept as whole lines; of what is spoken,
  // the sentence or the `code` with the error.
  void read(std::string_view line, const std::vector<CueMatch>& matches, Voice voice);

 private:
  Findings& findings_;
  // inside one of Python's: what stood before it on its first line
  std::optional<std::string> traceback_;
  bool panicked_ = false;  // the last line was the first of one of Rust's
};

}  // namespace undertext::digest
