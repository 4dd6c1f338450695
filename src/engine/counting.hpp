// How a conversation counts: a tokenizer, and what a provider charges for what is no text.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <undertext/error.hpp>
#include <undertext/message.hpp>
#include <undertext/tokenizer.hpp>

namespace undertext {

struct Counting {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::function<std::uint32_t(const Message&)> count_message;
};

// `name` as find_tokenizer() takes it. A model's name brings that model's charges too.
Result<Counting> counting_by(std::string_view name);

}  // namespace undertext
