#include "json/answer_query.hpp"

#include <utility>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "json/blocks_json.hpp"
#include "json/dialect_json.hpp"

namespace undertext {
namespace {

struct Answering {
  const Asked& asked;
  std::string& out;
  const History& history = asked.history;

  void operator()(const ask::Messages& ask) const {
    MessageQuery which = ask.which;
    which.bytes_max = asked.room.bytes_max;
    const Result<MessageList> found = history.messages(which);
    if (!found) return append_answer(out, found.error().code == ErrorCode::too_large ? too_large() : found.error());
    if (has_room(bytes_of(*found))) append_answer(out, *found);
  }
  void operator()(const ask::Blocks& ask) const {
    MessageQuery which = ask.which;
    which.bytes_max = asked.room.bytes_max;
    const Result<MessageList> found = history.messages(which);
    if (!found) return append_answer(out, found.error().code == ErrorCode::too_large ? too_large() : found.error());
    if (!has_room(bytes_of(*found))) return;
    out += R"({"ok":true,"result":[)";
    for (std::size_t i = 0; i < found->messages.size(); ++i) {
      out += i == 0 ? R"({"ordinal":)" : R"(,{"ordinal":)";
      out += std::to_string(found->ordinals[i].value) + R"(,"role":)";
      append_json_string(out, name(found->messages[i].role()));
      append_blocks(out += R"(,"blocks":)", found->messages[i]);
      out += '}';
    }
    out += "]}";
  }
  void operator()(const ask::Count& ask) const { append_either(history.count(ask.which)); }
  void operator()(const ask::Uncompressed&) const {
    if (has_room(uncompressed_bytes())) append_answer(out, history.uncompressed());
  }
  void operator()(const ask::MarkMap&) const { append_result(out, history.mark_map()); }
  void operator()(const ask::Stats&) const { append_result(out, history.stats()); }
  void operator()(const ask::HeadVersion&) const { append_result(out, history.version().value); }
  void operator()(const ask::Batches&) const { append_result(out, history.batches()); }
  void operator()(const ask::BatchSnapshot& ask) const {
    const std::optional<BatchSnapshot> snapshot = history.batch_snapshot(ask.batch_index);
    if (!snapshot || has_room(snapshot->view.sums().bytes)) append_result(out, snapshot);
  }
  void operator()(const ask::Versions&) const {
    append_versions([&](Version version) { return std::optional(history.version_info(version)); });
  }
  void operator()(const ask::Diff& ask) const { append_result_or_error(history.diff(ask.from, ask.to)); }
  void operator()(const ask::Blame& ask) const { append_result_or_error(history.blame(ask.ordinal)); }
  void operator()(const ask::Receipts&) const {
    append_versions([&](Version version) { return history.receipt(version); });
  }
  void operator()(const ask::Tokens& ask) const {
    const Result<View> view = history.view_at(ask.at_version.value_or(history.version()));
    if (!view) return append_answer(out, in_the_callers_words(view.error()));
    if (!asked.tokenizer) return append_answer(out, not_here("tokens"));
    append_result(out, TokensAnswer{*view, *asked.tokenizer, ask.per_message});
  }
  void operator()(const ask::Fit& ask) const {
    const Result<History> then = history.fork(ask.at_version.value_or(history.version()));
    if (!then) return append_answer(out, in_the_callers_words(then.error()));
    if (!asked.aim) return append_answer(out, not_here("fit"));
    const Result<Fit> fit = fit_view(*then, ask.budget, *ask.strategy, *asked.aim);
    if (!fit) return append_answer(out, fit.error());
    out += R"({"ok":true,"result":)";
    append_json(out, *fit, then->view());
    out += '}';
  }
  void operator()(const ask::Render& ask) const {
    const Result<View> view = history.view_at(ask.at_version.value_or(history.version()));
    if (!view) return append_answer(out, in_the_callers_words(view.error()));
    RenderOptions options{.repair = ask.repair, .request = ask.request, .bound = ask.bound};
    if (std::optional<Error> error = take_sent(ask, options)) return append_answer(out, *error);
    if (has_room(view->sums().bytes)) append_result_or_error(render(*view, ask.profile, options));
  }
  void operator()(const ask::Validate& ask) const {
    const Result<View> view = history.view_at(ask.at_version.value_or(history.version()));
    if (!view) return append_answer(out, in_the_callers_words(view.error()));
    RenderOptions options{.request = ask.request};
    if (std::optional<Error> error = take_sent(ask, options)) return append_answer(out, *error);
    const Result<std::vector<Finding>> findings = validate(*view, ask.profile, options);
    if (!findings) return append_answer(out, findings.error());
    out += R"({"ok":true,"result":)";
    append_findings(out, *findings);
    out += '}';
  }
  void operator()(const ask::Cost& ask) const {
    const Result<View> from = history.view_at(ask.from), to = history.view_at(ask.to.value_or(history.version()));
    for (const auto& [view, field] : {std::pair(&from, "from"), std::pair(&to, "to")}) {
      if (*view) continue;
      Error error = view->error();
      error.field = field;
      return append_answer(out, error);
    }
    append_result(out, edit_cost(*from, *to, ask.profile.cache, ask.overhead));
  }
  void operator()(const ask::State&) const {
    std::uint64_t bytes = history.view().sums().bytes;
    const std::uint64_t batches = history.stats().current_batch_index;
    for (std::uint64_t batch = 0; batch < batches; ++batch) bytes += history.batch_snapshot(BatchIndex(batch))->view.sums().bytes;
    if (!has_room(bytes)) return;
    out += R"({"ok":true,"result":)";
    append_state(out, history);
    out += '}';
  }

