#include "compression/digest_text.hpp"

#include <algorithm>
#include <iterator>

#include "base/utf8.hpp"

namespace undertext::digest {
namespace {

constexpr std::string_view ellipsis = "…";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

bool is_hidden(char32_t c) {
  return (c >= 0x7F && c <= 0x9F) ||      // DEL and the second set of controls
         c == 0xAD || c == 0x61C ||       // a hyphen that may not show; a direction
         (c >= 0x200B && c <= 0x200F) ||  // no width; directions
         (c >= 0x2028 && c <= 0x202E) ||  // line and paragraph separators; directions
         (c >= 0x2060 && c <= 0x206F) ||  // no width; directions
         c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE0FFF);
}

// At an escape character: behind the sequence it begins, which is one of ECMA-48's (CSI … letter,
// OSC … end) or two characters. One that has no end within reach is only its first character.
std::size_t skip_escape(std::string_view text, std::size_t at) {
  constexpr std::size_t reach = 256;
  const std::size_t end = std::min(text.size(), at + reach);
  if (at + 1 >= end) return at + 1;
  const char kind = text[at + 1];
  if (kind == '[') {
    for (std::size_t i = at + 2; i < end; ++i) {
      if (text[i] >= '@' && text[i] <= '~') return i + 1;
      if (text[i] < ' ' || text[i] > '?') break;
    }
  } else if (kind == ']') {
    for (std::size_t i = at + 2; i < end && text[i] != '\n'; ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == '\x1B') return i + 1 < end && text[i + 1] == '\\' ? i + 2 : i;
    }
  }
  return at + 1;
}

}  // namespace

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(),
                                                   [](char a, char b) { return to_lower(a) == b; });
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower);
  return out;
}

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [text, at](std::size_t i) {
    return static_cast<char32_t>(static_cast<std::uint8_t>(text[at + i]));
  };
  const std::size_t size = utf8_sequence_size(text.data() + at, text.data() + text.size());
  switch (size) {
    case 1: return {byte(0), 1};
    case 2: return {(byte(0) & 0x1F) << 6 | (byte(1) & 0x3F), 2};
    case 3: return {(byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
    case 4:
      return {(byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
                  (byte(3) & 0x3F),
              4};
    default: return {replacement_character, 1};
  }
}

bool is_cjk_punctuation(char32_t c) {
  return (c >= 0x3000 && c <= 0x303F && c != 0x3005 && c != 0x3007) ||
         (c >= 0xFF01 && c <= 0xFF0F) || (c >= 0xFF1A && c <= 0xFF20) ||
         (c >= 0xFF3B && c <= 0xFF40) || (c >= 0xFF5B && c <= 0xFF65) || c == 0x30FB;
}

bool is_cjk(char32_t c) {
  return (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7AF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFFEF) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

std::string clean(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  for (std::size_t at = 0; at < utf8.size();) {
    const char c = utf8[at];
    // false for all that is not ASCII, where char has a sign; those come below
    if (c >= ' ' && c != '\x7F') {
      out += c;
      ++at;
    } else if (c == '\n' || c == '\t') {
      out += c == '\t' ? ' ' : '\n';
      ++at;
    } else if (c == '\r') {  // a progress bar writes one over the other
      if (at + 1 == utf8.size() || utf8[at + 1] != '\n') out += '\n';
      ++at;
    } else if (c == '\x1B') {
      at = skip_escape(utf8, at);
    } else if (is_ascii(c)) {
      ++at;
    } else {
      const Character character = character_at(utf8, at);
      if (character.code_point == replacement_character) {
        out += "\xEF\xBF\xBD";
      } else if (!is_hidden(character.code_point)) {
        out.append(utf8, at, character.size);
      }
      at += character.size;
    }
  }
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : trim(text)) {
    if (!is_space(c)) {
      out += c;
    } else if (out.back() != ' ') {
      out += ' ';
    }
  }
  return out;
}

std::string_view first_bytes(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<std::uint8_t>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string_view last_bytes(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t from = text.size() - bytes;
  while (from < text.size() && (static_cast<std::uint8_t>(text[from]) & 0xC0) == 0x80) ++from;
  return text.substr(from);
}

std::string shorten_end(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  return std::string(trim(first_bytes(text, bytes - ellipsis.size()))) + std::string(ellipsis);
}

std::string shorten(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  const std::size_t room = bytes - ellipsis.size() - 2;
  std::string_view head = first_bytes(text, room - room / 3);
  std::string_view tail = last_bytes(text, room / 3);
  // A word cut in two is worse than one word less, where there are words.
  if (const std::size_t space = head.rfind(' ');
      space != std::string_view::npos && space > head.size() / 2)
    head = head.substr(0, space);
  if (const std::size_t space = tail.find(' '); space < tail.size() / 2)
    tail = tail.substr(space + 1);
  return std::string(head) + " " + std::string(ellipsis) + " " + std::string(tail);
}

namespace {

// "match on it with eprintln! and go on": the mark is part of the name.
bool ends_with_macro(std::string_view text) {
  constexpr std::string_view macros[] = {"println", "eprintln", "print",      "vec",  "format",
                                         "panic",   "assert",   "assert_eq",  "todo", "write",
                                         "writeln", "matches",  "unreachable"};
  std::size_t begin = text.size();
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return std::find(std::begin(macros), std::end(macros), text.substr(begin)) != std::end(macros);
}

}  // namespace

std::size_t sentence_end(std::string_view line, std::size_t from) {
  bool in_code = false;
  for (std::size_t at = from; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '`') in_code = !in_code;
    if (in_code) continue;
    if (c == '.' || c == '!' || c == '?') {
      std::size_t next = at + 1;
      while (next < line.size() &&
             (line[next] == '"' || line[next] == '\'' || line[next] == ')' || line[next] == '*'))
        ++next;
      // "maps Ö to O or ? by the locale": a mark that is meant ends nothing
      const bool goes_on = next + 1 < line.size() && is_lower(line[next + 1]);
      const bool is_meant = (goes_on && at > from && line[at - 1] == ' ') ||
                            (goes_on && c == '!' && ends_with_macro(line.substr(from, at - from)));
      if (next == line.size() || (line[next] == ' ' && !is_meant)) return next;
      at = next - 1;
    } else if (static_cast<std::uint8_t>(c) >= 0xE0) {
      const Character character = character_at(line, at);
      const char32_t p = character.code_point;
      at += character.size - 1;
      if (p == U'。' || p == U'！' || p == U'？' || p == U'；') return at + 1;
    }
  }
  return line.size();
}

}  // namespace undertext::digest
