#include "json/answer_query.hpp"

#include <utility>

#include <undertext/context_tools.hpp>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "json/blocks_json.hpp"
#include "json/context_answers.hpp"
#include "json/dialect_json.hpp"
#include "json/ledger_json.hpp"
#include "json/models_json.hpp"
#include "json/request_record_json.hpp"
#include "message/visit_blocks.hpp"

namespace undertext {
namespace {

struct Answering {
  const Asked& asked;
  std::string& out;
  const History& history = asked.history;

  void operator()(const ask::Messages& ask) const { append_answer(out, found(ask.which)); }
  void operator()(const ask::Blocks& ask) const {
    const MessageList list = found(ask.which);
    out += R"({"ok":true,"result":[)";
    for (std::size_t i = 0; i < list.messages.size(); ++i) {
      out += i == 0 ? R"({"ordinal":)" : R"(,{"ordinal":)";
      out += std::to_string(list.ordinals[i].value) + R"(,"role":)";
      append_json_string(out, name(list.messages[i].role()));
      need_room_to_read(list.messages[i]);
      append_blocks(out += R"(,"blocks":)", list.messages[i]);
      out += '}';
    }
    out += "]}";
  }
  void operator()(const ask::Count& ask) const {
    append_answer(out, history.count(ask.which).value());
  }
  void operator()(const ask::Uncompressed&) const {
    need_room(uncompressed_bytes());
    append_answer(out, history.uncompressed());
  }
  void operator()(const ask::MarkMap&) const { append_result(out, history.mark_map()); }
  void operator()(const ask::Stats&) const { append_result(out, history.stats()); }
  void operator()(const ask::HeadVersion&) const { append_result(out, history.version().value); }
  void operator()(const ask::Batches&) const { append_result(out, history.batches()); }
  void operator()(const ask::BatchSnapshot& ask) const {
    const std::optional<BatchSnapshot> snapshot = history.batch_snapshot(ask.batch_index);
    if (snapshot) need_room(snapshot->view.sums().bytes);
    append_result(out, snapshot);
  }
  void operator()(const ask::Versions&) const {
    append_versions([&](Version version) { return std::optional(history.version_info(version)); });
  }
  void operator()(const ask::Diff& ask) const {
    append_result(out, history.diff(ask.from, ask.to).value());
  }
  void operator()(const ask::Blame& ask) const {
    append_result(out, history.blame(ask.ordinal).value());
  }
  void operator()(const ask::Receipts&) const {
    append_versions([&](Version version) { return history.receipt(version); });
  }
  void operator()(const ask::Tokens& ask) const {
    const View view =
        named(history.view_at(ask.at_version.value_or(history.version())), "atVersion");
    append_result(out, TokensAnswer{view, counting("tokens"), ask.per_message});
  }
  void operator()(const ask::Model& ask) const {
    append_result(out,
                  ask.name ? find_model(*ask.name) : settled_model(asked.settings, asked.counting));
  }
  void operator()(const ask::CountTools& ask) const {
    append_result(out, count_tools(ask.tools, ask.model ? counting_name(*ask.model, {}, {})
                                                        : counting("countTools").name)
                           .value());
  }
  void operator()(const ask::ImportMessages& ask) const {
    const MessageLimits& limits = asked.settings.limits.message;
    append_result(
        out, ask.after
                 ? import_after(history.view(), ask.profile, ask.json, limits, ask.names).value()
                 : import_messages(ask.profile.dialect, ask.json, limits, ask.names).value());
  }
  void operator()(const ask::Fit& ask) const {
    const History then =
        named(history.fork(ask.at_version.value_or(history.version())), "atVersion");
    if (!asked.aim) throw Failure(not_here("fit"));
    const Fit fit = fit_view(then, ask.budget, *ask.strategy, *asked.aim).value();
    out += R"({"ok":true,"result":)";
    append_json(out, fit, then.view());
    out += '}';
  }
  void operator()(const ask::Render& ask) const {
    const View view =
        named(history.view_at(ask.at_version.value_or(history.version())), "atVersion");
    RenderOptions options{.repair = ask.repair, .request = ask.request, .bound = ask.bound};
    take_sent(ask, options);
    options.cache_markers = ask.markers;
    if (ask.markers == CacheMarkers::automatic) options.cached = cached_in(ask, view);
    // As the client sends them now; a view of the past is rendered as it was stored.
    if (asked.conversation && !ask.at_version)
      options.volatile_now = asked.conversation->volatile_now(ask.profile.dialect).value();
    need_room(view.sums().bytes);
    append_result(out, render(view, ask.profile, options).value());
  }
  void operator()(const ask::Validate& ask) const {
    const View view =
        named(history.view_at(ask.at_version.value_or(history.version())), "atVersion");
    RenderOptions options{.request = ask.request};
    take_sent(ask, options);
    const std::vector<Finding> findings = validate(view, ask.profile, options).value();
    out += R"({"ok":true,"result":)";
    append_findings(out, findings);
    out += '}';
  }
  void operator()(const ask::Cost& ask) const {
    const Version from = ask.from.value_or(history.version());
    if (ask.operations && !asked.try_operations) throw Failure(not_here("the cost of operations"));
    const History after = ask.operations ? asked.try_operations(*ask.operations) : history;
    const Version to = ask.to.value_or(after.version());
    named(history.view_at(from), "from");
    named(after.view_at(to), "to");
    append_result(out, edit_cost(after, from, to, ask.profile, ask.options).value());
  }
  void operator()(const ask::Tools& ask) const {
    (out += R"({"ok":true,"result":)") += context_tools(ask.profile.dialect);
    out += '}';
  }
  void operator()(const ask::CallTool& ask) const {
    if (!asked.conversation) throw Failure(not_here("callTool"));
    const ContextToolResult result =
        call_reading_tool({*asked.conversation, history}, ask.name, ask.arguments);
    append_json_string(out += R"({"ok":true,"result":{"text":)", result.text);
    (out += R"(,"isError":)") += result.is_error ? "true}}" : "false}}";
  }
  void operator()(const ask::Requests& ask) const {
    if (!asked.conversation) throw Failure(not_here("requests"));
    out += R"({"ok":true,"result":)";
    const char* separator = "[";
    for (const RequestRecord& record : asked.conversation->requests(ask.which, asked.work).value())
      append_json(out += std::exchange(separator, ","), record);
    out += *separator == '[' ? "[]}" : "]}";
  }
  void operator()(const ask::Request& ask) const {
    if (!asked.conversation) throw Failure(not_here("request"));
    for (const RequestRecord& record :
         asked.conversation->requests({.first = ask.number, .limit = 1}, asked.work).value())
      need_room(record.request_bytes + record.answer_bytes);
    append_result(out, whole_request(*asked.conversation, ask.number, asked.work).value());
  }
  void operator()(const ask::CacheBreak& ask) const {
    if (!asked.conversation) throw Failure(not_here("cacheBreak"));
    append_result(out,
                  asked.conversation->cache_break(ask.number, ask.against, asked.work).value());
  }
  void operator()(const ask::Ledger& ask) const {
    if (!asked.conversation) throw Failure(not_here("ledger"));
    const Ledger ledger = asked.conversation->ledger(ask.query, asked.work).value();
    append_result(out, LedgerAnswer{ledger, ask.turns});
  }
  void operator()(const ask::WhatIf& ask) const {
    if (!asked.conversation) throw Failure(not_here("whatIf"));
    WhatIfOptions options = ask.options;
    options.tenant = asked.tenant;
    Result<WhatIf> found = asked.conversation->what_if(ask.policy, options, asked.work);
    if (!found && found.error().code == ErrorCode::invalid_argument)
      found.error().field =
          "policy" + (found.error().field.empty() ? "" : "." + found.error().field);
    append_result(out, found.value());
  }
  void operator()(const ask::Recall& ask) const {
    if (!asked.conversation) throw Failure(not_here("recall"));
    const Recalled recalled = asked.conversation->recall(ask.query, history).value();
    std::uint64_t bytes = 0;
    for (const RecalledUnit& unit : recalled.units)
      for (const Message& message : unit.messages) bytes += message.json().size();
    need_room(bytes);
    append_result(out, recalled);
  }
  void operator()(const ask::State&) const {
    std::uint64_t bytes = history.view().sums().bytes;
    const std::uint64_t batches = history.stats().current_batch_index;
    for (std::uint64_t batch = 0; batch < batches; ++batch)
      bytes += history.batch_snapshot(BatchIndex(batch))->view.sums().bytes;
    need_room(bytes);
    out += R"({"ok":true,"result":)";
    append_state(out, history);
    out += '}';
  }

