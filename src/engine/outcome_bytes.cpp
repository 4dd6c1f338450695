#include "engine/outcome_bytes.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace undertext {
namespace {

// Format 2 also has targets, and 3 what a RECONCILE found. Each is written only where there is that
// to tell, so that older releases read the rest.
constexpr std::uint64_t format_without_targets = 1, format_with_targets = 2,
                        format_with_reconciliation = 3;

bool has_target(const Outcome& outcome) {
  const auto tells = [](const Event& event) { return event.target_reached.has_value(); };
  return (outcome.receipt && outcome.receipt->target_tokens) ||
         std::any_of(outcome.events.begin(), outcome.events.end(), tells);
}

void write(ByteOut& out, const Stats& stats) {
  for (const std::uint64_t n : {stats.total_messages, stats.current_batch_messages,
                                stats.total_batches, stats.current_batch_index, stats.tokens}) {
    out.number(n);
  }
}
Stats read_stats(ByteIn& in) {
  Stats stats;
  for (std::uint64_t* n : {&stats.total_messages, &stats.current_batch_messages,
                           &stats.total_batches, &stats.current_batch_index, &stats.tokens}) {
    *n = in.number();
  }
  return stats;
}

void write(ByteOut& out, const std::optional<std::uint64_t>& number) {
  out.flag(number.has_value());
  if (number) out.number(*number);
}
std::optional<std::uint64_t> read_optional(ByteIn& in) {
  if (!in.flag()) return {};
  return in.number();
}

void write(ByteOut& out, const Error& error) {
  out.number(static_cast<std::uint64_t>(error.code));
  for (const std::string& text : {error.message, error.field, error.path}) out.text(text);
  for (const auto& number : {error.operation_index, error.byte_offset, error.tokens_minimum})
    write(out, number);
}
Error read_error(ByteIn& in) {
  Error error;
  const std::uint64_t code = in.number();
  if (code >= error_code_count) in.fail("there is no such error");
  error.code = static_cast<ErrorCode>(code);
  for (std::string* text : {&error.message, &error.field, &error.path})
    *text = std::string(in.text());
  for (auto* number : {&error.operation_index, &error.byte_offset, &error.tokens_minimum})
    *number = read_optional(in);
  return error;
}

void write(ByteOut& out, const Event& event, std::uint64_t format) {
  out.number(static_cast<std::uint64_t>(event.type));
  for (const std::uint64_t n : {event.version.value, event.ordinal.value, event.batch.value,
                                event.tokens_used, event.token_limit, event.tokens_after}) {
    out.number(n);
  }
  out.text(event.strategy);
  out.flag(event.error != nullptr);
  if (event.error) write(out, *event.error);
  if (format == format_without_targets) return;
  out.flag(event.target_reached.has_value());
  if (event.target_reached) out.flag(*event.target_reached);
}
Event read_event(ByteIn& in, std::uint64_t format) {
  Event event;
  const std::uint64_t type = in.number();
  if (type > static_cast<std::uint64_t>(Event::Type::compression_discarded))
    in.fail("there is no such event");
  event.type = static_cast<Event::Type>(type);
  event.version = Version(in.number());
  event.ordinal = Ordinal(in.number());
  event.batch = BatchIndex(in.number());
  event.tokens_used = in.number();
  event.token_limit = in.number();
  event.tokens_after = in.number();
  event.strategy = std::string(in.text());
  if (in.flag()) event.error = std::make_shared<const Error>(read_error(in));
  if (format != format_without_targets && in.flag()) event.target_reached = in.flag();
  return event;
}

void write(ByteOut& out, const Reconciliation& found) {
  out.number(static_cast<std::uint64_t>(found.outcome));
  for (const std::uint64_t n : {found.common, found.added, found.removed}) out.number(n);
}
Reconciliation read_reconciliation(ByteIn& in) {
  Reconciliation found;
  const std::uint64_t outcome = in.number();
  if (outcome > static_cast<std::uint64_t>(ReconcileOutcome::compacted))
    in.fail("there is no such outcome");
  found.outcome = static_cast<ReconcileOutcome>(outcome);
  for (std::uint64_t* n : {&found.common, &found.added, &found.removed}) *n = in.number();
  return found;
}

void write(ByteOut& out, const std::vector<std::uint64_t>& numbers) {
  out.number(numbers.size());
  for (const std::uint64_t n : numbers) out.number(n);
}
std::vector<std::uint64_t> read_numbers(ByteIn& in) {
  std::vector<std::uint64_t> numbers(in.count());
  for (std::uint64_t& n : numbers) n = in.number();
  return numbers;
}

void write(ByteOut& out, const Receipt& receipt, std::uint64_t format) {
  out.number(receipt.version);
  out.signed_number(receipt.timestamp_ms);
  for (const std::string& text :
       {receipt.strategy, receipt.summariser, receipt.model, receipt.reason})
    out.text(text);
  for (const std::uint64_t n : {receipt.tokens_before, receipt.tokens_after, receipt.prompt_tokens,
                                receipt.completion_tokens}) {
    out.number(n);
  }
  write(out, receipt.hidden);
  out.number(receipt.summaries.size());
  for (const Receipt::Stands& stands : receipt.summaries) {
    out.number(stands.summary);
    write(out, stands.stands_for);
  }
  if (format != format_without_targets) write(out, receipt.target_tokens);
}
Receipt read_receipt(ByteIn& in, std::uint64_t format) {
  Receipt receipt;
  receipt.version = in.number();
  receipt.timestamp_ms = in.signed_number();
  for (std::string* text :
       {&receipt.strategy, &receipt.summariser, &receipt.model, &receipt.reason})
    *text = std::string(in.text());
  for (std::uint64_t* n : {&receipt.tokens_before, &receipt.tokens_after, &receipt.prompt_tokens,
                           &receipt.completion_tokens}) {
    *n = in.number();
  }
  receipt.hidden = read_numbers(in);
  receipt.summaries.resize(in.count());
  for (Receipt::Stands& stands : receipt.summaries) {
    stands.summary = in.number();
    stands.stands_for = read_numbers(in);
  }
  if (format != format_without_targets) receipt.target_tokens = read_optional(in);
  return receipt;
}

}  // namespace

