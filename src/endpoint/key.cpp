#include "endpoint/key.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/utf8.hpp"

namespace undertext {

namespace {

constexpr std::size_t key_bytes_max = 16u << 10;
constexpr std::size_t clean_bytes_max = 300;

Error refuse(const char* field, std::string message) {
  return {.code = ErrorCode::invalid_argument, .message = std::move(message), .field = field};
}

// Nothing when there is no such file, or when it is a directory, a pipe or too long to be a key.
std::optional<std::string> read_small_file(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text(key_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || !file.eof()) return std::nullopt;
  return text;
}

std::string trimmed(const std::string& text) {
  constexpr const char* space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  return first == std::string::npos ? std::string()
                                    : text.substr(first, text.find_last_not_of(space) + 1 - first);
}

// Characters that do something to a terminal or to the direction of a line, instead of being read.
bool is_control(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
         (code_point >= 0x200B && code_point <= 0x200F) ||
         (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0xFEFF;
}

char32_t code_point_of(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return char32_t{static_cast<std::uint8_t>(sequence[i])}; };
  switch (sequence.size()) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3: return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
             (byte(3) & 0x3F);
  }
}

}  // namespace

Result<EndpointKey> EndpointKey::read(const EndpointSettings& settings) {
  EndpointKey key;
  const char* field = "key_variable";
  std::string source;
  if (!settings.key_variable.empty()) {
    source = "the environment variable " + settings.key_variable;
    if (const char* const value = std::getenv(settings.key_variable.c_str()))
      key.value_ = trimmed(value);
  }
  if (key.empty() && !settings.key_file.empty()) {
    field = "key_file";
    source = "the key file " + settings.key_file;
    const std::optional<std::string> text = read_small_file(settings.key_file);
    if (!text)
      return refuse(field,
                    source + " cannot be read, or is no file that holds a key and nothing else");
    key.value_ = trimmed(*text);
  }
  if (key.empty() && !source.empty()) return refuse(field, source + " is not set or empty");
  if (key.value_.size() > key_bytes_max) return refuse(field, source + " holds too much for a key");
  // Anything else could end the header and begin another one.
  if (!std::all_of(key.value_.begin(), key.value_.end(),
                   [](char c) { return c > ' ' && c < 0x7F; }))
    return refuse(field, source +
                             " holds characters that no key has: spaces, line ends or others that "
                             "are not plain ASCII");
  return key;
}

std::string EndpointKey::clean(std::string_view text) const {
  std::string without_key(text);
  for (std::size_t at = 0; !empty() && (at = without_key.find(value_, at)) != std::string::npos;)
    without_key.replace(at, value_.size(), "[key]"), at += 5;
  std::string result;
  for (const char *at = without_key.data(), *const end = at + without_key.size(); at != end;) {
    const std::size_t size = utf8_sequence_size(at, end);
    if (result.size() + size > clean_bytes_max) return result + " …";
    const bool skip = size == 0 || is_control(code_point_of({at, size}));
    if (!skip) result.append(at, size);
    if (skip && !result.empty() && result.back() != ' ') result += ' ';
    at += std::max<std::size_t>(size, 1);
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

}  // namespace undertext
