// Reads messages in turn and finds in them what a digest keeps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/message.hpp>

#include "base/json_text.hpp"
#include "compression/digest_cues.hpp"
#include "compression/digest_errors.hpp"
#include "compression/digest_findings.hpp"
#include "compression/digest_form.hpp"

namespace undertext::digest {

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_(findings) {}

  enum class Origin : std::uint8_t { original, summary };  // as its record says; no text can say so itself
  void read(const Message& message, Origin origin = Origin::original);

  // After the last message: what nobody answered is an open question.
  void finish();

  // The messages read, those behind an earlier digest included.
  std::uint64_t messages() const { return messages_; }

 private:
  void read_prose(std::string_view utf8, Role speaker, Origin origin);
  void read_lines(std::string_view text, Role speaker);
  void read_line(std::string_view line, Role speaker, ErrorReader& errors);
  void read_sentences(std::string_view line, Role speaker);
  void read_code_block(std::string_view language, std::string_view body, ErrorReader& errors);
  bool read_earlier_digest(std::string_view text, Role speaker);
  void read_digest_line(Section section, std::string_view line);
  void read_printed(std::string_view utf8, unsigned depth);
  void read_printed_line(std::string_view line, ErrorReader& errors, Voice voice);
  void read_printed_value(std::string_view key, const JsonValue& value, unsigned depth);
  void read_call(std::string_view name, const JsonValue* arguments);
  void read_argument(std::string_view tool, std::string_view key, const JsonValue& value, unsigned depth);
  void read_argument_text(std::string_view tool, std::string_view key, std::string_view text);
  void read_places(std::string_view text, Voice voice);

  Findings& findings_;
  std::uint64_t messages_ = 0;
  std::vector<std::string> asked_by_assistant_;  // and not answered so far
  std::vector<std::string> asked_by_user_;
  std::vector<CueMatch> cues_;  // of one line; here so that its memory is used again
};

}  // namespace undertext::digest
