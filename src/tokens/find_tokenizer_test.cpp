#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/tokenizer.hpp>

#include "base/json_text.hpp"
#include "tokens/make_vocabulary.hpp"
#include "tokens/tiktoken_file.hpp"
#include "tokens/vocabulary_folders.hpp"

namespace undertext {
namespace {

std::string base64(std::string_view bytes) {
  static constexpr char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? letters[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

// All bytes, in an order of their own as in the real files, and these tokens.
std::string ranks(const std::vector<std::string>& tokens) {
  std::string text;
  for (int rank = 0; rank < 256; ++rank)
    text +=
        base64(std::string(1, static_cast<char>(255 - rank))) + " " + std::to_string(rank) + "\n";
  for (std::size_t i = 0; i < tokens.size(); ++i)
    text += base64(tokens[i]) + " " + std::to_string(256 + i) + "\n";
  return text;
}

class FindTokenizer : public testing::Test {
 protected:
  FindTokenizer() {
    std::string name = ::testing::TempDir() + "undertext-vocabulary-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~FindTokenizer() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view bytes) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(FindTokenizer, TheEstimateIsAlwaysThere) {
  const std::shared_ptr<const Tokenizer> estimate = find_tokenizer("estimate").value();
  EXPECT_FALSE(estimate->is_exact());
  EXPECT_FALSE(find_tokenizer("claude-sonnet-4-5").value()->is_exact());
}

TEST_F(FindTokenizer, ANameThatNobodyKnowsIsNotFound) {
  EXPECT_EQ(find_tokenizer("no-such-thing").error().code, ErrorCode::not_found);
  EXPECT_EQ(find_tokenizer("").error().code, ErrorCode::not_found);
  EXPECT_EQ(find_tokenizer("./no/such/tokenizer.json").error().code, ErrorCode::not_found);
}

TEST_F(FindTokenizer, ReadsRanksByTheirPath) {
  const std::string path = write("o200k_tiny.tiktoken", ranks({"ab", "abc", " a"}));
  const std::shared_ptr<const Tokenizer> tokenizer = find_tokenizer(path).value();
  EXPECT_TRUE(tokenizer->is_exact());
  EXPECT_EQ(tokenizer->name(), "o200k_tiny");
  EXPECT_EQ(tokenizer->encode("abc a").value(), (std::vector<std::uint32_t>{257, 258}));
  EXPECT_EQ(tokenizer->count("abc a"), 2u);
  EXPECT_EQ(find_tokenizer(path).value(), tokenizer) << "a vocabulary is loaded once";
}

TEST_F(FindTokenizer, SaysWhatIsWrongWithRanks) {
  EXPECT_EQ(find_tokenizer(write("mine.tiktoken", ranks({}))).error().code, ErrorCode::unsupported);
  EXPECT_EQ(find_tokenizer(write("o200k_a.tiktoken", "YQ== 0\n")).error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(find_tokenizer(write("o200k_b.tiktoken", "YQ==0\n")).error().code, ErrorCode::corrupt);
  EXPECT_EQ(find_tokenizer(write("o200k_c.tiktoken", "")).error().code, ErrorCode::corrupt);
  EXPECT_EQ(find_tokenizer(write("o200k_d.tiktoken", "Y!== 0\n")).error().code, ErrorCode::corrupt);
  EXPECT_EQ(find_tokenizer(write("o200k_e.tiktoken", ranks({"abc"}))).error().code,
            ErrorCode::unsupported)
      << "no merge makes it";
}

TEST_F(FindTokenizer, AVocabularyFileIsMappedAndADamagedOneIsCorrupt) {
  const std::string file =
      make_vocabulary(read_tiktoken_file(ranks({"ab"}), "o200k_x.tiktoken").value()).value();
  EXPECT_EQ(find_tokenizer(write("x.vocabulary", file)).value()->count("abab"), 2u);
  EXPECT_EQ(find_tokenizer(write("y.vocabulary", file.substr(0, file.size() / 2))).error().code,
            ErrorCode::corrupt);
  EXPECT_EQ(find_tokenizer(write("z.vocabulary", "")).error().code, ErrorCode::corrupt);
}

// Frozen answers of tiktoken.
TEST(Vectors, O200kAndCl100kGiveTheTokensOfTiktoken) {
  const std::filesystem::path path =
      std::filesystem::path(__FILE__).parent_path() / "../../tests/tokens/vectors/tiktoken.jsonl";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  for (const char* name : {"o200k_base", "cl100k_base"}) {
    const Result<std::shared_ptr<const Tokenizer>> tokenizer = find_tokenizer(name);
    if (!tokenizer) GTEST_SKIP() << "vocabularies: " << tokenizer.error().message;
    EXPECT_EQ((*tokenizer)->name(), name);
    file.clear();
    file.seekg(0);
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line); ++lines) {
      const JsonText json = JsonText::parse(line, {}).value();
      const std::string text = json.root().find("text")->string();
      std::vector<std::uint32_t> expected;
      for (const JsonValue id : json.root().find(name)->elements())
        expected.push_back(static_cast<std::uint32_t>(*id.int64()));
      EXPECT_EQ((*tokenizer)->encode(text).value(), expected) << name << ": " << text;
      EXPECT_EQ((*tokenizer)->count(text), expected.size()) << name << ": " << text;
    }
    EXPECT_GT(lines, 100u);
  }
}

}  // namespace
}  // namespace undertext
