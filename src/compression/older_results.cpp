// supersede and dedupe: results of tools that a later call made worthless become stubs of one line. A call stays as it is, so what was done
// can still be read; EXPAND brings its result back.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <undertext/compression.hpp>

#include "compression/call_effects.hpp"
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
  std::string same = {};  // equal for calls with the same tool and arguments
  CallEffects effects = {};
  bool failed = false;
  bool is_check = false;  // a test or build: the last one counts, however it went
};

// The calls of a view that have results, in the order of these.
class CallsInView {
 public:
  explicit CallsInView(const View& view) {
    for (std::uint64_t index = 0; index < view.size(); ++index) read(view[index], index);
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
    call.same = call.tool + '\n' + std::string(block.json);
    JsonText arguments;
    const bool has_arguments = !block.json.empty() && !arguments.read(block.json, {.depth = depth_max});
    const JsonValue root = arguments.root();
    call.effects = effects_of(block.name, has_arguments ? &root : nullptr);
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
    if (!call.effects.script.empty()) digest::describe_run(call.effects.script, run);
    digest::judge_run(text, block.is_error, {}, run);
    call.failed = run.failed;
    call.is_check = run.is_check;
    call.index = index;
    done_.push_back(std::move(call));
  }

  static constexpr std::uint32_t depth_max = 128;
  std::unordered_map<std::string, CallInView> open_;
  std::vector<CallInView> done_;
};

// Why a result is worth nothing any more; empty: it is worth something. Asked of the calls from the last to the first.
class LaterCalls {
 public:
  explicit LaterCalls(Worthless rule) : rule_(rule) {}

  std::string reason(const CallInView& call) const {
    if (rule_ == Worthless::repeated) {
      // A result is not given up for a failure.
      const bool is_said_again = call.failed ? calls_.count(call.same) > 0 : counts_.count(call.same) > 0;
      return is_said_again ? "the same call was made again later" : std::string();
    }
    if (call.failed) {
      return succeeded_.count(call.same) > 0 ? "it failed, and succeeded when it was repeated" : std::string();
    }
    // A script that does more than to read one file says more than that file.
    if (call.effects.reads.size() != 1 || !call.effects.changes.empty()) return {};
    const FileRead& read = call.effects.reads.front();
    if (changed_.count(read.path) > 0) return read.path + " was changed later";
    if (whole_reads_.count(read.path) > 0) return read.path + " was read again later";
    return ranges_.count(read.path + '\n' + read.range) > 0 ? read.path + " was read again later" : std::string();
  }

  void add(const CallInView& call) {
    ++calls_[call.same];
    if (call.failed && call.is_check) ++counts_[call.same];
    if (call.failed) return;
    ++counts_[call.same];
    ++succeeded_[call.same];
    for (const FileChange& change : call.effects.changes) {
      ++changed_[change.path];
      if (!change.from.empty()) ++changed_[change.from];
    }
    for (const FileRead& read : call.effects.reads) {
      if (read.range.empty()) ++whole_reads_[read.path];
      ++ranges_[read.path + '\n' + read.range];
    }
  }

 private:
  const Worthless rule_;
  std::unordered_map<std::string, int> calls_, counts_, succeeded_, changed_, whole_reads_, ranges_;
};

class StubOlder final : public Strategy {
 public:
  StubOlder(Worthless rule, StubOlderResults options) : rule_(rule), options_(std::move(options)) {}
  std::string_view name() const noexcept override { return rule_ == Worthless::superseded ? "supersede" : "dedupe"; }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const View view = view_with_links(history);
    Plan plan = empty_plan(history, name());
    if (is_within(view, aim)) return plan;
    std::map<std::uint64_t, std::map<std::string, std::string>> reasons = worthless_results(view);
    const std::vector<std::uint64_t> pinned = history.marked(pinned_mark);
    const std::uint64_t unread = unread_from(view);
    const std::vector<std::uint64_t> unread_late = unread_results(view);
    const View::Rep& rep = view.rep();
    for (auto found = reasons.rbegin(); found != reasons.rend(); ++found) {
      const std::uint64_t index = found->first;
      const Entry& entry = rep.placed.entries[index];
      if (rep.log.originals(entry.ordinal)) continue;  // a stub already
      if (index >= unread || std::binary_search(unread_late.begin(), unread_late.end(), index)) continue;
      if (std::binary_search(pinned.begin(), pinned.end(), entry.ordinal)) continue;
      Result<Message> stub = stub_of(view[index], entry, found->second, aim.limits);
      if (!stub) return stub.error();
      const std::uint64_t tokens = count_tokens(aim, *stub);
      if (tokens >= entry.tokens) continue;
      plan.tokens_after -= entry.tokens - tokens;
      plan.replacements.push_back({{{index, index + 1}}, std::move(*stub)});
      if (options_.late && aim.tokens_max && plan.tokens_after <= *aim.tokens_max) break;
    }
    std::reverse(plan.replacements.begin(), plan.replacements.end());
    plan.reason = rule_ == Worthless::superseded ? "results that later calls superseded" : "results of calls that were repeated";
    return plan;
  }

 private:
  // By message and call, with the reason.
  std::map<std::uint64_t, std::map<std::string, std::string>> worthless_results(const View& view) const {
    const std::vector<CallInView> calls = CallsInView(view).take();
    LaterCalls later(rule_);
    std::map<std::uint64_t, std::map<std::string, std::string>> reasons;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      const bool stays = std::find(options_.exclude.begin(), options_.exclude.end(), call->tool) != options_.exclude.end();
      if (std::string reason = later.reason(*call); !reason.empty() && !stays)
        reasons[call->index].emplace(call->id, std::move(reason));
      later.add(*call);
    }
    return reasons;
  }

  static Result<Message> stub_of(const Message& message, const Entry& entry, const std::map<std::string, std::string>& reasons,
                                 const MessageLimits& limits) {
    const auto stub = [&](std::string_view id) -> std::optional<std::string> {
      const auto found = reasons.find(std::string(id));
      if (found == reasons.end()) return {};
      constexpr std::size_t reason_bytes_max = 300;
      return "[result left out: " + digest::shorten_end(digest::one_line(digest::clean(found->second)), reason_bytes_max) + "; " +
             std::to_string(entry.tokens) + " tokens; EXPAND brings it back]";
    };
    return replace_tool_results(message, stub, limits);
  }

  const Worthless rule_;
  StubOlderResults options_;
};

}  // namespace

StrategyPtr supersede(StubOlderResults options) { return std::make_shared<StubOlder>(Worthless::superseded, std::move(options)); }
StrategyPtr dedupe(StubOlderResults options) { return std::make_shared<StubOlder>(Worthless::repeated, std::move(options)); }

}  // namespace undertext
