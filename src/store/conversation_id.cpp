#include <algorithm>

#include <undertext/store.hpp>

namespace undertext {

bool is_conversation_id(std::string_view id) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= 128 && id.front() != '.' &&
         std::all_of(id.begin(), id.end(), good);
}

}  // namespace undertext
