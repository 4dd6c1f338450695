#include "cli/transcript_lines.hpp"

#include <string_view>

#include <undertext/blocks.hpp>

#include "base/json_text.hpp"
#include "cli/desk.hpp"

namespace undertext {
namespace {

// A tab would jump; everything else that acts on a terminal is made visible.
std::string printable_line(std::string_view line) {
  std::string spaced;
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (const char c : line) {
    if (c == '\t') {
      spaced += "    ";
    } else {
      spaced += c;
    }
  }
  return printable(spaced);
}

std::string call_line(const ContentBlock& call) {
  std::string arguments = call.arguments_json;
  if (arguments.starts_with('"')) {
    if (const Result<JsonText> json = JsonText::parse(arguments, {}))
      arguments = json->root().string();
  }
  return "[calls " + printable_line(call.name.empty() ? "?" : call.name) + " " +
         printable_line(arguments) + "]";
}

std::string shown_line(const ContentBlock& block) {
  const std::string_view word = !block.type.empty() ? std::string_view(block.type)
                                : block.kind == ContentBlock::Kind::media ? name(block.media.kind)
                                                                          : "a part without a type";
  return "[" + printable_line(word) + "]";
}

}  // namespace

Style style_of(Role role) {
  switch (role) {
    case Role::system: return {.color = 140, .bold = true};
    case Role::user: return {.color = 75, .bold = true};
    case Role::assistant: return {.color = 71, .bold = true};
    case Role::tool: return {.color = 173, .bold = true};
  }
  return {};
}

Line head_of(const ShownMessage& shown) {
  Line line;
  line.add(shown.index ? std::to_string(*shown.index) : std::string("-")).pad_to(5);
  line.add(" ").add(name(shown.message.role()), style_of(shown.message.role()));
  line.add("  #" + std::to_string(shown.ordinal.value), quiet);
  if (shown.tokens) line.add("  " + std::to_string(*shown.tokens) + " tokens", quiet);
  if (shown.time_ms) line.add("  " + spelled_time(*shown.time_ms), quiet);
  if (shown.pinned) line.add("  pinned", quiet);
  return line;
}

std::vector<std::string> lines_of(const Message& message) {
  std::vector<std::string> lines;
  const std::string text = message.text();
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    lines.push_back(printable_line(rest.substr(0, end)));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  for (const ContentBlock& block : read_blocks(message)) {
    if (block.kind == ContentBlock::Kind::call) {
      lines.push_back(call_line(block));
    } else if (block.kind != ContentBlock::Kind::text && block.kind != ContentBlock::Kind::result) {
      lines.push_back(shown_line(block));
    }
  }
  return lines;
}

std::string gist_of(const Message& message, std::size_t cells_max) {
  std::string gist;
  for (const std::string& line : lines_of(message)) {
    if (!gist.empty()) gist += ' ';
    gist += line;
    if (gist.size() > 4 * cells_max) break;
  }
  return clip(gist, cells_max);
}

}  // namespace undertext
