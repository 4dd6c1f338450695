// What several writers share: arguments as text and as objects, results as text, media as URLs.
#pragma once

#include <string>
#include <string_view>

#include "dialect/write.hpp"

namespace undertext {

void append_string(std::string& out, std::string_view utf8);  // quoted and escaped

bool arguments_are_object(const Block& call);
void append_arguments_object(std::string& out, const Block& call);  // wrapped where they are none
void append_arguments_text(std::string& out, const Block& call);    // as a JSON string

// All that a result says, as the body of a string; pictures and files leave a word.
std::string result_body(const Block& result);

void append_data_url(std::string& out, const Media& media);  // as a JSON string; a URL stays one

inline bool copies(const Block& block, Dialect dialect) {
  return (block.native & bit(dialect)) != 0 && !block.raw.empty();
}

// Whether the content is best written as a plain string.
inline bool is_plain_text(const Turn& turn, Dialect dialect) {
  if (turn.blocks.size() != 1 || turn.blocks[0].kind != BlockKind::text) return false;
  const Block& block = turn.blocks[0];
  return block.cache.empty() && (turn.shape == Turn::Shape::string || !copies(block, dialect));
}

template <class Blocks, class Write>
void append_list(std::string& out, const Blocks& blocks, Write write) {
  out += '[';
  const char* separator = "";
  for (const Block& block : blocks) {
    out += separator;
    write(block);
    separator = ",";
  }
  out += ']';
}

}  // namespace undertext
