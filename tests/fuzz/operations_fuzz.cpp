// Bytes as a sequence of operations, right and wrong ones, through the C++ API. After every step
// the laws that are cheap to check:
// a failure changes nothing, a success makes one version, sums equal a recount, and an earlier
// version reads as it read then.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/conversation.hpp>

#include "require.hpp"

namespace {

using namespace undertext;
using Ordinals = std::vector<std::uint64_t>;

// The input, byte by byte; zeros behind its end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size_bytes) : at_(data), end_(data + size_bytes) {}
  bool empty() const { return at_ == end_; }
  std::uint8_t next() { return at_ == end_ ? std::uint8_t{0} : *at_++; }
  bool coin() { return next() % 2 == 1; }
  // Mostly below `limit`, sometimes at it or beyond it.
  std::uint64_t around(std::uint64_t limit) {
    const std::uint8_t byte = next();
    return byte == 255 ? ~std::uint64_t{0} : byte % (limit + 2);
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

Message any_message(Bytes& bytes) {
  static const std::vector<Message> pool = [] {
    std::vector<Message> messages;
    for (
        const char* json : {
            R"({"role":"user","content":"a"})",
            R"({"role":"user","content":"bcd","timestamp":5})",
            R"({"role":"system","content":"rules"})",
            R"({"role":"assistant","content":"b"})",
            R"({"role":"assistant","content":"","toolCalls":[{"id":"c1"},{"id":"c2"}]})",
            R"({"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"c3","name":"f","input":{}}]})",
            R"({"role":"tool","content":"r1","toolCallId":"c1"})",
            R"({"role":"tool","content":"","toolCallId":"c2"})",
            R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c3","content":"ok"}]})",
            R"({"role":"assistant","content":[{"type":"thinking","thinking":"h"},{"type":"tool_use","id":"c4","name":"g","input":{}}]})",
            R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c4","content":"a result that is long enough to clear"}]})",
            R"({"role":"user","content":"消息 \ud83d\ude00","timestamp":-9,"metadata":{"k":1}})",
        }) {
      messages.push_back(Message::parse(json).value());
    }
    return messages;
  }();
  return pool[bytes.next() % pool.size()];
}

std::vector<Message> any_messages(Bytes& bytes) {
  std::vector<Message> messages;
  for (std::uint8_t left = bytes.next() % 4; left > 0; --left)
    messages.push_back(any_message(bytes));
  return messages;
}

std::vector<std::uint64_t> any_numbers(Bytes& bytes, std::uint64_t limit) {
  std::vector<std::uint64_t> numbers;
  for (std::uint8_t left = bytes.next() % 5; left > 0; --left)
    numbers.push_back(bytes.around(limit));
  return numbers;
}

Names any_names(Bytes& bytes, const Stats& stats) {
  if (bytes.coin()) return Names::ordinals(any_numbers(bytes, stats.total_messages));
  return Names::indices(any_numbers(bytes, stats.current_batch_messages));
}

Role any_role(Bytes& bytes) { return static_cast<Role>(bytes.next() % role_count); }

std::vector<Role> any_roles(Bytes& bytes) {
  std::vector<Role> roles;
  for (std::uint8_t left = bytes.next() % 3; left > 0; --left) roles.push_back(any_role(bytes));
  return roles;
}

std::optional<Pairs> any_pairs(Bytes& bytes) {
  const std::uint8_t byte = bytes.next() % 4;
  return byte == 3 ? std::nullopt : std::optional(static_cast<Pairs>(byte));
}

std::vector<std::string> any_words(Bytes& bytes) {
  std::vector<std::string> words;
  for (std::uint8_t left = bytes.next() % 3; left > 0; --left)
    words.emplace_back(bytes.coin() ? "a" : bytes.coin() ? "b" : "");
  return words;
}

