#include "endpoint/transcript.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/find_bytes.hpp"
#include "message/reading.hpp"

namespace undertext {

namespace {

// What one text may keep. Halved again and again until the whole fits.
struct Bounds {
  std::size_t said_bytes = 64u << 10;  // what people and models say
  std::size_t tool_bytes = 4u << 10;   // what goes into tools and comes out of them
};
// Shorter, a text tells nothing any more.
constexpr std::size_t said_bytes_min = 128, tool_bytes_min = 64;

struct Piece {
  std::size_t number;   // of the message, from 1
  std::string heading;  // "user", "assistant calls run", "result of run"
  std::string text;
  bool is_of_tool = false;
};

// A name somebody chose, on one line.
std::string in_heading(const std::string& name) {
  std::string result = cut_middle(name, 80);
  std::replace_if(
      result.begin(), result.end(),
      [](char c) { return (c >= 0 && c < ' ') || c == '[' || c == ']'; }, '_');
  return result;
}

class Collector {
 public:
  void add(const Message& message) {
    ++number_;
    speaker_ = name(message.role());
    const MessageReading reading(message);
    for (const Block& block : reading.turn().blocks) {
      if (block.kind == BlockKind::call) {
        add_call(block);
      } else if (block.kind == BlockKind::result) {
        add_result(block);
      } else {
        say(words_of(block));
      }
    }
  }

  std::vector<Piece> pieces;

 private:
  // What is said in one go stands under one heading.
  void say(const std::string& text) {
    if (text.empty()) return;
    if (!pieces.empty() && pieces.back().number == number_ && !pieces.back().is_of_tool) {
      pieces.back().text += '\n' + text;
    } else {
      pieces.push_back({number_, speaker_, text});
    }
  }

  // What a model thought stays with it.
  static std::string words_of(const Block& block) {
    switch (block.kind) {
      case BlockKind::text:
      case BlockKind::refusal: return decoded(block.text);
      case BlockKind::reasoning: return {};
      case BlockKind::media: return "[" + std::string(name(block.media.kind)) + "]";
      default:
        return block.type.empty() ? std::string() : "[" + in_heading(std::string(block.type)) + "]";
    }
  }

  static std::string words_of(const std::vector<Block>& blocks) {
    std::string words;
    for (const Block& block : blocks) {
      if (!words.empty()) words += '\n';
      words += words_of(block);
    }
    return words;
  }

  void add_call(const Block& call) {
    const std::string tool = call.name.empty() ? "a tool" : in_heading(std::string(call.name));
    if (!call.id.empty()) tool_of_call_[std::string(call.id)] = tool;
    const bool is_text = call.json.starts_with('"');
    pieces.push_back(
        {number_, speaker_ + " calls " + tool,
         is_text ? decoded(call.json.substr(1, call.json.size() - 2)) : std::string(call.json),
         true});
    if (holds_result(call))
      pieces.push_back({number_, "result of " + tool, words_of(call.inner), true});
  }

  void add_result(const Block& result) {
    const auto tool = tool_of_call_.find(std::string(result.id));
    std::string text = result.json.empty() ? decoded(result.text) : std::string(result.json);
    if (!text.empty() && !result.inner.empty()) text += '\n';
    text += words_of(result.inner);
    pieces.push_back({number_,
                      "result of " + (tool == tool_of_call_.end() ? "a tool" : tool->second),
                      std::move(text), true});
  }

  std::size_t number_ = 0;
  std::string speaker_;
  std::unordered_map<std::string, std::string> tool_of_call_;
};

std::string in_hex(std::uint32_t number) {
  std::string result;
  for (int shift = 28; shift >= 0; shift -= 4) result += "0123456789abcdef"[number >> shift & 15];
  return result;
}

std::string choose_fence(const std::vector<Piece>& pieces) {
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const Piece& piece : pieces)
    for (const char c : piece.text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619;
  const auto is_used = [&pieces](const std::string& fence) {
    return std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      return find_bytes(piece.text, fence) != std::string_view::npos ||
             piece.heading.find(fence) != std::string::npos;
    });
  };
  while (is_used(in_hex(hash))) ++hash;
  return in_hex(hash);
}

std::string frame(const std::vector<Piece>& pieces, const std::string& fence,
                  const Bounds& bounds) {
  std::string text;
  for (const Piece& piece : pieces) {
    text += '[' + fence + ' ' + std::to_string(piece.number) + ' ' + piece.heading + "]\n";
    text += cut_middle(piece.text, piece.is_of_tool ? bounds.tool_bytes : bounds.said_bytes);
    text += '\n';
  }
  return text;
}

bool is_inside_character(std::string_view utf8, std::size_t at) {
  return at < utf8.size() && (static_cast<std::uint8_t>(utf8[at]) & 0xC0) == 0x80;
}

}  // namespace

std::string cut_middle(std::string_view utf8, std::size_t bytes_max) {
  if (utf8.size() <= bytes_max) return std::string(utf8);
  std::size_t head = bytes_max * 2 / 3;
  std::size_t tail = utf8.size() - (bytes_max - head);
  while (head > 0 && is_inside_character(utf8, head)) --head;
  while (is_inside_character(utf8, tail)) ++tail;
  std::string result(utf8.substr(0, head));
  result += "\n[… " + std::to_string(tail - head) + " bytes cut …]\n";
  return result.append(utf8.substr(tail));
}

Result<Transcript> make_transcript(std::span<const Message> messages, std::size_t bytes_max) {
  Collector collector;
  for (const Message& message : messages) collector.add(message);
  const std::string fence = choose_fence(collector.pieces);
  for (Bounds bounds; bounds.said_bytes >= said_bytes_min; bounds.said_bytes /= 2) {
    std::string text = frame(collector.pieces, fence, bounds);
    if (text.size() <= bytes_max) return Transcript{std::move(text), fence};
    bounds.tool_bytes = std::max(bounds.tool_bytes / 2, tool_bytes_min);
  }
  return Error{.code = ErrorCode::too_large,
               .message = std::to_string(messages.size()) +
                          " messages are too many to summarise at once; summarise fewer",
               .field = "messages"};
}

}  // namespace undertext
