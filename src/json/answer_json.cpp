#include "json/answer_json.hpp"

#include <charconv>
#include <concepts>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/json_text.hpp"
#include "json/models_json.hpp"

namespace undertext {

namespace {

void append_integer(std::string& out, std::integral auto number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

// `lead` is the text before the value, such as R"(,"tokens":)".
void append_field(std::string& out, std::string_view lead, std::integral auto number) {
  out += lead;
  append_integer(out, number);
}
void append_field(std::string& out, std::string_view lead, std::string_view text) {
  out += lead;
  append_json_string(out, text);
}
void append_field(std::string& out, std::string_view lead,
                  const std::vector<std::uint64_t>& numbers) {
  out += lead;
  append_json(out, numbers);
}
void append_field_unless_empty(std::string& out, std::string_view lead, std::string_view text) {
  if (!text.empty()) append_field(out, lead, text);
}

void append_target_reached(std::string& out, const std::optional<bool>& reached) {
  if (reached) out += *reached ? R"(,"targetReached":true)" : R"(,"targetReached":false)";
}

void append_messages(std::string& out, const View& view) {
  out.reserve(out.size() + view.sums().bytes + view.size() + 64);
  out += '[';
  const char* separator = "";
  for (const Message& message : view) {
    out += separator;
    out += message.json();
    separator = ",";
  }
  out += ']';
}

void append_snapshot(std::string& out, const BatchSnapshot& snapshot) {
  append_field(out, R"({"batchIndex":)", snapshot.batch_index);
  append_field(out, R"(,"timestamp":)", snapshot.timestamp_ms);
  out += R"(,"messages":)";
  append_messages(out, snapshot.view);
  append_field(out, R"(,"messageCount":)", snapshot.view.size());
  append_field_unless_empty(out, R"(,"description":)", snapshot.description);
  out += '}';
}

void append_warnings(std::string& out, const std::vector<Warning>& warnings) {
  if (warnings.empty()) return;
  std::string_view lead = R"(,"warnings":[{"code":)";
  for (const Warning& warning : warnings) {
    append_field(out, lead, name(warning.code));
    append_field(out, R"(,"ordinal":)", warning.ordinal.value);
    if (!warning.tool_call_id.empty()) append_field(out, R"(,"toolCallId":)", warning.tool_call_id);
    out += '}';
    lead = R"(,{"code":)";
  }
  out += ']';
}

// Only what an operation can set off on its own is shown in its answer.
void append_events(std::string& out, const std::vector<Event>& events) {
  if (events.empty()) return;
  out += R"(,"events":)";
  append_json(out, events);
}

void append_entry(std::string& out, const BlameEntry& entry) {
  append_field(out, R"({"version":)", entry.version);
  append_field(out, R"(,"operation":)", entry.operation);
  append_field(out, R"(,"timestamp":)", entry.timestamp_ms);
  append_field_unless_empty(out, R"(,"description":)", entry.description);
  out += '}';
}

void append_entries(std::string& out, const std::vector<BlameEntry>& entries) {
  out += '[';
  const char* separator = "";
  for (const BlameEntry& entry : entries) {
    out += separator;
    append_entry(out, entry);
    separator = ",";
  }
  out += ']';
}

}  // namespace

void append_json(std::string& out, const Error& error) {
  append_field(out, R"({"code":)", name(error.code));
  append_field_unless_empty(out, R"(,"field":)", error.field);
  append_field_unless_empty(out, R"(,"path":)", error.path);
  if (error.operation_index) append_field(out, R"(,"operationIndex":)", *error.operation_index);
  if (error.byte_offset) append_field(out, R"(,"byteOffset":)", *error.byte_offset);
  if (error.tokens_minimum) append_field(out, R"(,"minimum":)", *error.tokens_minimum);
  append_field(out, R"(,"message":)", error.message);
  out += '}';
}

void append_json(std::string& out, const Event& event) {
  append_field(out, R"({"type":)", name(event.type));
  switch (event.type) {
    case Event::Type::message_added:
      append_field(out, R"(,"version":)", event.version.value);
      append_field(out, R"(,"ordinal":)", event.ordinal.value);
      break;
    case Event::Type::batch_opened:
    case Event::Type::rolled_back:
      append_field(out, R"(,"version":)", event.version.value);
      append_field(out, R"(,"batchIndex":)", event.batch.value);
      break;
    case Event::Type::context_changed:
    case Event::Type::rewritten: append_field(out, R"(,"version":)", event.version.value); break;
    case Event::Type::token_limit_exceeded:
      append_field(out, R"(,"tokensUsed":)", event.tokens_used);
      append_field(out, R"(,"tokenLimit":)", event.token_limit);
      break;
    case Event::Type::compression_threshold_exceeded:
      append_field(out, R"(,"tokensUsed":)", event.tokens_used);
      append_field(out, R"(,"threshold":)", event.token_limit);
      break;
    case Event::Type::compressed:
      append_field(out, R"(,"version":)", event.version.value);
      append_field(out, R"(,"strategy":)", event.strategy);
      append_field(out, R"(,"tokensBefore":)", event.tokens_used);
      append_field(out, R"(,"tokensAfter":)", event.tokens_after);
      append_target_reached(out, event.target_reached);
      break;
    case Event::Type::compression_failed:
    case Event::Type::compression_discarded:
      append_field(out, R"(,"strategy":)", event.strategy);
      out += R"(,"error":)";
      append_json(out, *event.error);
      break;
  }
  out += '}';
}

void append_answer(std::string& out, const Error& error) {
  out += R"({"ok":false,"error":)";
  append_json(out, error);
  out += '}';
}

void append_answer(std::string& out, const Outcome& outcome) {
  append_field(out, R"({"ok":true,"operation":)", outcome.operation);
  append_field(out, R"(,"version":)", outcome.version.value);
  append_field(out, R"(,"affectedBatchIndex":)", outcome.affected_batch_index.value);
  out += R"(,"stats":)";
  append_json(out, outcome.stats);
  if (outcome.by_strategy)
    out += outcome.receipt ? R"(,"outcome":"compressed")" : R"(,"outcome":"fits")";
  if (outcome.receipt) {
    append_target_reached(out, outcome.receipt->target_reached());
    out += R"(,"receipt":)";
    append_json(out, *outcome.receipt);
  }
  if (const std::optional<Reconciliation>& found = outcome.reconciliation) {
    append_field(out, R"(,"outcome":)", name(found->outcome));
    append_field(out, R"(,"common":)", found->common);
    append_field(out, R"(,"added":)", found->added);
    append_field(out, R"(,"removed":)", found->removed);
  }
  append_warnings(out, outcome.warnings);
  append_events(out, outcome.events);
  out += '}';
}

void append_answer(std::string& out, const std::vector<Outcome>& outcomes) {
  out += R"({"ok":true,"results":[)";
  const char* separator = "";
  for (const Outcome& outcome : outcomes) {
    out += separator;
    append_answer(out, outcome);
    separator = ",";
  }
  out += "]}";
}

void append_answer(std::string& out, const MessageList& list) {
  std::size_t size_bytes = 64;
  for (const Message& message : list.messages) size_bytes += message.json().size() + 1;
  out.reserve(out.size() + size_bytes + list.ordinals.size() * 8);
  out += R"({"ok":true,"messages":[)";
  const char* separator = "";
  for (const Message& message : list.messages) {
    out += separator;
    out += message.json();
    separator = ",";
  }
  std::string_view lead = R"(],"ordinals":[)";
  for (const Ordinal ordinal : list.ordinals) {
    append_field(out, lead, ordinal.value);
    lead = ",";
  }
  if (list.ordinals.empty()) out += lead;
  out += "]}";
}

void append_answer(std::string& out, const MessageCount& count) {
  append_field(out, R"({"ok":true,"count":)", count.count);
  append_field(out, R"(,"tokens":)", count.tokens);
  out += '}';
}

void append_json(std::string& out, std::uint64_t number) { append_integer(out, number); }

void append_json(std::string& out, const MarkMap& map) {
  append_field(out, R"({"originalIndices":)", map.original_indices);
  std::string_view lead = R"(,"typeIndices":{)";
  for (std::size_t role = 0; role < role_count; ++role) {
    append_field(out, lead, name(static_cast<Role>(role)));
    append_field(out, ":", map.type_indices[role]);
    lead = ",";
  }
  append_field(out, R"(},"batchBoundaries":)", map.batch_boundaries);
  append_field(out, R"(,"boundaryToBatch":)", map.boundary_to_batch);
  append_field(out, R"(,"currentBatch":)", map.current_batch);
  out += '}';
}

void append_json(std::string& out, const Stats& stats) {
  append_field(out, R"({"totalMessages":)", stats.total_messages);
  append_field(out, R"(,"currentBatchMessages":)", stats.current_batch_messages);
  append_field(out, R"(,"totalBatches":)", stats.total_batches);
  append_field(out, R"(,"currentBatchIndex":)", stats.current_batch_index);
  append_field(out, R"(,"tokens":)", stats.tokens);
  out += '}';
}

void append_json(std::string& out, const BatchInfo& batch) {
  append_field(out, R"({"index":)", batch.index);
  append_field(out, R"(,"boundary":)", batch.boundary);
  if (batch.opened_by.empty()) {
    out += R"(,"openedBy":null)";
  } else {
    append_field(out, R"(,"openedBy":)", batch.opened_by);
  }
  append_field(out, R"(,"openedAt":)", batch.opened_at_ms);
  append_field(out, R"(,"messageCount":)", batch.message_count);
  append_field_unless_empty(out, R"(,"description":)", batch.description);
  out += '}';
}

void append_json(std::string& out, const std::optional<BatchSnapshot>& snapshot) {
  if (snapshot) {
    append_snapshot(out, *snapshot);
  } else {
    out += "null";
  }
}

void append_json(std::string& out, const VersionInfo& version) {
  append_field(out, R"({"version":)", version.version);
  if (version.parent) {
    append_field(out, R"(,"parent":)", *version.parent);
    append_field(out, R"(,"operation":)", version.operation);
  } else {
    out += R"(,"parent":null,"operation":null)";
  }
  append_field(out, R"(,"batchIndex":)", version.batch_index);
  append_field(out, R"(,"timestamp":)", version.timestamp_ms);
  if (version.description.empty()) {
    out += R"(,"description":null)";
  } else {
    append_field(out, R"(,"description":)", version.description);
  }
  append_field(out, R"(,"messageCount":)", version.message_count);
  append_field(out, R"(,"tokens":)", version.tokens);
  if (version.restores) append_field(out, R"(,"restores":)", *version.restores);
  append_target_reached(out, version.target_reached);
  out += '}';
}

void append_json(std::string& out, const Diff& diff) {
  append_field(out, R"({"removed":)", diff.removed);
  append_field(out, R"(,"added":)", diff.added);
  append_field(out, R"(,"moved":)", diff.moved);
  out += '}';
}

void append_json(std::string& out, const Blame& blame) {
  append_field(out, R"({"ordinal":)", blame.ordinal);
  out += R"(,"stored":)";
  append_entry(out, blame.stored);
  out += R"(,"hidden":)";
  append_entries(out, blame.hidden);
  out += R"(,"shown":)";
  append_entries(out, blame.shown);
  out += blame.visible ? R"(,"visible":true)" : R"(,"visible":false)";
  if (blame.from) {
    append_field(out, R"(,"from":{"conversation":)", blame.from->conversation);
    append_field(out, R"(,"version":)", blame.from->version);
    if (blame.from->ordinal) append_field(out, R"(,"ordinal":)", *blame.from->ordinal);
    out += '}';
  }
  out += '}';
}

void append_json(std::string& out, const Receipt& receipt) {
  append_field(out, R"({"version":)", receipt.version);
  append_field(out, R"(,"timestamp":)", receipt.timestamp_ms);
  append_field_unless_empty(out, R"(,"strategy":)", receipt.strategy);
  append_field_unless_empty(out, R"(,"summariser":)", receipt.summariser);
  append_field_unless_empty(out, R"(,"model":)", receipt.model);
  append_field_unless_empty(out, R"(,"reason":)", receipt.reason);
  append_field(out, R"(,"tokensBefore":)", receipt.tokens_before);
  append_field(out, R"(,"tokensAfter":)", receipt.tokens_after);
  if (receipt.target_tokens) append_field(out, R"(,"targetTokens":)", *receipt.target_tokens);
  append_target_reached(out, receipt.target_reached());
  if (receipt.prompt_tokens > 0 || receipt.completion_tokens > 0) {
    append_field(out, R"(,"cost":{"promptTokens":)", receipt.prompt_tokens);
    append_field(out, R"(,"completionTokens":)", receipt.completion_tokens);
    out += '}';
  }
  append_field(out, R"(,"ordinals":)", receipt.hidden);
  std::string_view lead = R"(,"summaries":[{"ordinal":)";
  for (const Receipt::Stands& stands : receipt.summaries) {
    append_field(out, lead, stands.summary);
    append_field(out, R"(,"standsFor":)", stands.stands_for);
    out += '}';
    lead = R"(,{"ordinal":)";
  }
  out += receipt.summaries.empty() ? R"(,"summaries":[]})" : "]}";
}

namespace {

void append_ordinals(std::string& out, std::string_view lead,
                     const std::vector<Ordinal>& ordinals) {
  std::vector<std::uint64_t> numbers;
  for (const Ordinal ordinal : ordinals) numbers.push_back(ordinal.value);
  append_field(out, lead, numbers);
}

void append_unit(std::string& out, const RecalledUnit& unit) {
  append_ordinals(out, R"({"ordinals":)", unit.ordinals);
  append_ordinals(out, R"(,"matched":)", unit.matched);
  const char* separator = R"(,"messages":[)";
  for (const Message& message : unit.messages)
    (out += std::exchange(separator, ",")) += message.json();
  append_field(out, R"(],"tokens":)", unit.tokens);
  char score[32];
  std::snprintf(score, sizeof score, "%.4g", unit.score);
  (out += R"(,"score":)") += score;
  if (unit.hidden_in) append_field(out, R"(,"hiddenIn":)", unit.hidden_in->value);
  if (unit.represented_by) append_field(out, R"(,"representedBy":)", unit.represented_by->value);
  out += '}';
}

}  // namespace

void append_json(std::string& out, const Recalled& recalled) {
  out += R"({"units":[)";
  const char* separator = "";
  for (const RecalledUnit& unit : recalled.units)
    append_unit(out += std::exchange(separator, ","), unit);
  append_field(out, R"(],"tokens":)", recalled.tokens);
  out += '}';
}

void append_json(std::string& out, const Redaction& redaction) {
  append_field(out, R"({"redacted":)", redaction.messages);
  out += R"(,"derived":[)";
  for (const Redaction::Derived& derived : redaction.derived) {
    if (out.back() != '[') out += ',';
    append_field(out, R"({"conversation":)", derived.conversation);
    append_field(out, R"(,"ordinal":)", derived.ordinal.value);
    out += derived.is_summary ? R"(,"kind":"summary"})" : R"(,"kind":"copy"})";
  }
  out += R"(],"operations":[)";
  for (const Redaction::Quoting& quoting : redaction.operations) {
    if (out.back() != '[') out += ',';
    append_field(out, R"({"conversation":)", quoting.conversation);
    append_field(out, R"(,"version":)", quoting.version.value);
    out += '}';
  }
  out += "]}";
}

// Plans are told in ordinals, which mean the same in every version.
void append_json(std::string& out, const Fit& fit, const View& view) {
  append_field(out, R"({"outcome":)", name(fit.outcome));
  append_field(out, R"(,"tokens":)", fit.tokens);
  append_field(out, R"(,"tokensMax":)", fit.tokens_max);
  if (fit.outcome == Fit::Outcome::cannot_fit)
    append_field(out, R"(,"minimum":)", fit.tokens_minimum);
  if (fit.plan) {
    append_field(out, R"(,"plan":{"strategy":)", fit.plan->strategy);
    append_field_unless_empty(out, R"(,"reason":)", fit.plan->reason);
    append_field(out, R"(,"tokensBefore":)", fit.plan->tokens_before);
    append_field(out, R"(,"tokensAfter":)", fit.plan->tokens_after);
    std::string_view lead = R"(,"replacements":[{"ordinals":)";
    for (const Replacement& replacement : fit.plan->replacements) {
      std::vector<std::uint64_t> ordinals;
      for (const Range& range : replacement.hidden) {
        for (std::uint64_t i = range.start; i < range.end; ++i)
          ordinals.push_back(view.ordinal(i).value);
      }
      append_field(out, lead, ordinals);
      if (replacement.summary) (out += R"(,"summary":)") += replacement.summary->json();
      out += '}';
      lead = R"(,{"ordinals":)";
    }
    out += "]}";
  }
  out += '}';
}

void append_json(std::string& out, const TokensAnswer& tokens) {
  const ViewSums sums = tokens.view.sums();
  append_field(out, R"({"total":)", sums.tokens());
  std::string_view lead = R"(,"byRole":{)";
  for (std::size_t role = 0; role < role_count; ++role) {
    append_field(out, lead, name(static_cast<Role>(role)));
    append_field(out, ":", sums.role_tokens[role]);
    lead = ",";
  }
  append_field(out, R"(},"tokenizer":)", tokens.counting.tokenizer->name());
  append_field(out, R"(,"costs":)", std::string_view(tokens.counting.costs->name));
  out += counts_exactly(tokens.counting, tokens.view) ? R"(,"exact":true)" : R"(,"exact":false)";
  if (tokens.per_message) {
    lead = R"(,"messages":[{"ordinal":)";
    for (std::uint64_t i = 0; i < tokens.view.size(); ++i) {
      append_field(out, lead, tokens.view.ordinal(i).value);
      append_field(out, R"(,"tokens":)", std::uint64_t{tokens.view.tokens(i)});
      out += '}';
      lead = R"(,{"ordinal":)";
    }
    out += tokens.view.empty() ? R"(,"messages":[])" : "]";
  }
  out += '}';
}

void append_state(std::string& out, const History& history) {
  const Stats stats = history.stats();
  const View view = history.view();
  out += R"({"messages":)";
  append_messages(out, view);
  std::string_view lead = R"(,"batchSnapshots":[)";
  for (std::uint64_t batch = 0; batch < stats.current_batch_index; ++batch) {
    out += lead;
    append_json(out, history.batch_snapshot(BatchIndex(batch)));
    lead = ",";
  }
  if (stats.current_batch_index == 0) out += lead;
  append_field(out, R"(],"currentBatchIndex":)", stats.current_batch_index);
  append_field(out, R"(,"totalMessageCount":)", view.size());
  out += '}';
}

}  // namespace undertext