op::Truncate any_truncate(Bytes& bytes, std::uint64_t length) {
  op::Truncate truncate;
  const std::uint8_t which = bytes.next();
  if (which & 1) truncate.keep_first = bytes.around(length);
  if (which & 2) truncate.keep_last = bytes.around(length);
  if (which & 4) truncate.remove_first = bytes.around(length);
  if (which & 8) truncate.remove_last = bytes.around(length);
  if (which & 16) truncate.range = {bytes.around(length), bytes.around(length)};
  if (which & 32) truncate.role = any_role(bytes);
  truncate.pairs = any_pairs(bytes);
  return truncate;
}

op::Transform any_transform(Bytes& bytes, const Stats& stats) {
  op::Transform transform;
  if (bytes.coin()) {
    transform.which = any_roles(bytes);
  } else {
    transform.which = any_names(bytes, stats);
  }
  switch (bytes.next() % 3) {
    case 0:
      transform.change = ReplaceText{bytes.coin() ? "a" : "b", bytes.coin() ? "ba" : ""};
      break;
    case 1:
      transform.change =
          TruncateText{bytes.around(4), static_cast<TruncateText::Keep>(bytes.next() % 3), "…"};
      break;
    default: transform.change = SetMetadata{bytes.coin() ? R"({"k":[2]})" : "nonsense"};
  }
  return transform;
}

Plan any_plan(Bytes& bytes, std::uint64_t length, std::uint64_t version) {
  Plan plan{.base = Version(bytes.next() == 7 ? version + 1 : version), .replacements = {}};
  std::uint64_t at = 0;
  for (std::uint8_t left = bytes.next() % 4; left > 0; --left) {
    Replacement replacement;
    for (std::uint8_t ranges = bytes.next() % 3; ranges > 0; --ranges) {
      if (bytes.next() == 9) at = 0;  // back to where something may be hidden already
      const std::uint64_t start = at + bytes.next() % 4;
      at = start + bytes.next() % 5;
      replacement.hidden.push_back({start, bytes.next() == 11 ? at : std::min(at, length)});
    }
    if (bytes.coin()) replacement.summary = any_message(bytes);
    plan.replacements.push_back(std::move(replacement));
  }
  return plan;
}

class ShortSummariser final : public Summariser {
 public:
  explicit ShortSummariser(std::uint8_t mood) : mood_(mood) {}
  std::string_view name() const noexcept override { return "short"; }
  bool is_slow() const noexcept override { return false; }
  Result<Summary> summarise(const SummaryRequest& request) const override {
    if (mood_ == 0) return Error{ErrorCode::unavailable, "not now"};
    return Summary{std::string(mood_ == 1 ? 2 * request.tokens_max : 1, mood_ == 2 ? '\xff' : 'x')};
  }

 private:
  std::uint8_t mood_;
};

StrategyPtr any_strategy(Bytes& bytes, int depth = 0) {
  switch (bytes.next() % (depth < 2 ? 9 : 8)) {
    case 0: return no_strategy();
    case 1: return keep_recent(bytes.next() % 9);
    case 2: return keep_system_and_recent(bytes.next() % 9);
    case 3: return sliding_window();
    case 4:
      return clear_tool_results({.keep = bytes.next() % 3u, .exclude = {bytes.coin() ? "f" : ""}});
    case 5: return supersede({.late = bytes.coin()});
    case 6: return dedupe({.late = bytes.coin()});
    case 7: {
      const auto summariser = std::make_shared<ShortSummariser>(bytes.next() % 6);
      return smart_summary(
          {.summariser = bytes.coin() ? summariser : nullptr, .keep = bytes.next() % 6u});
    }
    default: {
      std::vector<StrategyPtr> steps;
      for (std::uint8_t left = bytes.next() % 4; left > 0; --left)
        steps.push_back(any_strategy(bytes, depth + 1));
      return pipeline(std::move(steps));
    }
  }
}

std::uint32_t count_tokens(const Message& message) {
  return static_cast<std::uint32_t>(message.json().size() / 4);
}

