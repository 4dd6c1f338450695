#include "postgres/url.hpp"

#include <map>
#include <memory>

namespace undertext::postgres {
namespace {

constexpr std::string_view prefix_of_ours = "undertext_";

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

Error refuse(std::string message) {
  return {.code = ErrorCode::invalid_argument, .message = std::move(message), .field = "store"};
}

// Takes our parameters out of the URL, for libpq knows them not.
std::string without_ours(std::string_view url, std::map<std::string, std::string>& ours) {
  const std::size_t question = url.find('?');
  if (question == std::string_view::npos) return std::string(url);
  std::string rest(url.substr(0, question));
  char separator = '?';
  for (std::string_view query = url.substr(question + 1); !query.empty();) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() < query.size() ? pair.size() + 1 : pair.size());
    const std::size_t equals = pair.find('=');
    if (pair.starts_with(prefix_of_ours)) {
      ours[std::string(pair.substr(0, equals))] =
          equals == std::string_view::npos ? "" : std::string(pair.substr(equals + 1));
    } else {
      rest += separator;
      rest += pair;
      separator = '&';
    }
  }
  return rest;
}

}  // namespace

Result<StoreUrl> read_url(std::string_view url) {
  StoreUrl read;
  std::map<std::string, std::string> ours;
  const std::string theirs = without_ours(url, ours);
  for (const auto& [name, value] : ours) {
    if (name != "undertext_prepare")
      return refuse("the store's URL has the parameter " + name + ", which is unknown");
    if (value != "on" && value != "off") return refuse("undertext_prepare is neither on nor off");
    read.settings.prepare = value == "on";
  }
  char* fault = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(
      PQconninfoParse(theirs.c_str(), &fault));
  if (!options) {
    PQfreemem(fault);  // not shown: it repeats the URL, and a password with it
    return refuse("the store's URL is none that PostgreSQL understands");
  }
  std::map<std::string, std::string> given;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option)
    if (option->val != nullptr) given[option->keyword] = option->val;
  read.name = "postgres://" + (given.contains("user") ? given["user"] + "@" : "") + given["host"] +
              (given.contains("port") ? ":" + given["port"] : "") + "/" + given["dbname"];
  given.emplace("connect_timeout", "2");
  given.emplace("application_name", "undertext");
  given["client_encoding"] = "UTF8";
  for (auto& [name, value] : given)
    if (!value.empty()) read.settings.parameters.emplace_back(name, value);
  return read;
}

}  // namespace undertext::postgres
