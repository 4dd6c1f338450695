// The digest: what was found, chosen within a budget. Everything that could be shown is put into
// one line of order, the dearest first, and a digest is as much of its beginning as fits; so a
// smaller budget never shows what a larger one does not. docs/digest.md gives that order.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <undertext/summariser.hpp>

#include "compression/digest_findings.hpp"
#include "compression/digest_form.hpp"
#include "compression/digest_read.hpp"
#include "compression/digest_text.hpp"
#include "compression/fact_search.hpp"
#include "compression/facts.hpp"

namespace undertext {
namespace digest {
namespace {

// How much of a request is shown, as room allows. The last is all of it.
constexpr std::array<std::size_t, 5> request_bytes = {80, 320, 1000, 4000,
                                                      std::numeric_limits<std::size_t>::max()};
constexpr std::size_t newest_requests = 3;
constexpr std::size_t reply_bytes = 240;

// A line that could be shown. One of the same section and place, chosen later, takes its place.
struct Offer {
  Section section;
  std::uint64_t place;  // lines of a section stand in this order
  std::string text;
};

// How many of each section there are, beside those that are offered.
struct Totals {
  std::uint64_t constraints = 0, changes = 0, requests = 0;
};

std::string changed_line(const ChangedFile& file) {
  std::string line = "- " + file.path + " (";
  if (file.kind == FileChangeKind::renamed && !file.from.empty()) {
    line += "renamed from " + file.from;
  } else {
    line += name(file.kind == FileChangeKind::renamed ? FileChangeKind::created : file.kind);
  }
  if (file.kind == FileChangeKind::edited && file.count > 1)
    line += " ×" + std::to_string(file.count);
  return line + ")";
}

std::string plan_line(const PlanItem& item) {
  const std::string_view mark = item.state == PlanItem::State::done     ? "- [x] "
                                : item.state == PlanItem::State::active ? "- [>] "
                                                                        : "- [ ] ";
  return std::string(mark) + item.text;
}

std::string result_line(const Run& run) {
  return "- " + run.command + std::string(run.failed ? failed_mark : passed_mark) + run.outcome;
}

// The paths that say something beside those listed already: not the end of another, nor a file that
// was changed.
std::vector<Finding> without_repeated_paths(std::vector<Finding> files,
                                            const std::vector<ChangedFile>& changes) {
  std::map<std::string_view, std::vector<std::string_view>> by_name;
  for (const ChangedFile& change : changes) by_name[base_name(change.path)].push_back(change.path);
  for (const Finding& file : files) by_name[base_name(file.text)].push_back(file.text);
  const auto without_dots = [](std::string_view path) {
    while (path.starts_with("./") || path.starts_with("../"))
      path.remove_prefix(path.find('/') + 1);
    return path;
  };
  // a thousand files of one name are compared with the first few
  constexpr std::size_t same_name_max = 64;
  const auto is_repeated = [&](const Finding& file) {
    const std::vector<std::string_view>& others = by_name[base_name(file.text)];
    for (std::size_t i = 0; i < std::min(others.size(), same_name_max); ++i) {
      const bool is_itself = others[i].data() == file.text.data();
      if (is_itself) continue;
      const std::string_view plain = without_dots(file.text), other = without_dots(others[i]);
      // Of two that are the same but for the dots, the one without.
      if (plain == other ? file.text.size() > others[i].size() : ends_with_path(other, plain))
        return true;
    }
    return false;
  };
  std::vector<bool> repeated;
  for (const Finding& file : files) repeated.push_back(is_repeated(file));
  std::vector<Finding> kept;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!repeated[i]) kept.push_back(std::move(files[i]));
  return kept;
}

// Throws the Failure of the call's limits.
void go_on(const SummaryRequest& request) {
  if (request.work) request.work->go_on();
}

// What stands elsewhere in the view, and need not be said twice.
class Elsewhere {
 public:
  explicit Elsewhere(const SummaryRequest& request)
      : later_(findings_max), work_(request.work), visible_(visible_text(request)) {
    for (const Message& message : request.after) {
      go_on(request);
      has_reply_ = has_reply_ || (message.role() == Role::assistant && !message.has_tool_links());
      has_request_ = has_request_ || is_request(message);
    }
    Reader reader(later_);
    for (const Message& summary : request.later) {
      go_on(request);
      reader.read(summary, Reader::Origin::summary);
    }
    for (const ChangedFile& file : later_.changes())
      changes_[std::string(base_name(file.path))].push_back(file);
    for (const Run* run : later_.runs().last_checks()) checks_.insert(run->command);
    for (const Kind kind : {Kind::error, Kind::attempt, Kind::command, Kind::file, Kind::url})
      for (Finding& finding : later_.take(kind)) lines_.insert({kind, std::move(finding.text)});
  }

