// Which tokenizer a model uses, by the model's name.
#pragma once

#include <optional>
#include <string_view>

namespace undertext {

struct ModelTokenizer {
  std::string_view vocabulary;  // such as "o200k_base"; empty when it is private, or not one that is installed
  std::string_view family;      // of the estimate

  friend bool operator==(const ModelTokenizer&, const ModelTokenizer&) = default;
};

// Such as "gpt-4o-mini", "openai/gpt-5", "ft:gpt-4o:…", "claude-opus-4-7", "anthropic.claude-3-haiku". Upper and lower case are one.
std::optional<ModelTokenizer> find_model_tokenizer(std::string_view model);

}  // namespace undertext
