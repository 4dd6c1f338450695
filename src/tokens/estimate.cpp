#include "tokens/estimate.hpp"

#include "tokens/estimate_tokenizer.hpp"
#include "tokens/message_tokens.hpp"

namespace undertext {

std::uint32_t estimate_tokens(const Message& message) {
  static const std::shared_ptr<const Tokenizer> tokenizer = estimate_tokenizer("");
  return count_message_tokens(message, *tokenizer, default_cost_profile());
}

}  // namespace undertext
