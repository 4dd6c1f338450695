// Changes to the text and metadata of a message, as plain values. TRANSFORM applies them to many
// messages at once.
#pragma once

#include <cstdint>
#include <string>

namespace undertext {

struct ReplaceText {
  std::string find;  // not empty; every occurrence is replaced
  std::string with;
};

struct TruncateText {
  enum class Keep : std::uint8_t { head, tail, both };
  std::uint64_t chars_max = 0;  // code points kept of each text, the marker not counted
  Keep keep = Keep::head;
  std::string marker = {};  // replaces the removed text
};

struct SetMetadata {
  // a JSON object; its members are set, other members of the metadata stay
  std::string object_json;
};

}  // namespace undertext
