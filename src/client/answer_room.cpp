#include "client/answer_room.hpp"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace undertext {
namespace {

std::optional<std::uint64_t> number_at(const JsonValue& object,
                                       std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const std::optional<JsonValue> value = object.find(name);
        value && value->is(JsonType::number))
      return value->uint64_saturated();
  return std::nullopt;
}

}  // namespace

std::uint64_t answer_tokens_in(const JsonValue& request) {
  if (const auto answer =
          number_at(request, {"max_tokens", "max_completion_tokens", "max_output_tokens"}))
    return *answer;
  for (const std::string_view name : {"generationConfig", "generation_config"})
    if (const std::optional<JsonValue> config = request.find(name))
      if (const auto answer = number_at(*config, {"maxOutputTokens", "max_output_tokens"}))
        return *answer;
  return 0;
}

}  // namespace undertext