// A plan of a strategy: what is true of every one is checked before it is handed on.
op::CompressBy any_compression(Bytes& bytes) {
  Aim aim;
  aim.count_tokens = count_tokens;
  if (bytes.coin()) aim.tokens_max = bytes.next() * 2u;
  return {[strategy = any_strategy(bytes), aim](const History& given) -> Result<Plan> {
    const History history = given.recounted(count_tokens);
    Result<Plan> plan = strategy->plan(history, aim);
    if (!plan) return plan;
    require(plan->base == history.version(), "a plan is for the head");
    const Result<Step> step = history.apply({op::ApplyPlan{*plan}}, {.count_tokens = count_tokens});
    require(static_cast<bool>(step), "a plan of a strategy can be carried out");
    require(step->applied.warnings.empty(), "a strategy breaks no tool pair");
    require(step->history.stats().tokens == plan->tokens_after, "a plan knows what it leads to");
    require(plan->tokens_after <= plan->tokens_before, "a plan makes nothing larger");
    require(!plan->replacements.empty() || plan->tokens_after == plan->tokens_before,
            "an empty plan frees nothing");
    return plan;
  }};
}

Operation::What any_operation(Bytes& bytes, const Stats& stats, std::uint64_t version) {
  const std::uint64_t length = stats.current_batch_messages;
  const char* const mark = bytes.coin() ? "pinned" : bytes.coin() ? "m" : "";
  switch (bytes.next() % 25) {
    case 24: return op::Show{any_numbers(bytes, stats.total_messages)};
    case 0: return op::Insert{bytes.around(length), any_messages(bytes)};
    case 1: return op::Replace{any_names(bytes, stats), any_messages(bytes)};
    case 2: return any_truncate(bytes, length);
    case 3: return op::Clear{bytes.coin()};
    case 4:
      return op::Filter{any_roles(bytes), any_words(bytes), any_words(bytes), any_pairs(bytes)};
    case 5: return op::Delete{any_names(bytes, stats), any_pairs(bytes)};
    case 6:
      return op::Compress{any_names(bytes, stats),
                          bytes.coin() ? std::optional(any_message(bytes)) : std::nullopt};
    case 7: return op::Expand{bytes.around(length)};
    case 8: return op::Merge{any_numbers(bytes, length), bytes.coin() ? "" : "\n"};
    case 9: return op::Split{bytes.around(length), any_numbers(bytes, 3)};
    case 10: return any_transform(bytes, stats);
    case 11:
      return op::StartBatch{
          bytes.coin() ? std::optional(bytes.around(stats.total_messages)) : std::nullopt,
          bytes.coin()};
    case 12: return op::EndBatch{bytes.around(stats.current_batch_index), any_roles(bytes)};
    case 13: return op::Rollback{bytes.around(stats.current_batch_index)};
    case 14: return op::Mark{any_names(bytes, stats), mark};
    case 15: return op::Unmark{any_names(bytes, stats), mark};
    case 16: return op::Undo{};
    case 17: return op::Redo{};
    case 18: return op::Restore{bytes.around(version)};
    case 19: return op::ApplyPlan{any_plan(bytes, length, version)};
    case 20: return any_compression(bytes);
    default: return op::Append{any_messages(bytes)};
  }
}

Ordinals ordinals_of(const View& view) {
  Ordinals ordinals;
  for (auto at = view.begin(); at != view.end(); ++at) ordinals.push_back(at.ordinal().value);
  return ordinals;
}

