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

  struct Task {  // of a plan that calls change one by one
    std::uint64_t number = 0;
    std::string id = {};  // as calls name it
    PlanItem item = {};
  };
  struct Call {  // that waits for its result
    std::string tool;
    std::string arguments;  // the beginning of them, on one line
    CallEffects effects;
    std::uint64_t task = 0;  // the number here of the task that it adds to the plan; 0: none
  };

  // `whole` is clean. `has_calls`: the message calls tools, so that the text is said by the way.
  void read_prose(const std::string& whole, Role role, Origin origin, bool has_calls);
  void read_request(const std::string& text);
  void end_step_on_request(std::string_view request);
  void read_prose_after(std::string_view whole, Role role);
  void read_lines(std::string_view text, Speaker speaker);
  void read_line(std::string_view line, Speaker speaker, ErrorReader& errors);
  void read_sentences(std::string_view line, Speaker speaker);
  std::size_t end_of_reason(std::string_view line, std::size_t from, std::size_t cue) const;
  void read_plan_lines(std::string_view text);
  void read_code_block(std::string_view language, std::string_view body, ErrorReader& errors);
  bool read_earlier_digest(std::string_view text, Speaker speaker);
  void read_digest_line(Section section, std::string_view line);
  void read_changed_line(std::string_view line);
  void read_result_line(std::string_view line);
  void read_call(const Block& block);
  void read_result(const Block& block);
  void add_unnamed_errors(Run& run);
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
  void set_plan(std::vector<PlanItem> plan);
  std::uint64_t add_task(const PlanStep& step);
  void change_task(const PlanStep& step);
  void name_task(std::uint64_t number, const Run& run);
  void set_plan_of_tasks();

  Findings& findings_;
  std::uint64_t messages_ = 0;
  std::vector<std::string> asked_by_assistant_;  // and not answered so far
  std::vector<std::string> asked_by_user_;
  std::map<std::string, Call, std::less<>> open_calls_;
  std::optional<std::int64_t> exit_code_;  // that the result being read says beside its text
  std::string printed_;                    // the text of that result
  bool says_failure_ = false;              // that result begins by saying that the call failed
  bool is_refused_ = false;                // that result says that the call was not made
  // the result being read is that of a call that only looks
  bool looks_only_ = false;
  bool lists_constraints_ = false;  // the line before said that a list of them follows
  // whether the text being read says what comes next
  bool names_next_step_ = false;
  // The assistant has said something since the next step, and not what comes next. The step is over
  // unless a call follows, as it does where the text is said by the way.
  bool may_be_past_step_ = false;
  std::vector<Task> tasks_;
  std::uint64_t tasks_added_ = 0;
  bool answers_question_ = false;  // the last request was one
  std::string last_trivial_;
  std::string last_asked_;  // the text of the assistant with the last questions
  // by the assistant, as long as it may explain what is taken back next
  std::string said_last_;
  std::optional<std::string> earlier_request_;  // of the digest being read
  std::vector<PlanItem> earlier_plan_;
  std::vector<CueMatch> cues_;  // of one line; here so that its memory is used again
};

}  // namespace undertext::digest