  // How things stand is said by the last summary.
  bool has_plan() const { return !later_.plan().empty(); }
  bool has_step() const { return !later_.next_step().empty() || !later_.last_reply().empty(); }
  bool has_reply() const { return has_reply_ || has_step(); }
  bool has_request() const { return has_request_; }  // newer ones
  bool has_check(const Run& run) const { return checks_.count(run.command) > 0; }

  // That a file was created says more than that it was edited later.
  bool has_change(const ChangedFile& file) const {
    const auto same_name = changes_.find(base_name(file.path));
    if (same_name == changes_.end()) return false;
    return std::any_of(
        same_name->second.begin(), same_name->second.end(), [&](const ChangedFile& other) {
          const bool is_same = other.path == file.path || ends_with_path(other.path, file.path) ||
                               ends_with_path(file.path, other.path);
          return is_same && (other.kind == file.kind || file.kind == FileChangeKind::edited);
        });
  }

  // `kind`: of errors, attempts, commands, files, URLs.
  std::vector<Finding> without_said(Kind kind, std::vector<Finding> findings) const {
    const bool may_be_visible = kind == Kind::command || kind == Kind::file || kind == Kind::url;
    std::vector<bool> is_visible(findings.size());
    if (may_be_visible && !visible_.empty()) {
      std::vector<std::string> texts;
      for (const Finding& finding : findings) texts.push_back(finding.text);
      is_visible = are_said(texts, visible_, work_.get());
    }
    std::vector<Finding> left;
    for (std::size_t i = 0; i < findings.size(); ++i)
      if (!is_visible[i] && !lines_.contains({kind, findings[i].text}))
        left.push_back(std::move(findings[i]));
    return left;
  }

 private:
  static constexpr std::size_t findings_max = 1u << 12;  // of a kind, in later summaries

  static std::string visible_text(const SummaryRequest& request) {
    std::vector<Message> visible;
    for (std::size_t i = 0; i < request.after.size(); ++i)
      if (std::find(request.after_hidden.begin(), request.after_hidden.end(), i) ==
          request.after_hidden.end())
        visible.push_back(request.after[i]);
    return all_said(visible, request.work.get());
  }

  static bool is_request(const Message& message) {
    if (message.role() != Role::user) return false;
    Findings findings(1);
    Reader reader(findings);
    reader.read(message);
    return !findings.requests().empty();
  }

  Findings later_;
  const std::shared_ptr<const Work> work_;
  const std::string visible_;
  bool has_reply_ = false, has_request_ = false;
  std::map<std::string, std::vector<ChangedFile>, std::less<>> changes_;  // by name
  std::set<std::string, std::less<>> checks_;
  std::set<std::pair<Kind, std::string>> lines_;
};

// All that could be shown, the dearest first.
class Order {
 public:
  // `constraints_max`: what the cost of constraints may come to before anything else is shown.
  Order(Findings& findings, const Elsewhere& elsewhere, std::uint64_t constraints_max,
        const std::function<std::uint64_t(std::string_view)>& cost)
      : findings_(findings),
        elsewhere_(elsewhere),
        requests_(findings.requests()),
        constraints_max_(constraints_max),
        cost_(cost) {}

