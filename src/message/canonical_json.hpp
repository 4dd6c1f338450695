// JSON values by what they say: two values with one canonical form are equal, however they are
// spelled.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_text.hpp"
#include "base/text_digest.hpp"

namespace undertext {

// Pieces of a canonical form. A text ends with a byte that no UTF-8 has, so that no two forms are
// read as one.
class CanonicalJson {
 public:
  explicit CanonicalJson(TextDigest& digest) : digest_(digest) {}

  void add_mark(char mark) { digest_.add(mark); }
  void add_text(std::string_view utf8);
  void add_body(std::string_view body);  // of a JSON string
  void add_value(const JsonValue& value);
  // An object without the members named, nor any that is null, "", [] or {}, also further inside.
  void add_object_without(const JsonValue& object, std::span<const std::string> members);
  // A value, or a string that holds one.
  void add_value_or_held(std::string_view json);

 private:
  void add_number(std::string_view spelled);
  template <class Skip, class Add>
  void add_members(const JsonValue& object, Skip skip, Add add);
  void add_what_says(const JsonValue& value);

  TextDigest& digest_;
};

}  // namespace undertext
