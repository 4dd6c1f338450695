#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "handles.hpp"
#include "json/answer_json.hpp"
#include "json/kept_settings.hpp"
#include "json/operation_fields.hpp"
#include "json/operation_json.hpp"
#include "json/query_json.hpp"
#include "json/request.hpp"
#include "json/request_record_json.hpp"
#include "json/settings_json.hpp"
#include "json/usage_json.hpp"
#include "read_object.hpp"

using namespace undertext;
using c::Failed, c::give, c::guarded, c::read_object, c::view_of;

namespace {

void read_make(Fields& fields, OpenOptions::Make& make) {
  std::optional<std::string> word;
  fields.take("make", word);
  if (!word || word == "if_missing") return;
  if (word == "never") {
    make = OpenOptions::Make::never;
  } else if (word == "always") {
    make = OpenOptions::Make::always;
  } else {
    fields.fail("make", "is \"if_missing\", \"never\" or \"always\"");
  }
}

Failed hand_out(Result<Conversation> made, undertext_conversation** to) {
  if (!made) return std::move(made.error());
  *to = new undertext_conversation{.conversation = std::move(*made)};
  return std::nullopt;
}

std::stop_token cancel_of(undertext_conversation& of) {
  const std::lock_guard lock(of.mutex);
  return of.waiting.get_token();
}

undertext_stats stats_of(const Stats& stats) {
  return {stats.total_messages, stats.current_batch_messages, stats.total_batches,
          stats.current_batch_index, stats.tokens};
}

// One message, or a list of them.
Failed read_messages(std::string_view json, const MessageLimits& limits,
                     std::vector<Message>& messages) {
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] != '[') {
    Result<Message> message = Message::parse(json, limits);
    if (!message) return std::move(message.error());
    messages.push_back(std::move(*message));
    return std::nullopt;
  }
  const Result<JsonText> text = JsonText::parse(json, {.depth = limits.depth + 1});
  if (!text) return text.error();
  for (const JsonValue element : text->root().elements()) {
    Result<Message> message = Message::parse(element.raw(), limits);
    if (!message) {
      Error& error = message.error();
      error.path = "[" + std::to_string(messages.size()) + "]" +
                   (error.field.empty() ? "" : "." + error.field);
      return std::move(error);
    }
    messages.push_back(std::move(*message));
  }
  return std::nullopt;
}

// Work that is one operation: its answer, or its error.
template <class Work>
undertext_status answered_by(undertext_conversation* conversation, undertext_string* answer,
                             Work work) {
  return guarded(conversation, answer, [&](undertext_conversation& at) -> Failed {
    const Result<Outcome> outcome = work(at);
    if (!outcome) return outcome.error();
    std::string said;
    append_answer(said, *outcome);
    give(answer, std::move(said));
    return std::nullopt;
  });
}

}  // namespace

undertext_status undertext_conversation_new(const undertext_settings* settings,
                                            undertext_conversation** conversation,
                                            undertext_string* error) {
  *conversation = nullptr;
  return guarded(error, [&]() -> Failed {
    Settings made;
    if (settings != nullptr) {
      Result<DoorSettings> read = read_settings(settings->config.value_or("{}"), settings->own);
      if (!read) return std::move(read.error());
      made = std::move(read->settings);
    }
    return hand_out(Conversation::open(std::move(made)), conversation);
  });
}

undertext_status undertext_conversation_open(undertext_store* store, undertext_text id,
                                             const undertext_settings* settings,
                                             undertext_text options,
                                             undertext_conversation** conversation,
                                             undertext_string* error) {
  *conversation = nullptr;
  return guarded(store, error, [&](undertext_store& in) -> Failed {
    KeptOpen how;
    if (settings != nullptr) how = {.config = settings->config, .own = settings->own};
    const Failed bad = read_object(options, "the options", [&](Fields& fields) {
      read_make(fields, how.options.make);
      fields.take("cacheBytes", how.options.cache_bytes);
      fields.take("rebaseAppends", how.options.rebase_appends);
      fields.take("checkpointVersions", how.options.checkpoint_versions);
    });
    if (bad) return bad;
    return hand_out(open_kept(in.store, view_of(id), std::move(how)), conversation);
  });
}

