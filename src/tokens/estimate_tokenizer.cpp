#include "tokens/estimate_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "tokens/estimate_features.hpp"
#include "tokens/estimate_weights.hpp"
#include "tokens/model_table.hpp"

namespace undertext {
namespace {

class EstimateTokenizer final : public Tokenizer {
 public:
  EstimateTokenizer(std::string name, Vocabulary like, std::int64_t per_mille)
      : name_(std::move(name)) {
    for (std::size_t i = 0; i < feature_count; ++i)
      weights_[i] = feature_weights[i][static_cast<std::size_t>(like)] * per_mille;
  }

  std::string_view name() const noexcept override { return name_; }
  bool is_exact() const noexcept override { return false; }

  std::uint64_t count(std::string_view text) const override {
    if (text.empty()) return 0;
    const Features features = features_of(text);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < feature_count; ++i)
      sum += weights_[i] * static_cast<std::int64_t>(features[i]);
    constexpr std::int64_t token = weight_of_token * 1000;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, (sum + token / 2) / token));
  }

  Result<std::vector<std::uint32_t>> encode(std::string_view) const override {
    return Error{ErrorCode::unsupported,
                 "\"" + name_ + "\" only estimates how many tokens there are; it has none to show",
                 "tokenizer"};
  }

 private:
  std::string name_;
  std::array<std::int64_t, feature_count> weights_;
};

// As models.json calls them, in the order of the enum.
constexpr std::array<std::string_view, vocabulary_count> weight_names = {
    "o200k", "cl100k", "llama3", "qwen", "deepseek", "gemini", "claude_2"};

std::optional<Vocabulary> weights_named(std::string_view name) {
  const auto found = std::find(weight_names.begin(), weight_names.end(), name);
  if (found == weight_names.end()) return std::nullopt;
  return static_cast<Vocabulary>(found - weight_names.begin());
}

}  // namespace

bool has_weights(std::string_view name) { return weights_named(name).has_value(); }

std::shared_ptr<const Tokenizer> estimate_tokenizer(std::string_view family) {
  static const std::shared_ptr<const Tokenizer> general =
      std::make_shared<EstimateTokenizer>("estimate", Vocabulary::o200k, 1000);
  if (family.empty()) return general;
  const EstimateRow* row = model_table().find_estimate(family);
  if (row == nullptr) return nullptr;
  return std::make_shared<EstimateTokenizer>("estimate:" + row->name, *weights_named(row->weights),
                                             row->per_mille);
}

}  // namespace undertext
