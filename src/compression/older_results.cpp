// supersede and dedupe: results of tools that a later call made worthless become stubs of one line.
// A call stays as it is, so what was done can still be read; EXPAND brings its result back.
#include "compression/older_results.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <undertext/compression.hpp>

#include "compression/call_effects.hpp"
#include "compression/digest_findings.hpp"
#include "compression/digest_runs.hpp"
#include "compression/digest_text.hpp"
#include "compression/kept.hpp"
#include "history/linked.hpp"
#include "history/state.hpp"
#include "message/edit.hpp"
#include "message/reading.hpp"

namespace undertext {
namespace {

enum class Worthless : std::uint8_t { superseded, repeated };

// A call of the view with its result.
struct CallInView {
  std::uint64_t index = 0;  // of the message with the result
  std::string id = {}, tool = {};
  std::string same = {};  // equal for calls that ask for the same
  // of a test or build: equal for runs of the same, whatever is done with their output
  std::string check = {};
  CallEffects effects = {};
  bool failed = false;
  bool refused = false;  // what the user said to it stands nowhere else
  // The result says what the call was made for. One that points back to an earlier result does not,
  // and neither does a stub.
  bool is_copy = true;
};

// The calls of a view that have results, in the order of these.
class CallsInView {
 public:
  explicit CallsInView(const View& view) : rep_(view.rep()) {
    const Work* const work = rep_.log.work.get();
    for (std::uint64_t index = 0; index < view.size(); ++index) {
      if (work != nullptr) work->go_on();
      read(view[index], index);
    }
  }
  std::vector<CallInView> take() { return std::move(done_); }

 private:
  void read(const Message& message, std::uint64_t index) {
    if (!message.has_tool_links()) return;
    const MessageReading reading(message);
    for (const Block& block : reading.turn().blocks) {
      if (!is_linked(block) || block.is_server) continue;
      if (block.kind == BlockKind::call) add_call(block);
      if (block.kind == BlockKind::result) add_result(block, index);
    }
  }

  void add_call(const Block& block) {
    CallInView call{.id = std::string(block.id), .tool = std::string(block.name)};
    JsonText arguments;
    const bool has_arguments =
        !block.json.empty() && !arguments.read(block.json, {.depth = depth_max});
    const JsonValue root = arguments.root();
    call.effects = effects_of(block.name, has_arguments ? &root : nullptr);
    // Beside a script stand how long it may take and why it is run, which agents word anew each
    // time.
    const CallEffects& effects = call.effects;
    call.same = call.tool + '\n';
    call.same +=
        effects.script.empty() ? std::string(block.json) : effects.folder + '\n' + effects.script;
    // The next call of the same tool goes on from there: none is made twice.
    if (effects.goes_on) call.same += '\n' + call.id;
    open_[call.id] = std::move(call);
  }

  void add_result(const Block& block, std::uint64_t index) {
    const auto found = open_.find(std::string(block.id));
    if (found == open_.end()) return;
    CallInView call = std::move(found->second);
    open_.erase(found);
    std::string text;
    const auto add_text = [&text](std::string_view body) {
      text += decoded(body) + "\n";
      return true;
    };
    visit_texts(block, add_text);
    if (!block.is_list) text += block.json;
    digest::Run run;
    const bool is_script = !call.effects.script.empty();
    if (is_script) digest::describe_run(call.effects.script, run);
    digest::judge_run(text, block.is_error, {}, run);
    call.failed = run.failed || (!is_script && digest::begins_as_failure(text));
    if (run.is_check) call.check = call.effects.folder + '\n' + run.command;
    call.refused = digest::is_refusal(text);
    const bool is_stub = rep_.log.originals(rep_.placed.entries[index].ordinal) != nullptr;
    call.is_copy = !is_stub && !digest::points_back(text);
    call.index = index;
    done_.push_back(std::move(call));
  }

  static constexpr std::uint32_t depth_max = 128;
  const View::Rep& rep_;
  std::unordered_map<std::string, CallInView> open_;
  std::vector<CallInView> done_;
};

// Which file a path means. One tool is given absolute paths, another relative ones: a relative path
// is the one absolute path of the view that ends with it, if there is exactly one.
class FileNames {
 public:
  explicit FileNames(const std::vector<CallInView>& calls) {
    const auto add = [this](const std::string& path) {
      if (!path.starts_with('/')) return;
      std::vector<std::string>& same_name = absolute_[std::string(base_name(path))];
      if (same_name.size() < same_name_max &&
          std::find(same_name.begin(), same_name.end(), path) == same_name.end())
        same_name.push_back(path);
    };
    for (const CallInView& call : calls) {
      for (const FileChange& change : call.effects.changes)
        add(joined_path(call.effects.folder, change.folder, change.path));
      for (const FileRead& read : call.effects.reads)
        add(joined_path(call.effects.folder, read.folder, read.path));
    }
  }

