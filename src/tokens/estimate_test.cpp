#include "tokens/estimate.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tokens/estimate_tokenizer.hpp"
#include "tokens/message_tokens.hpp"

namespace undertext {
namespace {

TEST(EstimateTokens, IsTheEstimatedTextAndTheCostsOfTheDefaultProfile) {
  for (
      const char* json :
      {R"({"role":"user","content":"Hello, world"})", R"({"role":"tool","content":""})",
       R"({"role":"user","content":[{"type":"text","text":"Look:"},{"type":"image"}]})",
       R"({"role":"assistant","content":null,"toolCalls":[{"id":"c","name":"read_file","arguments":{"path":"a"}}]})"}) {
    const Message message = Message::parse(json).value();
    EXPECT_EQ(estimate_tokens(message),
              count_message_tokens(message, *estimate_tokenizer(""), default_cost_profile()))
        << json;
  }
  EXPECT_EQ(estimate_tokens(Message::parse(R"({"role":"user","content":"Hello, world"})").value()),
            4u + 3u);
}

}  // namespace
}  // namespace undertext
