#include "json/request.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_place.hpp"
#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "json/dialect_json.hpp"
#include "json/operation_json.hpp"
#include "json/query_json.hpp"

namespace undertext {

namespace {

// A message may be nested 128 deep, and stands at most within list, operation, block and list of messages.
constexpr std::uint32_t depth_around_message = 8;

// Enough for the answer to an operation without warnings, so that memory cannot run out between the change and its answer.
constexpr std::size_t answer_bytes = 512;

struct Answering {
  const Asked& asked;
  std::string& out;
  const History& history = asked.history;

  void operator()(const ask::Messages& ask) const { append_either(history.messages(ask.which)); }
  void operator()(const ask::Count& ask) const { append_either(history.count(ask.which)); }
  void operator()(const ask::Uncompressed&) const { append_answer(out, history.uncompressed()); }
  void operator()(const ask::MarkMap&) const { append_result(out, history.mark_map()); }
  void operator()(const ask::Stats&) const { append_result(out, history.stats()); }
  void operator()(const ask::HeadVersion&) const { append_result(out, history.version().value); }
  void operator()(const ask::Batches&) const { append_result(out, history.batches()); }
  void operator()(const ask::BatchSnapshot& ask) const { append_result(out, history.batch_snapshot(ask.batch_index)); }
  void operator()(const ask::Versions&) const { append_result(out, history.versions()); }
  void operator()(const ask::Diff& ask) const { append_result_or_error(history.diff(ask.from, ask.to)); }
  void operator()(const ask::Blame& ask) const { append_result_or_error(history.blame(ask.ordinal)); }
  void operator()(const ask::Receipts&) const { append_result(out, history.receipts()); }
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
    append_result_or_error(render(*view, ask.profile, options));
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
    out += R"({"ok":true,"result":)";
    append_state(out, history);
    out += '}';
  }