void undertext_conversation_close(undertext_conversation* conversation) { delete conversation; }

void undertext_conversation_close_later(undertext_conversation* conversation) {
  if (conversation == nullptr) return;
  try {
    std::thread([conversation] { delete conversation; }).detach();
  } catch (...) {
    delete conversation;  // no thread is to be had
  }
}

undertext_status undertext_answer(undertext_conversation* conversation, undertext_text line,
                                  undertext_string* answer) {
  undertext_status said = UNDERTEXT_OK;
  const undertext_status failed = guarded(answer, [&]() -> Failed {
    LineAnswer answered;
    if (conversation != nullptr) {
      answered = answer_request(conversation->conversation, view_of(line),
                                {.cancel = cancel_of(*conversation)});
    } else {
      answered.error = Error{ErrorCode::invalid_argument, "the handle is NULL"};
      append_answer(answered.line, *answered.error);
    }
    if (answered.error) said = c::status_of(answered.error->code);
    give(answer, std::move(answered.line));
    return std::nullopt;
  });
  return failed != UNDERTEXT_OK ? failed : said;
}

undertext_status undertext_append(undertext_conversation* conversation, undertext_text messages,
                                  uint64_t* version, undertext_stats* stats,
                                  undertext_string* error) {
  if (version != nullptr) *version = 0;
  if (stats != nullptr) *stats = {};
  return guarded(conversation, error, [&](undertext_conversation& at) -> Failed {
    op::Append append;
    if (Failed bad = read_messages(view_of(messages), at.conversation.settings().limits.message,
                                   append.messages))
      return bad;
    const Result<Outcome> outcome = at.conversation.apply(Operation{std::move(append)});
    if (!outcome) return outcome.error();
    if (version != nullptr) *version = outcome->version.value;
    if (stats != nullptr) *stats = stats_of(outcome->stats);
    return std::nullopt;
  });
}

undertext_status undertext_transform(undertext_conversation* conversation, undertext_text which,
                                     undertext_transform_message transform, void* context,
                                     undertext_string* answer) {
  return answered_by(conversation, answer, [&](undertext_conversation& at) -> Result<Outcome> {
    c::must_be_function(transform, "transform");
    const MessageLimits limits = at.conversation.settings().limits.message;
    const Result<JsonText> text = JsonText::parse(view_of(which), {});
    if (!text) return text.error();
    Result<Operation> operation =
        read_transform(text->root(), [&](const Message& message) -> Result<Message> {
          c::Answered changed;
          const undertext_status status =
              transform(context, c::text_of(message.json()), &changed.string);
          if (status != UNDERTEXT_OK)
            return c::failure(status, "the transformation", changed.text());
          return Message::parse(changed.text(), limits);
        });
    if (!operation) return operation.error();
    return at.conversation.apply(std::move(*operation));
  });
}

uint64_t undertext_conversation_version(const undertext_conversation* conversation) {
  return conversation == nullptr ? 0 : conversation->conversation.history().version().value;
}

undertext_text undertext_conversation_id(const undertext_conversation* conversation) {
  return conversation == nullptr ? undertext_text{"", 0}
                                 : c::text_of(conversation->conversation.id());
}

undertext_status undertext_conversation_stats(const undertext_conversation* conversation,
                                              undertext_stats* stats, undertext_string* error) {
  *stats = {};
  return guarded(conversation, error, [&](const undertext_conversation& at) -> Failed {
    *stats = stats_of(at.conversation.stats());
    return std::nullopt;
  });
}

