#include "cli/shell.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

using Words = std::vector<std::string>;

TEST(Shell, ALineIsSplitAsAShellWould) {
  EXPECT_EQ(*split_words(""), Words{});
  EXPECT_EQ(*split_words("  show   -n 3 "), (Words{"show", "-n", "3"}));
  EXPECT_EQ(*split_words(R"(append "two words" 'it "is"' a\ b "\"q\\")"),
            (Words{"append", "two words", "it \"is\"", "a b", "\"q\\"}));
  EXPECT_EQ(*split_words(R"('' "" x"y"'z')"), (Words{"", "", "xyz"}));
  EXPECT_EQ(*split_words(R"("a\n")"), (Words{"a\\n"}));
  EXPECT_FALSE(split_words("append 'not closed"));
}

}  // namespace
}  // namespace undertext
