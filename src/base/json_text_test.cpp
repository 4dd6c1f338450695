#include "base/json_text.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

using namespace std::string_literals;

void accepts(std::string_view text, const JsonLimits& limits = {}) {
  const Result<JsonText> read = JsonText::parse(text, limits);
  EXPECT_TRUE(read) << text << ": " << read.error().message;
}

void refuses(std::string_view text, std::uint64_t byte_offset, std::string_view message = "") {
  const Result<JsonText> read = JsonText::parse(text, {});
  ASSERT_FALSE(read) << text;
  EXPECT_EQ(read.error().code, ErrorCode::invalid_argument) << text;
  EXPECT_EQ(read.error().byte_offset, byte_offset) << text << ": " << read.error().message;
  EXPECT_NE(read.error().message.find(message), std::string::npos)
      << text << ": " << read.error().message;
}

std::string decoded(std::string_view text) {
  return JsonText::parse(text, {}).value().root().string();
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

TEST(JsonText, everything_RFC_8259_allows_is_accepted) {
  for (const char* literal_or_number :
       {"null", "true", "false", "0", "-0", "1", "-1", "10", "0.5", "-0.0", "1e5", "1E+5", "1e-5",
        "0e0", "123.456e78", "1e400", "123456789012345678901234567890", " \t\n\r1 \t\n\r"})
    accepts(literal_or_number);
  for (const char* string : {R"("")", R"("a")", R"("\/\\\"\b\f\n\r\t")", R"("\u0000")",
                             R"("\uD83D\uDE00")", R"("\ud83d")", R"("\ude00\ud83d")", "\"\x7f\"",
                             "\"\xc2\x80\"", "\"\xef\xbb\xbf\"", "\"\xef\xbf\xbf\""})
    accepts(string);
  for (const char* nested :
       {"[]", "{}", "[[]]", "[{}]", "[1,2]", "[ 1 , 2 ]", R"([null,true,false,"",0,{},[]])",
        R"({"":0})", R"({"a":{}})", R"({"a":1,"A":2})", R"({"a":1,"b":{"a":1}})",
        R"({ "a" : 1 , "b" : [ ] })"})
    accepts(nested);
}

TEST(JsonText, anything_else_is_refused_with_its_byte_and_a_reason) {
  struct Case {
    std::string_view text;
    std::uint64_t byte_offset;
    std::string_view message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"", 0, "expected a value at byte 0, where the text ends"},
           {"  ", 2, "expected a value"},
           {"\xef\xbb\xbf{}", 0, "expected a value"},
           {"1 2", 2, "expected nothing after the value"},
           {"{}}", 2, "expected nothing after the value"},
           {"nul", 0, "expected a value"},
           {"nulll", 4, "expected nothing"},
           {"True", 0, "expected a value"},
           {"NaN", 0, "expected a value"},
           {"-Infinity", 0, "expected a digit after '-'"},
           {"+1", 0, "expected a value"},
           {".5", 0, "expected a value"},
           {"-", 0, "expected a digit after '-'"},
           {"01", 0, "needless zero"},
           {"-012", 0, "needless zero"},
           {"1.", 2, "expected a digit after '.'"},
           {"1.e3", 2, "expected a digit after '.'"},
           {"1e", 2, "exponent"},
           {"1e+", 3, "exponent"},
           {"0x1", 1, "expected nothing"},
           {"1_000", 1, "expected nothing"},
           {"'a'", 0, "expected a value"},
           {"[", 1, "expected a value"},
           {"[1", 2, "expected ',' or ']' after an element at byte 2, where the text ends"},
           {"[1 2]", 3, "expected ',' or ']'"},
           {"[1,]", 3, "expected a value"},
           {"[,1]", 1, "expected a value"},
           {"[1}", 2, "expected ',' or ']'"},
           {"]", 0, "expected a value"},
           {"{", 1, "expected a key in quotes"},
           {R"({"a")", 4, "expected ':' after the key at byte 4"},
           {R"({"a"1})", 4, "expected ':' after the key"},
           {R"({"a":})", 5, "expected a value"},
           {R"({"a":1)", 6, "expected ',' or '}' after a member"},
           {R"({"a":1,})", 7, "expected a key in quotes"},
           {R"({"a":1]})", 6, "expected ',' or '}'"},
           {"{a:1}", 1, "expected a key in quotes"},
           {"{1:1}", 1, "expected a key in quotes"},
           {"[1,/**/2]", 3, "expected a value"},
           {R"("a)", 2, "not closed"},
           {R"("a\)", 3, "not closed"},
           {R"("a\")", 4, "not closed"},
           {R"("\x41")", 1, "unknown escape"},
           {R"("ab\'")", 3, "unknown escape"},
           {R"("\u12")", 1, "four hexadecimal digits"},
           {R"("\u12G4")", 1, "four hexadecimal digits"},
           {R"("\u)", 1, "four hexadecimal digits"},
           {"\"a\nb\"", 2, "control character"},
           {"\"12345678\t\"", 9, "control character"},
           {std::string_view("\"\0\"", 3), 1, "control character"},
           {std::string_view("1\0", 2), 1, "expected nothing"},
           {std::string_view("\0", 1), 0, "expected a value"},
           {"[\xc3\xa9]", 1, "expected a value"},
       })
    refuses(c.text, c.byte_offset, c.message);
}

