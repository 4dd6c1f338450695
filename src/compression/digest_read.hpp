// Reads messages in turn and finds in them what a digest keeps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/message.hpp>

#include "base/json_text.hpp"
#include "compression/call_effects.hpp"
#include "compression/digest_cues.hpp"
#include "compression/digest_errors.hpp"
#include "compression/digest_findings.hpp"
#include "compression/digest_form.hpp"
#include "message/turn.hpp"

namespace undertext::digest {

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_(findings) {}

  // as its record says; no text can say so itself
  enum class Origin : std::uint8_t { original, summary };
  void read(const Message& message, Origin origin = Origin::original);

  // A message that follows those which are read, and stays. Only what it tells of them counts:
  // which errors are fixed, which plan holds. Where its results are hidden, their errors and the
  // state of tests count too.
  enum class Results : std::uint8_t { shown, hidden };
  void read_after(const Message& message, Results results);

  // After the last message: what nobody answered is an open question.
  void finish();

  // The messages read, those behind an earlier digest included.
  std::uint64_t messages() const { return messages_; }

 private:
  // quoted: a system message, a summary, or what a client put into a user's mouth
  enum class Speaker : std::uint8_t { user, assistant, quoted };

  struct Call {  // that waits for its result
    std::string tool;
    std::string arguments;  // the beginning of them, on one line
    CallEffects effects;
  };

  // `whole` is clean. `has_calls`: the message calls tools, so that the text is said by the way.
  void read_prose(const std::string& whole, Role role, Origin origin, bool has_calls);
  void read_request(const std::string& text);
  void read_lines(std::string_view text, Speaker speaker);
  void read_line(std::string_view line, Speaker speaker, ErrorReader& errors);
  void read_sentences(std::string_view line, Speaker speaker);
  void read_plan_lines(std::string_view text);
  void read_code_block(std::string_view language, std::string_view body, ErrorReader& errors);
  bool read_earlier_digest(std::string_view text, Speaker speaker);
  void read_digest_line(Section section, std::string_view line);
  void read_changed_line(std::string_view line);
  void read_result_line(std::string_view line);
  void read_call(const Block& block);
  void read_result(const Block& block);
  void read_outcome(const std::string& utf8, ErrorReader& errors);
  Run read_run(const Block& block, Call& call);
  std::optional<Call> take_call(std::string_view id);
  Call call_of(const Block& block, std::string tool, CallEffects effects) const;
  void note_taken_back(const std::vector<FileChange>& changes);
  void read_printed(std::string_view utf8, unsigned depth);
  void read_printed_line(std::string_view line, ErrorReader& errors, Voice voice);
  void read_printed_value(std::string_view key, const JsonValue& value, unsigned depth);
  void read_argument(std::string_view tool, std::string_view key, const JsonValue& value,
                     unsigned depth);
  void read_argument_text(std::string_view tool, std::string_view key, std::string_view text);
  void read_places(std::string_view text, Voice voice);
  void add_errors_of_runs();

  Findings& findings_;
  std::uint64_t messages_ = 0;
  std::vector<std::string> asked_by_assistant_;  // and not answered so far
  std::vector<std::string> asked_by_user_;
  std::map<std::string, Call, std::less<>> open_calls_;
  std::optional<std::int64_t> exit_code_;  // that the result being read says beside its text
  std::string printed_;                    // the text of that result
  // the result being read is that of a call that only looks
  bool looks_only_ = false;
  bool lists_constraints_ = false;  // the line before said that a list of them follows
  std::string last_trivial_;
  std::string last_asked_;  // the text of the assistant with the last questions
  // by the assistant, as long as it may explain what is taken back next
  std::string said_last_;
  std::optional<std::string> earlier_request_;  // of the digest being read
  std::vector<PlanItem> earlier_plan_;
  std::vector<CueMatch> cues_;  // of one line; here so that its memory is used again
};

}  // namespace undertext::digest