  std::vector<Offer> take() {
    add_current(0);
    std::vector<Finding> constraints = without_quoted(findings_.take(Kind::constraint));
    const std::size_t first = add_constraints(constraints);
    find_requests(constraints, first);
    add_current(1);
    if (!findings_.next_step().empty() && !elsewhere_.has_step())
      offers_.push_back({Section::next_step, 0, "- " + findings_.next_step()});
    std::vector<ChangedFile> changes = findings_.changes();
    std::erase_if(changes, [&](const ChangedFile& file) { return elsewhere_.has_change(file); });
    for (const ChangedFile& file : changes)
      offers_.push_back({Section::changes, file.first, changed_line(file)});
    totals_.changes = changes.size() + findings_.more_changes();
    if (!elsewhere_.has_plan()) add_plan();
    // What binds is never dropped for what is listed below.
    for (std::size_t i = first; i < constraints.size(); ++i) add_constraint(constraints[i]);
    add_newest_requests(1);
    std::vector<const Run*> checks = findings_.runs().last_checks();
    std::erase_if(checks, [&](const Run* run) { return elsewhere_.has_check(*run); });
    List errors = distinct_errors(constraints, checks),
         attempts = list(Section::attempts, Kind::attempt);
    std::size_t shown_checks = 0;
    // Why something did not work is what nobody finds out again by running a test.
    add_checks(checks, shown_checks, checks_before_errors);
    add_some(errors, std::min<std::size_t>(errors.distinct, 3));
    add_some(attempts, 3);
    add_checks(checks, shown_checks, 6);
    add_some(errors, std::min<std::size_t>(errors.distinct, 8));
    add_some(attempts, 6);
    if (!elsewhere_.has_reply()) add_reply();
    List commands = telling_commands_first(checks);
    add_requests(0);
    add_some(commands, 24);
    add_newest_requests(newest_requests);
    add_current(2);
    add_some(errors, std::min<std::size_t>(errors.distinct, 16));
    add_some(attempts, 16);
    add_checks(checks, shown_checks, 16);
    add_requests(1);
    List questions{Section::open_questions, findings_.take(Kind::open_question)};
    add_some(questions, 8);
    List files{Section::files,
               without_repeated_paths(list(Section::files, Kind::file).findings, changes)};
    List urls = list(Section::urls, Kind::url);
    List numbers{Section::numbers, findings_.take(Kind::number)};
    add_some(urls, 8);
    add_some(numbers, 4);
    add_some(files, 12);
    add_requests(2);
    // Each is a part of what is left, so that a thousand of one kind do not push out the newest of
    // another.
    for (std::size_t share = 1; share <= 16; ++share) {
      add_some(errors, 16 + 8 * share);
      add_some(attempts, 16 + 8 * share);
      add_some(commands, 24 + 16 * share);
      add_some(files, 12 + 16 * share);
    }
    List choices{Section::choices, findings_.take(Kind::choice)};
    List earlier{Section::earlier_errors, findings_.take(Kind::earlier_error)};
    add_some(choices, 8);
    add_some(earlier, 8);
    add_some(numbers, 8);
    for (List* list :
         {&errors, &attempts, &questions, &commands, &urls, &files, &choices, &earlier})
      add_some(*list, list->findings.size());
    add_checks(checks, shown_checks, checks.size());
    add_current(3);
    add_requests(3);
    List answered{Section::answered_questions, findings_.take(Kind::answered_question)};
    add_some(answered, answered.findings.size());
    for (const Finding& tool : findings_.tools())
      offers_.push_back({Section::tools, tool.first, "- " + tool.text});
    add_some(numbers, numbers.findings.size());
    add_current(4);
    add_requests(4);
    totals_.constraints = constraints.size() + findings_.more_constraints();
    totals_.requests = others_.size() + findings_.trivial_requests();
    return std::move(offers_);
  }

  const Totals& totals() const { return totals_; }  // after take()

 private:
  static constexpr std::size_t checks_before_errors = 2;

  struct List {
    Section section;
    std::vector<Finding> findings;
    std::size_t added = 0;
    std::size_t distinct = std::numeric_limits<std::size_t>::max();  // those before repeats
  };

  List list(Section section, Kind kind) {
    return {section, elsewhere_.without_said(kind, findings_.take(kind))};
  }

