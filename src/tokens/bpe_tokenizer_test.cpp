// The fast way against the definition, with small vocabularies; and vocabulary files that are
// damaged.
#include "tokens/bpe_tokenizer.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tokens/small_vocabulary.hpp"
#include "tokens/valid_text.hpp"

namespace undertext {
namespace {

std::uint64_t seed() {
  const char* given = std::getenv("SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20240501;
}

// Text of few different characters, so that pieces repeat and merges meet.
std::string random_text(std::mt19937_64& random, std::size_t size) {
  static const std::vector<std::string> alphabets[] = {
      {"a", "b", "a", "b", "c", " "},
      {"=", "=", "=", "-", "\n"},
      {"你", "好", "世", "界", "的", "一", "，", "a", " "},
      {"п", "р", "и", "в", "е", "т", " ", "А"},
      {"ก", "า", "ร", "่", " ", "1", "2"},
      {"😀", "👍", "e", "E", "'s", "\u0301", "\xFF", "\xE4\xBD", "/"},
  };
  const std::vector<std::string>& alphabet = alphabets[random() % std::size(alphabets)];
  std::string text;
  while (text.size() < size) text += alphabet[random() % alphabet.size()];
  return text;
}

TEST(BpeTokenizer, GivesWhatMergingByDefinitionGives) {
  SCOPED_TRACE("SEED=" + std::to_string(seed()));
  std::mt19937_64 random(seed());
  for (int round = 0; round < 60; ++round) {
    const auto pattern = static_cast<SplitPattern>(random() % split_pattern_count);
    std::string storage;
    const std::string lesson(
        valid_text(random_text(random, 200 + random() % 1500) + random_text(random, 400), storage));
    const SmallVocabulary vocabulary = learn_vocabulary(lesson, pattern, random() % 300, random);
    for (int i = 0; i < 40; ++i) {
      const std::string text = random_text(random, random() % (i % 10 == 0 ? 3000 : 120));
      const std::vector<std::uint32_t> expected = vocabulary.plain->encode(text).value();
      ASSERT_EQ(vocabulary.fast->encode(text).value(), expected) << text;
      ASSERT_EQ(vocabulary.fast->count(text), expected.size()) << text;
      ASSERT_EQ(vocabulary.fast->count(text), expected.size()) << "the second time: " << text;
    }
  }
}

TEST(BpeTokenizer, RunsOfOneByteOfAnyLengthCountWhatTheyEncodeTo) {
  std::uint32_t state = 1;
  const SmallVocabulary vocabulary =
      learn_vocabulary(std::string(40, '\0') + "aaaa bbbb ====", SplitPattern::o200k, 20,
                       [&state] { return state = state * 1664525 + 1013904223; });
  for (const char byte : {'\0', '\x01', ' ', '=', 'a', '\x7f'}) {
    for (std::size_t size = 1; size < 80; ++size) {
      const std::string text(size, byte);
      const std::size_t tokens = vocabulary.plain->encode(text).value().size();
      for (int time = 0; time < 2; ++time)
        EXPECT_EQ(vocabulary.fast->count(text), tokens) << size << " times " << int{byte};
    }
  }
}

TEST(BpeTokenizer, ThreadsAndVocabulariesDoNotDisturbEachOther) {
  std::mt19937_64 random(7);
  const SmallVocabulary first =
      learn_vocabulary("aaabbb ab ab aab", SplitPattern::o200k, 10, random);
  const SmallVocabulary second =
      learn_vocabulary("baba baba abba", SplitPattern::cl100k, 5, random);
  const SmallVocabulary third = learn_vocabulary("bb bb", SplitPattern::gpt2, 1, random);
  for (int round = 0; round < 3; ++round) {
    for (const SmallVocabulary* vocabulary : {&first, &second, &third, &first}) {
      EXPECT_EQ(vocabulary->fast->count("abba baab aaabbb"),
                vocabulary->plain->count("abba baab aaabbb"));
    }
  }
}

TEST(BpeTokenizer, InvalidPartsCountAsTheReplacementCharacter) {
  std::mt19937_64 random(3);
  const SmallVocabulary vocabulary =
      learn_vocabulary("a\uFFFDa\uFFFD\uFFFD", SplitPattern::o200k, 4, random);
  const auto ids = [&](std::string_view text) { return vocabulary.fast->encode(text).value(); };
  EXPECT_EQ(ids("a\xFF"
                "b"),
            ids("a\uFFFDb"));
  EXPECT_EQ(ids("\xE4\xBD"), ids("\uFFFD"));  // cut off: one part
  EXPECT_EQ(ids("\xE4\xE4"), ids("\uFFFD\uFFFD"));
  // a surrogate: no byte of it can begin anything
  EXPECT_EQ(ids("\xED\xA0\x80"), ids("\uFFFD\uFFFD\uFFFD"));
  EXPECT_EQ(ids("\xF0\x9F\x98x"), ids("\uFFFDx"));
  EXPECT_EQ(ids("\xC0\x80"), ids("\uFFFD\uFFFD"));
  EXPECT_EQ(vocabulary.fast->count("\xFF"), vocabulary.fast->count("\uFFFD"));
}

// A file's bytes at an address that open() takes.
struct Copy {
  explicit Copy(std::string_view file)
      : bytes(static_cast<char*>(::operator new(file.size() + 1, std::align_val_t{64}))),
        size(file.size()) {
    std::memcpy(bytes, file.data(), size);
  }
  Copy(const Copy&) = delete;
  ~Copy() { ::operator delete(bytes, std::align_val_t{64}); }
  Result<std::shared_ptr<BpeVocabulary>> open() const {
    return BpeVocabulary::open({bytes, size}, nullptr);
  }
  char* bytes;
  std::size_t size;
};

class VocabularyFile : public testing::Test {
 protected:
  std::mt19937_64 random_{seed()};
  const SmallVocabulary vocabulary_ = learn_vocabulary("the cat and the hat 你好你好世界 aaaaaaaa",
                                                       SplitPattern::o200k, 60, random_);
  const std::string file_ = make_vocabulary(vocabulary_.source).value();
};

TEST_F(VocabularyFile, OpensAsItWasMade) {
  const Copy copy(file_);
  const std::shared_ptr<BpeVocabulary> opened = copy.open().value();
  EXPECT_EQ(opened->facts().name, "small");
  EXPECT_EQ(opened->token_count(), vocabulary_.source.tokens.size());
  const BpeTokenizer tokenizer(opened);
  EXPECT_EQ(tokenizer.encode("the cat 你好").value(),
            vocabulary_.plain->encode("the cat 你好").value());
}

TEST_F(VocabularyFile, CutShortOrOfAnotherKindIsCorrupt) {
  for (std::size_t size = 0; size < file_.size(); size += 1 + size / 7) {
    EXPECT_EQ(Copy(std::string_view(file_).substr(0, size)).open().error().code, ErrorCode::corrupt)
        << size;
  }
  EXPECT_EQ(Copy(file_ + "x").open().error().code, ErrorCode::corrupt);
  EXPECT_EQ(Copy(std::string(file_.size(), 'x')).open().error().code, ErrorCode::corrupt);
}

TEST_F(VocabularyFile, WithAnyBitTurnedIsCorrupt) {
  for (int i = 0; i < 300; ++i) {
    std::string damaged = file_;
    const std::size_t at = i < 200 ? static_cast<std::size_t>(i) : random_() % damaged.size();
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random_() % 8));
    EXPECT_EQ(Copy(damaged).open().error().code, ErrorCode::corrupt) << at;
  }
}

// Somebody who makes the checksum fit can make counts wrong, and nothing else: the address
// sanitizer watches this test.
TEST_F(VocabularyFile, TamperedWithIsRefusedOrCountsSomething) {
  const std::string text = "the cat and the hat 你好你好世界 aaaaaaaaaaaaaaaaaaaa " +
                           std::string(400, 'a') + " \xFFzz 世界世界世界";
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = file_;
    VocabularyHeader header;
    std::memcpy(&header, damaged.data(), sizeof header);
    for (std::uint64_t times = 1 + random_() % 4; times > 0; --times) {
      const VocabularyHeader::Place place = header.sections[random_() % section_count];
      const std::size_t at = random_() % 8 == 0 ? random_() % sizeof header
                                                : place.offset + random_() % (4 * place.count);
      if (at < damaged.size()) damaged[at] = static_cast<char>(random_());
    }
    std::memcpy(&header, damaged.data(), sizeof header);
    header.checksum = 0;
    header.checksum = vocabulary_checksum({reinterpret_cast<const char*>(&header), sizeof header}) ^
                      vocabulary_checksum(std::string_view(damaged).substr(sizeof header));
    std::memcpy(damaged.data(), &header, sizeof header);
    const Copy copy(damaged);
    Result<std::shared_ptr<BpeVocabulary>> opened = copy.open();
    if (!opened) continue;
    const BpeTokenizer tokenizer(*opened);
    (void)tokenizer.count(text);
    (void)tokenizer.encode(text);
  }
}

}  // namespace
}  // namespace undertext
