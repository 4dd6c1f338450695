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
#include "json/operation_json.hpp"
#include "json/query_json.hpp"

namespace undertext {

namespace {

// A message may be nested 128 deep, and stands at most within list, operation, block and list of
// messages.
constexpr std::uint32_t depth_around_message = 8;

// Enough for the answer to an operation without warnings, so that memory cannot run out between the
// change and its answer.
constexpr std::size_t answer_bytes = 512;

// An error in the text of a line tells what a person would call the place: the member of the
// message, or the argument of the operation.
Error with_place(Error error, std::string_view line) {
  const std::vector<JsonStep> steps =
      json_steps(line, static_cast<std::size_t>(error.byte_offset.value_or(0)));
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
    if (std::none_of(std::begin(blocks), std::end(blocks), is) &&
        std::none_of(std::begin(holders), std::end(holders), is))
      break;
  }
  if (error.field.empty()) error.field = std::move(field);
  return error;
}

// All of these write an answer that says {"ok":true,…}, or throw Failure.
void answer_asked(const Asked& asked, JsonValue object, LineAnswer& answer) {
  const Query query = read_query(object, asked.settings).value();
  append_answer(answer.line, asked, query);
  answer.version = asked.history.version();
}

// What the door says of an operation besides its line; it must not say otherwise.
std::optional<Error> join(OperationOptions& said, const std::optional<Version>& expected_version,
                          const std::string& operation_id) {
  const auto differs = [](const char* field) {
    return Error{ErrorCode::invalid_argument,
                 std::string(field) + " is given twice, and not the same", field};
  };
  if (expected_version) {
    if (said.expected_version.value_or(*expected_version) != *expected_version)
      return differs("expectedVersion");
    said.expected_version = expected_version;
  }
  if (!operation_id.empty()) {
    if (!said.operation_id.empty() && said.operation_id != operation_id)
      return differs("operationId");
    said.operation_id = operation_id;
  }
  return {};
}

std::optional<Error> check_length(const SpelledOperation& spelled, const RequestOptions& options) {
  if (const auto* reconcile = std::get_if<op::Reconcile>(&spelled.operation.what)) {
    if (reconcile->list.size() <= options.client_list_max) return {};
    return Error{ErrorCode::too_large,
                 "the list of a client may have " + std::to_string(options.client_list_max) +
                     " messages here, and this one has " + std::to_string(reconcile->list.size()),
                 "messages"};
  }
  const std::size_t messages = std::visit(
      [](const auto& what) -> std::size_t {
        if constexpr (requires { what.messages.size(); }) return what.messages.size();
        return 0;
      },
      spelled.operation.what);
  if (messages <= options.messages_max) return {};
  return Error{ErrorCode::too_large,
               "an operation may have " + std::to_string(options.messages_max) +
                   " messages here: send several",
               "messages"};
}

Result<Outcome> carry_out(Conversation& conversation, SpelledOperation& spelled,
                          const RequestOptions& options) {
  const StrategyCall& by = spelled.compress_by;
  if (!by.strategy) return conversation.apply(std::move(spelled.operation), options.work);
  if (options.refuse_slow_strategies && by.strategy->is_slow())
    return Error{ErrorCode::unsupported,
                 "a strategy that asks a model takes long: let it work in the background",
                 "strategy"};
  return conversation.compress(*by.strategy, {.tokens_max = by.tokens_max,
                                              .progress = by.progress,
                                              .survival = by.survival,
                                              .operation = std::move(spelled.operation.options),
                                              .cancel = options.cancel,
                                              .work = options.work,
                                              .on_progress = options.on_progress});
}

void answer_operation(Conversation& conversation, JsonValue object, const RequestOptions& options,
                      LineAnswer& answer) {
  SpelledOperation spelled = read_operation(object, conversation.settings()).value();
  if (std::optional<Error> error = check_length(spelled, options)) throw Failure(std::move(*error));
  if (std::optional<Error> error =
          join(spelled.operation.options, options.expected_version, options.operation_id))
    throw Failure(std::move(*error));
  const Result<Outcome> outcome = carry_out(conversation, spelled, options);
  if (!outcome) throw Failure(spelled.in_the_callers_words(outcome.error()));
  answer.version = outcome->version;
  append_answer(answer.line, *outcome);
}

// The options of the k-th operation of a list.
std::optional<Error> join_in_list(OperationOptions& said, const RequestOptions& options,
                                  std::size_t k) {
  const bool takes_id = !options.operation_id.empty() && said.operation_id.empty();
  return join(said, k == 0 ? options.expected_version : std::nullopt,
              takes_id ? options.operation_id + "/" + std::to_string(k) : std::string());
}

// The k-th operation of a list, with its spelling for the words of errors.
Result<SpelledOperation> read_element(const Conversation& conversation, JsonValue element,
                                      const RequestOptions& options, std::size_t k) {
  if (!element.is(JsonType::object))
    return Error{ErrorCode::invalid_argument,
                 "an element of a list must be an operation, which is an object"};
  if (element.find("query"))
    return Error{ErrorCode::invalid_argument,
                 "a list holds operations; ask a query on a line of its own", "query"};
  Result<SpelledOperation> spelled = read_operation(element, conversation.settings());
  if (!spelled) return spelled;
  if (std::optional<Error> error = check_length(*spelled, options)) return std::move(*error);
  if (std::optional<Error> error = join_in_list(spelled->operation.options, options, k))
    return std::move(*error);
  if (const StrategyCall& by = spelled->compress_by; by.strategy) {
    Result<op::CompressBy> compress = conversation.compress_by(
        by.strategy,
        {.tokens_max = by.tokens_max, .progress = by.progress, .survival = by.survival});
    if (!compress) return compress.error();
    spelled->operation.what = std::move(*compress);
  }
  return spelled;
}

void answer_list(Conversation& conversation, JsonValue list, const RequestOptions& options,
                 LineAnswer& answer) {
  std::vector<Operation> operations;
  std::vector<SpelledOperation> spellings;  // without their operations
  for (JsonValue element : list.elements()) {
    if (operations.size() == options.operations_max) {
      const std::string most = std::to_string(options.operations_max);
      throw Failure({ErrorCode::too_large,
                     "a list may have " + most + " operations here: send several lists"});
    }
    Result<SpelledOperation> spelled =
        read_element(conversation, element, options, operations.size());
    if (!spelled) spelled.error().operation_index = operations.size();
    SpelledOperation read = std::move(spelled).value();
    operations.push_back(std::move(read.operation));
    spellings.push_back({{}, {}, read.block, std::move(read.field_names)});
  }
  answer.line.reserve(answer_bytes * (operations.size() + 1));
  const Result<std::vector<Outcome>> outcomes =
      conversation.apply(std::move(operations), options.work);
  if (!outcomes) {
    const Error& error = outcomes.error();
    throw Failure(error.operation_index
                      ? spellings.at(*error.operation_index).in_the_callers_words(error)
                      : error);
  }
  answer.version = outcomes->back().version;
  answer.is_list = true;
  append_answer(answer.line, *outcomes);
}

History try_operations(const Conversation& conversation, Version version, JsonValue list,
                       const RequestOptions& options) {
  Conversation trial = conversation.trial(version).value();
  RequestOptions limits;
  limits.operations_max = options.operations_max;
  limits.messages_max = options.messages_max;
  limits.client_list_max = options.client_list_max;
  limits.work = options.work;
  LineAnswer answer;
  answer_list(trial, list, limits, answer);
  return trial.history();
}

void answer_value(Conversation& conversation, JsonValue root, const RequestOptions& options,
                  LineAnswer& answer) {
  using Takes = RequestOptions::Takes;
  const auto refuse = [](const char* message, const char* field) {
    throw Failure({ErrorCode::invalid_argument, message, field});
  };
  if (root.is(JsonType::array) && options.takes != Takes::queries)
    return answer_list(conversation, root, options, answer);
  if (!root.is(JsonType::object)) {
    refuse(options.takes == Takes::queries ? "a query must be a JSON object"
                                           : "a line must be a JSON object or a list of operations",
           "");
  }
  const bool operation = root.find("operation").has_value();
  const bool query = root.find("query").has_value();
  if (operation && query) refuse("a line is an operation or a query, not both", "query");
  if (query && options.takes == Takes::operations)
    refuse("this takes operations; queries are asked elsewhere", "query");
  if (!query && options.takes == Takes::queries)
    refuse("a query must have \"query\"", operation ? "operation" : "query");
  if (query) {
    // A stored conversation is read as of the newest version that anyone committed.
    conversation.catch_up().value();
    const History history = conversation.history().limited(options.work);
    Asked asked{history, conversation.settings(), conversation.counting(), conversation.aim(),
                options.room};
    asked.conversation = &conversation;
    asked.work = options.work;
    asked.tenant = options.tenant;
    asked.try_operations = [&](JsonValue list) {
      return try_operations(conversation, history.version(), list, options);
    };
    return answer_asked(asked, root, answer);
  }
  if (operation) return answer_operation(conversation, root, options, answer);
  refuse("a line must have \"operation\" or \"query\"", "operation");
}

}  // namespace

