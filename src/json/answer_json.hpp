// Answers as JSON text, appended to a string. Messages are given as their own bytes.
//
//     std::string line;
//     append_answer(line, outcome);            // {"ok":true,"operation":"APPEND","version":1,…}
//     append_result(line, history.stats());    // {"ok":true,"result":{"totalMessages":1,…}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/conversation.hpp>
#include <undertext/error.hpp>
#include <undertext/history.hpp>
#include <undertext/operation.hpp>
#include <undertext/query.hpp>

#include "tokens/counting.hpp"

namespace undertext {

void append_answer(std::string& out, const Error& error);
void append_answer(std::string& out, const Outcome& outcome);
void append_answer(std::string& out, const std::vector<Outcome>& outcomes);
void append_answer(std::string& out, const MessageList& list);
void append_answer(std::string& out, const MessageCount& count);

// The value alone, as it stands in "result".
void append_json(std::string& out, std::uint64_t number);
void append_json(std::string& out, const Error& error);
void append_json(std::string& out, const Event& event);
void append_json(std::string& out, const MarkMap& map);
void append_json(std::string& out, const Stats& stats);
void append_json(std::string& out, const BatchInfo& batch);
// null when there is none
void append_json(std::string& out, const std::optional<BatchSnapshot>& snapshot);
void append_json(std::string& out, const VersionInfo& version);
void append_json(std::string& out, const Diff& diff);
void append_json(std::string& out, const Blame& blame);
void append_json(std::string& out, const Receipt& receipt);
void append_json(std::string& out, const Recalled& recalled);
void append_json(std::string& out, const Redaction& redaction);
void append_json(std::string& out, const Fit& fit, const View& view);
struct TokensAnswer {
  const View& view;
  const Counting& counting;
  bool per_message;
};
void append_json(std::string& out, const TokensAnswer& tokens);
void append_state(std::string& out, const History& history);  // document 000's MessageArrayState

template <class T>
void append_json(std::string& out, const std::vector<T>& list) {
  out += '[';
  const char* separator = "";
  for (const T& element : list) {
    out += separator;
    append_json(out, element);
    separator = ",";
  }
  out += ']';
}

template <class T>
void append_result(std::string& out, const T& result) {
  out += R"({"ok":true,"result":)";
  append_json(out, result);
  out += '}';
}

}  // namespace undertext
