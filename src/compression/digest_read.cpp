#include "compression/digest_read.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compression/digest_commands.hpp"
#include "compression/digest_numbers.hpp"
#include "compression/digest_places.hpp"
#include "compression/digest_text.hpp"
#include "compression/digest_words.hpp"
#include "message/client_text.hpp"
#include "message/reading.hpp"

namespace undertext::digest {
namespace {

constexpr std::size_t sentence_bytes_max = 300;
constexpr std::size_t constraint_bytes_max = 600;
constexpr std::size_t tool_name_bytes_max = 64;
constexpr std::size_t echo_bytes_max = 80;  // how soon a printed command has an option
// "Which one?" says nothing without what stands before it
constexpr std::size_t short_question_bytes = 24;
constexpr std::size_t short_failure_bytes = 48;  // nor does "I took it back out."
constexpr unsigned depth_max = 64;               // of values inside each other
constexpr std::size_t open_calls_max = 4096;
constexpr unsigned encoded_depth_max = 4;  // of JSON inside the strings of JSON

constexpr std::string_view exit_keys[] = {"exit", "exitcode", "exitstatus", "returncode"};
constexpr std::string_view status_keys[] = {"httpstatus", "status", "statuscode"};
constexpr std::string_view error_keys[] = {"error", "errormessage", "exception"};

// Answers that ask for nothing.
constexpr std::string_view trivial_words[] = {
    "a",       "again",   "ah",       "all",     "and",          "awesome", "better",     "bitte",
    "carry",   "catch",   "continue", "cool",    "correct",      "danke",   "do",         "done",
    "else",    "exactly", "fine",     "genau",   "go",           "good",    "got",        "great",
    "gut",     "hm",      "hmm",      "i",       "idea",         "is",      "it",         "ja",
    "job",     "just",    "k",        "keep",    "like",         "lgtm",    "looks",      "love",
    "mhm",     "mm",      "more",     "much",    "nein",         "next",    "nice",       "no",
    "now",     "nope",    "off",      "oh",      "ok",           "okay",    "on",         "one",
    "perfect", "please",  "point",    "proceed", "right",        "see",     "so",         "sounds",
    "super",   "sure",    "thank",    "thanks",  "that",         "the",     "then",       "there",
    "this",    "thx",     "to",       "too",     "ty",           "uh",      "understood", "very",
    "was",     "weiter",  "well",     "what",    "what's",       "whats",   "works",      "yeah",
    "yep",     "yes",     "you",      "yup",     "alles",        "klar",    "klasse",     "läuft",
    "mach",    "merci",   "oui",      "passt",   "prima",        "schön",   "sehr",       "sieht",
    "si",      "sí",      "gracias",  "top",     "toll",         "vale",    "wunderbar",  "gerne",
    "aus",     "das",     "ist",      "so",      "weitermachen",
};
constexpr std::string_view trivial_phrases[] = {
    "好", "好的", "嗯", "继续", "谢谢", "可以", "是的", "行", "对", "はい", "続けて", "네", "계속"};

// Thumbs, faces, hearts and check marks, with what colours and joins them.
bool is_pictograph(char32_t c) {
  return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) || c == 0xFE0F ||
         c == 0x200D || c == 0x2B50;
}

bool is_trivial(std::string_view text) {
  constexpr std::size_t trivial_bytes_max = 60;
  if (text.size() > trivial_bytes_max) return false;
  std::string word;
  bool only_trivial = true, any = false;
  const auto end_word = [&] {
    if (!word.empty()) any = true;
    if (!word.empty() &&
        std::find(std::begin(trivial_words), std::end(trivial_words), word) ==
            std::end(trivial_words) &&
        std::find(std::begin(trivial_phrases), std::end(trivial_phrases), word) ==
            std::end(trivial_phrases))
      only_trivial = false;
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const bool joins = c.size == 1
                           ? is_word(text[at]) || text[at] == '\''
                           : !is_cjk_punctuation(c.code_point) && !is_pictograph(c.code_point);
    any = any || is_pictograph(c.code_point);
    if (joins) {
      for (std::size_t i = 0; i < c.size; ++i) word += to_lower(text[at + i]);
    } else {
      end_word();
    }
    at += c.size;
  }
  end_word();
  return only_trivial && any;
}

bool is_yes(std::string_view text) {
  const std::string low = lower(first_bytes(text, 40));
  for (const std::string_view word :
       {"yes", "yeah", "yep", "ok", "okay", "sure", "go ahead", "do it", "please do", "approved",
        "ja", "好", "可以", "是的", "no", "nope", "nein", "不"})
    if (low.starts_with(word)) return true;
  return false;
}

// Of an answer such as "b" or "2, please": what stands behind that letter or number in the text
// that asked. Empty: it is no such answer.
std::string_view option_chosen(std::string_view answer, std::string_view asked) {
  constexpr std::size_t label_bytes_max = 2, option_bytes_max = 160;
  if (const std::string low = lower(first_bytes(answer, 8)); low.starts_with("option "))
    answer.remove_prefix(7);
  if (answer.starts_with('(')) answer.remove_prefix(1);
  std::size_t size = 0;
  while (size < answer.size() && is_alnum(answer[size])) ++size;
  const bool ends = size == answer.size() ||
                    std::string_view(".,;:) !").find(answer[size]) != std::string_view::npos;
  if (size == 0 || size > label_bytes_max || !ends) return {};
  const std::string label = lower(answer.substr(0, size));
  // "ok", "no"
  if (label.size() > 1 && !std::all_of(label.begin(), label.end(), is_digit)) return {};
  for (std::size_t at = 0; at + size < asked.size(); ++at) {
    const bool begins =
        at == 0 || std::string_view(" \n(*").find(asked[at - 1]) != std::string_view::npos;
    if (!begins || !equal_ignoring_case(asked.substr(at, size), label)) continue;
    std::size_t behind = at + size;
    while (behind < asked.size() && asked[behind] == '*') ++behind;
    if (behind >= asked.size() ||
        std::string_view(").:").find(asked[behind]) == std::string_view::npos)
      continue;
    std::string_view option = first_bytes(asked.substr(behind + 1), option_bytes_max);
    option = option.substr(0, option.find('\n'));
    // (1) this or (2) that
    if (at > 0 && asked[at - 1] == '(') option = option.substr(0, option.find(" ("));
    return trim(option);
  }
  return {};
}

// "Constraints:", "Ground rules", "要求："
// "yep, the changelog is the one place for it": agreed to, though nothing was asked.
bool agrees(std::string_view request) {
  const std::string_view begin = trim(request.substr(0, request.find_first_of(",.!;:")));
  return is_yes(begin) && is_trivial(begin);
}

bool announces_constraints(std::string_view line) {
  constexpr std::size_t heading_bytes_max = 120;
  if (line.size() > heading_bytes_max) return false;
  const bool ends =
      line.ends_with(':') || line.ends_with("：") || line.starts_with('#') || line.ends_with("**");
  if (!ends) return false;
  const std::string low = lower(line);
  for (const std::string_view word :
       {"constraint", "rule",        "requirement", "guideline", "keep in mind",
        "remember",   "must",        "convention",  "decision",  "do not",
        "don't",      "restriction", "约束",        "要求",      "规则",
        "注意",       "决定",        "regeln",      "vorgaben",  "anforderungen"})
    if (low.find(word) != low.npos) return true;
  return false;
}

bool is_list_line(std::string_view line) {
  line = trim(line);
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") ||
      line.starts_with("• "))
    return true;
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  return digits > 0 && digits < 3 &&
         (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") "));
}