  // Without what a constraint says: "stop with exit code 2" is no error. Errors that the outcome of
  // a test says, and those that differ from another in numbers alone, such as that of a line, come
  // last.
  List distinct_errors(const std::vector<Finding>& constraints,
                       const std::vector<const Run*>& checks) {
    constexpr std::size_t compared_max = 64;
    const auto is_constraint = [&](const Finding& error) {
      return std::any_of(constraints.begin(), first(constraints, compared_max),
                         [&](const Finding& constraint) {
                           return constraint.text.find(error.text) != std::string::npos;
                         });
    };
    const auto is_outcome = [&](const Finding& error) {
      return std::any_of(checks.begin(), first(checks, checks_before_errors), [&](const Run* run) {
        return run->outcome.find(error.text) != std::string::npos;
      });
    };
    List errors = list(Section::errors, Kind::error);
    std::erase_if(errors.findings, is_constraint);
    std::set<std::string> shapes;
    const auto rest = std::stable_partition(
        errors.findings.begin(), errors.findings.end(), [&](const Finding& error) {
          std::string shape;
          std::copy_if(error.text.begin(), error.text.end(), std::back_inserter(shape),
                       [](char c) { return !is_digit(c); });
          return shapes.insert(std::move(shape)).second && !is_outcome(error);
        });
    errors.distinct = static_cast<std::size_t>(rest - errors.findings.begin());
    return errors;
  }