void check_sums(const History& history) {
  const View view = history.view();
  ViewSums recount;
  for (std::uint64_t i = 0; i < view.size(); ++i) {
    const Message message = view[i];
    recount.role_counts[static_cast<std::size_t>(message.role())] += 1;
    recount.role_tokens[static_cast<std::size_t>(message.role())] += view.tokens(i);
    recount.bytes += message.json().size();
    require(view.index_of(view.ordinal(i)) == i, "a message is found by its ordinal");
  }
  const ViewSums sums = view.sums();
  require(std::equal(std::begin(sums.role_counts), std::end(sums.role_counts), recount.role_counts),
          "counts equal a recount");
  require(std::equal(std::begin(sums.role_tokens), std::end(sums.role_tokens), recount.role_tokens),
          "tokens equal a recount");
  require(sums.bytes == recount.bytes, "bytes equal a recount");

  for (std::uint64_t i = 0; i <= view.size(); ++i) {
    const std::uint64_t before = view.previous_legal_cut(i), after = view.next_legal_cut(i);
    require(before <= i && i <= after && after <= view.size(), "a legal cut is inside the view");
    require(view.is_legal_cut(before) && view.is_legal_cut(after), "a legal cut is legal");
    require(view.is_legal_cut(i) == (before == i) && (before == i) == (after == i),
            "the nearest legal cut is the place itself");
  }

  const Stats stats = history.stats();
  require(stats.current_batch_messages == view.size() && stats.tokens == sums.tokens(),
          "the stats are those of the view");
  require(stats.total_messages == history.log().size(), "the stats know the log");
  require(stats.total_batches == stats.current_batch_index + 1, "the batches are a stack");
  const MarkMap map = history.mark_map();
  require(map.original_indices == ordinals_of(view), "the mark map lists the view");
  require(std::is_sorted(map.batch_boundaries.begin(), map.batch_boundaries.end()),
          "boundaries never fall");
  require(map.batch_boundaries.size() == stats.total_batches, "every batch has a boundary");
}

void check_queries(const History& history, Bytes& bytes) {
  MessageQuery query{.all = bytes.coin(), .roles = any_roles(bytes)};
  if (bytes.coin()) query.from_ms = bytes.next();
  if (bytes.coin()) query.marked = bytes.coin() ? "pinned" : "m";
  if (bytes.coin()) query.contains = "a";
  if (bytes.coin()) query.start = bytes.around(9);
  (bytes.coin() ? query.first : query.last) = bytes.around(9);
  const Result<MessageList> list = history.messages(query);
  const Result<MessageCount> count = history.count(query);
  require(static_cast<bool>(list) == static_cast<bool>(count), "both can be asked or neither");
  if (list)
    require(list->messages.size() == count->count && list->ordinals.size() == count->count,
            "the count is that of the list");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  Bytes bytes(data, size_bytes);
  Settings settings;
  settings.limits.message.message_bytes = 2048;  // edits can multiply a text; keep them cheap
  settings.clock_ms = [now = std::int64_t{0}]() mutable { return now++; };
  Conversation conversation = Conversation::open(std::move(settings)).value();
  std::vector<Ordinals> views = {{}};  // of each version, as it was when it was made

  for (int step = 0; step < 400 && !bytes.empty(); ++step) {
    const History before = conversation.history();
    const std::uint64_t version = before.version().value;
    const Stats stats = before.stats();
    if (stats.current_batch_messages > 200) break;
    Operation operation{any_operation(bytes, stats, version)};
    const bool appends = std::holds_alternative<op::Append>(operation.what);
    const Result<Outcome> outcome = conversation.apply(std::move(operation));

    const History after = conversation.history();
    check_sums(after);
    if (outcome) {
      require(after.version().value == version + 1 && outcome->version == after.version(),
              "a success makes one version");
      require(after.stats().total_messages >= stats.total_messages, "the log only grows");
      require(!appends || !outcome->opened_batch, "APPEND opens no batch");
      views.push_back(ordinals_of(after.view()));
    } else {
      require(after.version().value == version, "a failure makes no version");
      require(after.stats().total_messages == stats.total_messages, "a failure stores nothing");
      require(ordinals_of(after.view()) == views.back(), "a failure leaves the view");
    }
    const std::uint64_t earlier = bytes.next() % views.size();
    require(ordinals_of(after.view_at(Version(earlier)).value()) == views[earlier],
            "an earlier version reads as it read then");
    check_queries(after, bytes);
  }
  return 0;
}