// Marks of lists, headings and quotes.
std::string_view without_markdown(std::string_view line) {
  line = trim(line);
  while (line.starts_with('#') || line.starts_with('>')) line = trim(line.substr(1));
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ "))
    line = trim(line.substr(2));
  if (line.starts_with("• ")) line = trim(line.substr(std::string_view("• ").size()));
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  if (digits > 0 && digits < 4 &&
      (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") ")))
    line = trim(line.substr(digits + 2));
  return line;
}

bool is_question(std::string_view sentence) {
  while (!sentence.empty() &&
         std::string_view("\"')* ").find(sentence.back()) != std::string_view::npos)
    sentence.remove_suffix(1);
  constexpr std::size_t question_bytes_min = 6;
  if (sentence.size() < question_bytes_min) return false;
  if (sentence.ends_with("？")) return true;
  return sentence.ends_with('?') &&
         (sentence.find(' ') != sentence.npos ||
          std::any_of(sentence.begin(), sentence.end(), [](char c) { return !is_ascii(c); }));
}

// "That did not work": what did not is in the sentence before.
bool refers_back(std::string_view sentence) {
  for (const std::string_view word :
       {"That ", "This ", "It ", "Didn't ", "Did not ", "No luck", "Still ", "But ", "Doesn't ",
        "Same ", "So I ", "Reverted", "Undid"})
    if (sentence.starts_with(word)) return true;
  return false;
}

// "I took the cache out again. The workers fork, so each had its own."
bool gives_reason(std::string_view sentence) {
  const std::string low = lower(sentence);
  for (const std::string_view success : {" pass", "works", " green", "succeed", "fixed", " now "})
    if (low.find(success) != low.npos) return false;
  for (const std::string_view word :
       {"because", "the reason", "due to", "cause", ", so ", "weil ", "因为", "原因", "から"})
    if (low.find(word) != low.npos) return true;
  for (const std::string_view begin :
       {"it ",    "its ",   "they ",     "that ",      "this ", "these ", "there ", "the ",
        "since ", "reason", "turns out", "apparently", "each ", "every ", "both ",  "neither ",
        "only ",  "denn ",  "der ",      "die ",       "das ",  "da "})
    if (low.starts_with(begin)) return true;
  return false;
}

// "edit src/a.c → refused: leave that file alone"
std::string refused_attempt(std::string_view command, std::string_view refusal) {
  constexpr std::size_t command_bytes_max = 120, refusal_bytes_max = 160;
  const std::string said = one_line(refusal);
  std::string_view why = said;
  for (const std::string_view before :
       {"the user said:", "provided the following feedback:", "provided feedback:"})
    if (const std::size_t found = said.find(before); found != said.npos)
      why = trim(std::string_view(said).substr(found + before.size()));
  return shorten_end(one_line(command), command_bytes_max) +
         " → refused: " + shorten_end(why, refusal_bytes_max);
}

}  // namespace

void Reader::read(const Message& message, Origin origin) {
  ++messages_;
  const MessageReading reading(message);
  const std::vector<Block>& blocks = reading.turn().blocks;
  // One message is one request, however many parts it has. Parts that a client made are none of it.
  const bool is_user = message.role() == Role::user && origin == Origin::original;
  std::string said;
  for (const Block& block : blocks) {
    if (block.kind != BlockKind::text) continue;
    std::string text = clean(decoded(block.text));
    if (is_user) {
      const ClientBlock part = client_block(text);
      const std::string_view of_client = std::string_view(text).substr(0, part.size);
      if (part.kind == ClientBlock::Kind::result) read_printed(of_client, 0);
      if (part.kind == ClientBlock::Kind::quoted) read_lines(of_client, Speaker::quoted);
      text.erase(0, part.size);
      if (text.empty()) continue;
    }
    if (!said.empty()) said += '\n';
    said += text;
  }
  const bool has_calls = std::any_of(blocks.begin(), blocks.end(),
                                     [](const Block& b) { return b.kind == BlockKind::call; });
  read_prose(said, message.role(), origin, has_calls);
  for (const Block& block : blocks)
    if (block.kind == BlockKind::call) read_call(block);
  for (const Block& block : blocks)
    if (block.kind == BlockKind::result || holds_result(block)) read_result(block);
}

