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
#include "json/answer_query.hpp"
#include "json/error_line.hpp"
#include "json/operation_json.hpp"
#include "json/query_json.hpp"

namespace undertext {

namespace {

// A message may be nested 128 deep, and stands at most within list, operation, block and list of messages.
constexpr std::uint32_t depth_around_message = 8;

// Enough for the answer to an operation without warnings, so that memory cannot run out between the change and its answer.
constexpr std::size_t answer_bytes = 512;

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
  append_answer(answer.line, asked, *query);
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

std::optional<Error> check_length(const SpelledOperation& spelled, const RequestOptions& options) {
  const std::size_t messages = std::visit(
      [](const auto& what) -> std::size_t {
        if constexpr (requires { what.messages.size(); }) return what.messages.size();
        return 0;
      },
      spelled.operation.what);
  if (messages <= options.messages_max) return {};
  return Error{ErrorCode::too_large,
               "an operation may have " + std::to_string(options.messages_max) + " messages here: send several", "messages"};
}

void answer_operation(Conversation& conversation, JsonValue object, const RequestOptions& options, LineAnswer& answer) {
  std::string& out = answer.line;
  Result<SpelledOperation> spelled = read_operation(object, conversation.settings());
  if (!spelled) return append_answer(out, spelled.error());
  if (const std::optional<Error> error = check_length(*spelled, options)) return append_answer(out, *error);
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
    if (operations.size() == options.operations_max) {
      const std::string most = std::to_string(options.operations_max);
      return append_answer(out, Error{ErrorCode::too_large, "a list may have " + most + " operations here: send several lists"});
    }
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
    std::optional<Error> error = check_length(*spelled, options);
    if (!error) error = join_in_list(spelled->operation.options, options, operations.size());
    if (error) {
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
    return answer_asked({history, conversation.settings(), conversation.tokenizer(), conversation.aim(), options.room}, root,
                        answer);
  }
  if (operation) return answer_operation(conversation, root, options, answer);
  invalid("a line must have \"operation\" or \"query\"", "operation");
}

bool is_of_expected_version(std::string_view line) {
  constexpr std::string_view lead = R"({"ok":false,"error":{"code":"conflict","field":"expectedVersion",)";
  if (!line.starts_with(lead)) return false;
  line.remove_prefix(lead.size());
  return !line.starts_with(R"("operationIndex":)") || line.starts_with(R"("operationIndex":0,)");
}

}  // namespace

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
  answer.expected_another_version = is_of_expected_version(out);
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
