#include "cli/terminal.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <thread>

#include "base/utf8.hpp"
#include "system/terminal.hpp"

namespace undertext {

namespace {

struct CodePoints {
  char32_t first;
  char32_t last;
};

// The three tables rise, so that they can be searched.

// Characters that show nothing themselves and change how others are shown. The joiners U+200C and
// U+200D are not among them:
// Persian and emoji are spelled with them.
constexpr CodePoints format_characters[] = {
    {0x80, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},     {0x180E, 0x180E},
    {0x200B, 0x200B}, {0x200E, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
};

constexpr CodePoints combining_characters[] = {
    {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},
    {0x64B, 0x65F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200C, 0x200D},
    {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};

// East_Asian_Width W and F of Unicode, with the holes between them filled.
constexpr CodePoints wide_characters[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23F3},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},
    {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
    {0x26F2, 0x26F5},   {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},
    {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},
    {0x2753, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x18DFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF},
    {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F1E6, 0x1F265}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1FAFF}, {0x20000, 0x3FFFD},
};

template <std::size_t size>
bool is_one_of(const CodePoints (&ranges)[size], char32_t code_point) {
  const auto* range = std::lower_bound(std::begin(ranges), std::end(ranges), code_point,
                                       [](const CodePoints& r, char32_t c) { return r.last < c; });
  return range != std::end(ranges) && range->first <= code_point;
}

struct Character {
  std::string_view bytes;
  char32_t code_point;
};

// Takes the first character off `text`, which is not empty.
Character take_character(std::string_view& text) {
  const std::size_t size = utf8_sequence_size(text.data(), text.data() + text.size());
  const Character character = [&]() -> Character {
    const auto byte = [&text](std::size_t i) {
      return static_cast<char32_t>(static_cast<std::uint8_t>(text[i]));
    };
    switch (size) {
      case 1: return {text.substr(0, 1), byte(0)};
      case 2: return {text.substr(0, 2), (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F)};
      case 3:
        return {text.substr(0, 3),
                (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F)};
      case 4:
        return {text.substr(0, 4), (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 |
                                       (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F)};
      default: return {"\uFFFD", replacement_character};
    }
  }();
  text.remove_prefix(std::max<std::size_t>(size, 1));
  return character;
}

// The beginning of `text` that fills at most `cells_max` cells.
std::string_view fitting(std::string_view text, std::size_t cells_max) {
  std::string_view rest = text;
  for (std::size_t cells = 0; !rest.empty();) {
    std::string_view after = rest;
    cells += cell_width(take_character(after).code_point);
    if (cells > cells_max) break;
    rest = after;
  }
  return text.substr(0, text.size() - rest.size());
}

std::string escape_codes(const Style& style) {
  std::string codes;
  if (style.bold) codes += ";1";
  if (style.color) codes += ";38;5;" + std::to_string(*style.color);
  if (style.background) codes += ";48;5;" + std::to_string(*style.background);
  return codes.empty() ? codes : "\x1b[" + codes.substr(1) + "m";
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = take_character(text);
    const char32_t c = character.code_point;
    if (c < 0x20) {
      append_utf8(out, 0x2400 + c);
    } else if (c == 0x7F) {
      append_utf8(out, 0x2421);
    } else if (is_one_of(format_characters, c)) {
      char spelled[16];
      std::snprintf(spelled, sizeof spelled, c > 0xFFFF ? "\\u{%x}" : "\\u%04x",
                    static_cast<unsigned>(c));
      out += spelled;
    } else {
      out += character.bytes;
    }
  }
  return out;
}

std::string json_for_terminal(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  const auto escape = [&out](unsigned unit) {
    char spelled[16];
    std::snprintf(spelled, sizeof spelled, "\\u%04x", unit);
    out += spelled;
  };
  while (!json.empty()) {
    const Character character = take_character(json);
    const char32_t c = character.code_point;
    if (c != 0x7F && !is_one_of(format_characters, c)) {
      out += c < 0x20 ? std::string_view(" ") : character.bytes;
    } else if (c <= 0xFFFF) {
      escape(static_cast<unsigned>(c));
    } else {
      escape(0xD800 + static_cast<unsigned>((c - 0x10000) >> 10));
      escape(0xDC00 + static_cast<unsigned>((c - 0x10000) & 0x3FF));
    }
  }
  return out;
}

std::size_t cell_width(char32_t code_point) {
  if (code_point < 0x300) return 1;
  if (is_one_of(combining_characters, code_point)) return 0;
  return is_one_of(wide_characters, code_point) ? 2 : 1;
}

std::size_t count_cells(std::string_view text) {
  std::size_t cells = 0;
  while (!text.empty()) cells += cell_width(take_character(text).code_point);
  return cells;
}

std::string clip(std::string_view text, std::size_t cells_max) {
  if (fitting(text, cells_max).size() == text.size()) return std::string(text);
  if (cells_max == 0) return {};
  std::string_view kept = fitting(text, cells_max - 1);
  while (kept.ends_with(' ')) kept.remove_suffix(1);
  return std::string(kept) + "…";
}

std::vector<std::string> wrap(std::string_view text, std::size_t cells_max) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!lines.empty() && count_cells(lines.back()) + 1 + count_cells(word) <= cells_max) {
      lines.back().append(" ").append(word);
    } else {
      lines.push_back(clip(word, cells_max));
    }
  }
  return lines;
}