undertext_status undertext_conversation_count(const undertext_conversation* conversation,
                                              undertext_text filters, uint64_t* count,
                                              uint64_t* tokens, undertext_string* error) {
  if (count != nullptr) *count = 0;
  if (tokens != nullptr) *tokens = 0;
  return guarded(conversation, error, [&](const undertext_conversation& at) -> Failed {
    MessageQuery which;
    if (Failed bad =
            read_object(filters, "count", [&](Fields& fields) { read_filters(fields, which); }))
      return bad;
    const Result<MessageCount> counted = at.conversation.count(which);
    if (!counted) return counted.error();
    if (count != nullptr) *count = counted->count;
    if (tokens != nullptr) *tokens = counted->tokens;
    return std::nullopt;
  });
}

undertext_status undertext_conversation_fork(undertext_conversation* conversation, uint64_t version,
                                             undertext_text id, undertext_conversation** fork,
                                             undertext_string* error) {
  *fork = nullptr;
  return guarded(conversation, error, [&](undertext_conversation& at) -> Failed {
    // Like a query: UNDERTEXT_HEAD, and what is known, is that of everyone who commits.
    if (Result<void> done = at.conversation.catch_up(); !done) return std::move(done.error());
    const Version from = version == UNDERTEXT_HEAD ? at.conversation.version() : Version(version);
    return hand_out(
        id.size == 0 ? at.conversation.fork(from) : at.conversation.fork(from, view_of(id)), fork);
  });
}

undertext_status undertext_import_mark_map(undertext_conversation* conversation,
                                           undertext_text mark_map, uint64_t expected_version,
                                           undertext_string* answer) {
  return answered_by(conversation, answer, [&](undertext_conversation& at) -> Result<Outcome> {
    Operation import{op::ImportMarkMap{}};
    const std::string object = R"({"markMap":)" + std::string(view_of(mark_map)) + "}";
    Failed bad = read_object(c::text_of(object), "the mark map",
                             [&](Fields& fields) { take_arguments(fields, import.what); });
    if (bad) return std::move(*bad);
    if (expected_version != UNDERTEXT_HEAD)
      import.options.expected_version = Version(expected_version);
    return at.conversation.apply(std::move(import));
  });
}

undertext_status undertext_set_tokenizer(undertext_conversation* conversation, undertext_text name,
                                         undertext_string* error) {
  return guarded(conversation, error, [&](undertext_conversation& at) {
    return at.conversation.set_tokenizer(view_of(name));
  });
}

undertext_status undertext_wait_for_compression(undertext_conversation* conversation,
                                                undertext_string* error) {
  return guarded(conversation, error, [](undertext_conversation& at) -> Failed {
    at.conversation.wait_for_compression();
    return std::nullopt;
  });
}

undertext_status undertext_cancel_compression(undertext_conversation* conversation,
                                              undertext_string* error) {
  return guarded(conversation, error, [](undertext_conversation& at) -> Failed {
    at.conversation.cancel_compression();
    const std::lock_guard lock(at.mutex);
    std::exchange(at.waiting, std::stop_source()).request_stop();
    return std::nullopt;
  });
}

undertext_status undertext_report_usage(undertext_conversation* conversation, undertext_text usage,
                                        undertext_string* error) {
  return guarded(conversation, error, [&](undertext_conversation& at) -> Result<void> {
    UsageReport report;
    if (Failed bad = read_object(usage, "a usage report",
                                 [&](Fields& fields) { read_usage(fields, report); }))
      return bad;
    return report.final ? at.conversation.record_usage(report.usage)
                        : at.conversation.update_usage(report.usage);
  });
}

undertext_status undertext_set_usage(undertext_conversation* conversation, undertext_text usage,
                                     undertext_string* error) {
  return guarded(conversation, error, [&](undertext_conversation& at) -> Result<void> {
    UsageState state;
    if (Failed bad =
            read_object(usage, "usage", [&](Fields& fields) { read_usage_state(fields, state); }))
      return bad;
    const Result<UsageTracker> tracker = UsageTracker::restored(state);
    if (!tracker) return tracker.error();
    return at.conversation.set_usage(*tracker);
  });
}

