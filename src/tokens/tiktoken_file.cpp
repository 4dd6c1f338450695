// Reads ranks, and finds for each token the pair it is merged from, which the file does not say.
#include "tokens/tiktoken_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace undertext {
namespace {

Error corrupt(std::size_t line) {
  return {.code = ErrorCode::corrupt,
          .message =
              "line " + std::to_string(line) +
              " is not a token in base64, a space and a rank, or one that has been there before"};
}

std::optional<std::string> decode_base64(std::string_view text) {
  const auto value = [](char c) -> std::uint32_t {
    if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
    if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a' + 26);
    if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0' + 52);
    return c == '+' ? 62 : c == '/' ? 63 : 64;
  };
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  std::uint32_t bit_count = 0;
  for (const char c : text) {
    const std::uint32_t six = value(c);
    if (six == 64) return std::nullopt;
    bits = bits << 6 | six;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes += static_cast<char>(bits >> bit_count & 0xFF);
  }
  return bytes;
}

std::optional<SplitPattern> pattern_of(std::string_view file_name) {
  constexpr std::pair<std::string_view, SplitPattern> known[] = {{"o200k", SplitPattern::o200k},
                                                                 {"cl100k", SplitPattern::cl100k},
                                                                 {"p50k", SplitPattern::gpt2},
                                                                 {"r50k", SplitPattern::gpt2}};
  for (const auto& [beginning, pattern] : known)
    if (file_name.starts_with(beginning)) return pattern;
  return std::nullopt;
}

// In the order of ranks, each token is what is left to merge when all earlier merges have been
// made: two parts.
std::optional<Error> find_parts(VocabularySource& source) {
  PairMerges merges;
  std::vector<TokenNumber> parts;
  source.parts.resize(source.tokens.size());
  for (TokenNumber number = 256; number < source.tokens.size(); ++number) {
    const std::string& bytes = source.tokens[number].bytes;
    parts.clear();
    for (const char c : bytes) parts.push_back(static_cast<std::uint8_t>(c));
    merges.apply(parts, 2);
    if (parts.size() != 2 || merges.find(parts[0], parts[1])) {
      return Error{.code = ErrorCode::unsupported,
                   .message = "the token of rank " + std::to_string(source.tokens[number].id) +
                              " cannot come about by merging"};
    }
    merges.add(parts[0], parts[1], {.rank = number, .result = number});
    source.parts[number] = {parts[0], parts[1]};
  }
  return std::nullopt;
}

}  // namespace

Result<VocabularySource> read_tiktoken_file(std::string_view text, std::string_view file_name) {
  VocabularySource source;
  const std::optional<SplitPattern> pattern = pattern_of(file_name);
  if (!pattern) {
    return Error{.code = ErrorCode::unsupported,
                 .message =
                     "a .tiktoken file does not say how text is split; its name must begin with "
                     "o200k, cl100k, p50k or r50k"};
  }
  source.facts = {.name = std::string(file_name.substr(0, file_name.find('.'))),
                  .pattern = *pattern};
  std::array<std::optional<std::uint32_t>, 256> byte_ids;
  std::vector<VocabularySource::Token> merged;
  std::unordered_set<std::string> seen;
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(row.size() + 1, text.size()));
    if (row.empty()) continue;
    const std::size_t space = row.find(' ');
    if (space == std::string_view::npos) return corrupt(line);
    std::optional<std::string> bytes = decode_base64(row.substr(0, space));
    std::uint32_t rank = 0;
    const char* const end = row.data() + row.size();
    const auto [at, error] = std::from_chars(row.data() + space + 1, end, rank);
    if (!bytes || bytes->empty() || error != std::errc() || at != end ||
        !seen.insert(*bytes).second)
      return corrupt(line);
    if (bytes->size() == 1) {
      byte_ids[static_cast<std::uint8_t>(bytes->front())] = rank;
    } else {
      merged.push_back({std::move(*bytes), rank});
    }
  }
  if (seen.empty())
    return Error{.code = ErrorCode::corrupt, .message = "there are no tokens in it"};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    if (!byte_ids[byte]) {
      return Error{
          .code = ErrorCode::unsupported,
          .message = "the byte " + std::to_string(byte) + " is no token of this vocabulary"};
    }
    source.tokens.push_back({std::string(1, static_cast<char>(byte)), *byte_ids[byte]});
  }
  std::sort(merged.begin(), merged.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::move(merged.begin(), merged.end(), std::back_inserter(source.tokens));
  if (std::optional<Error> error = find_parts(source)) return std::move(*error);
  return source;
}

}  // namespace undertext