void Reader::read_after(const Message& message, Results results) {
  const MessageReading reading(message);
  for (const Block& block : reading.turn().blocks) {
    if (block.kind == BlockKind::text) {
      read_prose_after(clean(decoded(block.text)), message.role());
    } else if (block.kind == BlockKind::call) {
      may_be_past_step_ = false;
      JsonText arguments;
      const bool has_arguments =
          !block.json.empty() &&
          !arguments.read(block.json, {.depth = std::numeric_limits<std::uint32_t>::max()});
      const JsonValue root = arguments.root();
      CallEffects effects = effects_of(block.name, has_arguments ? &root : nullptr);
      if (effects.is_plan) set_plan({});  // the newer one is seen
      if (effects.step && !effects.step->id.empty()) change_task(*effects.step);
      effects.changes.clear();
      open_calls_[std::string(block.id)] =
          call_of(block, std::string(block.name), std::move(effects));
    } else if (block.kind == BlockKind::result) {
      std::optional<Call> call = take_call(block.id);
      if (!call) continue;
      exit_code_.reset();
      printed_.clear();
      says_failure_ = false;
      std::vector<RunError> errors;
      findings_.collect_errors(&errors);
      ErrorReader error_reader(findings_);
      const auto add_text = [&](std::string_view body) {
        read_outcome(decoded(body), error_reader);
        return true;
      };
      visit_texts(block, add_text);
      findings_.collect_errors(nullptr);
      Run run = read_run(block, *call);
      if (results == Results::shown) {
        run.is_check = false;  // it is seen where it stands; what it settles counts
      } else {
        run.errors = std::move(errors);
        add_unnamed_errors(run);
      }
      findings_.runs().add(std::move(run));
    }
  }
}

// What comes next is seen where it stands; that it is past counts.
void Reader::read_prose_after(std::string_view whole, Role role) {
  if (role == Role::user) {
    if (client_block(whole).kind != ClientBlock::Kind::words) return;
    const std::string request = one_line(without_client_text(whole));
    if (!request.empty()) end_step_on_request(request);
  } else if (role == Role::assistant && !trim(whole).empty()) {
    may_be_past_step_ = !answers_question_;
    for_each_line(whole, [this](std::string_view line) {
      find_cues(line, cues_);
      for (const CueMatch& cue : cues_)
        if (cue.rule == CueRule::next_step) findings_.set_next_step({});
    });
  }
}

// What a result that stands elsewhere says of how a command went, and nothing else of it.
void Reader::read_outcome(const std::string& utf8, ErrorReader& errors) {
  std::string text = clean(utf8);
  JsonText json;
  if (const std::string_view body = trim(text);
      body.starts_with('{') && !json.read(body, {.depth = depth_max})) {
    std::string inner;
    for (const JsonMember member : json.root().members()) {
      if (member.value.is(JsonType::string)) inner += clean(member.value.string()) + "\n";
      if (!member.value.is(JsonType::object)) continue;
      for (const JsonMember deeper : member.value.members())
        if (is_in(plain_key(deeper.key.string()), exit_keys)) exit_code_ = deeper.value.int64();
    }
    text = std::move(inner);
  }
  for_each_line(text, [&](std::string_view line) {
    find_cues(line, cues_);
    errors.read(line, cues_, Voice::printed);
  });
  (printed_ += text) += '\n';
}

void Reader::finish() {
  if (may_be_past_step_) findings_.set_next_step({});
  for (const auto& [id, call] : open_calls_)
    for (const FileChange& change : call.effects.changes) findings_.add_change(change);
  open_calls_.clear();
  add_errors_of_runs();
  for (const std::string& question : asked_by_user_)
    findings_.add(Kind::open_question, question, Voice::spoken);
  for (const std::string& question : asked_by_assistant_)
    findings_.add(Kind::open_question, question, Voice::spoken);
  asked_by_user_.clear();
  asked_by_assistant_.clear();
  if (findings_.requests().empty() && !last_trivial_.empty()) {
    findings_.add_request(std::exchange(last_trivial_, {}));
    findings_.count_trivial(~std::uint64_t{0});  // it is listed after all
  }
}

void Reader::add_errors_of_runs() {
  findings_.runs().visit_errors([this](const Run& run, const RunError& error, bool is_settled) {
    const bool is_open = !is_settled && !run.only_looked;
    const std::string_view key = std::string_view(error.text).substr(error.key_at);
    findings_.add_at(is_open ? Kind::error : Kind::earlier_error, error.text, key,
                     run.is_check ? Voice::spoken
                     : run.failed ? Voice::minor
                                  : Voice::printed,
                     error.when);
  });
}

void Reader::read_prose(const std::string& whole, Role role, Origin origin, bool has_calls) {
  if (trim(whole).empty()) return;
  const bool is_user = role == Role::user;
  if (origin == Origin::summary && read_earlier_digest(whole, Speaker::quoted)) return;
  const bool is_said = origin == Origin::original && (is_user || role == Role::assistant);
  if (!is_said) return read_lines(whole, Speaker::quoted);
  const std::string text = is_user ? without_client_text(whole) : whole;
  if (trim(text).empty()) return;
  if (is_user) {
    read_request(text);
  } else {
    asked_by_user_.clear();  // they stand among the requests
    // "Let me look at a.c." says nothing once a.c was looked at
    constexpr std::size_t telling_bytes_min = 60;
    std::string reply = one_line(text);
    if (!has_calls || reply.size() >= telling_bytes_min || findings_.last_reply().empty())
      findings_.set_last_reply(reply);
    said_last_ = std::move(reply);
    last_asked_ = text;
    read_plan_lines(text);
  }
  lists_constraints_ = false;
  names_next_step_ = false;
  read_lines(text, is_user ? Speaker::user : Speaker::assistant);
  if (!is_user) may_be_past_step_ = !names_next_step_ && !answers_question_;
}