std::string bar(std::uint64_t amount, std::uint64_t whole, std::size_t cells_max) {
  static constexpr std::string_view parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (amount == 0 || whole == 0 || cells_max == 0) return {};
  const double share = std::min(1.0, static_cast<double>(amount) / static_cast<double>(whole));
  const auto eighths = std::max<std::size_t>(
      1, static_cast<std::size_t>(share * static_cast<double>(cells_max * 8) + 0.5));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out += parts[eighths % 8];
}

std::string percent(double part) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f %%", 100 * part);
  return digits;
}

bool color_is_welcome() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::size_t terminal_columns() {
  const char* spelled = std::getenv("COLUMNS");
  const std::string_view text = spelled == nullptr ? "" : spelled;
  std::uint16_t columns = 0;
  if (const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
      read.ec == std::errc() && read.ptr == text.data() + text.size() && columns > 0) {
    return columns;
  }
  const std::size_t width = terminal_width();
  return width > 0 ? width : 100;
}

Line& Line::add(std::string_view text, Style style) {
  if (text.empty()) return *this;
  cells_ += count_cells(text);
  spans_.push_back({std::string(text), style});
  return *this;
}

Line& Line::add_right(std::string_view text, std::size_t end, Style style) {
  const std::size_t cells = count_cells(text);
  return pad_to(end > cells ? end - cells : 0).add(text, style);
}

Line& Line::pad_to(std::size_t column) {
  return column > cells_ ? add(std::string(column - cells_, ' ')) : *this;
}

void Screen::print(const Line& line) {
  std::string out;
  std::size_t left = options_.columns;
  for (const Line::Span& span : line.spans_) {
    const std::string_view text = fitting(span.text, left);
    left -= count_cells(text);
    const std::string codes = options_.color ? escape_codes(span.style) : std::string();
    out.append(codes).append(text);
    if (!codes.empty()) out += "\x1b[0m";
    if (text.size() < span.text.size()) break;
  }
  out += '\n';
  failed_ |= std::fwrite(out.data(), 1, out.size(), stdout) != out.size();
  if (options_.animate) {
    flush();
    pause_ms(20);
  }
}

bool Screen::flush() {
  failed_ |= std::fflush(stdout) != 0;
  return !failed_;
}

void Screen::pause_ms(std::uint32_t time_ms) {
  if (options_.animate) std::this_thread::sleep_for(std::chrono::milliseconds(time_ms));
}

}  // namespace undertext
