#include "store/fresh_id.hpp"

#include <ctime>
#include <random>
#include <string_view>

namespace undertext {

std::string fresh_id(std::int64_t now_ms) {
  const std::time_t seconds = static_cast<std::time_t>(now_ms / 1000);
  std::tm parts = {};
  char text[32] = "conversation-";
  if (gmtime_r(&seconds, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y%m%d-%H%M%S-", &parts);
  std::string id = text;
  // none that is taken for another
  constexpr std::string_view letters = "abcdefghjkmnpqrstuvwxyz23456789";
  std::random_device chance;
  for (int i = 0; i < 6; ++i) id += letters[chance() % letters.size()];
  return id;
}

}  // namespace undertext