  template <class T>
  static typename std::vector<T>::const_iterator first(const std::vector<T>& all,
                                                       std::size_t count) {
    return all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), count));
  }

  // A long command takes the room of several. What is listed already is said again last: another
  // look at the output of a test among the results, a command of which the text that it was fed is
  // left out.
  List telling_commands_first(const std::vector<const Run*>& checks) {
    constexpr std::size_t short_bytes = 100;
    constexpr std::string_view fed = "<<";
    std::set<std::string_view> listed;
    for (const Run* run : checks) listed.insert(run->command);
    List commands = list(Section::commands, Kind::command);
    std::erase_if(commands.findings,
                  [&](const Finding& command) { return listed.contains(command.text); });
    const auto repeats = [&](const Finding& command) {
      return command.text.find(fed) != std::string::npos ||
             listed.contains(sole_check(command.text));
    };
    const auto rank = [&](const Finding& command) {
      return repeats(command) ? 2 : command.text.size() > short_bytes ? 1 : 0;
    };
    std::array<std::vector<Finding>, 3> ranked;
    for (Finding& command : commands.findings)
      ranked[static_cast<std::size_t>(rank(command))].push_back(std::move(command));
    commands.findings.clear();
    for (std::vector<Finding>& some : ranked)
      std::move(some.begin(), some.end(), std::back_inserter(commands.findings));
    return commands;
  }

  void add_constraint(const Finding& finding) {
    offers_.push_back({Section::constraints, finding.first, "- " + finding.text});
  }

  // Sentences of a short answer stand in it, beside the question that it answers.
  static std::vector<Finding> without_quoted(std::vector<Finding> constraints) {
    constexpr std::string_view asked = "\" (asked: ";
    // a thousand sentences are compared with the newest answers
    constexpr std::size_t answers_max = 64;
    std::vector<std::string> answers;
    for (const Finding& constraint : constraints) {
      const std::size_t end = constraint.text.find(asked);
      if (constraint.text.starts_with('"') && end != std::string::npos)
        answers.push_back(constraint.text.substr(1, end - 1));
      if (answers.size() == answers_max) break;
    }
    std::erase_if(constraints, [&](const Finding& constraint) {
      return std::any_of(answers.begin(), answers.end(), [&](const std::string& answer) {
        return answer.find(constraint.text) != answer.npos;
      });
    });
    return constraints;
  }

  // Until they have used up their share. How many that were.
  std::size_t add_constraints(const std::vector<Finding>& constraints) {
    std::uint64_t used = 0;
    std::size_t added = 0;
    for (; added < constraints.size(); ++added) {
      used += cost_("- " + constraints[added].text);
      if (added > 0 && used > constraints_max_) break;
      add_constraint(constraints[added]);
    }
    return added;
  }

  void add_current(std::size_t level) {
    if (requests_.empty() || elsewhere_.has_request()) return;
    // Between the first and the last level without what stands among the constraints; where that is
    // all of it, its beginning is enough.
    const bool is_whole = level == 0 || level + 1 == request_bytes.size();
    const bool is_cut = level > 0 && shown_.back() != requests_.back();
    const std::string& request = is_whole ? requests_.back() : shown_.back();
    const std::size_t shown =
        level == 0 || (is_cut && (level == 1 || is_whole)) ? 0 : request_bytes[level - 1];
    if (request.size() <= shown) return;
    offers_.push_back(
        {Section::request, 0, "- \"" + shorten_request(request, request_bytes[level]) + "\""});
  }

  // What is pasted between fences goes before what the user says about it.
  static std::string shorten_request(const std::string& request, std::size_t bytes) {
    constexpr std::string_view fence = "```";
    if (request.size() <= bytes) return request;
    std::string rest;
    std::size_t from = 0;
    for (std::size_t open = request.find(fence); open != request.npos;
         open = request.find(fence, from)) {
      const std::size_t close = request.find(fence, open + fence.size());
      if (close == request.npos) break;
      (rest += request.substr(from, open - from)) += "```…```";
      from = close + fence.size();
    }
    rest += request.substr(from);
    return shorten(rest, bytes);
  }

  // What is open first: what is done is worth less.
  void add_plan() {
    const std::vector<PlanItem>& plan = findings_.plan();
    for (const bool done : {false, true})
      for (std::size_t i = 0; i < plan.size(); ++i)
        if ((plan[i].state == PlanItem::State::done) == done)
          offers_.push_back({Section::plan, i, plan_line(plan[i])});
  }

  void add_checks(const std::vector<const Run*>& checks, std::size_t& shown, std::size_t until) {
    for (; shown < std::min(until, checks.size()); ++shown)
      offers_.push_back({Section::results, checks[shown]->when, result_line(*checks[shown])});
  }

  void add_reply() {
    if (!findings_.last_reply().empty())
      offers_.push_back(
          {Section::last_reply, 0, "- " + shorten(findings_.last_reply(), reply_bytes)});
  }

  // Which requests are to be listed, the dearest first: the first one, which is often the task
  // itself; then from the newest back. The current one stands elsewhere. What stands among the first
  // `listed` constraints is not said again; a request that is nothing but constraints is not listed
  // at all.
  void find_requests(const std::vector<Finding>& constraints, std::size_t listed) {
    shown_ = requests_;
    for (std::size_t i = 0; i < shown_.size(); ++i)
      shown_[i] = without_listed(requests_[i], constraints, listed);
    const std::size_t count =
        requests_.size() - (requests_.empty() || elsewhere_.has_request() ? 0 : 1);
    for (std::size_t i = count; i-- > 1;)
      if (!shown_[i].empty()) others_.push_back(i);
    if (count > 0 && !shown_[0].empty()) others_.insert(others_.begin(), 0);
    std::vector<std::size_t> in_order = others_;
    std::sort(in_order.begin(), in_order.end());
    for (std::size_t i = 0; i < in_order.size(); ++i) numbers_[in_order[i]] = i + 1;
  }

  static std::string without_listed(const std::string& request,
                                    const std::vector<Finding>& constraints, std::size_t listed) {
    constexpr std::size_t rest_bytes_max = 12;  // "Please", "and"
    const std::string gap = "…";
    // of an earlier digest, and shortened by it
    if (request.find(gap) != request.npos) return request;
    std::string rest = request;
    std::size_t covered = 0;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      const std::string& text = constraints[i].text;
      if (text.starts_with("\"" + request + "\" (asked: ")) return {};
      if (request.find(text) == request.npos) continue;
      covered += text.size() + 1;
      if (const std::size_t at = rest.find(text); i < listed && at != rest.npos)
        rest.replace(at, text.size(), gap);
    }
    if (covered > 0 && covered + rest_bytes_max >= request.size()) return {};
    for (const std::string& twice : {gap + " " + gap, gap + gap, gap + " - " + gap})
      for (std::size_t at = rest.find(twice); at != rest.npos; at = rest.find(twice))
        rest.replace(at, twice.size(), gap);
    return rest;
  }

  // The first one, and the newest, `until` there are so many.
  void add_newest_requests(std::size_t until) {
    for (; newest_added_ < std::min({others_.size(), newest_requests, until}); ++newest_added_)
      add_request(others_[newest_added_], 1, newest_added_ == 0 ? 0 : request_bytes[0]);
  }

  void add_requests(std::size_t level) {
    for (std::size_t k = 0; k < others_.size(); ++k) {
      const bool has_level = level <= 1 && k < newest_added_;
      if (!has_level) add_request(others_[k], level, level == 0 ? 0 : request_bytes[level - 1]);
    }
  }

  // `shown`: how many bytes of it are shown already.
  void add_request(std::size_t index, std::size_t level, std::size_t shown) {
    const bool is_whole = level + 1 == request_bytes.size();
    const std::string& request = is_whole ? requests_[index] : shown_[index];
    const bool was_cut = is_whole && shown_[index] != requests_[index];
    if (request.size() <= shown && !was_cut) return;
    offers_.push_back({Section::requests, index,
                       std::to_string(numbers_[index]) + ". \"" +
                           shorten_request(request, request_bytes[level]) + "\""});
  }

  void add_some(List& list, std::size_t until) {
    for (; list.added < std::min(until, list.findings.size()); ++list.added) {
      const Finding& finding = list.findings[list.added];
      offers_.push_back({list.section, finding.first, "- " + finding.text});
    }
  }

  Findings& findings_;
  const Elsewhere& elsewhere_;
  const std::vector<std::string>& requests_;
  const std::uint64_t constraints_max_;
  const std::function<std::uint64_t(std::string_view)>& cost_;
  std::vector<std::string> shown_;              // of each request what is to be listed
  std::vector<std::size_t> others_;             // requests to be listed
  std::map<std::size_t, std::size_t> numbers_;  // of those, in the order in which they were made
  std::size_t newest_added_ = 0;                // of others_
  std::vector<Offer> offers_;
  Totals totals_;
};

