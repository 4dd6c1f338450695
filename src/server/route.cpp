#include "server/route.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <undertext/message.hpp>
#include <undertext/store.hpp>

#include "base/utf8.hpp"
#include "json/request.hpp"

namespace undertext {
namespace {

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return {};
}

enum class Plus : std::uint8_t { stays, is_space };

// Nothing: a percent sign without its two digits.
std::optional<std::string> decoded(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (text.size() - i < 3) return {};
      const std::optional<unsigned> high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (!high || !low) return {};
      out += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  return out;
}

std::string_view next_piece(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

// Whether the path is one of the pattern. What stands in its places goes to `places`, where that is
// given: most patterns are only tried. A place is one segment, which is not empty; the last place
// of a pattern that ends in "{…*}" takes all that is left.
bool matches(std::string_view pattern, std::string_view path, Parameters* places) {
  if (!pattern.starts_with('/') || !path.starts_with('/')) return false;
  pattern.remove_prefix(1);
  path.remove_prefix(1);
  for (;;) {
    const std::size_t pattern_end = std::min(pattern.find('/'), pattern.size());
    std::string_view wanted = pattern.substr(0, pattern_end);
    const bool takes_all = wanted.ends_with("*}");
    const std::size_t path_end = takes_all ? path.size() : std::min(path.find('/'), path.size());
    const std::string_view given = path.substr(0, path_end);
    if (!wanted.starts_with('{')) {
      if (wanted != given) return false;
    } else if (given.empty()) {
      return false;
    } else if (places != nullptr) {
      std::optional<std::string> value = decoded(given, Plus::stays);
      if (!value) return false;
      wanted = wanted.substr(1, wanted.size() - (takes_all ? 3 : 2));
      places->insert_or_assign(std::string(wanted), std::move(*value));
    }
    if (pattern_end == pattern.size() || path_end == path.size())
      return pattern_end == pattern.size() && path_end == path.size();
    pattern.remove_prefix(pattern_end + 1);
    path.remove_prefix(path_end + 1);
  }
}

Error bad_parameter(std::string_view name, const std::string& problem) {
  return {ErrorCode::invalid_argument, std::string(name) + " " + problem, std::string(name)};
}

bool is_integer(std::string_view text, bool may_be_negative) {
  if (may_be_negative && text.starts_with('-')) text.remove_prefix(1);
  // A leading zero is none of JSON's, and the number goes into a line of JSON as it is.
  return !text.empty() && (text.size() == 1 || text[0] != '0') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

template <class T>
std::optional<T> number_in(std::string_view text) {
  T number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

std::string bounds_of(const Parameter& parameter) {
  std::string out = "must be an integer";
  if (parameter.least && parameter.most)
    return out + " from " + std::to_string(*parameter.least) + " to " +
           std::to_string(*parameter.most);
  if (parameter.least) return out + " of at least " + std::to_string(*parameter.least);
  if (parameter.most) return out + " of at most " + std::to_string(*parameter.most);
  return out + ", 0 or more";
}

std::optional<Error> check_list(const Parameter& parameter, std::string_view list) {
  if (list.empty()) return bad_parameter(parameter.name, "must not be empty; leave it out instead");
  std::uint64_t count = 0;
  while (!list.empty()) {
    const std::string_view piece = next_piece(list, ',');
    ++count;
    if (parameter.type == Parameter::Type::roles
            ? !role_named(piece)
            : !(is_integer(piece, false) && number_in<std::uint64_t>(piece)))
      return bad_parameter(
          parameter.name,
          parameter.type == Parameter::Type::roles
              ? "must be roles with commas between them: system, user, assistant, tool"
              : "must be integers with commas between them");
  }
  if (parameter.most && count > *parameter.most)
    return bad_parameter(parameter.name,
                         "must be a list of at most " + std::to_string(*parameter.most));
  return {};
}

std::optional<Error> check(const Parameter& parameter, std::string_view value) {
  switch (parameter.type) {
    case Parameter::Type::text:
      if (find_invalid_utf8(value)) return bad_parameter(parameter.name, "must be UTF-8");
      if (parameter.least && value.size() < *parameter.least)
        return bad_parameter(parameter.name,
                             "must have at least " + std::to_string(*parameter.least) + " bytes");
      if (parameter.most && value.size() > *parameter.most)
        return bad_parameter(parameter.name,
                             "must have at most " + std::to_string(*parameter.most) + " bytes");
      return {};
    case Parameter::Type::id:
      if (!is_conversation_id(value))
        return bad_parameter(parameter.name,
                             "must be 1 to 128 of A-Z a-z 0-9 . _ -, not beginning with a dot");
      return {};
    case Parameter::Type::integer: {
      const std::optional<std::uint64_t> number =
          is_integer(value, false) ? number_in<std::uint64_t>(value) : std::nullopt;
      if (!number || *number < parameter.least.value_or(0) ||
          *number > parameter.most.value_or(std::numeric_limits<std::uint64_t>::max()))
        return bad_parameter(parameter.name, bounds_of(parameter));
      return {};
    }
    case Parameter::Type::time:
      if (!is_integer(value, true) || !number_in<std::int64_t>(value))
        return bad_parameter(parameter.name, "must be an integer: milliseconds since 1970");
      return {};
    case Parameter::Type::boolean:
      if (value != "true" && value != "false")
        return bad_parameter(parameter.name, "must be true or false");
      return {};
    case Parameter::Type::role:
      if (!role_named(value))
        return bad_parameter(parameter.name, "must be one of system, user, assistant, tool");
      return {};
    case Parameter::Type::roles:
    case Parameter::Type::integers: return check_list(parameter, value);
  }
  return {};
}

const Parameter* find_parameter(const Route& route, Parameter::In in, std::string_view name) {
  const auto found = std::find_if(route.parameters.begin(), route.parameters.end(),
                                  [&](const Parameter& p) { return p.in == in && p.name == name; });
  return found == route.parameters.end() ? nullptr : &*found;
}

std::optional<Error> take_query(const Route& route, std::string_view query,
                                Parameters& parameters) {
  while (!query.empty()) {
    std::string_view piece = next_piece(query, '&');
    if (piece.empty()) continue;
    const std::optional<std::string> name = decoded(next_piece(piece, '='), Plus::is_space);
    std::optional<std::string> value = decoded(piece, Plus::is_space);
    if (!name || find_invalid_utf8(*name))
      return Error{ErrorCode::invalid_argument,
                   "the query cannot be read: a percent sign stands alone"};
    if (find_parameter(route, Parameter::In::query, *name) == nullptr)
      return bad_parameter(*name, "is unknown here");
    if (!value) return bad_parameter(*name, "cannot be read: a percent sign stands alone");
    if (!parameters.emplace(*name, std::move(*value)).second)
      return bad_parameter(*name, "is given twice");
  }
  return {};
}

}  // namespace

RouteMatch find_route(const std::vector<Route>& routes, std::string_view method,
                      std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  RouteMatch match;
  for (const Route& route : routes) {
    if (!matches(route.path, path, nullptr)) continue;
    Parameters places;
    if (!matches(route.path, path, &places)) continue;
    if (route.method == (method == "HEAD" ? "GET" : method)) return {&route, {}, std::move(places)};
    match.methods_allowed.push_back(route.method);
    if (route.method == "GET") match.methods_allowed.push_back("HEAD");
  }
  return match;
}

Result<Parameters> read_parameters(const Route& route, const RouteMatch& match,
                                   const http::Head& head) {
  Parameters parameters = match.path;
  const std::size_t question = head.target.find('?');
  if (question != std::string::npos) {
    if (std::optional<Error> error =
            take_query(route, std::string_view(head.target).substr(question + 1), parameters))
      return *error;
  }
  for (const Parameter& parameter : route.parameters) {
    if (parameter.in == Parameter::In::header) {
      if (head.count(parameter.name) > 1) return bad_parameter(parameter.name, "is given twice");
      if (const std::string* value = head.find(parameter.name))
        parameters.emplace(parameter.name, *value);
    }
    const auto given = parameters.find(parameter.name);
    if (given != parameters.end()) {
      if (std::optional<Error> error = check(parameter, given->second)) return *error;
    } else if (parameter.required) {
      return bad_parameter(parameter.name, "is missing");
    } else if (parameter.otherwise) {
      parameters.emplace(parameter.name, std::to_string(*parameter.otherwise));
    }
  }
  return parameters;
}

std::uint64_t Call::number(std::string_view name) const {
  return *number_in<std::uint64_t>(parameters.find(name)->second);
}

const std::string* Call::find(std::string_view name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? nullptr : &found->second;
}

std::vector<std::uint64_t> Call::numbers(std::string_view name) const {
  std::vector<std::uint64_t> numbers;
  std::string_view list = parameters.find(name)->second;
  while (!list.empty()) numbers.push_back(*number_in<std::uint64_t>(next_piece(list, ',')));
  return numbers;
}

unsigned http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return 400;
    case ErrorCode::denied: return 403;
    case ErrorCode::not_found: return 404;
    case ErrorCode::conflict: return 409;
    case ErrorCode::too_large: return 413;
    case ErrorCode::cannot_fit: return 422;
    case ErrorCode::unsupported: return 501;
    case ErrorCode::unavailable: return 503;
    case ErrorCode::corrupt:
    case ErrorCode::internal: break;
  }
  return 500;
}

Error told_to_client(const Error& error) {
  return error.code == ErrorCode::internal
             ? Error{error.code, "the server failed; its log has the cause"}
             : error;
}

http::Reply error_reply(Error error, unsigned status) {
  http::Reply reply{.status = status == 0 ? http_status(error.code) : status,
                    .body = answer(told_to_client(error))};
  if (reply.status == 503) reply.fields.push_back({"Retry-After", "1"});
  reply.error = std::move(error);
  return reply;
}

}  // namespace undertext