  std::string of(const CallEffects& call, std::string_view folder, std::string_view path) const {
    std::string whole = joined_path(call.folder, folder, path);
    if (whole.starts_with('/')) return whole;
    const auto found = absolute_.find(std::string(base_name(whole)));
    if (found == absolute_.end()) return whole;
    const std::string* only = nullptr;
    for (const std::string& longer : found->second) {
      if (!digest::ends_with_path(longer, whole)) continue;
      if (only != nullptr) return whole;
      only = &longer;
    }
    return only != nullptr && found->second.size() < same_name_max ? *only : whole;
  }

 private:
  static constexpr std::size_t same_name_max = 64;
  std::unordered_map<std::string, std::vector<std::string>> absolute_;  // by their last name
};

// Lines of a file that were read, as stretches that do not touch.
class LinesRead {
 public:
  void add(std::uint64_t first, std::uint64_t last) {
    auto next = stretches_.upper_bound(first);
    if (next != stretches_.begin() && touches(std::prev(next)->second, first)) --next;
    while (next != stretches_.end() && (next->first <= last || touches(last, next->first))) {
      first = std::min(first, next->first);
      last = std::max(last, next->second);
      next = stretches_.erase(next);
    }
    stretches_[first] = last;
  }
  bool has(std::uint64_t first, std::uint64_t last) const {
    const auto next = stretches_.upper_bound(first);
    return next != stretches_.begin() && std::prev(next)->second >= last;
  }

 private:
  static bool touches(std::uint64_t last, std::uint64_t first) {
    return last >= first || last + 1 == first;
  }
  std::map<std::uint64_t, std::uint64_t> stretches_;  // first and last line
};

// Why a result is worth nothing any more; empty: it is worth something. Asked of the calls from the
// last to the first.
class LaterCalls {
 public:
  LaterCalls(Worthless rule, const FileNames& names) : rule_(rule), names_(names) {}

  std::string reason(const CallInView& call) const {
    if (call.refused) return {};
    if (rule_ == Worthless::repeated) {
      // A result is not given up for a failure.
      const bool is_said_again =
          call.failed ? calls_.count(call.same) > 0 : counts_.count(call.same) > 0;
      return is_said_again ? "the same call was made again later" : std::string();
    }
    return call.failed ? reason_of_failure(call) : reason_of_read(call);
  }

  void add(const CallInView& call) {
    if (call.refused) return;
    if (!call.failed) add_changes(call);
    if (!call.is_copy) return;
    calls_.insert(call.same);
    if (call.failed && !call.check.empty()) counts_.insert(call.same);
    if (call.failed) return;
    counts_.insert(call.same);
    succeeded_.insert(call.same);
    if (!call.check.empty()) passed_.insert(call.check);
    for (const FileRead& read : call.effects.reads)
      add_read(names_.of(call.effects, read.folder, read.path), read);
  }

 private:
  struct Reads {
    bool whole = false;
    LinesRead lines = {};
    std::unordered_set<std::string> ranges = {};
  };

  void add_changes(const CallInView& call) {
    for (const FileChange& change : call.effects.changes) {
      changed_.insert(names_.of(call.effects, change.folder, change.path));
      if (!change.from.empty())
        changed_.insert(names_.of(call.effects, change.folder, change.from));
    }
  }

  void add_read(const std::string& path, const FileRead& read) {
    Reads& reads = reads_[path];
    if (read.range.empty()) reads.whole = true;
    if (read.lines) reads.lines.add(read.lines->first, read.lines->second);
    reads.ranges.insert(read.range);
  }

  // A call that failed is worth nothing when it was repeated with success: the same call, the same
  // test or build, or an edit or a read of the same file by a tool other than a shell.
  std::string reason_of_failure(const CallInView& call) const {
    if (succeeded_.count(call.same) > 0 || (!call.check.empty() && passed_.count(call.check) > 0))
      return "it failed, and succeeded when it was repeated";
    const CallEffects& effects = call.effects;
    if (!effects.script.empty()) return {};
    if (effects.changes.size() == 1 && effects.reads.empty()) {
      const FileChange& change = effects.changes.front();
      return changed_.count(names_.of(effects, change.folder, change.path)) > 0
                 ? "it failed, and " + change.path + " was changed later"
                 : std::string();
    }
    if (effects.reads.size() != 1 || !effects.changes.empty()) return {};
    const FileRead& read = effects.reads.front();
    return reads_.count(names_.of(effects, read.folder, read.path)) > 0
               ? "it failed, and " + read.path + " was read later"
               : std::string();
  }

  // A call that does more than to read files says more than they do.
  std::string reason_of_read(const CallInView& call) const {
    const std::vector<FileRead>& reads = call.effects.reads;
    if (!call.effects.only_reads) return {};
    std::string reason;
    for (const FileRead& read : reads) {
      const std::string path = names_.of(call.effects, read.folder, read.path);
      const bool is_changed = changed_.count(path) > 0;
      if (!is_changed && !is_read_again(path, read)) return {};
      reason = read.path + (is_changed ? " was changed later" : " was read again later");
    }
    return reads.size() == 1 ? reason : "the files were changed or read again later";
  }

