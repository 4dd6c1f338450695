// A table of names' beginnings. OpenAI's are those of tiktoken's model.py; what is known of the others stands in docs/tokens.md.
#include "tokens/model_tokenizers.hpp"

#include <cstdint>
#include <string>

namespace undertext {
namespace {

struct Row {
  std::string_view beginning;
  ModelTokenizer tokenizer;
};

constexpr ModelTokenizer o200k{"o200k_base", "o200k"};
constexpr ModelTokenizer cl100k{"cl100k_base", "cl100k"};

// The first that fits counts.
constexpr Row rows[] = {
    {"gpt-4o", o200k},
    {"gpt-4.1", o200k},
    {"gpt-4.5", o200k},
    {"gpt-4", cl100k},
    {"gpt-3.5", cl100k},
    {"gpt-35", cl100k},  // Azure's spelling
    {"gpt-", o200k},     // 5 and later, oss
    {"chatgpt-4o", o200k},
    {"o1", o200k},
    {"o3", o200k},
    {"o4", o200k},
    {"codex-mini", o200k},
    {"text-embedding-", cl100k},
    {"llama-3", {"", "llama3"}},
    {"llama3", {"", "llama3"}},
    {"meta-llama-3", {"", "llama3"}},
    {"qwen", {"", "qwen"}},
    {"qwq", {"", "qwen"}},
    {"deepseek", {"", "deepseek"}},
    {"gemini", {"", "gemini"}},
    {"gemma", {"", "gemini"}},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// claude-3-5-sonnet-20241022, claude-sonnet-4-5, claude-opus-4.7, claude-sonnet-5: the first number is the version, and one of one digit
// right behind it the smaller part of it.
std::string_view claude_family(std::string_view model) {
  const std::size_t at = model.find_first_of("0123456789");
  if (at == std::string_view::npos) return "claude-4.7";  // no version: the newest
  std::size_t end = at;
  while (end < model.size() && is_digit(model[end])) ++end;
  if (end - at > 1) return "claude";  // a date, or claude-instant-100k
  const char major = model[at];
  const bool has_minor = end + 1 < model.size() && (model[end] == '-' || model[end] == '.') && is_digit(model[end + 1]) &&
                         (end + 2 == model.size() || !is_digit(model[end + 2]));
  const char minor = has_minor ? model[end + 1] : '0';
  return major > '4' || (major == '4' && minor >= '7') ? "claude-4.7" : "claude";
}

}  // namespace

std::optional<ModelTokenizer> find_model_tokenizer(std::string_view model) {
  std::string small;
  for (const char c : model) small += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  std::string_view name = small;
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  if (name.starts_with("ft:")) name.remove_prefix(3);
  if (const std::size_t claude = name.find("claude"); claude != std::string_view::npos) {
    return ModelTokenizer{"", claude_family(name.substr(claude + 6))};
  }
  for (const Row& row : rows)
    if (name.starts_with(row.beginning)) return row.tokenizer;
  return std::nullopt;
}

}  // namespace undertext