// The offset must not depend on where the string stands to the words of eight bytes that it is read
// in.
TEST(JsonText, invalid_UTF_8_is_refused_at_the_first_byte_of_the_bad_sequence) {
  const std::string bad[] = {
      "\x80",
      "\xbf",  // lone continuation bytes
      "\xc0\x80",
      "\xc1\xbf",
      "\xe0\x80\x80",
      "\xe0\x9f\xbf",
      "\xf0\x80\x80\x80",
      "\xf0\x8f\xbf\xbf",  // overlong
      "\xed\xa0\x80",
      "\xed\xbf\xbf",  // surrogates
      "\xf4\x90\x80\x80",
      "\xf5\x80\x80\x80",
      "\xff",
      "\xfe",  // beyond U+10FFFF, and never bytes of UTF-8
      "\xc3",
      "\xe2\x82",
      "\xf0\x9f\x98",
      "\xe2",
      "\xf0",  // truncated
      "\xc3\x28",
      "\xe2\x28\xa1",
      "\xe2\x82\x28",
      "\xf0\x28\x8c\xbc",
      "\xf0\x9f\x28\xbc",
      "\xf0\x9f\x98\x28",
  };
  for (const std::string& bytes : bad)
    for (std::size_t before = 0; before < 20; ++before)
      for (const std::string_view good : {"x", "\xc3\xa9"}) {
        const std::string text = "\"" + repeated(good, before) + bytes;
        refuses(text + "\"", 1 + before * good.size(), "invalid UTF-8");
        refuses(text + "and more text\"", 1 + before * good.size(), "invalid UTF-8");
        refuses(text, 1 + before * good.size(), "invalid UTF-8");
      }
}