undertext_status undertext_usage(const undertext_conversation* conversation,
                                 undertext_string* usage, undertext_string* error) {
  c::clear(usage);
  return guarded(conversation, error, [&](const undertext_conversation& at) -> Failed {
    std::string json;
    append_json(json, at.conversation.usage());
    give(usage, std::move(json));
    return std::nullopt;
  });
}

undertext_status undertext_record_request(undertext_conversation* conversation,
                                          undertext_text request, undertext_string* recorded,
                                          undertext_string* error) {
  c::clear(recorded);
  return guarded(conversation, error, [&](undertext_conversation& at) -> Failed {
    GivenRequest read;
    const MessageLimits& limits = at.conversation.settings().limits.message;
    if (Failed bad = read_object(request, "a request",
                                 [&](Fields& fields) { read_given_request(fields, limits, read); }))
      return bad;
    give(recorded,
         R"({"number":)" + std::to_string(record_given(at.conversation, std::move(read))) + "}");
    return std::nullopt;
  });
}

undertext_status undertext_catch_up(undertext_conversation* conversation, undertext_string* error) {
  return guarded(conversation, error,
                 [](undertext_conversation& at) { return at.conversation.catch_up(); });
}

undertext_status undertext_checkpoint(undertext_conversation* conversation,
                                      undertext_string* error) {
  return guarded(conversation, error,
                 [](undertext_conversation& at) { return at.conversation.checkpoint(); });
}

undertext_status undertext_redact(undertext_conversation* conversation, undertext_text removal,
                                  undertext_string* redaction, undertext_string* error) {
  c::clear(redaction);
  return guarded(conversation, error, [&](undertext_conversation& at) -> Failed {
    std::vector<Ordinal> ordinals;
    Removal about{.who = {}, .at_ms = c::now_ms(), .why = {}};
    RedactOptions options;
    const Failed bad = read_object(removal, "a removal", [&](Fields& fields) {
      fields.need("ordinals", ordinals);
      fields.need("who", about.who);
      fields.take("why", about.why);
      fields.take("derived", options.derived);
    });
    if (bad) return bad;
    const Result<Redaction> done = at.conversation.redact(ordinals, about, options);
    if (!done) return done.error();
    std::string json;
    append_json(json, *done);
    give(redaction, std::move(json));
    return std::nullopt;
  });
}

undertext_status undertext_prune_versions(undertext_conversation* conversation,
                                          undertext_text retention, undertext_string* reclaimed,
                                          undertext_string* error) {
  c::clear(reclaimed);
  return guarded(conversation, error, [&](undertext_conversation& at) -> Failed {
    Retention kept;
    const Failed bad = read_object(retention, "a retention", [&](Fields& fields) {
      fields.take("versions", kept.versions);
      fields.take("batches", kept.batches);
      fields.take("days", kept.days);
    });
    if (bad) return bad;
    const Result<Reclaimed> pruned = at.conversation.prune_versions(kept);
    if (!pruned) return pruned.error();
    give(reclaimed, R"({"firstVersion":)" + std::to_string(pruned->first_version.value) +
                        R"(,"versions":)" + std::to_string(pruned->versions) + R"(,"messages":)" +
                        std::to_string(pruned->messages) + "}");
    return std::nullopt;
  });
}

undertext_status undertext_subscribe(undertext_conversation* conversation,
                                     undertext_receive receive, undertext_end end, void* context,
                                     undertext_subscription** subscription,
                                     undertext_string* error) {
  *subscription = nullptr;
  return guarded(conversation, error, [&](undertext_conversation& at) -> Failed {
    c::must_be_function(receive, "receive");
    auto made = std::make_unique<undertext_subscription>();
    const auto kept = std::make_shared<c::Context>(context, end);
    made->subscription = at.conversation.subscribe([receive, kept](const Event& event) {
      std::string json;
      append_json(json, event);
      receive(kept->get(), c::text_of(json));
    });
    kept->take();
    *subscription = made.release();
    return std::nullopt;
  });
}

void undertext_subscription_close(undertext_subscription* subscription) { delete subscription; }