  bool is_read_again(const std::string& path, const FileRead& read) const {
    const auto found = reads_.find(path);
    if (found == reads_.end()) return false;
    const Reads& again = found->second;
    if (read.lines && again.lines.has(read.lines->first, read.lines->second)) return true;
    return (again.whole && !read.is_variant) || again.ranges.count(read.range) > 0;
  }

  const Worthless rule_;
  const FileNames& names_;
  std::unordered_set<std::string> calls_, counts_, succeeded_, passed_, changed_;
  std::unordered_map<std::string, Reads> reads_;
};

class StubOlder final : public Strategy {
 public:
  StubOlder(Worthless rule, StubOlderResults options) : rule_(rule), options_(std::move(options)) {}
  std::string_view name() const noexcept override {
    return rule_ == Worthless::superseded ? "supersede" : "dedupe";
  }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const View view = view_with_links(history);
    if (is_within(view, aim)) return empty_plan(history, name());
    return plan(history, aim, view, CallsInView(view).take());
  }

  // `calls`: of the view, which is that of the history with its links.
  Result<Plan> plan(const History& history, const Aim& aim, const View& view,
                    const std::vector<CallInView>& calls) const {
    Plan plan = empty_plan(history, name());
    std::map<std::uint64_t, std::map<std::string, std::string>> reasons = worthless_results(calls);
    const std::vector<std::uint64_t> pinned = history.marked(pinned_mark);
    const std::uint64_t unread = unread_from(view);
    const std::vector<std::uint64_t> unread_late = unread_results(view);
    const View::Rep& rep = view.rep();
    for (auto found = reasons.rbegin(); found != reasons.rend(); ++found) {
      const std::uint64_t index = found->first;
      const Entry& entry = rep.placed.entries[index];
      if (rep.log.originals(entry.ordinal)) continue;  // a stub already
      if (index >= unread || std::binary_search(unread_late.begin(), unread_late.end(), index))
        continue;
      if (std::binary_search(pinned.begin(), pinned.end(), entry.ordinal)) continue;
      Result<Message> stub = stub_of(view[index], entry, found->second, aim);
      if (!stub) return stub.error();
      const std::uint64_t tokens = count_tokens(aim, *stub);
      if (tokens >= entry.tokens) continue;
      plan.tokens_after -= entry.tokens - tokens;
      plan.replacements.push_back({{{index, index + 1}}, std::move(*stub)});
      if (options_.late && aim.tokens_max && plan.tokens_after <= *aim.tokens_max) break;
    }
    std::reverse(plan.replacements.begin(), plan.replacements.end());
    plan.reason = rule_ == Worthless::superseded ? "results that later calls superseded"
                                                 : "results of calls that were repeated";
    return plan;
  }

 private:
  // By message and call, with the reason.
  std::map<std::uint64_t, std::map<std::string, std::string>> worthless_results(
      const std::vector<CallInView>& calls) const {
    const FileNames names(calls);
    LaterCalls later(rule_, names);
    std::map<std::uint64_t, std::map<std::string, std::string>> reasons;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      const bool stays = std::find(options_.exclude.begin(), options_.exclude.end(), call->tool) !=
                         options_.exclude.end();
      if (std::string reason = later.reason(*call); !reason.empty() && !stays)
        reasons[call->index].emplace(call->id, std::move(reason));
      later.add(*call);
    }
    return reasons;
  }

  static Result<Message> stub_of(const Message& message, const Entry& entry,
                                 const std::map<std::string, std::string>& reasons,
                                 const Aim& aim) {
    const auto stub = [&](std::string_view id) -> std::optional<std::string> {
      const auto found = reasons.find(std::string(id));
      if (found == reasons.end()) return {};
      constexpr std::size_t reason_bytes_max = 300;
      return "[result left out: " +
             digest::shorten_end(digest::one_line(digest::clean(found->second)), reason_bytes_max) +
             "; " + std::to_string(entry.tokens) + " tokens; " + how_to_read(aim, entry.ordinal) +
             "]";
    };
    return replace_tool_results(message, stub, aim.limits);
  }

  // A tool is named only where the model has it.
  static std::string how_to_read(const Aim& aim, std::uint32_t ordinal) {
    return aim.context_tools
               ? "context_expand {\"ordinals\":[" + std::to_string(ordinal) + "]} reads it"
               : "EXPAND brings it back";
  }

  const Worthless rule_;
  StubOlderResults options_;
};

}  // namespace

std::vector<Plan> plans_of_older_results(const History& history, const Aim& aim) {
  const View view = view_with_links(history);
  if (is_within(view, aim)) return {};
  const std::vector<CallInView> calls = CallsInView(view).take();
  std::vector<Plan> plans;
  for (const Worthless rule : {Worthless::superseded, Worthless::repeated})
    if (Result<Plan> plan = StubOlder(rule, {}).plan(history, aim, view, calls))
      plans.push_back(std::move(*plan));
  return plans;
}

StrategyPtr supersede(StubOlderResults options) {
  return std::make_shared<StubOlder>(Worthless::superseded, std::move(options));
}
StrategyPtr dedupe(StubOlderResults options) {
  return std::make_shared<StubOlder>(Worthless::repeated, std::move(options));
}

}  // namespace undertext