TEST(JsonText, the_first_and_last_character_of_each_UTF_8_length_is_accepted) {
  for (const std::string_view character :
       {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    for (std::size_t before = 0; before < 10; ++before) {
      const std::string body = std::string(before, 'x') + std::string(character) + "yyyyyyyy";
      EXPECT_EQ(decoded('"' + body + '"'), body);
    }
}

TEST(JsonText, every_byte_of_a_string_is_seen_wherever_it_stands) {
  for (std::size_t before = 0; before < 20; ++before) {
    const std::string plain(before, 'x');
    EXPECT_EQ(decoded('"' + plain + R"(\n")"), plain + "\n");
    EXPECT_EQ(decoded('"' + plain + "\x7f~ !#[]\""), plain + "\x7f~ !#[]");
    for (int control = 0; control < 0x20; ++control) {
      const std::string text = '"' + plain + static_cast<char>(control) + "yyyyyyyyyyyy\"";
      refuses(text, 1 + before, "control character");
    }
  }
}

TEST(JsonText, nesting_is_allowed_up_to_the_limit_which_the_error_names) {
  accepts(repeated("[", 128) + repeated("]", 128));
  accepts(repeated(R"({"a":)", 128) + "1" + repeated("}", 128));
  refuses(repeated("[", 129) + repeated("]", 129), 128, "limit of 128");
  refuses(repeated(R"({"a":)", 129) + "1" + repeated("}", 129), 128 * 5, "limit of 128");
  accepts("1", {.depth = 0});
  EXPECT_FALSE(JsonText::parse("[]", {.depth = 0}));
  accepts(repeated("[", 100'000) + repeated("]", 100'000), {.depth = 100'000});
  refuses(repeated("[", 1'000'000), 128, "limit of 128");
  accepts("[" + repeated("[[]],", 1000) + "[]]", {.depth = 3});
}

TEST(JsonText, a_key_twice_in_one_object_is_refused_and_named) {
  const auto repeats = [](const std::string& text, std::uint64_t byte_offset,
                          std::string_view key) {
    refuses(text, byte_offset, "twice");
    EXPECT_EQ(JsonText::parse(text, {}).error().field, key) << text;
  };
  repeats(R"({"a":1,"a":2})", 7, "a");
  repeats(R"({"":1,"":2})", 6, "");
  repeats(R"({"a":1,"\u0061":2})", 7, "a");
  repeats(R"({"\u0061":1,"a":2})", 12, "a");
  repeats(R"({"a\/":1,"a/":2})", 9, "a/");
  repeats(R"({"x":[{"é":1,"b":{"é":1},"\u00e9":2}]})", 27, "é");
  std::string many = R"({"k0":0)";
  for (int i = 1; i < 20; ++i) many += ",\"k" + std::to_string(i) + "\":0";
  accepts(many + "}");
  repeats(many + R"(,"k7":0})", many.size() + 1, "k7");
  repeats(many + R"(,"\u006b3":0,"k7":0,"k3":0})", many.size() + 1, "k3");
  const std::string long_key(1000, 'k');
  repeats("{\"" + long_key + "\":1,\"" + long_key + "\":2}", 1006, "");
}

TEST(JsonText, keys_that_differ_only_in_lone_surrogates_are_different_keys) {
  accepts(R"({"\ud800":1,"\ud801":2,"\ufffd":3})");
  refuses(R"({"\ud800":1,"\uD800":2})", 12, "twice");
}

TEST(JsonText, a_million_keys_are_checked_in_no_long_time) {
  std::string text = "{";
  for (int i = 0; i < 1'000'000; ++i)
    text += "\"key " + std::to_string(i * 7919LL % 1'000'003) + "\":0,";
  const std::string repeated_key = text + "\"key 7919\":0}";
  text.back() = '}';
  const Result<JsonText> read = JsonText::parse(text, {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->root().count(), 1'000'000u);
  refuses(repeated_key, text.size(), "the key \"key 7919\" twice");
}

TEST(JsonText, values_are_handed_back_as_spelled) {
  const std::string text =
      R"( {"n": 1.50e+007, "big":123456789012345678901234567890,"s":"\u0041\/", "a" : [ 1 , {} ] } )";
  const Result<JsonText> read = JsonText::parse(text, {});
  ASSERT_TRUE(read);
  const JsonValue root = read->root();
  EXPECT_EQ(root.raw(), std::string_view(text).substr(1, text.size() - 2));
  EXPECT_EQ(root.find("n")->raw(), "1.50e+007");
  EXPECT_EQ(root.find("big")->raw(), "123456789012345678901234567890");
  EXPECT_EQ(root.find("s")->raw(), R"("\u0041\/")");
  EXPECT_EQ(root.find("s")->string_raw(), R"(\u0041\/)");
  EXPECT_EQ(root.find("s")->string(), "A/");
  EXPECT_EQ(root.find("a")->raw(), "[ 1 , {} ]");
  EXPECT_EQ(root.find("a")->offset(), text.find("[ 1"));
  EXPECT_EQ(root.find("a")->count(), 2u);
  EXPECT_EQ(root.count(), 4u);
  EXPECT_FALSE(root.find("b"));
  EXPECT_FALSE(root.find("a")->find("1"));
}

TEST(JsonText, members_and_elements_come_in_the_order_of_the_text) {
  const JsonText text =
      JsonText::parse(R"({"b":[1,[2,3],{"c":4}],"a":{},"\u0063":"x"})", {}).value();
  std::string seen;
  for (const JsonMember member : text.root().members())
    (seen += member.key.string() += '=') += member.value.raw();
  EXPECT_EQ(seen, R"(b=[1,[2,3],{"c":4}]a={}c="x")");
  seen.clear();
  for (const JsonValue element : text.root().find("b")->elements()) (seen += element.raw()) += ' ';
  EXPECT_EQ(seen, R"(1 [2,3] {"c":4} )");
  EXPECT_TRUE(text.root().find("a")->empty());
  EXPECT_FALSE(text.root().find("b")->empty());
  EXPECT_EQ(text.root().find("c")->string(), "x");
}

TEST(JsonText, strings_decode_to_UTF_8_and_a_lone_surrogate_to_U_FFFD) {
  EXPECT_EQ(decoded(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decoded(R"("\u0000\u001f\u00e9\u20AC\ud83d\ude00")"), "\0\x1fé€😀"s);
  EXPECT_EQ(decoded(R"("a\ud83d")"), "a\xef\xbf\xbd");
  EXPECT_EQ(decoded(R"("\ud83dx")"), "\xef\xbf\xbdx");
  EXPECT_EQ(decoded(R"("\ude00\ud83d")"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(decoded(R"("\ud83d\ud83d\ude00")"), "\xef\xbf\xbd😀");
  EXPECT_EQ(decoded(R"("\ud83d\\ude00")"), "\xef\xbf\xbd\\ude00");
  const JsonText text = JsonText::parse(R"("r\u006fle")", {}).value();
  EXPECT_TRUE(text.root().string_is("role"));
  EXPECT_FALSE(text.root().string_is("rule"));
  EXPECT_FALSE(text.root().string_is(R"(r\u006fle)"));
}

TEST(JsonText, only_numbers_spelled_as_integers_are_integers) {
  struct Case {
    std::string_view text;
    std::optional<std::int64_t> int64;
    std::optional<std::uint64_t> saturated;
  };
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  for (const Case& c : std::initializer_list<Case>{
           {"0", 0, 0u},
           {"-0", 0, 0u},
           {"42", 42, 42u},
           {"-1", -1, {}},
           {"9223372036854775807", std::numeric_limits<std::int64_t>::max(), 9223372036854775807u},
           {"9223372036854775808", {}, 9223372036854775808u},
           {"-9223372036854775808", std::numeric_limits<std::int64_t>::min(), {}},
           {"-9223372036854775809", {}, {}},
           {"18446744073709551615", {}, largest},
           {"18446744073709551616", {}, largest},
           {"123456789012345678901234567890", {}, largest},
           {"1.0", {}, {}},
           {"1e2", {}, {}},
           {"\"1\"", {}, {}},
           {"null", {}, {}},
           {"true", {}, {}},
           {"[1]", {}, {}},
       }) {
    const JsonText text = JsonText::parse(c.text, {}).value();
    EXPECT_EQ(text.root().int64(), c.int64) << c.text;
    EXPECT_EQ(text.root().uint64_saturated(), c.saturated) << c.text;
  }
}

TEST(JsonText, one_table_reads_many_texts_also_after_an_error) {
  JsonText table;
  EXPECT_FALSE(table.read("[1,2,3]", {}));
  EXPECT_TRUE(table.read("[1,", {}));
  EXPECT_FALSE(table.read("{\"a\":true}", {}));
  EXPECT_TRUE(table.root().find("a")->boolean());
  table.release_above(0);
  EXPECT_FALSE(table.read("[false]", {}));
  EXPECT_EQ(table.root().count(), 1u);
}

TEST(JsonText, strings_are_written_with_the_fewest_escapes_and_read_back) {
  const auto written = [](std::string_view utf8) {
    std::string out;
    append_json_string(out, utf8);
    return out;
  };
  EXPECT_EQ(written(""), R"("")");
  EXPECT_EQ(written("a/é\x7f"), "\"a/é\x7f\"");
  EXPECT_EQ(written("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(written("\0\x01\x1f"s), R"("\u0000\u0001\u001f")");
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  EXPECT_EQ(decoded(written(all)), all);
}

TEST(JsonText, every_type_has_a_name_for_people) {
  EXPECT_EQ(name(JsonType::null), "null");
  EXPECT_EQ(name(JsonType::object), "object");
}

}  // namespace
}  // namespace undertext
