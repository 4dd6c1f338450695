// Words and phrases that tell what a line is about, all of them found in one pass over it, whatever
// the line holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace undertext::digest {

// What has to hold, besides the words being there, for a line to be a decision or to hold an error.
enum class CueRule : std::uint8_t {
  decision,       // nothing
  constraint,     // a user says it
  wish,           // the same, and it tells less
  hint,           // the same, and it tells little: "not", "please"
  attempt,        // that failed: people and models say it
  next_step,      // the assistant says it
  error,          // nothing, wherever it is said
  printed_error,  // only what a tool printed counts, and not when it looks like source code
  level,          // the same, near the beginning of the line
  line_start,     // the same, as the first words of the line
  named,          // "error:", "TypeError: …": a name before the colon, a text behind it
  bare_name,      // "java.lang.NullPointerException" alone on its line
  code,           // "error TS2322", "ERROR 1045": a number that names the error
  nonzero,        // "exit code 1": a number that is not zero
  status,         // "HTTP 502", "status: 404": a number from 400 to 599
  json,           // "error": "…"
  traceback,      // Python's: the message is the first line that is not indented further
  panic,          // Rust's: the message is on the next line
};

struct CueMatch {
  CueRule rule;
  std::size_t begin;
  std::size_t end;
};

// Replaces `matches` by those in `line`, in the order of their ends. Linear in the line. A cue in
// lower case is found in any case; one that begins or ends with a letter or a digit does not stand
// inside a longer word, save where its rule is about the end of a name.
void find_cues(std::string_view line, std::vector<CueMatch>& matches);

}  // namespace undertext::digest
