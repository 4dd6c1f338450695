#include "engine/counting.hpp"

#include "tokens/cost_profile.hpp"
#include "tokens/estimate.hpp"
#include "tokens/message_tokens.hpp"

namespace undertext {

Result<Counting> counting_by(std::string_view name) {
  Result<std::shared_ptr<const Tokenizer>> tokenizer = find_tokenizer(name);
  if (!tokenizer) {
    Error error = tokenizer.error();
    if (error.field.empty()) error.field = "tokenizer";
    return error;
  }
  if (name == "estimate") return Counting{*tokenizer, estimate_tokens};
  const CostProfile& profile = cost_profile_for_model(name);
  return Counting{*tokenizer, [tokenizer = *tokenizer, &profile](const Message& message) {
                    return count_message_tokens(message, *tokenizer, profile);
                  }};
}

}  // namespace undertext
