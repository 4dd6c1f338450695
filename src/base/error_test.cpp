#include <undertext/error.hpp>

#include <set>

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(Error, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (std::size_t code = 0; code < error_code_count; ++code)
    names.insert(name(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names, (std::set<std::string_view>{"invalid_argument", "not_found", "conflict",
                                               "cannot_fit", "corrupt", "unavailable",
                                               "unsupported", "too_large", "internal", "denied"}));
}

TEST(Error, asking_for_a_value_that_is_not_there_throws_the_error) {
  const Result<int> missing =
      Error{.code = ErrorCode::not_found, .message = "no such thing", .field = "thing"};
  try {
    static_cast<void>(missing.value());
    FAIL() << "no exception";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().field, "thing");
    EXPECT_STREQ(failure.what(), "no such thing");
  }
  EXPECT_EQ(Result<int>(7).value(), 7);
}

}  // namespace
}  // namespace undertext