// What the assistant was about to do is over when it said something else and stopped there, and
// when the user asks for something else. An answer to a question, from either side, changes
// nothing.
void Reader::end_step_on_request(std::string_view request) {
  const bool is_new = !is_trivial(request) && !is_question(request) && asked_by_assistant_.empty();
  if (may_be_past_step_ || is_new) findings_.set_next_step({});
  may_be_past_step_ = false;
  answers_question_ = is_question(request);
}

std::uint64_t Reader::add_task(const PlanStep& step) {
  constexpr std::size_t tasks_max = 256;  // the plan is made again at each change
  if (tasks_.size() >= tasks_max) return 0;
  ++tasks_added_;
  tasks_.push_back({tasks_added_,
                    std::to_string(tasks_added_),
                    {step.state.value_or(PlanItem::State::open), step.text}});
  set_plan_of_tasks();
  return tasks_added_;
}

void Reader::change_task(const PlanStep& step) {
  const auto task = std::find_if(tasks_.begin(), tasks_.end(),
                                 [&step](const Task& known) { return known.id == step.id; });
  if (task == tasks_.end()) return;
  if (step.state) task->item.state = *step.state;
  if (!step.text.empty()) task->item.text = step.text;
  if (step.is_dropped) tasks_.erase(task);
  set_plan_of_tasks();
}

// "Task #3 created successfully: Fix the parser"
void Reader::name_task(std::uint64_t number, const Run& run) {
  const auto task = std::find_if(tasks_.begin(), tasks_.end(),
                                 [number](const Task& known) { return known.number == number; });
  if (task == tasks_.end()) return;
  if (run.failed) {
    tasks_.erase(task);
    return set_plan_of_tasks();
  }
  const std::size_t hash = printed_.find('#');
  std::size_t end = hash == printed_.npos ? printed_.size() : hash + 1;
  while (end < printed_.size() && is_alnum(printed_[end])) ++end;
  if (end > hash + 1 && hash != printed_.npos) task->id = printed_.substr(hash + 1, end - hash - 1);
}

void Reader::set_plan_of_tasks() {
  std::vector<PlanItem> plan;
  for (const Task& task : tasks_) plan.push_back(task.item);
  std::vector<Task> tasks = std::move(tasks_);
  set_plan(std::move(plan));
  tasks_ = std::move(tasks);
}

// A plan of which all is done leaves no step.
void Reader::set_plan(std::vector<PlanItem> plan) {
  tasks_.clear();
  const bool is_done = std::all_of(plan.begin(), plan.end(), [](const PlanItem& item) {
    return item.state == PlanItem::State::done;
  });
  if (is_done && !plan.empty()) findings_.set_next_step({});
  findings_.set_plan(std::move(plan));
}

void Reader::read_request(const std::string& text) {
  std::string request = one_line(text);
  end_step_on_request(request);
  const bool is_short = request.size() <= sentence_bytes_max;
  // A short answer is a decision, and says nothing without its question.
  const bool is_answer = !asked_by_assistant_.empty() && is_short && !is_question(request);
  const std::string_view option =
      is_answer ? option_chosen(request, last_asked_) : std::string_view();
  constexpr std::size_t label_bytes_max = 3;
  const bool is_label =
      is_answer && (!option.empty() || !is_trivial(request)) && request.size() <= label_bytes_max;
  const bool trivial = is_trivial(request) || is_label;  // it asks for nothing new
  if (is_answer && (!trivial || is_yes(request) || is_label || !option.empty())) {
    const std::string& question = asked_by_assistant_.back();
    std::string asked = shorten_end(question, sentence_bytes_max);
    if (!option.empty() && question.find(option) == question.npos) (asked += " ") += option;
    findings_.add(Kind::constraint, "\"" + request + "\" (asked: " + asked + ")", Voice::spoken);
  } else if (is_short && !trivial && agrees(request)) {
    findings_.add(Kind::constraint, request, Voice::minor);
  }
  for (const std::string& question : asked_by_assistant_)
    findings_.add(Kind::answered_question, question, Voice::spoken);
  asked_by_assistant_.clear();
  if (trivial) {
    findings_.count_trivial(1);
    last_trivial_ = std::move(request);
  } else {
    findings_.add_request(std::move(request));
  }
}

// A plan written as text: lines with boxes, or a list under a heading that says that it is one. The
// last one holds.
void Reader::read_plan_lines(std::string_view text) {
  std::vector<PlanItem> boxes, listed;
  bool in_plan = false;
  for_each_line(text, [&](std::string_view line) {
    const std::string_view mark = trim(line);
    if (mark.empty()) return;
    if (!is_list_line(mark)) {
      const std::string low = lower(first_bytes(mark, 80));
      const bool is_heading = (mark.ends_with(':') || mark.ends_with("：") ||
                               mark.starts_with('#') || mark.ends_with("**")) &&
                              mark.size() < 120;
      bool names_plan = false;
      for (const std::string_view word : {"plan", "steps", "todo", "to do", "to-do", "remaining",
                                          "next", "计划", "步骤", "schritte"})
        names_plan = names_plan || low.find(word) != low.npos;
      in_plan = is_heading && names_plan;
      return;
    }
    const std::string_view item = without_markdown(mark);
    if (std::optional<PlanItem> boxed = boxed_item(item)) {
      boxes.push_back(std::move(*boxed));
    } else if (in_plan) {
      listed.push_back({PlanItem::State::open, shorten_end(item, sentence_bytes_max)});
    }
  });
  if (boxes.size() > 1) return set_plan(std::move(boxes));
  if (listed.size() > 1) set_plan(std::move(listed));
}

