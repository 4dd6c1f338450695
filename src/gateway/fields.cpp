#include "gateway/fields.hpp"

#include <algorithm>
#include <array>

#include "http/head.hpp"

namespace undertext {
namespace {

using http::equal_ignoring_case;
using http::Field;
using FieldNames = std::initializer_list<std::string_view>;

constexpr std::string_view own_prefix = "x-undertext-";
constexpr std::string_view own_token = "x-undertext-token";

bool is_one_of(std::string_view name, FieldNames names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view other) { return equal_ignoring_case(name, other); });
}

bool is_of_connection(std::string_view name) {
  return is_one_of(name, {"connection", "keep-alive", "proxy-connection", "proxy-authenticate",
                          "proxy-authorization", "proxy-authentication-info", "te", "trailer",
                          "transfer-encoding", "upgrade"});
}

bool is_provider_key(std::string_view name) {
  return is_one_of(name, {"authorization", "x-api-key", "x-goog-api-key", "api-key"});
}

template <class Call>
void for_each_word(std::string_view list, Call call) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    call(http::trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

bool is_bearer(std::string_view value) {
  return value.size() > 7 && equal_ignoring_case(value.substr(0, 7), "bearer ");
}

// The place of `key=…` in a target; npos where there is none.
std::size_t key_parameter(std::string_view target) {
  for (std::size_t at = target.find('?'); at != target.npos; at = target.find('&', at + 1))
    if (target.substr(at + 1).starts_with("key=")) return at + 1;
  return target.npos;
}

Field key_field(const Upstream& upstream) {
  switch (upstream.provider) {
    case Provider::anthropic: return {"x-api-key", upstream.key};
    case Provider::gemini: return {"x-goog-api-key", upstream.key};
    case Provider::openai: break;
  }
  return {"Authorization", "Bearer " + upstream.key};
}

}  // namespace

bool is_own(const http::Field& field) {
  const std::string_view name = field.name;
  return name.size() >= own_prefix.size() &&
         equal_ignoring_case(name.substr(0, own_prefix.size()), own_prefix);
}

bool is_named(const http::Field& field, std::string_view name) {
  return http::equal_ignoring_case(field.name, name);
}

std::vector<Field> end_to_end_fields(const std::vector<Field>& fields) {
  std::vector<std::string_view> named;
  for (const Field& field : fields)
    if (equal_ignoring_case(field.name, "connection"))
      for_each_word(field.value, [&](std::string_view word) { named.push_back(word); });
  std::vector<Field> kept;
  kept.reserve(fields.size());
  std::copy_if(fields.begin(), fields.end(), std::back_inserter(kept), [&](const Field& field) {
    return !is_of_connection(field.name) &&
           std::none_of(named.begin(), named.end(), [&](std::string_view word) {
             return equal_ignoring_case(field.name, word);
           });
  });
  return kept;
}

std::vector<Field> outgoing_fields(const http::Head& head, const Upstream& upstream) {
  std::vector<Field> fields = end_to_end_fields(head.fields);
  const bool has_key = !upstream.key.empty();
  std::erase_if(fields, [&](const Field& field) {
    return is_one_of(field.name, {"host", "expect"}) || is_own(field) ||
           (has_key && is_provider_key(field.name));
  });
  if (has_key) fields.push_back(key_field(upstream));
  return fields;
}

std::string outgoing_target(std::string target, const Upstream& upstream) {
  return upstream.key.empty() ? target : without_key(target);
}

std::vector<Field> without_secrets(const std::vector<Field>& fields) {
  std::vector<Field> kept = fields;
  std::erase_if(kept, [](const Field& field) {
    return is_provider_key(field.name) ||
           is_one_of(field.name, {own_token, "cookie", "set-cookie", "proxy-authorization"});
  });
  return kept;
}

std::vector<std::string> secrets_of(const http::Head& head) {
  std::vector<std::string> secrets;
  for (const Field& field : head.fields) {
    if (!is_provider_key(field.name) && !equal_ignoring_case(field.name, own_token)) continue;
    // Behind the scheme, such as Bearer, where there is one.
    const std::string_view value = http::trimmed(field.value);
    secrets.emplace_back(http::trimmed(value.substr(value.find(' ') + 1)));
  }
  if (std::optional<std::string> key = key_in_target(head.target))
    secrets.push_back(*std::move(key));
  return secrets;
}

std::optional<std::string> key_in_target(std::string_view target) {
  const std::size_t at = key_parameter(target);
  if (at == target.npos) return std::nullopt;
  const std::string_view value = target.substr(at + 4);
  return std::string(value.substr(0, value.find('&')));
}

std::string without_key(std::string_view target) {
  std::string text(target);
  for (std::size_t at = key_parameter(text); at != text.npos; at = key_parameter(text)) {
    const std::size_t end = text.find('&', at);
    // With the separator behind it, or else with the one before it.
    if (end == text.npos)
      text.erase(at - 1);
    else
      text.erase(at, end + 1 - at);
  }
  return text;
}

std::optional<Credential> credential_of(const http::Head& head) {
  if (const std::string* token = head.find(own_token)) return Credential{*token, true};
  for (const std::string_view name : {"x-api-key", "x-goog-api-key", "api-key"})
    if (const std::string* key = head.find(name)) return Credential{*key};
  if (const std::string* value = head.find("authorization"))
    return Credential{is_bearer(*value)
                          ? std::string(http::trimmed(std::string_view(*value).substr(7)))
                          : *value};
  if (std::optional<std::string> key = key_in_target(head.target))
    return Credential{*std::move(key)};
  return std::nullopt;
}

bool asks_for_websocket(const http::Head& head) {
  const std::string* upgrade = head.find("upgrade");
  bool asks = false;
  if (upgrade != nullptr)
    for_each_word(*upgrade,
                  [&](std::string_view word) { asks |= equal_ignoring_case(word, "websocket"); });
  return asks;
}

}  // namespace undertext