std::string outcome_bytes(const Outcome& outcome) {
  const std::uint64_t format = outcome.reconciliation ? format_with_reconciliation
                               : has_target(outcome)  ? format_with_targets
                                                      : format_without_targets;
  ByteOut out;
  out.number(format);
  out.text(outcome.operation);
  out.number(outcome.version.value);
  out.number(outcome.affected_batch_index.value);
  write(out, outcome.stats);
  out.number(outcome.warnings.size());
  for (const Warning& warning : outcome.warnings) {
    out.number(static_cast<std::uint64_t>(warning.code));
    out.number(warning.ordinal.value);
    out.text(warning.tool_call_id);
  }
  out.flag(outcome.opened_batch);
  out.number(outcome.events.size());
  for (const Event& event : outcome.events) write(out, event, format);
  out.flag(outcome.by_strategy);
  out.flag(outcome.receipt.has_value());
  if (outcome.receipt) write(out, *outcome.receipt, format);
  if (outcome.reconciliation) write(out, *outcome.reconciliation);
  return std::move(out.bytes);
}

void edit_texts(Outcome& outcome, const std::function<void(std::string&)>& edit) {
  if (outcome.receipt) edit(outcome.receipt->reason);
  for (Event& event : outcome.events) {
    if (!event.error) continue;
    Error error = *event.error;
    edit(error.message);
    event.error = std::make_shared<const Error>(std::move(error));
  }
}

Outcome read_outcome(std::string_view bytes) {
  ByteIn in(bytes, "the answer to a stored operation");
  const std::uint64_t format = in.number();
  if (format < format_without_targets || format > format_with_reconciliation) in.fail_newer();
  Outcome outcome;
  outcome.operation = std::string(in.text());
  outcome.version = Version(in.number());
  outcome.affected_batch_index = BatchIndex(in.number());
  outcome.stats = read_stats(in);
  outcome.warnings.resize(in.count());
  for (Warning& warning : outcome.warnings) {
    const std::uint64_t code = in.number();
    if (code > static_cast<std::uint64_t>(Warning::Code::reasoning_without_call))
      in.fail("there is no such warning");
    warning.code = static_cast<Warning::Code>(code);
    warning.ordinal = Ordinal(in.number());
    warning.tool_call_id = std::string(in.text());
  }
  outcome.opened_batch = in.flag();
  outcome.events.resize(in.count());
  for (Event& event : outcome.events) event = read_event(in, format);
  outcome.by_strategy = in.flag();
  if (in.flag()) outcome.receipt = read_receipt(in, format);
  if (format == format_with_reconciliation) outcome.reconciliation = read_reconciliation(in);
  in.end();
  return outcome;
}

}  // namespace undertext
