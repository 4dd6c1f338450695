// Text for a terminal: which characters may reach it, how many cells they fill, colours, bars.
//
//     Screen screen({.color = true, .columns = 100});
//     Line line;
//     line.add("tool", {.color = 173}).pad_to(12).add(clip(printable(message.text()), 40)).pad_to(54).add(bar(300, 800, 20));
//     screen.print(line);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

// `text` without the power to move the cursor, change colours, or reorder what stands around it.
// Controls become visible:
// those of ASCII as their pictures (U+241B for ESC), those of Latin-1 and the invisible format
// characters, among them all that set the direction of writing, as \u202e. What is not UTF-8
// becomes U+FFFD.
std::string printable(std::string_view text);

// JSON text that says the same with those characters escaped: in JSON they stand only within
// strings.
std::string json_for_terminal(std::string_view json);

// How many cells a character fills: 0 for combining ones, 2 for those of East Asia and most emoji,
// else 1. Where a terminal's tables differ, this says rather too much than too little, so that no
// line comes out wider than it should.
std::size_t cell_width(char32_t code_point);

// These take what printable() gave.
std::size_t count_cells(std::string_view text);
// with an ellipsis where something was cut
std::string clip(std::string_view text, std::size_t cells_max);
// broken between words; a longer word is clipped
std::vector<std::string> wrap(std::string_view text, std::size_t cells_max);

// `amount` of `whole`, drawn in eighths of a cell: at least one of them when there is any amount,
// at most `cells_max` cells.
std::string bar(std::uint64_t amount, std::uint64_t whole, std::size_t cells_max);

std::string percent(double part);  // 0.125 as "12.5 %"

// https://no-color.org: not where NO_COLOR is set and not empty; nor on a terminal that cannot.
bool color_is_welcome();

// The width of standard output: COLUMNS, else what the terminal says, else 100.
std::size_t terminal_columns();

struct Style {
  std::optional<std::uint8_t> color = {};  // of the 256; unset: the terminal's own
  std::optional<std::uint8_t> background = {};
  bool bold = false;
};

// Of what need not be read at once.
inline constexpr Style quiet{.color = 245};

// One line, put together from the left. Everything added has to be printable.
class Line {
 public:
  Line& add(std::string_view text, Style style = {});
  // so that it ends before the column `end`
  Line& add_right(std::string_view text, std::size_t end, Style style = {});
  // nothing when the line is that long already
  Line& pad_to(std::size_t column);
  std::size_t cells() const { return cells_; }

 private:
  friend class Screen;
  struct Span {
    std::string text;
    Style style;
  };
  std::vector<Span> spans_;
  std::size_t cells_ = 0;
};

// Standard output. Every line is cut to the width, and ends with the terminal's own colours set
// again.
class Screen {
 public:
  struct Options {
    bool color = false;
    bool animate = false;  // lines come one after the other, and pause_ms() pauses
    std::size_t columns = 100;
  };
  explicit Screen(const Options& options) : options_(options) {}

  std::size_t columns() const { return options_.columns; }
  void print(const Line& line = {});
  void pause_ms(std::uint32_t time_ms);
  bool flush();  // false when the output has ever taken less than it was given

 private:
  Options options_;
  bool failed_ = false;
};

}  // namespace undertext
