#include "store/staged.hpp"

#include <charconv>
#include <limits>
#include <random>

#include <undertext/store.hpp>

namespace undertext {

std::string staged_id(std::int64_t now_ms) {
  std::string id = "." + std::to_string(now_ms) + "-";
  std::random_device chance;
  for (int i = 0; i < 4; ++i) id += std::to_string(chance());
  return id;
}

std::string hidden_id(std::string_view name) { return ".0-" + std::string(name); }

bool is_staged_id(std::string_view id) {
  return id.size() > 1 && id[0] == '.' && id[1] >= '0' && id[1] <= '9' &&
         is_conversation_id(id.substr(1));
}

std::int64_t staged_at_ms(std::string_view id) {
  std::int64_t ms = 0;
  std::from_chars(id.data() + 1, id.data() + id.size(), ms);
  return ms;
}

}  // namespace undertext
