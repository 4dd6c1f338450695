#include "message/quotes.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/json_text.hpp"

namespace undertext {
namespace {

constexpr std::size_t window_bytes = 8, text_bytes_min = 4;

// visit(window) for every eight bytes in a row, until it returns true. Lines and blanks are
// nobody's words.
template <class Visit>
bool any_window(std::string_view text, Visit visit) {
  const auto is_word = [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u >= 0x80 || (u >= '0' && u <= '9') || ((u | 0x20) >= 'a' && (u | 0x20) <= 'z');
  };
  std::size_t words = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    words += static_cast<std::size_t>(is_word(text[end - 1]));
    if (end < window_bytes) continue;
    if (end > window_bytes)
      words -= static_cast<std::size_t>(is_word(text[end - window_bytes - 1]));
    std::uint64_t window = 0;
    std::memcpy(&window, text.data() + end - window_bytes, window_bytes);
    if (words > 0 && visit(window)) return true;
  }
  return false;
}

template <class Visit>
void visit_strings(const JsonValue& value, Visit& visit) {
  if (value.is(JsonType::string)) return visit(value.string());
  if (value.is(JsonType::array)) {
    for (const JsonValue element : value.elements()) visit_strings(element, visit);
  } else if (value.is(JsonType::object)) {
    for (const JsonMember member : value.members()) {
      if (!member.key.string_is("role") && !member.key.string_is("type"))
        visit_strings(member.value, visit);
    }
  }
}

}  // namespace

void QuotableTexts::add(const Message& message) {
  if (message.is_redacted()) return;
  const JsonText json =
      JsonText::parse(message.json(), {std::numeric_limits<std::uint32_t>::max()}).value();
  const auto add_text = [&](const std::string& text) { add(text); };
  visit_strings(json.root(), add_text);
}

void QuotableTexts::add(std::string_view text) {
  if (text.size() < text_bytes_min) return;
  all_ += text;
  all_ += '\0';
  if (text.size() < window_bytes) short_.emplace_back(text);
  any_window(text, [&](std::uint64_t window) {
    windows_.push_back(window);
    return false;
  });
  sorted_ = false;
}

bool QuotableTexts::quoted_in(std::string_view text) const {
  if (text.size() < text_bytes_min) return false;
  if (text.size() < window_bytes && all_.find(text) != std::string::npos) return true;
  if (std::any_of(short_.begin(), short_.end(),
                  [&](const std::string& s) { return text.find(s) != std::string_view::npos; }))
    return true;
  if (!sorted_) {
    std::sort(windows_.begin(), windows_.end());
    windows_.erase(std::unique(windows_.begin(), windows_.end()), windows_.end());
    sorted_ = true;
  }
  return any_window(text, [&](std::uint64_t window) {
    return std::binary_search(windows_.begin(), windows_.end(), window);
  });
}

}  // namespace undertext