History try_operations(const Conversation& conversation, std::string_view list) {
  const JsonLimits limits{conversation.settings().limits.message.depth + depth_around_message};
  const Result<JsonText> text = JsonText::parse(list, limits);
  if (!text) throw Failure(with_place(text.error(), list));
  if (!text->root().is(JsonType::array))
    throw Failure({ErrorCode::invalid_argument, "operations must be a list", "operations"});
  return try_operations(conversation, conversation.version(), text->root(), {});
}

void keep_to_one_line(std::string& json) {
  // JSON strings hold none, so that a space says the same.
  for (const char line_break : {'\n', '\r'}) {
    char* at = json.data();
    char* const end = at + json.size();
    while ((at = static_cast<char*>(
                std::memchr(at, line_break, static_cast<std::size_t>(end - at)))) != nullptr)
      *at++ = ' ';
  }
}

namespace {

// The answer to a line, whose value `answer_root` answers. What that throws is an answer too.
template <class AnswerRoot>
LineAnswer answer_line(const Settings& settings, std::string_view line, AnswerRoot answer_root) {
  LineAnswer answer;
  answer.line.reserve(answer_bytes);
  try {
    const JsonLimits limits{settings.limits.message.depth + depth_around_message};
    const Result<JsonText> text = JsonText::parse(line, limits);
    if (!text) throw Failure(with_place(text.error(), line));
    answer_root(text->root(), answer);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Failure& failure) {
    answer.error = failure.error();
  } catch (const std::exception& exception) {
    answer.error = Error{ErrorCode::internal, exception.what()};
  }
  if (answer.error) answer.line = undertext::answer(*answer.error);
  keep_to_one_line(answer.line);
  return answer;
}

}  // namespace

LineAnswer answer_request(Conversation& conversation, std::string_view line,
                          const RequestOptions& options) {
  return answer_line(conversation.settings(), line, [&](JsonValue root, LineAnswer& answer) {
    answer_value(conversation, root, options, answer);
  });
}

LineAnswer answer_query(const Asked& asked, std::string_view line) {
  return answer_line(asked.settings, line, [&](JsonValue root, LineAnswer& answer) {
    const bool is_query =
        root.is(JsonType::object) && root.find("query") && !root.find("operation");
    if (!is_query)
      throw Failure({ErrorCode::invalid_argument, "only queries are answered here", "query"});
    answer_asked(asked, root, answer);
  });
}

std::string answer(Conversation& conversation, std::string_view line) {
  return answer_request(conversation, line, {}).line;
}

std::string answer(const Error& error) {
  std::string out;
  append_answer(out, error);
  return out;
}

}  // namespace undertext
