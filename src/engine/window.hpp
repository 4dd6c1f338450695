// The context window that a conversation is for.
#pragma once

#include <cstdint>
#include <optional>

#include <undertext/conversation.hpp>
#include <undertext/models.hpp>

namespace undertext {

// Of the settings, else of their model; unset: unknown.
inline std::optional<std::uint64_t> settled_window(const Settings& settings) {
  return settings.window ? settings.window : find_model(settings.model).limits.window;
}

}  // namespace undertext