void Reader::read_lines(std::string_view text, Speaker speaker) {
  ErrorReader errors(findings_);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at), mark = trim(line);
    at = end + 1;
    if (!mark.starts_with("```") && !mark.starts_with("~~~")) {
      read_line(line, speaker, errors);
      continue;
    }
    const std::string_view fence = mark.substr(0, 3);
    std::string_view language = mark.substr(std::min(mark.find_first_not_of(mark[0]), mark.size()));
    language = language.substr(0, language.find_first_of(" {:,"));
    const std::size_t body = std::min(at, text.size());
    std::size_t body_end = body;
    while (at < text.size()) {
      const std::size_t inner_end = std::min(text.find('\n', at), text.size());
      const bool closes = trim(text.substr(at, inner_end - at)).starts_with(fence);
      at = inner_end + 1;
      if (closes) break;
      body_end = inner_end;
    }
    read_code_block(language, text.substr(body, body_end - body), errors);
  }
}

void Reader::read_code_block(std::string_view language, std::string_view body,
                             ErrorReader& errors) {
  read_places(body, Voice::spoken);
  const bool shell = is_in(language, shells);
  if (!shell && !language.empty() && !is_in(language, printed_languages)) return;
  bool prompts = false;
  for_each_line(body,
                [&prompts](std::string_view line) { prompts = prompts || after_prompt(line); });
  if (shell && !prompts) return add_script(body, Voice::spoken, findings_);
  for_each_line(body, [&](std::string_view line) {
    if (const std::optional<std::string_view> command = after_prompt(line)) {
      add_command(*command, Voice::spoken, findings_);
    } else if (!prompts && language.empty() && is_command(line)) {
      add_command(line, Voice::spoken, findings_);
    } else {
      find_cues(line, cues_);
      errors.read(line, cues_, Voice::printed);
      find_numbers(line, Voice::spoken, findings_);
    }
  });
}

void Reader::read_line(std::string_view line, Speaker speaker, ErrorReader& errors) {
  find_places(line, Voice::spoken, findings_);
  if (speaker == Speaker::user && announces_constraints(trim(line))) {
    lists_constraints_ = true;
  } else if (!is_list_line(line)) {
    lists_constraints_ = lists_constraints_ && (trim(line).empty() || line.starts_with("  "));
  }
  if (const std::optional<std::string_view> command = after_prompt(line))
    return add_command(*command, Voice::spoken, findings_);
  for (std::size_t open = line.find('`'); open != line.npos;) {
    const std::size_t close = line.find('`', open + 1);
    if (close == line.npos) break;
    const std::string_view code = line.substr(open + 1, close - open - 1);
    if (is_command(code)) add_command(code, Voice::spoken, findings_);
    open = line.find('`', close + 1);
  }
  find_numbers(line, Voice::spoken, findings_);
  find_cues(line, cues_);
  errors.read(line, cues_, Voice::spoken);
  read_sentences(line, speaker);
}

// Sentences that ask, bind, decide, report a failure or say what comes next. A question binds
// nobody.
void Reader::read_sentences(std::string_view line, Speaker speaker) {
  const bool is_quote = trim(line).starts_with('>');
  const bool binds_all = speaker == Speaker::user && lists_constraints_ && is_list_line(line);
  std::size_t cue = 0, previous = 0;  // where the sentence before begins
  bool failed_before = false;         // whether that one tells of a failure
  std::size_t told_to = 0;            // what stands before it is told as the reason of a failure
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::max(sentence_end(line, at), at + 1);
    std::string_view sentence = without_markdown(line.substr(at, end - at));
    bool decides = false, binds = binds_all, wishes = false, hints = false, failed = false,
         next = false;
    for (; cue < cues_.size() && cues_[cue].end <= end; ++cue) {
      const CueRule rule = cues_[cue].rule;
      decides = decides || rule == CueRule::decision;
      binds = binds || rule == CueRule::constraint;
      wishes = wishes || rule == CueRule::wish;
      hints = hints || rule == CueRule::hint;
      failed = failed || rule == CueRule::attempt;
      next = next || rule == CueRule::next_step;
    }
    const bool asks = is_question(sentence);
    // by the one before
    const bool is_told =
        (std::exchange(failed_before, failed) && sentence.size() < short_failure_bytes) ||
        end <= told_to;
    const bool needs_previous =
        (asks && sentence.size() < short_question_bytes) ||
        (failed && (refers_back(sentence) || sentence.size() < short_failure_bytes));
    std::size_t begin = at;
    if (needs_previous && end - previous <= sentence_bytes_max)
      sentence = without_markdown(line.substr(begin = previous, end - previous));
    std::string_view attempt = sentence;
    if (const std::size_t why_end = failed && !asks ? end_of_reason(line, end, cue) : end;
        why_end > end) {
      attempt = without_markdown(line.substr(begin, why_end - begin));
      told_to = why_end;
    }
    previous = std::exchange(at, end);
    if (sentence.empty()) continue;
    if (asks) {
      if (speaker == Speaker::user)
        asked_by_user_.push_back(shorten_end(sentence, sentence_bytes_max));
      if (speaker == Speaker::assistant)
        asked_by_assistant_.push_back(shorten_end(sentence, sentence_bytes_max));
      continue;
    }
    if (failed && !is_told && (speaker == Speaker::assistant || speaker == Speaker::user) &&
        !is_quote)
      findings_.add(Kind::attempt, shorten_end(attempt, sentence_bytes_max), Voice::spoken);
    if (failed && speaker == Speaker::assistant) said_last_.clear();  // it is told
    if (sentence.ends_with(':')) hints = false;                       // it leads to what follows
    if (speaker == Speaker::user && !is_quote && (decides || binds || wishes || hints)) {
      const Voice voice = decides || binds ? Voice::spoken : wishes ? Voice::minor : Voice::printed;
      findings_.add(Kind::constraint, shorten_end(sentence, constraint_bytes_max), voice);
    } else if (decides && speaker == Speaker::assistant) {
      findings_.add(Kind::choice, shorten_end(sentence, sentence_bytes_max), Voice::spoken);
    }
    if (next && speaker == Speaker::assistant) {
      names_next_step_ = true;
      findings_.set_next_step(shorten_end(sentence, sentence_bytes_max));
    }
  }
}

