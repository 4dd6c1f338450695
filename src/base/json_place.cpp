#include "base/json_place.hpp"

#include <algorithm>

namespace undertext {
namespace {

constexpr std::size_t steps_max = 8, key_bytes_max = 64;

// An object or array that has begun.
struct Open {
  bool object = false;
  bool in_value = false;  // behind the colon
  std::string_view key;
  std::uint64_t element = 0;
};

std::string shortened(std::string_view key) {
  std::size_t n = std::min(key.size(), key_bytes_max);
  // not within a code point
  while (n < key.size() && n > 0 && (static_cast<unsigned char>(key[n]) & 0xC0) == 0x80) --n;
  return std::string(key.substr(0, n));
}

}  // namespace

std::vector<JsonStep> json_steps(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  std::vector<Open> open;
  std::size_t too_deep = 0;  // those beyond steps_max are only counted
  for (std::size_t at = 0; at < before.size(); ++at) {
    const char c = before[at];
    if (c == '"') {
      const std::size_t begin = ++at;
      while (at < before.size() && before[at] != '"') at += before[at] == '\\' ? 2u : 1u;
      if (at >= before.size()) break;
      if (too_deep == 0 && !open.empty() && open.back().object && !open.back().in_value)
        open.back().key = before.substr(begin, at - begin);
    } else if (c == '{' || c == '[') {
      if (open.size() < steps_max) {
        open.push_back({.object = c == '{', .in_value = c == '[', .key = {}});
      } else {
        ++too_deep;
      }
    } else if (c == '}' || c == ']') {
      if (too_deep > 0) {
        --too_deep;
      } else if (!open.empty()) {
        open.pop_back();
      }
    } else if (too_deep == 0 && !open.empty()) {
      if (c == ':') open.back().in_value = true;
      if (c == ',' && open.back().object) open.back().in_value = false;
      if (c == ',' && !open.back().object) ++open.back().element;
    }
  }
  std::vector<JsonStep> steps;
  for (const Open& o : open) {
    if (!o.in_value) break;
    if (o.object) {
      steps.push_back({shortened(o.key)});
    } else {
      steps.push_back({{}, o.element});
    }
  }
  return steps;
}

std::string json_path(const std::vector<JsonStep>& steps) {
  std::string path;
  for (const JsonStep& step : steps) {
    if (step.element) {
      path += "[" + std::to_string(*step.element) + "]";
    } else {
      if (!path.empty()) path += '.';
      path += step.key;
    }
  }
  return path;
}

}  // namespace undertext