  void need_room(std::uint64_t bytes) const {
    if (bytes > asked.room.bytes_max) throw Failure(too_large());
    need_memory(bytes);
  }

 private:
  void need_memory(std::uint64_t bytes) const {
    if (asked.room.reserve && !asked.room.reserve(bytes))
      throw Failure({ErrorCode::unavailable, "there is too much in memory already: retry later"});
  }
  // For its blocks, beside the answer so far.
  void need_room_to_read(const Message& message) const {
    need_room(out.size());
    if (const std::uint64_t bytes = visit_blocks_bytes(message); bytes > 0)
      need_memory(out.size() + bytes);
  }
  Counting counting(const char* query) const {
    if (asked.counting.empty()) throw Failure(not_here(query));
    return counting_by(asked.counting).value();
  }
  Error too_large() const {
    return {ErrorCode::too_large, "the answer would have more than " +
                                      std::to_string(asked.room.bytes_max) +
                                      " bytes: ask for a part (first, last, start and end; rows; a "
                                      "page of the history), or for an "
                                      "export"};
  }
  // There is room for their bytes.
  MessageList found(MessageQuery which) const {
    which.bytes_max = asked.room.bytes_max;
    Result<MessageList> list = history.messages(which);
    if (!list && list.error().code == ErrorCode::too_large) throw Failure(too_large());
    need_room(bytes_of(list.value()));
    return *std::move(list);
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
      need_room(out.size());
    }
    out += *separator == '[' ? "[]}" : "]}";
  }
  static Error not_here(const char* query) {
    return {ErrorCode::unsupported, std::string(query) + " cannot be asked while a plan is made",
            "query"};
  }
  void take_sent(const ask::Render& ask, RenderOptions& options) const {
    const Version last = ask.at_version.value_or(history.version());
    options.sent_before = named(views_sent(history, last, ask.profile), "atVersion");
    if (ask.sent_version) options.sent = named(history.view_at(*ask.sent_version), "sentVersion");
  }
  CachedPrefixes cached_in(const ask::Render& ask, const View& view) const {
    const Version last = ask.sent_version.value_or(ask.at_version.value_or(history.version()));
    return named(cached_prefixes(history, {last, ask.sent_version.has_value()}, view),
                 "sentVersion");
  }
  // An error of the history names the argument that the caller gave.
  template <class T>
  static T named(Result<T> result, const char* field) {
    if (!result) result.error().field = field;
    return std::move(result).value();
  }
};

}  // namespace

void append_answer(std::string& out, const Asked& asked, const Query& query) {
  const Answering answering{asked, out};
  std::visit(answering, query);
  // Of some it is known only now.
  answering.need_room(out.size());
}

}  // namespace undertext