 private:
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

// An error in the text of a line tells what a person would call the place: the member of the message, or the argument of the operation.
Error with_place(Error error, std::string_view line) {
  const std::vector<JsonStep> steps = json_steps(line, static_cast<std::size_t>(error.byte_offset.value_or(0)));
  if (steps.size() > 1) error.path = json_path(steps);
  std::size_t next = 0;
  if (!steps.empty() && steps[0].element) error.operation_index = *steps[next++].element;
  constexpr std::string_view blocks[] = {"truncate", "insert", "replace",     "clear",
                                         "filter",   "range",  "replaceText", "truncateText"};
  constexpr std::string_view holders[] = {"messages", "message", "summary", "data"};
  std::string field;
  for (; next < steps.size(); ++next) {
    if (steps[next].element) continue;
    field = steps[next].key;
    const auto is = [&](std::string_view name) { return name == field; };
    if (std::none_of(std::begin(blocks), std::end(blocks), is) && std::none_of(std::begin(holders), std::end(holders), is)) break;
  }
  if (error.field.empty()) error.field = std::move(field);
  return error;
}

void answer_asked(const Asked& asked, JsonValue object, LineAnswer& answer) {
  const Result<Query> query = read_query(object, asked.settings);
  if (!query) return append_answer(answer.line, query.error());
  answer.version = asked.history.version();
  std::visit(Answering{asked, answer.line}, *query);
}

// What a strategy is to come down to: what the caller said, or else, for one that cannot do without, what the conversation is set to.
std::optional<std::uint64_t> room_for(const Conversation& conversation, const StrategyCall& call) {
  if (call.tokens_max || !call.strategy->needs_tokens_max()) return call.tokens_max;
  const Settings& settings = conversation.settings();
  if (settings.compression.target_tokens) return settings.compression.target_tokens;
  if (settings.compression.threshold > 0) return settings.compression.threshold;
  return settings.token_limit;
}

void plan_on_the_spot(const Conversation& conversation, SpelledOperation& spelled) {
  if (!spelled.compress_by.strategy) return;
  spelled.operation.what =
      op::CompressBy{[strategy = spelled.compress_by.strategy, aim = conversation.aim(room_for(conversation, spelled.compress_by))](
                         const History& history) { return strategy->plan(history, aim); }};
}

// What the door says of an operation besides its line; it must not say otherwise.
std::optional<Error> join(OperationOptions& said, const std::optional<Version>& expected_version, const std::string& operation_id) {
  const auto differs = [](const char* field) {
    return Error{ErrorCode::invalid_argument, std::string(field) + " is given twice, and not the same", field};
  };
  if (expected_version) {
    if (said.expected_version.value_or(*expected_version) != *expected_version) return differs("expectedVersion");
    said.expected_version = expected_version;
  }
  if (!operation_id.empty()) {
    if (!said.operation_id.empty() && said.operation_id != operation_id) return differs("operationId");
    said.operation_id = operation_id;
  }
  return {};
}

Error refused_as_slow() {
  return {ErrorCode::unsupported, "a strategy that asks a model takes long: let it work in the background", "strategy"};
}

void answer_operation(Conversation& conversation, JsonValue object, const RequestOptions& options, LineAnswer& answer) {
  std::string& out = answer.line;
  Result<SpelledOperation> spelled = read_operation(object, conversation.settings());
  if (!spelled) return append_answer(out, spelled.error());
  if (const std::optional<Error> error = join(spelled->operation.options, options.expected_version, options.operation_id))
    return append_answer(out, *error);
  const bool is_slow = spelled->compress_by.strategy && spelled->compress_by.strategy->is_slow();
  if (is_slow && options.refuse_slow_strategies) return append_answer(out, refused_as_slow());
  if (is_slow || (spelled->compress_by.strategy && options.plans_aside)) {
    const Result<Outcome> outcome =
        conversation.compress(*spelled->compress_by.strategy, {.tokens_max = room_for(conversation, spelled->compress_by),
                                                               .operation = std::move(spelled->operation.options),
                                                               .cancel = options.cancel,
                                                               .on_progress = options.on_progress});
    if (!outcome) return append_answer(out, outcome.error());
    answer.version = outcome->version;
    return append_answer(out, *outcome);
  }
  plan_on_the_spot(conversation, *spelled);
  const Result<Outcome> outcome = conversation.apply(std::move(spelled->operation));
  if (!outcome) return append_answer(out, spelled->in_the_callers_words(outcome.error()));
  answer.version = outcome->version;
  append_answer(out, *outcome);
}

Result<SpelledOperation> read_element(JsonValue element, const Settings& settings) {
  if (!element.is(JsonType::object))
    return Error{ErrorCode::invalid_argument, "an element of a list must be an operation, which is an object"};
  if (element.find("query"))
    return Error{ErrorCode::invalid_argument, "a list holds operations; ask a query on a line of its own", "query"};
  return read_operation(element, settings);
}

// The options of the k-th operation of a list.
std::optional<Error> join_in_list(OperationOptions& said, const RequestOptions& options, std::size_t k) {
  const bool takes_id = !options.operation_id.empty() && said.operation_id.empty();
  return join(said, k == 0 ? options.expected_version : std::nullopt,
              takes_id ? options.operation_id + "/" + std::to_string(k) : std::string());
}

void answer_list(Conversation& conversation, JsonValue list, const RequestOptions& options, LineAnswer& answer) {
  std::string& out = answer.line;
  std::vector<Operation> operations;
  std::vector<SpelledOperation> spellings;  // without their operations, for the words of errors
  for (JsonValue element : list.elements()) {
    Result<SpelledOperation> spelled = read_element(element, conversation.settings());
    if (!spelled) {
      spelled.error().operation_index = operations.size();
      return append_answer(out, spelled.error());
    }
    if (spelled->compress_by.strategy && spelled->compress_by.strategy->is_slow()) {
      return append_answer(out, Error{.code = ErrorCode::unsupported,
                                      .message = "a strategy that asks a model cannot be part of a list: others would wait for it",
                                      .field = "strategy",
                                      .operation_index = operations.size()});
    }
    if (std::optional<Error> error = join_in_list(spelled->operation.options, options, operations.size())) {
      error->operation_index = operations.size();
      return append_answer(out, *error);
    }
    plan_on_the_spot(conversation, *spelled);
    operations.push_back(std::move(spelled->operation));
    spellings.push_back({{}, {}, spelled->block, std::move(spelled->field_names)});
  }
  out.reserve(answer_bytes * (operations.size() + 1));
  const Result<std::vector<Outcome>> outcomes = conversation.apply(std::move(operations));
  if (outcomes) {
    answer.version = outcomes->back().version;
    return append_answer(out, *outcomes);
  }
  Error error = outcomes.error();
  if (error.operation_index) error = spellings.at(*error.operation_index).in_the_callers_words(std::move(error));
  append_answer(out, error);
}

void answer_value(Conversation& conversation, JsonValue root, const RequestOptions& options, LineAnswer& answer) {
  using Takes = RequestOptions::Takes;
  const auto invalid = [&](const char* message, const char* field) {
    append_answer(answer.line, Error{ErrorCode::invalid_argument, message, field});
  };
  if (root.is(JsonType::array) && options.takes != Takes::queries) return answer_list(conversation, root, options, answer);
  if (!root.is(JsonType::object)) {
    return invalid(
        options.takes == Takes::queries ? "a query must be a JSON object" : "a line must be a JSON object or a list of operations",
        "");
  }
  const bool operation = root.find("operation").has_value();
  const bool query = root.find("query").has_value();
  if (operation && query) return invalid("a line is an operation or a query, not both", "query");
  if (query && options.takes == Takes::operations) return invalid("this takes operations; queries are asked elsewhere", "query");
  if (!query && options.takes == Takes::queries) return invalid("a query must have \"query\"", operation ? "operation" : "query");
  if (query) {
    // A stored conversation is read as of the newest version that anyone committed.
    if (const std::optional<Error> error = conversation.catch_up()) return append_answer(answer.line, *error);
    const History history = conversation.history();
    return answer_asked({history, conversation.settings(), conversation.tokenizer(), conversation.aim()}, root, answer);
  }
  if (operation) return answer_operation(conversation, root, options, answer);
  invalid("a line must have \"operation\" or \"query\"", "operation");
}

// Every answer that says an error begins alike: see append_answer().
std::optional<ErrorCode> error_of(std::string_view line) {
  constexpr std::string_view lead = R"({"ok":false,"error":{"code":")";
  if (!line.starts_with(lead)) return {};
  line.remove_prefix(lead.size());
  for (std::size_t code = 0; code < error_code_count; ++code) {
    const std::string_view word = name(static_cast<ErrorCode>(code));
    if (line.starts_with(word) && line.substr(word.size()).starts_with('"')) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::internal;
}

}  // namespace

void keep_to_one_line(std::string& json) {
  // JSON strings hold none, so that a space says the same.
  for (const char line_break : {'\n', '\r'}) {
    char* at = json.data();
    char* const end = at + json.size();
    while ((at = static_cast<char*>(std::memchr(at, line_break, static_cast<std::size_t>(end - at)))) != nullptr) *at++ = ' ';
  }
}

namespace {

// The answer to a line whose value `answer_root` answers; all that is wrong with it is an answer too.
template <class AnswerRoot>
LineAnswer answer_line(const Settings& settings, std::string_view line, AnswerRoot answer_root) {
  LineAnswer answer;
  std::string& out = answer.line;
  out.reserve(answer_bytes);
  try {
    const JsonLimits limits{settings.limits.message.depth + depth_around_message};
    const Result<JsonText> text = JsonText::parse(line, limits);
    if (text) {
      answer_root(text->root(), answer);
    } else {
      append_answer(out, with_place(text.error(), line));
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Failure& failure) {
    out.clear();
    append_answer(out, failure.error());
  } catch (const std::exception& exception) {
    out.clear();
    append_answer(out, Error{ErrorCode::internal, exception.what()});
  }
  answer.error = error_of(out);
  keep_to_one_line(out);
  return answer;
}

}  // namespace

LineAnswer answer_request(Conversation& conversation, std::string_view line, const RequestOptions& options) {
  return answer_line(conversation.settings(), line,
                     [&](JsonValue root, LineAnswer& answer) { answer_value(conversation, root, options, answer); });
}

LineAnswer answer_query(const Asked& asked, std::string_view line) {
  return answer_line(asked.settings, line, [&](JsonValue root, LineAnswer& answer) {
    const bool is_query = root.is(JsonType::object) && root.find("query") && !root.find("operation");
    if (is_query) return answer_asked(asked, root, answer);
    append_answer(answer.line, Error{ErrorCode::invalid_argument, "only queries are answered here", "query"});
  });
}

std::string answer(Conversation& conversation, std::string_view line) { return answer_request(conversation, line, {}).line; }

std::string answer(const Error& error) {
  std::string out;
  append_answer(out, error);
  return out;
}

}  // namespace undertext
