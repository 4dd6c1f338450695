#include "tokens/estimate_tokenizer.hpp"

#include <cmath>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tokens/estimate_features.hpp"

namespace undertext {
namespace {

struct Sample {
  const char* kind;
  std::uint64_t tokens;  // by tiktoken 0.14.0 with o200k_base
  std::string_view text;
};

// clang-format off
const Sample samples[] = {
    {"English", 97, R"sample(I had a look at the failing build this morning. The header was moved last week, and two of the tests still include it by its old path, so the compiler never gets as far as the linker. I would rather fix the include than add the old folder back to the search path, because the next person would only trip over it again. Could you check whether anything outside our repository depends on the old name? If not, I'll push the change tonight and close the ticket.)sample"},
    {"Chinese", 103, R"sample(今天早上我看了一下失败的构建。上周有人移动了头文件，但有两个测试仍然按照旧路径包含它，所以编译器根本走不到链接那一步。我更愿意修正包含路径，而不是把旧目录重新加回搜索路径，因为下一个人还会在同一个地方绊倒。你能确认一下仓库之外还有没有东西依赖旧的名字吗？如果没有，我今晚就提交修改，并关闭这个工单。)sample"},
    {"traditional Chinese", 94, R"sample(今天早上我看了一下失敗的建置。上週有人移動了標頭檔，但有兩個測試仍然按照舊路徑引入它，所以編譯器根本走不到連結那一步。我比較想修正引入路徑，而不是把舊目錄重新加回搜尋路徑，因為下一個人還會在同一個地方絆倒。)sample"},
    {"Japanese", 108, R"sample(今朝、失敗しているビルドを確認しました。先週ヘッダーファイルが移動されましたが、二つのテストがまだ古いパスでインクルードしているため、コンパイラはリンクの段階まで進みません。古いフォルダーを検索パスに戻すよりも、インクルードを直したほうがよいと思います。次の人がまた同じところでつまずくからです。)sample"},
    {"Korean", 80, R"sample(오늘 아침에 실패한 빌드를 살펴보았습니다. 지난주에 헤더 파일이 옮겨졌는데 두 개의 테스트가 아직 예전 경로로 포함하고 있어서 컴파일러가 링크 단계까지 가지 못합니다. 예전 폴더를 검색 경로에 다시 추가하기보다는 포함 경로를 고치는 편이 낫다고 생각합니다.)sample"},
    {"Russian", 70, R"sample(Сегодня утром я посмотрел на сломанную сборку. На прошлой неделе заголовочный файл перенесли, а два теста всё ещё подключают его по старому пути, поэтому компилятор не доходит до компоновки. Я бы лучше исправил подключение, чем возвращал старую папку в путь поиска.)sample"},
    {"German", 73, R"sample(Ich habe mir heute Morgen den fehlgeschlagenen Build angesehen. Die Kopfdatei wurde letzte Woche verschoben, und zwei der Tests binden sie noch unter dem alten Pfad ein, sodass der Übersetzer gar nicht bis zum Binden kommt. Ich würde lieber die Einbindung ändern, als den alten Ordner wieder in den Suchpfad aufzunehmen.)sample"},
    {"Arabic", 67, R"sample(نظرت هذا الصباح في عملية البناء الفاشلة. نُقل ملف الترويسة الأسبوع الماضي، وما زال اختباران يضمّنانه بمساره القديم، ولذلك لا يصل المترجم إلى مرحلة الربط. أفضّل إصلاح التضمين على إعادة المجلد القديم إلى مسار البحث.)sample"},
    {"Hindi", 55, R"sample(मैंने आज सुबह असफल हुए बिल्ड को देखा। पिछले हफ्ते हेडर फ़ाइल को दूसरी जगह रख दिया गया था, और दो परीक्षण अब भी उसे पुराने रास्ते से शामिल करते हैं, इसलिए कंपाइलर लिंक करने तक पहुँचता ही नहीं।)sample"},
    {"Thai", 71, R"sample(เช้านี้ฉันได้ดูการสร้างโปรแกรมที่ล้มเหลวแล้ว สัปดาห์ที่แล้วไฟล์ส่วนหัวถูกย้าย และการทดสอบสองรายการยังคงอ้างถึงไฟล์นั้นด้วยเส้นทางเดิม คอมไพเลอร์จึงไปไม่ถึงขั้นตอนการเชื่อมโยง)sample"},
    {"code", 197, R"sample(// Reads all lines of a file, without their ends.
std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

def retry(call, attempts=3, delay_s=0.5):
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError as error:
            if attempt + 1 == attempts:
                raise
            log.warning("attempt %d failed: %s", attempt + 1, error)
            time.sleep(delay_s * 2 ** attempt)
)sample"},
    {"JSON", 116, R"sample({"path":"src/tokens/estimate.cpp","recursive":false,"limit":200,"filters":[{"field":"modifiedAt","after":"2026-03-14T09:26:53Z"},{"field":"size","max":65536}],"results":[{"name":"estimate.cpp","size":7812,"lines":205,"sha":"9b1c7e0f2d"},{"name":"estimate.hpp","size":1204,"lines":24,"sha":"03aa41c9e7"}],"truncated":false,"cursor":null})sample"},
    {"command output", 163, R"sample(src/history/draft.cpp:81:    const std::uint32_t tokens = context_.count_tokens(message);
src/engine/conversation.cpp:57:    context.count_tokens = estimate_tokens;
-rw-r--r-- 1 build build  7812 Mar 14 09:26 estimate.cpp
-rw-r--r-- 1 build build  1204 Mar 14 09:26 estimate.hpp
drwxr-xr-x 2 build build  4096 Mar 12 17:02 generated
[ 43%] Building CXX object CMakeFiles/engine.dir/src/base/utf8.cpp.o
/usr/bin/ld: cannot find -lbenchmark: No such file or directory
collect2: error: ld returned 1 exit status
)sample"},
    {"numbers", 93, R"sample(id,when,bytes,ratio
1048576,2026-03-14T09:26:53Z,73728,0.618033989
1048577,2026-03-14T09:27:11Z,512,3.14159265358979
1048578,2026-03-14T09:27:40Z,9007199254740991,1e-09
)sample"},
    {"emoji", 50, R"sample(Done! 🎉 The release is out 🚀🚀 and all checks are green ✅. Thanks to everybody who helped 🙏 — especially for the late-night bug hunt 🐛🔦. Next stop: the documentation 📚✍️)sample"},
};
// clang-format on

double error(std::uint64_t estimated, std::uint64_t tokens) {
  return static_cast<double>(estimated) / static_cast<double>(tokens) - 1;
}

TEST(EstimateTokenizer, AShortTextIsWithinATenthOfItsTokensInEveryScript) {
  for (const Sample& sample : samples) {
    const std::uint64_t estimated = estimate_tokenizer("")->count(sample.text);
    EXPECT_LT(std::abs(error(estimated, sample.tokens)), 0.10)
        << sample.kind << ": " << estimated << " for " << sample.tokens;
  }
}

TEST(EstimateTokenizer, ErrorsEvenOutOverAConversation) {
  std::uint64_t estimated = 0, tokens = 0;
  for (const Sample& sample : samples) {
    estimated += estimate_tokenizer("")->count(sample.text);
    tokens += sample.tokens;
  }
  EXPECT_LT(std::abs(error(estimated, tokens)), 0.03) << estimated << " for " << tokens;
}

TEST(EstimateTokenizer, NoTextIsNothingAndAnyTextIsSomething) {
  const auto tokenizer = estimate_tokenizer("");
  EXPECT_EQ(tokenizer->count(""), 0u);
  for (const char* text : {" ", "a", "\n", "7", "\xFF", "\xCC\x81", "                    "})
    EXPECT_GE(tokenizer->count(text), 1u);
  EXPECT_EQ(tokenizer->count("Hello, world"), 3u);
}

TEST(EstimateTokenizer, ItSaysThatItIsNoExactTokenizerAndHasNoTokensToShow) {
  const auto tokenizer = estimate_tokenizer("");
  EXPECT_EQ(tokenizer->name(), "estimate");
  EXPECT_FALSE(tokenizer->is_exact());
  EXPECT_EQ(tokenizer->encode("Hello").error().code, ErrorCode::unsupported);
}

TEST(EstimateTokenizer, EveryFamilyHasItsOwn) {
  for (const char* family :
       {"", "o200k", "cl100k", "llama3", "qwen", "deepseek", "gemini", "claude", "claude-4.7"}) {
    ASSERT_NE(estimate_tokenizer(family), nullptr) << family;
    EXPECT_FALSE(estimate_tokenizer(family)->is_exact());
  }
  EXPECT_EQ(estimate_tokenizer("no such family"), nullptr);
  EXPECT_EQ(estimate_tokenizer("claude-4.7")->name(), "estimate:claude-4.7");
}

TEST(EstimateTokenizer, NewerClaudesAreTakenToCountThirtyPercentMoreThanOlderOnes) {
  std::uint64_t older = 0, newer = 0;
  for (const Sample& sample : samples) {
    older += estimate_tokenizer("claude")->count(sample.text);
    newer += estimate_tokenizer("claude-4.7")->count(sample.text);
  }
  EXPECT_NEAR(error(newer, older), 0.30, 0.01);
}

TEST(EstimateTokenizer, MoreTextIsMoreTokens) {
  const auto tokenizer = estimate_tokenizer("");
  for (const Sample& sample : samples) {
    const std::string once(sample.text), twice = once + "\n" + once;
    const std::uint64_t one = tokenizer->count(once), two = tokenizer->count(twice);
    EXPECT_GE(two, 2 * one - 2) << sample.kind;
    EXPECT_LE(two, 2 * one + 3) << sample.kind;
  }
}

TEST(EstimateTokenizer, ALongTextCostsNothingUnusual) {
  const auto tokenizer = estimate_tokenizer("");
  for (const char* piece : {"a", " ", "1", "=", "\n", "中", "\xF0\x9F\x98\x80", "\x80", "\xE4\xB8",
                            "Aa", "e\xCC\x81"}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    EXPECT_LE(tokenizer->count(text), 1'500'000u) << piece;
    EXPECT_GE(tokenizer->count(text), 1u);
  }
}

std::uint64_t count_of(const Features& features, Feature feature) {
  return features[static_cast<std::size_t>(feature)];
}

TEST(EstimateFeatures, WhatIsCountedStandsInTheText) {
  const Features features =
      features_of("readFile(path_name, 1234567)\n\n  HTTP 42 — Größe 中文龘 ");
  EXPECT_EQ(count_of(features, Feature::word), 5u);  // readFile path name HTTP Größe
  EXPECT_EQ(count_of(features, Feature::word_after_sign), 2u);
  EXPECT_EQ(count_of(features, Feature::word_after_underscore), 1u);
  EXPECT_EQ(count_of(features, Feature::word_capital), 2u);
  EXPECT_EQ(count_of(features, Feature::hump), 1u);
  EXPECT_EQ(count_of(features, Feature::capital), 3u);
  EXPECT_EQ(count_of(features, Feature::number), 2u);
  EXPECT_EQ(count_of(features, Feature::digit_2), 7u);
  EXPECT_EQ(count_of(features, Feature::digit_group), 2u);
  EXPECT_EQ(count_of(features, Feature::number_after_space), 2u);
  EXPECT_EQ(count_of(features, Feature::space_run), 1u);
  EXPECT_EQ(count_of(features, Feature::line), 1u);
  EXPECT_EQ(count_of(features, Feature::line_again), 1u);
  EXPECT_EQ(count_of(features, Feature::general_sign), 1u);
  EXPECT_EQ(count_of(features, Feature::latin), 2u);
  EXPECT_EQ(count_of(features, Feature::han), 3u);
  EXPECT_EQ(count_of(features, Feature::han_run), 1u);
  EXPECT_EQ(count_of(features, Feature::han_uncommon), 1u);
  EXPECT_EQ(count_of(features, Feature::invalid), 0u);
}

TEST(EstimateFeatures, BytesThatAreNoUtf8AreCountedAsSuch) {
  // of the last, both bytes
  EXPECT_EQ(count_of(features_of("a\x80\x80 \xFF \xE4\xB8"), Feature::invalid), 5u);
  EXPECT_EQ(count_of(features_of("\xED\xA0\x80"), Feature::invalid), 3u);  // a surrogate
}

// The text is read in blocks of 64 bytes; nothing may depend on where they begin.
TEST(EstimateFeatures, EveryMachineSeesTheSame) {
  const std::uint64_t seed = 20260314;
  std::mt19937_64 random(seed);
  static constexpr std::string_view pieces[] = {
      "a",   "B",    "e",    "xyz",      " ",        "  ", "\n", "\r\n", "\t", "1",
      "234", "=",    "_",    ".",        "é",        "ő",  "ế",  "中",   "龘", "か",
      "ж",   "\xFF", "\x80", "\xE4\xB8", "\xF0\x9F", "😀", "─",  "ﷺ",    "𝔘"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t n = random() % 120; n > 0; --n) text += pieces[random() % std::size(pieces)];
    ASSERT_EQ(features_of(text), portable_features_of(text))
        << "seed " << seed << ", text " << i << ": " << text;
  }
}

TEST(EstimateFeatures, WhatStandsBeforeATextOnlyAddsToIt) {
  const std::string text = "Größe: 1234567890, some_longWord = \"中文\";\n\n    return x;";
  Features alone = features_of(text);
  for (std::size_t n = 0; n < 140; ++n) {
    // Newlines before change nothing but their own counts.
    Features moved = features_of(std::string(n, '\n') + text);
    for (const Feature f : {Feature::line, Feature::line_again, Feature::word_after_line})
      moved[static_cast<std::size_t>(f)] = alone[static_cast<std::size_t>(f)];
    ASSERT_EQ(moved, alone) << n;
  }
}

}  // namespace
}  // namespace undertext
