#include "tokens/tokenizer_json.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json_text.hpp"
#include "base/utf8.hpp"

namespace undertext {
namespace {

// A byte as byte-level vocabularies write it.
std::string letter(std::uint32_t byte) {
  const auto visible = [](std::uint32_t b) {
    return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b < 256);
  };
  std::string text;
  if (visible(byte)) {
    append_utf8(text, byte);
    return text;
  }
  std::uint32_t hidden = 0;
  for (std::uint32_t b = 0; b < byte; ++b) hidden += visible(b) ? 0u : 1u;
  append_utf8(text, 0x100 + hidden);
  return text;
}

struct Parts {
  std::string normalizer = "null";
  std::string pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";
  std::string model = R"("type":"BPE","dropout":null,"ignore_merges":false)";
  std::vector<std::string> tokens = {"ab", "abc", "Ġa"};
  std::string merges = R"(["a b","ab c","Ġ a"])";
};

std::string json(const Parts& parts) {
  std::string vocabulary;
  std::uint32_t id = 0;
  const auto add = [&](const std::string& token) {
    if (id != 0) vocabulary += ",";
    append_json_string(vocabulary, token);
    vocabulary += ":" + std::to_string(id++);
  };
  for (std::uint32_t byte = 0; byte < 256; ++byte) add(letter(byte));
  for (const std::string& token : parts.tokens) add(token);
  return R"({"version":"1.0","added_tokens":[{"id":999,"content":"<|x|>","special":true}],"normalizer":)" +
         parts.normalizer + R"(,"pre_tokenizer":)" + parts.pre_tokenizer +
         R"(,"post_processor":null,"model":{)" + parts.model + R"(,"vocab":{)" + vocabulary +
         R"(},"merges":)" + parts.merges + "}}";
}

Result<std::shared_ptr<const Tokenizer>> read(const Parts& parts) {
  return read_tokenizer_json(json(parts), "test");
}
std::vector<std::uint32_t> encode(const Parts& parts, std::string_view text) {
  return read(parts).value()->encode(text).value();
}
using Ids = std::vector<std::uint32_t>;

TEST(TokenizerJson, ReadsByteLevelBpe) {
  EXPECT_EQ(encode({}, "abc a"), (Ids{257, 258}));
  EXPECT_EQ(encode({.merges = R"([["a","b"],["ab","c"],["Ġ","a"]])"}, "abc a"), (Ids{257, 258}))
      << "the newer spelling of merges";
  EXPECT_EQ(read({}).value()->count("abc a"), 2u);
  EXPECT_TRUE(read({}).value()->is_exact());
}

TEST(TokenizerJson, AddedTokensAreOrdinaryText) {
  EXPECT_EQ(encode({}, "<|x|>"), (Ids{'<', '|', 'x', '|', '>'}));
}

TEST(TokenizerJson, FollowsTheMergesAndNotTheIds) {
  EXPECT_EQ(encode({.tokens = {"bc", "ab"}, .merges = R"(["a b","b c"])"}, "abc"), (Ids{257, 'c'}));
  EXPECT_EQ(encode({.tokens = {"bc", "ab"}, .merges = R"(["b c","a b"])"}, "abc"), (Ids{'a', 256}));
}

TEST(TokenizerJson, ATokenThatNoMergeMakesIsFoundOnlyAsAWholePieceAndOnlyWhereMergesAreIgnored) {
  const Parts parts{.tokens = {"ab", "xyz"}, .merges = R"(["a b"])"};
  EXPECT_EQ(encode(parts, "xyz"), (Ids{'x', 'y', 'z'}));
  Parts ignoring = parts;
  ignoring.model = R"("type":"BPE","ignore_merges":true)";
  EXPECT_EQ(encode(ignoring, "xyz"), (Ids{257}));
  EXPECT_EQ(encode(ignoring, "xyza"), (Ids{'x', 'y', 'z', 'a'}));
  EXPECT_EQ(read(ignoring).value()->count("xyz ab"), 3u);
}

TEST(TokenizerJson, MergesInAnOrderThatTheFastTablesCannotHoldAreFollowedAllTheSame) {
  // abc is made by two merges with another between them.
  const Parts parts{.tokens = {"ab", "bc", "abc", "cd"},
                    .merges = R"(["a b","ab c","c d","b c","a bc"])"};
  EXPECT_EQ(encode(parts, "abcd"), (Ids{258, 'd'}));
  EXPECT_EQ(encode(parts, "bcd"), (Ids{'b', 259}));
}

TEST(TokenizerJson, KnowsThePatternsOfOtherModels) {
  const auto split = [](const std::string& regex) {
    std::string pre = R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":)";
    append_json_string(pre, regex);
    return pre +
           R"(},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})";
  };
  const std::string qwen =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  EXPECT_EQ(encode({.pre_tokenizer = split(qwen), .tokens = {"12"}, .merges = R"(["1 2"])"}, "12"),
            (Ids{'1', '2'}));
  const Result<std::shared_ptr<const Tokenizer>> unknown =
      read({.pre_tokenizer = split(R"(\w+|\W+)")});
  EXPECT_EQ(unknown.error().code, ErrorCode::unsupported);
  EXPECT_NE(unknown.error().message.find(R"(\w+|\W+)"), std::string::npos)
      << "the message shows the pattern";
}

TEST(TokenizerJson, NormalizesWhereItIsAskedTo) {
  const Parts parts{.normalizer = R"({"type":"NFC"})"};
  EXPECT_EQ(encode(parts, "e\u0301"), encode(parts, "\u00E9"));
  EXPECT_NE(encode({}, "e\u0301"), encode({}, "\u00E9"));
  EXPECT_EQ(read(parts).value()->count("e\u0301"), 2u);
}

TEST(TokenizerJson, AnythingElseIsUnsupportedAndSaysWhat) {
  const auto refused = [](const Parts& parts, std::string_view word) {
    const Result<std::shared_ptr<const Tokenizer>> read_it = read(parts);
    ASSERT_FALSE(read_it);
    EXPECT_EQ(read_it.error().code, ErrorCode::unsupported);
    EXPECT_NE(read_it.error().message.find(word), std::string::npos) << read_it.error().message;
  };
  refused({.normalizer = R"({"type":"NFKC"})"}, "NFKC");
  refused({.pre_tokenizer = R"({"type":"Metaspace"})"}, "pre-tokenizer");
  refused({.pre_tokenizer = "null"}, "pre-tokenizer");
  refused({.pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":true})"}, "space");
  refused({.model = R"("type":"Unigram")"}, "Unigram");
  refused({.model = R"("type":"BPE","byte_fallback":true)"}, "byte fallback");
  refused({.model = R"("type":"BPE","end_of_word_suffix":"</w>")"}, "end_of_word_suffix");
}

TEST(TokenizerJson, WhatIsNoTokenizerJsonIsCorrupt) {
  for (const char* text : {"", "{", "[]", "{}", R"({"model":{}})"}) {
    const Result<std::shared_ptr<const Tokenizer>> result = read_tokenizer_json(text, "x");
    ASSERT_FALSE(result) << text;
    EXPECT_TRUE(result.error().code == ErrorCode::corrupt ||
                result.error().code == ErrorCode::unsupported)
        << text;
  }
  EXPECT_EQ(read({.merges = R"(["a"])"}).error().code, ErrorCode::corrupt);
  EXPECT_EQ(read({.merges = R"(["a z"])"}).error().code, ErrorCode::corrupt);
  EXPECT_EQ(read({.merges = "7"}).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace undertext