class Counter {
 public:
  explicit Counter(const SummaryRequest& request)
      : count_(request.count_tokens), empty_(count("")) {}

  std::uint64_t count(std::string_view text) const {
    constexpr std::uint64_t bytes_per_token = 3;  // few texts have more tokens than this says
    return count_ ? count_(text) : (text.size() + bytes_per_token - 1) / bytes_per_token;
  }

  // What a line adds to a text: at least one token, and not what a counter adds to any text.
  std::uint64_t cost(std::string_view line) const {
    const std::uint64_t tokens = count(std::string(line) + "\n");
    return tokens > empty_ ? tokens - empty_ : 1;
  }

  std::uint64_t empty() const { return empty_; }

 private:
  const std::function<std::uint64_t(std::string_view)>& count_;
  std::uint64_t empty_;
};

// Those of a section that are not among `shown` lines, where they are counted.
std::uint64_t left_out(Section section, std::uint64_t shown, const Totals& totals) {
  const std::uint64_t all = section == Section::constraints ? totals.constraints
                            : section == Section::changes   ? totals.changes
                            : section == Section::requests  ? totals.requests
                                                            : 0;
  return all - std::min(all, shown);
}

std::string write(std::vector<const Offer*> offers, std::string_view title, const Totals& totals) {
  // Of one place the last offer is the one that counts: it says most. All stand in one vector, so
  // that addresses tell which is later.
  std::sort(offers.begin(), offers.end(), [](const Offer* a, const Offer* b) {
    return std::tuple(a->section, a->place, a) < std::tuple(b->section, b->place, b);
  });
  std::string text(title);
  std::size_t next = 0;
  const bool has_request = std::any_of(
      offers.begin(), offers.end(), [](const Offer* o) { return o->section == Section::request; });
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const Section section = static_cast<Section>(i);
    std::string lines;
    std::uint64_t shown = 0;
    for (; next < offers.size() && offers[next]->section == section; ++next) {
      const Offer* const offer = offers[next];
      const bool is_replaced = next + 1 < offers.size() && offers[next + 1]->section == section &&
                               offers[next + 1]->place == offer->place;
      if (is_replaced) continue;
      (lines += '\n') += offer->text;
      ++shown;
    }
    const std::uint64_t more = left_out(section, shown, totals);
    if (more > 0 && (shown > 0 || (section == Section::requests && has_request)))
      (lines += '\n') += more_line(more);
    if (!lines.empty()) ((text += '\n') += heading(section)) += lines;
  }
  return text;
}

Error cannot_fit(std::uint64_t tokens_min, std::uint64_t tokens_max) {
  return {.code = ErrorCode::cannot_fit,
          .message = "a digest of these messages takes at least " + std::to_string(tokens_min) +
                     " tokens; " + std::to_string(tokens_max) + " are allowed"};
}

