// What a list says of a session, gathered line by line.
//
//     SessionInfo info;
//     SessionReader reader(TranscriptFormat::codex, info);
//     for (std::string_view line : lines) reader.read(line);
//
// A reader may end at any line and go on with another one later: all it has to remember is part of
// SessionInfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.hpp"
#include "transfer/transcript.hpp"

namespace undertext {

struct SessionTokens {
  std::uint64_t input = 0;  // without what was read from a cache
  std::uint64_t output = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_write = 0;
  std::uint64_t cache_write_hour = 0;  // of these: to be kept for an hour
  std::uint64_t all() const { return input + output + cache_read + cache_write; }
  friend bool operator==(const SessionTokens&, const SessionTokens&) = default;
};

// Dollars. More than any session costs, and few enough for the index, which counts billionths.
inline constexpr double session_cost_max = 1e9;

struct SessionInfo {
  std::string title;    // as the program calls it, else the first thing that the user said
  std::string project;  // the folder
  std::string model;    // that answered last
  std::int64_t began_at_ms = 0, last_at_ms = 0;
  std::uint64_t messages = 0;
  SessionTokens tokens;       // as the provider reported them, of all requests
  double cost = 0;            // US dollars, by the table of models or as the program reports it;
                              // 0…session_cost_max
  bool has_title = false;     // the program's own
  std::string answer = {};    // the id of the answer whose usage was counted last
  SessionTokens before = {};  // what was counted of what is reported again: sums, or that answer
  friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};

class SessionReader {
 public:
  SessionReader(TranscriptFormat format, SessionInfo& info) : format_(format), info_(info) {}
  // A whole line. What is no line of the program's is passed over.
  void read(std::string_view line);

 private:
  void read_claude_code(JsonValue line);
  void read_codex(JsonValue line);
  void read_pi(JsonValue line);
  void read_opencode(JsonValue line);
  void note_time(JsonValue line);
  void note_title(std::string text);
  // nothing: by the table of models
  void add(const SessionTokens& tokens, std::optional<double> cost = {});
  bool matters(std::string_view line);

  const TranscriptFormat format_;
  SessionInfo& info_;
  JsonText json_;  // whose memory is used again
};

}  // namespace undertext