// Where the sentence ends that begins at `from`, behind one that tells of a failure, if it says
// why; otherwise `from`. `cue` is the first of its cues.
std::size_t Reader::end_of_reason(std::string_view line, std::size_t from, std::size_t cue) const {
  if (from >= line.size()) return from;
  const std::size_t end = std::max(sentence_end(line, from), from + 1);
  const std::string_view sentence = trim(line.substr(from, end - from));
  for (; cue < cues_.size() && cues_[cue].end <= end; ++cue)
    if (cues_[cue].rule == CueRule::next_step) return from;
  return gives_reason(sentence) && !is_question(sentence) ? end : from;
}

// A digest is no text to be quoted in the next one: what it kept is kept again, under the same
// headings.
bool Reader::read_earlier_digest(std::string_view text, Speaker speaker) {
  constexpr std::size_t title_within_bytes = 512;  // something may introduce it
  std::size_t at = 0;
  std::optional<std::uint64_t> messages;
  while (!messages && at < std::min(text.size(), title_within_bytes)) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    messages = messages_of_title(trim(text.substr(at, end - at)));
    at = end + 1;
  }
  if (!messages) return false;
  messages_ += *messages > 0 ? *messages - 1 : 0;
  ErrorReader errors(findings_);
  std::optional<Section> section;
  earlier_request_.reset();
  earlier_plan_.clear();
  for_each_line(text.substr(std::min(at, text.size())), [&](std::string_view line) {
    line = trim(line);
    if (const std::optional<Section> next = section_headed(line)) {
      section = next;
    } else if (const std::optional<std::uint64_t> more = number_between(line, more_begin, more_end);
               section && more) {
      if (*section == Section::constraints) findings_.count_constraints(*more);
      if (*section == Section::changes) findings_.count_changes(*more);
      if (*section == Section::requests) findings_.count_trivial(*more);
    } else if (section && line.size() > 2 &&
               (line.starts_with("- ") || *section == Section::requests)) {
      read_digest_line(*section, line);
    } else if (!messages_of_title(line)) {
      read_line(line, speaker, errors);
    }
  });
  if (!earlier_plan_.empty()) findings_.set_plan(std::move(earlier_plan_));
  if (earlier_request_) findings_.add_request(std::move(*earlier_request_));
  return true;
}

void Reader::read_digest_line(Section section, std::string_view line) {
  if (section == Section::requests) {
    const std::size_t open = line.find('"');
    if (open != line.npos && open + 2 < line.size() && line.ends_with('"'))
      findings_.add_request(std::string(line.substr(open + 1, line.size() - open - 2)));
    return;
  }
  line = trim(line.substr(2));
  const auto keep = [this, line](Kind kind) { findings_.add(kind, line, Voice::spoken); };
  switch (section) {
    case Section::requests: break;
    case Section::constraints: keep(Kind::constraint); break;
    case Section::request:
      if (line.size() > 2 && line.starts_with('"') && line.ends_with('"'))
        earlier_request_ = line.substr(1, line.size() - 2);
      break;
    case Section::plan:
      if (line.size() > 4 && line[0] == '[' && line[2] == ']')
        earlier_plan_.push_back({line[1] == 'x'   ? PlanItem::State::done
                                 : line[1] == '>' ? PlanItem::State::active
                                                  : PlanItem::State::open,
                                 std::string(line.substr(4))});
      break;
    case Section::changes: read_changed_line(line); break;
    case Section::results: read_result_line(line); break;
    case Section::attempts: keep(Kind::attempt); break;
    case Section::next_step: findings_.set_next_step(std::string(line)); break;
    case Section::open_questions: asked_by_assistant_.emplace_back(line); break;
    case Section::choices: keep(Kind::choice); break;
    case Section::errors: add_error(line, Voice::spoken, findings_); break;
    case Section::earlier_errors: keep(Kind::earlier_error); break;
    case Section::files: keep(Kind::file); break;
    case Section::commands: keep(Kind::command); break;
    case Section::urls: keep(Kind::url); break;
    case Section::answered_questions: keep(Kind::answered_question); break;
    case Section::numbers: keep(Kind::number); break;
    case Section::last_reply: findings_.set_last_reply(std::string(line)); break;
    case Section::tools: {
      constexpr std::string_view times = " ×";
      constexpr std::size_t digits_max = 12;
      const std::size_t found = line.rfind(times);
      if (found == line.npos) break;
      std::uint64_t count = 0;
      for (const char c : line.substr(found + times.size()).substr(0, digits_max))
        count = is_digit(c) ? count * 10 + static_cast<std::uint64_t>(c - '0') : count;
      findings_.add_tool_calls(line.substr(0, found), count);
      break;
    }
  }
}

// "src/a.c (edited ×3)", "src/b.c (renamed from src/a.c)"
void Reader::read_changed_line(std::string_view line) {
  const std::size_t open = line.rfind(" (");
  if (open == line.npos || !line.ends_with(')')) return;
  std::string_view what = line.substr(open + 2, line.size() - open - 3);
  FileChange change{.path = std::string(line.substr(0, open))};
  std::uint64_t count = 1;
  constexpr std::string_view times = " ×", from = "renamed from ";
  if (const std::size_t found = what.rfind(times); found != what.npos) {
    count = number_between(what.substr(found), times, {}).value_or(1);
    what = what.substr(0, found);
  }
  if (what.starts_with(from)) {
    change.kind = FileChangeKind::renamed;
    change.from = std::string(what.substr(from.size()));
  }
  for (const FileChangeKind kind : {FileChangeKind::created, FileChangeKind::deleted,
                                    FileChangeKind::formatted, FileChangeKind::restored})
    if (what == name(kind)) change.kind = kind;
  findings_.add_change(change, count);
}