Result<Summary> choose(const std::vector<Offer>& offers, const Totals& totals,
                       std::string_view title, const SummaryRequest& request,
                       const Counter& counter) {
  if (offers.empty() ||
      counter.count(write({&offers.front()}, title, totals)) > request.tokens_max) {
    const std::uint64_t minimum = counter.count(title);
    if (minimum > request.tokens_max) return cannot_fit(minimum, request.tokens_max);
    return Summary{.text = std::string(title)};
  }

  // Each line is counted once and alone. Tokenizers do not join lines, so their sum is what the
  // whole has, or nearly.
  std::uint64_t tokens = counter.empty() + counter.cost(title);
  // of the offers chosen, each with its heading where it is the first
  std::vector<std::uint64_t> costs;
  std::array<bool, headings.size()> headed = {};
  std::vector<std::uint64_t> request_costs;  // by place
  std::uint64_t current_cost = 0;
  for (const Offer& offer : offers) {
    const std::uint64_t line = counter.cost(offer.text);
    std::uint64_t cost = line;
    if (!std::exchange(headed[static_cast<std::size_t>(offer.section)], true))
      cost += counter.cost(heading(offer.section));
    if (offer.section == Section::requests) {
      request_costs.resize(std::max<std::size_t>(request_costs.size(), offer.place + 1));
      const std::uint64_t before = std::exchange(request_costs[offer.place], line);
      cost -= std::min(before, cost);
    }
    if (offer.section == Section::request)
      cost -= std::min(std::exchange(current_cost, line), cost);
    if (!costs.empty() && (cost > request.tokens_max || tokens > request.tokens_max - cost)) break;
    tokens += cost;
    costs.push_back(cost);
  }

  // The sum was nearly right at most; the whole decides. Twice as much goes at each attempt, so
  // there are few.
  for (std::size_t drop_min = 1;; drop_min *= 2) {
    std::vector<const Offer*> chosen;
    chosen.reserve(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) chosen.push_back(&offers[i]);
    std::string text = write(std::move(chosen), title, totals);
    const std::uint64_t total = counter.count(text);
    if (total <= request.tokens_max) return Summary{.text = std::move(text)};
    if (costs.size() <= 1) return cannot_fit(total, request.tokens_max);
    std::uint64_t dropped = 0;
    for (std::size_t count = 0;
         costs.size() > 1 && (count < drop_min || dropped < total - request.tokens_max); ++count) {
      dropped += costs.back();
      costs.pop_back();
    }
  }
}

class DigestSummariser final : public Summariser {
 public:
  std::string_view name() const noexcept override { return "digest"; }
  bool is_slow() const noexcept override { return false; }

  Result<Summary> summarise(const SummaryRequest& request) const override {
    if (request.messages.empty())
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "there are no messages to summarise",
                   .field = "messages"};
    if (request.tokens_max == 0) return cannot_fit(1, 0);
    // A line has at least one token, so more lines than tokens are never shown.
    constexpr std::uint64_t keep_max = 1u << 16;
    Findings findings(static_cast<std::size_t>(std::min(request.tokens_max, keep_max)));
    Reader reader(findings);
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
      go_on(request);
      if (request.cancel.stop_requested())
        return Error{.code = ErrorCode::unavailable, .message = "the summary was cancelled"};
      const bool is_summary = std::find(request.summaries.begin(), request.summaries.end(), i) !=
                              request.summaries.end();
      reader.read(request.messages[i],
                  is_summary ? Reader::Origin::summary : Reader::Origin::original);
    }
    for (std::size_t i = 0; i < request.after.size(); ++i) {
      go_on(request);
      const bool is_hidden = std::find(request.after_hidden.begin(), request.after_hidden.end(),
                                       i) != request.after_hidden.end();
      reader.read_after(request.after[i],
                        is_hidden ? Reader::Results::hidden : Reader::Results::shown);
    }
    reader.finish();
    const Counter counter(request);
    const std::function<std::uint64_t(std::string_view)> cost = [&counter](std::string_view line) {
      return counter.cost(line);
    };
    const Elsewhere elsewhere(request);
    Order order(findings, elsewhere, request.tokens_max / 2, cost);
    const std::vector<Offer> offers = order.take();
    return choose(offers, order.totals(), title(reader.messages()), request, counter);
  }
};

}  // namespace
}  // namespace digest

std::shared_ptr<const Summariser> digest_summariser() {
  static const std::shared_ptr<const Summariser> digest =
      std::make_shared<const digest::DigestSummariser>();
  return digest;
}

}  // namespace undertext