  // false: there is none, and the answer says so.
  bool has_room(std::uint64_t bytes) const {
    if (bytes <= asked.room.bytes_max && (!asked.room.reserve || asked.room.reserve(bytes))) return true;
    out.clear();
    append_answer(out, bytes > asked.room.bytes_max
                           ? too_large()
                           : Error{ErrorCode::unavailable, "there is too much in memory already: come again"});
    return false;
  }

 private:
  Error too_large() const {
    return {ErrorCode::too_large, "the answer would have more than " + std::to_string(asked.room.bytes_max) +
                                      " bytes: ask for a part (first, last, start and end; rows; a page of the history), or for an "
                                      "export"};
  }
  static std::uint64_t bytes_of(const MessageList& list) {
    std::uint64_t bytes = 0;
    for (const Message& message : list.messages) bytes += message.json().size();
    return bytes;
  }
  // Of the whole view where that is little; else each message is looked at, though none is read.
  std::uint64_t uncompressed_bytes() const {
    const View view = history.view();
    if (view.sums().bytes <= asked.room.bytes_max) return view.sums().bytes;
    const std::uint64_t boundary = history.batches().back().boundary;
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < view.size(); ++i)
      if (view.ordinal(i).value >= boundary) bytes += view.sums(i, i + 1).bytes;
    return bytes;
  }
  // A list of what `of` tells of each version, if anything; no more of it than there is room for.
  template <class Of>
  void append_versions(Of of) const {
    constexpr std::uint64_t step = 1 << 20;
    std::uint64_t asked_for = 0;
    out += R"({"ok":true,"result":)";
    const char* separator = "[";
    for (std::uint64_t v = history.first_version().value; v <= history.version().value; ++v) {
      const auto told = of(Version(v));
      if (!told) continue;
      append_json(out += std::exchange(separator, ","), *told);
      if (out.size() <= asked_for) continue;
      asked_for = out.size() + step;
      if (!has_room(out.size())) return;
    }
    out += *separator == '[' ? "[]}" : "]}";
  }
  static Error not_here(const char* query) {
    return {ErrorCode::unsupported, std::string(query) + " cannot be asked while a plan is made", "query"};
  }
  std::optional<Error> take_sent(const ask::Render& ask, RenderOptions& options) const {
    const Version last = ask.sent_version.value_or(ask.at_version.value_or(history.version()));
    Result<std::vector<View>> before = views_sent(history, last, ask.profile);
    if (!before) {
      before.error().field = "sentVersion";
      return before.error();
    }
    options.sent_before = std::move(*before);
    if (ask.sent_version) options.sent = history.view_at(last).value();
    return std::nullopt;
  }
  static Error in_the_callers_words(Error error) {
    error.field = "atVersion";
    return error;
  }
  template <class T>
  void append_either(const Result<T>& result) const {
    if (result) {
      append_answer(out, *result);
    } else {
      append_answer(out, result.error());
    }
  }
  template <class T>
  void append_result_or_error(const Result<T>& result) const {
    if (result) {
      append_result(out, *result);
    } else {
      append_answer(out, result.error());
    }
  }
};

}  // namespace

void append_answer(std::string& out, const Asked& asked, const Query& query) {
  const Answering answering{asked, out};
  std::visit(answering, query);
  // Of some it is known only now.
  answering.has_room(out.size());
}

}  // namespace undertext
