// What a model's name is, in any spelling.
#include <algorithm>

#include "tokens/model_table.hpp"

namespace undertext {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// "us.", "anthropic.": a word without a digit, where "gpt-4.1" has one before its dot.
std::string_view without_vendor(std::string_view name) {
  while (true) {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    const std::string_view word = name.substr(0, dot);
    if (std::any_of(word.begin(), word.end(), is_digit)) return name;
    name.remove_prefix(dot + 1);
  }
}

// "-v1" before ":0", as Bedrock numbers what it serves; deepseek-v3 has no colon behind it.
std::string_view without_revision(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return name;
  const bool is_numbered = is_digits(name.substr(colon + 1, 1));
  name = name.substr(0, colon);
  const std::size_t dash = name.rfind("-v");
  return is_numbered && dash != std::string_view::npos && is_digits(name.substr(dash + 2))
             ? name.substr(0, dash)
             : name;
}

// Of a folded name: -2025-04-14, -20250514, -latest.
std::string_view without_date(std::string_view name) {
  constexpr std::string_view latest = "-latest";
  if (name.ends_with(latest)) return name.substr(0, name.size() - latest.size());
  const auto fits = [name](std::string_view form) {
    if (name.size() <= form.size()) return false;
    const std::string_view end = name.substr(name.size() - form.size());
    return std::equal(end.begin(), end.end(), form.begin(),
                      [](char c, char f) { return f == '0' ? is_digit(c) : c == f; });
  };
  for (const std::string_view form :
       {std::string_view("-0000-00-00"), std::string_view("-00000000")})
    if (fits(form)) return name.substr(0, name.size() - form.size());
  return name;
}

}  // namespace

std::string folded_name(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    if (c == '.' || c == '_') c = '-';
  }
  return folded;
}

ModelName model_name(std::string_view name) {
  if (name.starts_with("ft:")) name.remove_prefix(3);
  name = name.substr(0, name.find('@'));
  name = without_revision(name);
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  ModelName result{.dated = folded_name(without_vendor(name)), .plain = {}};
  result.plain = without_date(result.dated);
  return result;
}

}  // namespace undertext
