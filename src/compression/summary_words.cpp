#include "compression/summary_words.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "compression/digest_text.hpp"

namespace undertext {
namespace {

struct Tag {
  std::size_t at, size;
  bool closes;
};

// The tag that begins at `at`, where a '<' stands.
std::optional<Tag> tag_at(std::string_view text, std::size_t at) {
  for (const std::string_view name : {"<think>", "<thinking>", "</think>", "</thinking>"}) {
    if (digest::equal_ignoring_case(text.substr(at, name.size()), name))
      return Tag{at, name.size(), name[1] == '/'};
  }
  return {};
}

std::optional<Tag> next_tag(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('<', from); at != std::string_view::npos;
       at = text.find('<', at + 1)) {
    if (at > 0 && text[at - 1] == '`') continue;
    if (const std::optional<Tag> tag = tag_at(text, at)) return tag;
  }
  return {};
}

bool is_wide_space(char32_t c) {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || c == 0x180E || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x202F || c == 0x205F || c == 0x2800 || c == 0x3000 || c == 0x115F || c == 0x1160 ||
         c == 0x3164 || c == 0xFFA0 || c == 0x34F || (c >= 0xFE00 && c <= 0xFE0F);
}

}  // namespace

std::optional<std::string> without_reasoning(std::string_view text) {
  std::string left;
  std::size_t from = 0;
  while (const std::optional<Tag> tag = next_tag(text, from)) {
    if (tag->closes) {
      left.clear();  // the prompt began the reasoning
      from = tag->at + tag->size;
      continue;
    }
    left += text.substr(from, tag->at - from);
    std::optional<Tag> end = next_tag(text, tag->at + tag->size);
    while (end && !end->closes) end = next_tag(text, end->at + end->size);
    if (!end) return {};
    from = end->at + end->size;
  }
  left += text.substr(from);
  return std::string(digest::trim(left));
}

bool is_invisible(std::string_view utf8) {
  if (find_invalid_utf8(utf8)) return false;
  const std::string shown = digest::clean(utf8);
  for (std::size_t at = 0; at < shown.size();) {
    const digest::Character c = digest::character_at(shown, at);
    if (c.code_point > ' ' && !is_wide_space(c.code_point)) return false;
    at += c.size;
  }
  return true;
}

}  // namespace undertext
