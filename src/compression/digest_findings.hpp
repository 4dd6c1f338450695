// What was found worth keeping, without repeats. Memory is bounded by what could ever be shown, not
// by what was read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compression/call_effects.hpp"
#include "compression/digest_runs.hpp"

namespace undertext::digest {

enum class Kind : std::uint8_t {
  constraint,  // and decisions and approvals; of users only
  error,       // not fixed, as far as can be told
  attempt,     // that failed
  open_question,
  choice,  // of the assistant
  command,
  url,
  file,
  earlier_error,
  answered_question,
  number,
};
inline constexpr std::size_t kind_count = 11;

// Who says it, or how much it tells. What people and models name themselves matters more than what
// a tool happened to print.
enum class Voice : std::uint8_t { spoken, minor, printed };

struct Finding {
  std::string text;  // one line, not empty
  Voice voice = Voice::spoken;
  std::uint64_t first = 0;  // when it was first met …
  std::uint64_t last = 0;   // … and last; larger is later
};

// One kind: a list whose repeats fall together when it is asked for, or has grown. They are found
// by sorting, since no choice of texts can make that slow, which is not true of a hash table whose
// function is known.
class FindingList {
 public:
  explicit FindingList(std::size_t keep_max) : keep_max_(keep_max) {}

  // `key` is the part of `text` that makes two of them the same. Of those the first text is kept.
  void add(std::string_view text, std::string_view key, Voice voice, std::uint64_t when);

  // In the order in which they are to be kept: spoken before printed, then the last met first. At
  // most keep_max.
  std::vector<Finding> take();

 private:
  struct Row {
    std::uint64_t hash;  // of the key
    std::size_t text_at;
    std::uint32_t text_size;
    std::uint32_t key_at;  // in the text
    std::uint32_t key_size;
    Voice voice;
    std::uint64_t first;
    std::uint64_t last;
  };
  std::string_view text(const Row& row) const {
    return std::string_view(texts_).substr(row.text_at, row.text_size);
  }
  std::string_view key(const Row& row) const { return text(row).substr(row.key_at, row.key_size); }
  void merge();  // drops repeats, and then all but the best keep_max; leaves the best first

  std::size_t keep_max_;
  std::vector<Row> rows_;
  std::string texts_;
};

// A file that was changed, as the sum of its changes.
struct ChangedFile {
  std::string path;
  FileChangeKind kind = FileChangeKind::edited;
  std::string from = {};    // of a renamed one
  std::uint64_t count = 0;  // of changes
  std::uint64_t first = 0, last = 0;
};

class Findings {
 public:
  // More than `keep_max` of one kind are of no use.
  explicit Findings(std::size_t keep_max);

  void add(Kind kind, std::string_view text, Voice voice) { add(kind, text, text, voice); }
  void add(Kind kind, std::string_view text, std::string_view key, Voice voice);
  void add_at(Kind kind, std::string_view text, std::string_view key, Voice voice,
              std::uint64_t when);
  void add_request(std::string text) { requests_.push_back(std::move(text)); }
  void set_last_reply(std::string text) { last_reply_ = std::move(text); }
  void set_next_step(std::string text) { next_step_ = std::move(text); }
  void set_plan(std::vector<PlanItem> plan) { plan_ = std::move(plan); }
  void add_change(const FileChange& change, std::uint64_t count = 1);
  void add_tool_calls(std::string_view name, std::uint64_t count);
  void count_trivial(std::uint64_t requests) { trivial_requests_ += requests; }
  void count_constraints(std::uint64_t more) { more_constraints_ += more; }
  void count_changes(std::uint64_t more) { more_changes_ += more; }
  std::uint64_t tick() { return ++clock_; }

  // While a sink is set, errors go to it: they are those of one command.
  void collect_errors(std::vector<RunError>* sink) { sink_ = sink; }

  std::vector<Finding> take(Kind kind) { return lists_[static_cast<std::size_t>(kind)].take(); }
  const std::vector<std::string>& requests() const { return requests_; }  // in order
  const std::string& last_reply() const { return last_reply_; }
  const std::string& next_step() const { return next_step_; }
  const std::vector<PlanItem>& plan() const { return plan_; }
  std::vector<ChangedFile> changes() const;  // the last changed first
  std::vector<Finding> tools() const;        // "name ×count", the most called first
  std::uint64_t trivial_requests() const { return trivial_requests_; }
  std::uint64_t more_constraints() const { return more_constraints_; }
  std::uint64_t more_changes() const { return more_changes_; }
  Runs& runs() { return runs_; }

 private:
  std::array<FindingList, kind_count> lists_;
  std::vector<std::string> requests_;
  std::string last_reply_, next_step_;
  std::vector<PlanItem> plan_;
  std::map<std::string, ChangedFile, std::less<>> changed_;
  struct Calls {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  std::map<std::string, Calls, std::less<>> tools_;
  Runs runs_;
  std::vector<RunError>* sink_ = nullptr;
  std::uint64_t clock_ = 0, trivial_requests_ = 0, more_constraints_ = 0, more_changes_ = 0;
};

// Whether `path` ends with the names of `end`: "a/b/c.h" ends with "b/c.h" and "c.h".
bool ends_with_path(std::string_view path, std::string_view end);

}  // namespace undertext::digest
