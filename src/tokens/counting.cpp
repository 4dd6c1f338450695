#include "tokens/counting.hpp"

#include <undertext/models.hpp>

#include "tokens/message_tokens.hpp"
#include "tokens/model_table.hpp"

namespace undertext {
namespace {

struct CountingName {
  std::string_view tokenizer;
  const CostProfile* costs;  // null: those that come with the tokenizer
};

// A path may have a '+' in it too: what is behind the last one must be costs.
CountingName parts_of(std::string_view name) {
  const std::size_t plus = name.rfind('+');
  const CostProfile* costs =
      plus == std::string_view::npos ? nullptr : find_cost_profile(name.substr(plus + 1));
  return {costs != nullptr ? name.substr(0, plus) : name, costs};
}

}  // namespace

std::function<std::uint32_t(const Message&)> Counting::counter() const {
  return [by = *this](const Message& message) {
    return count_message_tokens(message, *by.tokenizer, *by.costs);
  };
}

bool Counting::is_exact() const {
  return tokenizer->is_exact() && costs->message.certainty == Certainty::exact;
}

bool Counting::is_exact(const Message& message) const {
  return is_exact() && are_message_tokens_exact(message, *costs);
}

Result<Counting> counting_by(std::string_view name) {
  const CountingName parts = parts_of(name);
  Result<std::shared_ptr<const Tokenizer>> tokenizer = find_tokenizer(parts.tokenizer);
  if (!tokenizer) {
    Error error = tokenizer.error();
    if (error.field.empty()) error.field = "tokenizer";
    return error;
  }
  return Counting{std::string(name), *tokenizer,
                  parts.costs != nullptr ? parts.costs : &cost_profile_for_model(parts.tokenizer)};
}

std::string counting_name(std::string_view model, std::string_view tokenizer,
                          std::string_view costs) {
  const bool is_known = find_model(model).is_known();
  // The model by its plain name: what stands before a slash is not taken for the path of a file,
  // and other spellings make no other count.
  const std::string by = !tokenizer.empty() ? std::string(tokenizer)
                         : is_known         ? model_name(model).dated
                                            : "estimate";
  const CountingName parts = parts_of(by);
  if (costs.empty() && parts.costs != nullptr) return by;
  const std::string& own = cost_profile_for_model(parts.tokenizer).name;
  const std::string wanted = !costs.empty() ? std::string(costs)
                             : is_known     ? cost_profile_for_model(model).name
                                            : own;
  return wanted == own ? std::string(parts.tokenizer) : std::string(parts.tokenizer) + "+" + wanted;
}

}  // namespace undertext