void Reader::read_result_line(std::string_view line) {
  const std::size_t passed = line.rfind(passed_mark), failed = line.rfind(failed_mark);
  const bool has_failed = failed != line.npos && (passed == line.npos || failed > passed);
  if (!has_failed && passed == line.npos) return;
  const std::size_t at = has_failed ? failed : passed;
  const std::string_view mark = has_failed ? failed_mark : passed_mark;
  Run run;
  describe_run(line.substr(0, at), run);
  run.command = std::string(line.substr(0, at));
  run.is_check = true;
  run.failed = has_failed;
  run.outcome = std::string(line.substr(at + mark.size()));
  run.when = findings_.tick();
  findings_.runs().add(std::move(run));
}

void Reader::read_printed(std::string_view utf8, unsigned depth) {
  const std::string_view body = trim(utf8);
  if (depth < encoded_depth_max && (body.starts_with('{') || body.starts_with('['))) {
    JsonText json;
    if (!json.read(body, {.depth = depth_max}))
      return read_printed_value({}, json.root(), depth + 1);
  }
  const std::string text = clean(utf8);
  (printed_ += text) += '\n';
  ErrorReader errors(findings_);
  for_each_line(text,
                [&](std::string_view line) { read_printed_line(line, errors, Voice::printed); });
}

void Reader::read_printed_line(std::string_view line, ErrorReader& errors, Voice voice) {
  find_places(line, voice, findings_);
  if (const std::optional<std::string_view> command = after_prompt(line))
    return add_command(*command, voice, findings_);
  // Such as make prints them. An option tells them from sentences.
  if (line.substr(0, echo_bytes_max).find(" -") != line.npos && is_command(line))
    add_command(line, voice, findings_);
  find_numbers(line, voice, findings_);
  find_cues(line, cues_);
  errors.read(line, cues_, Voice::printed);
}

void Reader::read_printed_value(std::string_view key, const JsonValue& value, unsigned depth) {
  const std::string plain = plain_key(key);
  switch (value.type()) {
    case JsonType::string: {
      const std::string text = value.string();
      const std::string line = clean(text);
      if (is_in(plain, error_keys) && !trim(line).empty())
        add_error(line.substr(0, line.find('\n')), Voice::printed, findings_);
      if (is_path_key(plain) && is_named_path(line)) {
        findings_.add(Kind::file, trim(line), Voice::printed);
      } else {
        read_printed(text, depth);
      }
      break;
    }
    case JsonType::number: {
      const std::int64_t number = value.int64().value_or(0);
      if (is_in(plain, exit_keys)) exit_code_ = number;
      const bool failed = is_in(plain, status_keys) && number >= 400 && number <= 599;
      if (failed) add_error(clean(key) + " " + std::to_string(number), Voice::printed, findings_);
      break;
    }
    case JsonType::array:
      for (const JsonValue element : value.elements()) read_printed_value(key, element, depth);
      break;
    case JsonType::object:
      for (const JsonMember member : value.members())
        read_printed_value(member.key.string(), member.value, depth);
      break;
    case JsonType::null:
    case JsonType::boolean: break;
  }
}

void Reader::read_call(const Block& block) {
  may_be_past_step_ = false;
  const std::string tool = one_line(clean(first_bytes(block.name, tool_name_bytes_max)));
  if (!tool.empty()) findings_.add_tool_calls(tool, 1);
  JsonText arguments;
  const bool has_arguments =
      !block.json.empty() &&
      !arguments.read(block.json, {.depth = std::numeric_limits<std::uint32_t>::max()});
  if (!has_arguments) return;
  const JsonValue root = arguments.root();
  CallEffects effects = effects_of(tool, &root);
  looks_only_ = effects.is_inspection;
  if (root.is(JsonType::string)) {
    const std::string text = root.string();
    JsonText json;
    if (!json.read(text, {.depth = depth_max})) {
      read_argument(tool, {}, json.root(), 0);
    } else {
      read_argument_text(tool, "input", clean(text));  // not JSON after all
    }
  } else {
    read_argument(tool, {}, root, 0);
  }
  looks_only_ = false;
  if (effects.is_plan) set_plan(effects.plan);
  const bool adds_task = effects.step && effects.step->id.empty();
  const std::uint64_t task = adds_task ? add_task(*effects.step) : 0;
  if (effects.step && !adds_task) change_task(*effects.step);
  if (block.is_complete) {
    for (const FileChange& change : effects.changes) findings_.add_change(change);
    return;
  }
  if (open_calls_.size() >= open_calls_max) return;
  Call& call = open_calls_[std::string(block.id)] = call_of(block, tool, std::move(effects));
  call.task = task;
}

Reader::Call Reader::call_of(const Block& block, std::string tool, CallEffects effects) const {
  constexpr std::size_t arguments_bytes_max = 200;
  return {std::move(tool), one_line(clean(first_bytes(block.json, arguments_bytes_max))),
          std::move(effects), 0};
}

// Files that are as they were again: what was said before tells why, if no sentence of it told so
// already.
void Reader::note_taken_back(const std::vector<FileChange>& changes) {
  constexpr std::size_t telling_bytes_min = 40;
  const bool takes_back = std::any_of(changes.begin(), changes.end(), [](const FileChange& change) {
    return change.kind == FileChangeKind::restored;
  });
  if (!takes_back) return;
  const std::string said = std::exchange(said_last_, {});
  if (said.size() >= telling_bytes_min && !said.starts_with("Let me ") && !is_question(said))
    findings_.add(Kind::attempt, shorten_end(said, sentence_bytes_max), Voice::spoken);
}

std::optional<Reader::Call> Reader::take_call(std::string_view id) {
  const auto found = open_calls_.find(id);
  if (found == open_calls_.end()) return {};
  Call call = std::move(found->second);
  open_calls_.erase(found);
  return call;
}

