// What a model is asked for: the sections of a digest, and what it need not say.
#include "endpoint/prompt.hpp"

#include <gtest/gtest.h>

#include "compression/digest_form.hpp"

namespace undertext {
namespace {

bool has(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

const Transcript transcript{"[f 1 user]\nHello\n", "f"};

TEST(Prompt, AsksForTheSectionsOfADigestAndSaysWhatStaysVisible) {
  const std::string body = request_body({.base_url = "http://x", .model = "m"}, transcript,
                                        {.tokens_max = 100, .messages_after = 3});
  std::size_t at = 0;
  for (const digest::Section section :
       {digest::Section::constraints, digest::Section::request, digest::Section::plan,
        digest::Section::changes, digest::Section::results, digest::Section::errors,
        digest::Section::attempts, digest::Section::last_reply, digest::Section::next_step,
        digest::Section::commands, digest::Section::urls, digest::Section::numbers,
        digest::Section::files}) {
    at = body.find("- " + std::string(digest::heading(section)) + ": ", at);
    EXPECT_NE(at, std::string::npos) << digest::heading(section);
  }
  EXPECT_TRUE(has(body, "Code that was just written and is not finished may be quoted."));
  EXPECT_TRUE(has(body, "The reader also sees the 3 messages that follow"));
}

TEST(Prompt, SaysWhereWhatStaysIsShown) {
  const std::string body = request_body({.base_url = "http://x", .model = "m"}, transcript,
                                        {.tokens_max = 100, .messages_after = 3, .shown_from = 8});
  EXPECT_TRUE(has(body,
                  "they need no summary. The frames from 8 on show them in short: do not repeat "
                  "what they say."));
}

TEST(Prompt, OneOfTheUsersTakesThePlaceOfItButNotOfWhatStays) {
  const std::string body =
      request_body({.base_url = "http://x", .model = "m", .prompt = "A haiku."}, transcript,
                   {.tokens_max = 100, .messages_after = 1});
  EXPECT_FALSE(has(body, "Changed files"));
  EXPECT_TRUE(has(body, "The reader also sees the 1 message that follows"));
  EXPECT_FALSE(
      has(request_body({.base_url = "http://x", .model = "m"}, transcript, {.tokens_max = 9}),
          "The reader also sees"));
}

}  // namespace
}  // namespace undertext
