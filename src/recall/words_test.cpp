#include "recall/words.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

bool share_a_word(std::string_view a, std::string_view b) {
  const std::vector<Word> words = text_words(a);
  const AskedWords asked = asked_words(b);
  return std::any_of(words.begin(), words.end(),
                     [&](Word word) { return asked.index_of(word) < asked.size(); });
}

TEST(Words, HaveNoCaseNoAccentsAndNoEndings) {
  for (const auto& [a, b] : {std::pair{"Connections", "connected"},
                             {"migration", "migrations"},
                             {"stories", "STORY"},
                             {"Verbindung", "Verbindungen"},
                             {"Fehler", "Fehlern"},
                             {"Übergröße", "übergröße"},
                             {"café", "CAFE"},
                             {"running", "runs"},
                             {"ПРИВЕТ", "привет"},
                             {"Αθήνα", "ΑΘΗΝΑ"},
                             {"ο λόγος", "λογος"},
                             {"οἱ ἄνθρωποι", "ανθρωποι"},
                             {"Nguyễn Trường", "nguyen"},
                             {"Nguyễn Trường", "TRUONG"},
                             {"người", "ng\u01b0o\u031b\u0300i"}})
    EXPECT_TRUE(share_a_word(a, b)) << a << " " << b;
}

TEST(Words, OfAQuestionAskForTheirIrregularForms) {
  for (const auto& [text, question] :
       {std::pair{"Anna bought a bicycle", "What did Anna buy?"},
        {"We chose the second plan", "which one was chosen"},
        {"the index broke", "what has broken"},
        {"Anna kaufte es", "Was hat sie gekauft?"},
        {"Anna hat es gekauft", "Wer kaufte es?"},
        {"sie arbeitete dort", "wo hat sie gearbeitet, und wann"},
        {"wir haben es eingekauft", "Wer soll einkaufen?"},
        {"der Termin ist verschoben", "Wer will ihn verschieben?"},
        {"er fuhr nach Linz", "wer ist gefahren"},
        {"es wird aufgehoben", "Wer hob das auf, wer wird es aufheben?"}})
    EXPECT_TRUE(share_a_word(text, question)) << text << " " << question;
  EXPECT_FALSE(share_a_word("a plan", "plant it"))
      << "German endings are those of German questions";
  EXPECT_FALSE(share_a_word("it got late", "getUser"));
  EXPECT_EQ(asked_words("buy, bought and buying").size(), 1u) << "forms of one word are one word";
}

TEST(Words, OfIdentifiersAreTheirPartsAndTheWhole) {
  for (const char* text : {"parse", "HTTP", "header", "parseHTTPHeader", "ParseHttpHeader"})
    EXPECT_TRUE(share_a_word("parseHTTPHeader", text)) << text;
  for (const char* text : {"token", "budget", "max", "tokenBudgetMax"})
    EXPECT_TRUE(share_a_word("token_budget_max", text)) << text;
  EXPECT_FALSE(share_a_word("parseHTTPHeader", "parser4"));
}

TEST(Words, OfPathsAreTheirPartsAndTwoNeighbours) {
  for (const char* text : {"src", "history", "apply", "apply.cpp", "history/apply", "src\\history"})
    EXPECT_TRUE(share_a_word("see src/history/apply.cpp:120", text)) << text;
  EXPECT_FALSE(share_a_word("src/history/apply.cpp", "draft.hpp"));
  EXPECT_TRUE(share_a_word("re-index it", "reindex"));
}

TEST(Words, OfVersionsAreFoundWithAndWithoutTheirV) {
  for (const auto& [text, question] :
       {std::pair{"node v18.2 is out", "18.2"}, {"node 18.2 is out", "V18.2"}, {"v3 of it", "3"}})
    EXPECT_TRUE(share_a_word(text, question)) << text << " " << question;
  EXPECT_FALSE(share_a_word("v18.2", "19.3"));
  EXPECT_EQ(asked_words("18.2 and v18.2").size(), 3u) << "18, 2 and 18.2";
}

TEST(Words, OfErrorsAreFoundByTheirCodes) {
  EXPECT_TRUE(share_a_word("error TS2345: Argument of type", "what was TS2345 about"));
  EXPECT_TRUE(share_a_word("ECONNREFUSED 127.0.0.1:5432", "127.0.0.1"));
  EXPECT_TRUE(share_a_word("std::bad_alloc", "bad_alloc"));
}

TEST(Words, OfScriptsWithoutSpacesArePairsOfCharacters) {
  EXPECT_TRUE(share_a_word("我们昨天修复了数据库连接的错误", "数据库"));
  EXPECT_TRUE(share_a_word("データベースの接続に失敗しました", "データベース接続"));
  EXPECT_TRUE(share_a_word("데이터베이스 연결 오류", "데이터베이스를"));
  EXPECT_FALSE(share_a_word("我们昨天修复了数据库", "天气预报"));
  EXPECT_TRUE(share_a_word("ＡＰＩ", "api"));
}

TEST(Words, ACharacterAloneAsksForAllPairsThatItIsPartOf) {
  for (const char* text : {"小猫在睡觉", "一只猫", "猫咪", "猫", "黒猫が来た", "これは猫です"})
    EXPECT_TRUE(share_a_word(text, "猫")) << text;
  EXPECT_FALSE(share_a_word("小狗在睡觉", "猫"));
  EXPECT_TRUE(share_a_word("한강을 걷다", "강"));
  EXPECT_TRUE(share_a_word("สวัสดี", "ส"));
  EXPECT_EQ(asked_words("猫 dog 猫").size(), 2u);
}

TEST(Words, TheDotBetweenTwoWordsOfKatakanaIsNoCharacter) {
  EXPECT_EQ(text_words("コマ・コマ"),
            (std::vector<Word>{text_words("コマ").front(), text_words("コマ").front()}));
}

TEST(Words, ArePlacedWhereTheyBegin) {
  const std::string_view text = "the Parser of src/main.cpp 数据库";
  for (const auto& [asked, at] :
       {std::pair{"parsers", std::size_t{4}}, {"main", 18}, {"src/main", 14}, {"据库", 30}}) {
    bool is_found = false;
    const AskedWords words = asked_words(asked);
    for (const PlacedWord& each : placed_words(text))
      is_found = is_found || (words.index_of(each.word) < words.size() && each.at == at);
    EXPECT_TRUE(is_found) << asked;
  }
}

TEST(Words, TheCommonestSayNothing) {
  EXPECT_TRUE(text_words("what is it that they were").empty());
  EXPECT_TRUE(text_words("was ist das und wer sind wir").empty());
  EXPECT_TRUE(text_words("  \t\n … — !?").empty());
}

TEST(Words, OfBrokenTextAreReadAllTheSame) {
  EXPECT_TRUE(share_a_word(std::string("database\xff\xfe", 10), "database"));
  std::string any;
  for (int i = 0; i < 1000; ++i) any += static_cast<char>((i * 37) & 0xff);
  text_words(any);
  EXPECT_EQ(text_words(std::string(100000, 'a')).size(), 1u);
}

TEST(Words, OfAMessageAreCounted) {
  const MessageWords words =
      text_words(Message::make(Role::user, "cache, Cache, caches: the disk").value());
  EXPECT_EQ(words.length, 4u);
  ASSERT_EQ(words.counts.size(), 2u);
  EXPECT_EQ(words.counts[0].count + words.counts[1].count, 4u);
  EXPECT_LT(words.counts[0].word, words.counts[1].word);
}

}  // namespace
}  // namespace undertext