void Reader::read_result(const Block& block) {
  std::optional<Call> call = take_call(block.id);
  exit_code_.reset();
  printed_.clear();
  says_failure_ = false;
  std::vector<RunError> errors;
  if (call) findings_.collect_errors(&errors);
  const auto read_text = [this](std::string_view text) {
    says_failure_ = says_failure_ || (printed_.empty() && begins_as_failure(text));
    read_printed(text, 0);
  };
  const auto read_body = [&read_text](std::string_view body) {
    read_text(decoded(body));
    return true;
  };
  visit_texts(block, read_body);
  if (block.kind == BlockKind::result && !block.is_list && !block.json.empty())
    read_text(block.json);
  findings_.collect_errors(nullptr);
  if (!call) return;
  Run run = read_run(block, *call);
  run.errors = std::move(errors);
  if (call->task != 0) name_task(call->task, run);
  const bool is_program = !call->effects.script.empty() || !call->effects.code.empty();
  if (is_refused_) {
    run.errors.clear();  // it is no error of the work
    findings_.add(Kind::attempt, refused_attempt(run.command, printed_), Voice::spoken);
  }
  add_unnamed_errors(run);
  // A program may have changed files before it failed; one that was refused has not begun.
  if (!run.failed || (is_program && !is_refused_)) {
    for (const FileChange& change : call->effects.changes) findings_.add_change(change);
    note_taken_back(call->effects.changes);
  }
  std::vector<FileChange> printed;
  if (!call->effects.script.empty()) read_printed_changes(call->effects.script, printed_, printed);
  for (const FileChange& change : printed) findings_.add_change(change);
  findings_.runs().add(std::move(run));
}

// Of a test that failed and printed nothing that is known for an error, such as a difference, the
// first lines tell why.
void Reader::add_unnamed_errors(Run& run) {
  constexpr std::size_t lines_max = 2, line_bytes_max = 160;
  if (!run.is_check || !run.failed || !run.errors.empty()) return;
  for (const std::string& line : telling_lines(printed_, lines_max))
    if (line != run.outcome)
      run.errors.push_back({shorten_end(line, line_bytes_max), 0, findings_.tick()});
}

Run Reader::read_run(const Block& block, Call& call) {
  Run run;
  run.when = findings_.tick();
  const CallEffects& effects = call.effects;
  if (!effects.script.empty()) {
    describe_run(effects.script, run);
  } else if (!effects.code.empty()) {
    run.command = call.tool + " " + call.arguments;
    describe_code(effects.code, run);
  } else {
    run.command = call.tool + " " + call.arguments;
    if (!effects.changes.empty()) run.family = "edit " + effects.changes.front().path;
    if (!effects.reads.empty()) run.family = "read " + effects.reads.front().path;
    if (!run.family.empty()) run.command = run.family;
  }
  judge_run(printed_, block.is_error, exit_code_, run);
  if (effects.script.empty() && effects.code.empty())
    run.failed = block.is_error || says_failure_ || begins_as_failure(printed_);
  is_refused_ = is_refusal(printed_);
  if (is_refused_) {
    run.failed = true;
    run.is_check = false;  // it says nothing of what would have been checked
  }
  // What a file holds is no error of the call; a log that is read tells of errors.
  const auto is_log = [](const std::string& text) {
    for (const std::string_view word :
         {".log", ".out", ".err", "journalctl", "logs", "stderr", ".txt"})
      if (text.find(word) != text.npos) return true;
    return false;
  };
  run.only_looked = effects.is_inspection && !is_log(effects.script) &&
                    std::none_of(effects.reads.begin(), effects.reads.end(),
                                 [&](const FileRead& read) { return is_log(read.path); });
  return run;
}

void Reader::read_argument(std::string_view tool, std::string_view key, const JsonValue& value,
                           unsigned depth) {
  if (depth > depth_max) return;
  if (value.is(JsonType::string)) return read_argument_text(tool, key, clean(value.string()));
  if (value.is(JsonType::object))
    for (const JsonMember member : value.members())
      read_argument(tool, member.key.string(), member.value, depth + 1);
  if (!value.is(JsonType::array)) return;
  if (!is_command_key(plain_key(key)) || plain_key(key) == "commands") {
    for (const JsonValue element : value.elements()) read_argument(tool, key, element, depth + 1);
    return;
  }
  // A command in words: ["bash", "-lc", "make test"] or ["git", "log"].
  std::vector<std::string> words;
  for (const JsonValue element : value.elements())
    if (element.is(JsonType::string)) words.push_back(clean(element.string()));
  if (words.size() == 3 && words[1].starts_with('-') && words[1].ends_with('c'))
    return read_argument_text(tool, key, words[2]);
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  read_argument_text(tool, key, command);
}

void Reader::read_argument_text(std::string_view tool, std::string_view key,
                                std::string_view text) {
  const std::string plain = plain_key(key);
  if (is_path_key(plain) && is_named_path(trim(text)))
    return findings_.add(Kind::file, trim(text), Voice::spoken);
  const bool is_content = plain == "content" || plain == "filetext" || plain == "newstring" ||
                          plain == "oldstring" || plain == "newstr" || plain == "oldstr";
  read_places(text, is_content ? Voice::printed : Voice::spoken);
  const Voice voice = looks_only_ ? Voice::minor : Voice::spoken;
  if (plain == "sql") {
    add_command(text, Voice::spoken, findings_);
  } else if (holds_code(tool, plain)) {
    if (const std::string script = shell_lines(text); !script.empty())
      add_script(script, voice, findings_);
  } else if (is_command_key(plain) ||
             (runs_scripts(tool) && (plain == "input" || plain == "code" || plain == "script")) ||
             (plain == "script" && is_command(text.substr(0, text.find('\n'))))) {
    add_script(text, voice, findings_);
  }
}

void Reader::read_places(std::string_view text, Voice voice) {
  for_each_line(text, [&](std::string_view line) { find_places(line, voice, findings_); });
}

}  // namespace undertext::digest
