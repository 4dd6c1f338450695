// The wire formats that messages come in and go out as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <undertext/export.hpp>

namespace undertext {

enum class Dialect : std::uint8_t { openai_chat, openai_responses, anthropic, gemini };
inline constexpr std::size_t dialect_count = 4;

UNDERTEXT_API std::string_view name(Dialect dialect);  // "openai_chat", …
UNDERTEXT_API std::optional<Dialect> dialect_named(std::string_view name);

}  // namespace undertext
