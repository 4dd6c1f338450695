// How a conversation counts: a tokenizer, and what a provider charges for what is no text.
//
//     counting_by("gpt-4o")                       a model: its tokenizer, or the estimate of it, and its costs
//     counting_by("o200k_base")                   a tokenizer, with the default costs
//     counting_by("o200k_base+anthropic")         both
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <undertext/error.hpp>
#include <undertext/message.hpp>
#include <undertext/tokenizer.hpp>

#include "tokens/cost_profile.hpp"

namespace undertext {

struct Counting {
  std::string name;  // as counting_by() took it
  std::shared_ptr<const Tokenizer> tokenizer;
  const CostProfile* costs;  // lives as long as the process

  std::function<std::uint32_t(const Message&)> counter() const;
  // Whether that is exact: the tokenizer is, and every figure that the message needs.
  bool is_exact(const Message& message) const;
  // The same of a text in a message of its own: what is false here is false of every message.
  bool is_exact() const;
};

// not_found: as find_tokenizer(), or no such costs.
Result<Counting> counting_by(std::string_view name);

// The name for counting_by() of what was set; what is empty was not. The costs are the model's
// where a tokenizer is set besides. An unknown model is estimated.
std::string counting_name(std::string_view model, std::string_view tokenizer,
                          std::string_view costs);

}  // namespace undertext
