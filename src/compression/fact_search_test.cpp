// Facts in texts: where names end; the automaton against a search for one fact after the other; what
// many facts cost, and the limits that are asked on the way.
#include "compression/fact_search.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/error.hpp>

namespace undertext {
namespace {

bool says(const std::string& text, const std::string& fact) {
  return are_said(std::vector<std::string>{fact}, text).front();
}

TEST(FactSearch, AFileIsNotSaidByALongerName) {
  for (const char* text :
       {"edit myapp.py", "edit my-app.py", "edit my.app.py", "edit my_app.py", "edit ämapp.py",
        "edit app.pyc", "edit app.py.orig", "edit app.py-old", "edit app.py~", "edit app.py3"})
    EXPECT_FALSE(says(text, "app.py")) << text;
  EXPECT_FALSE(says("src/a.cpp", "src/a.c"));
  EXPECT_FALSE(says("lib/mysrc/a.c", "src/a.c"));
  EXPECT_FALSE(says("root/etc/hosts", "/etc/hosts"));
  EXPECT_FALSE(says("../a.c", "./a.c"));
  EXPECT_FALSE(says("cat .env", "env"));
  EXPECT_FALSE(says("git log -50", "git log -5"));
  EXPECT_FALSE(says("git show HEAD~1", "git show HEAD"));
  EXPECT_FALSE(says("version 1.2.3", "1.2"));
}

TEST(FactSearch, AFileIsSaidWhereverItsNameStandsWhole) {
  for (const char* text :
       {"app.py", "edit app.py", "edit \"app.py\", then", "src/app.py", "src\\app.py",
        "app.py:12:", "It is in app.py.", "app.py - the server", "--config=app.py", "-app.py",
        "修改app.py文件。", "“app.py”", "→app.py←", "myapp.py and app.py", "app.py\nnext line"})
    EXPECT_TRUE(says(text, "app.py")) << text;
  EXPECT_TRUE(says("cat /etc/hosts", "/etc/hosts"));
  EXPECT_TRUE(says("src/a.c", "src"));
  EXPECT_TRUE(says("see docs/größe.md", "größe.md"));
  EXPECT_TRUE(says("他说不要修改公共接口。好的", "不要修改公共接口。"));
  EXPECT_TRUE(says("Fine. Never touch it.Then", "Never touch it."));
}

TEST(FactSearch, WhatIsCutIsSaidByWhatGoesOn) {
  EXPECT_TRUE(says("a long command", "a long comm…"));
  EXPECT_FALSE(says("data long command", "a long comm…"));
  EXPECT_TRUE(says("anything", "…"));
}

TEST(FactSearch, AnAnswerIsSaidByAMessageOfItsOwn) {
  const std::string fact = "\"yes\" (asked: Shall I drop the table?)";
  EXPECT_TRUE(says("so \"yes\" (asked: Shall I drop the table?)", fact));
  EXPECT_TRUE(says("Shall I drop the table?\nyes\nDropped.", fact));
  EXPECT_TRUE(says("yes", fact));
  EXPECT_FALSE(says("yes, but", fact));
  EXPECT_FALSE(says("eyes", fact));
}

TEST(FactSearch, ManyFactsAreFoundAsEachOfThemAlone) {
  const char* const given = std::getenv("SEED");
  const auto seed = given ? std::strtoul(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  const std::vector<std::string> pieces = {"a",  "b", "ab", ".",  "/", "-",  " ",
                                           "\n", "~", "é",  "中", "…", "\"", "\" (asked: "};
  const auto some = [&](std::size_t count) {
    std::string made;
    for (std::size_t i = 0; i < count; ++i) made += pieces[random() % pieces.size()];
    return made;
  };
  std::size_t said_in_all = 0;
  for (int run = 0; run < 200; ++run) {
    const std::string text = some(60);
    std::vector<std::string> facts;
    for (unsigned i = 0; i < 30; ++i) facts.push_back(some(1 + random() % 5));
    const std::vector<bool> said = are_said(facts, text);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      ASSERT_EQ(said[i], says(text, facts[i])) << "fact:\n" << facts[i] << "\ntext:\n" << text;
      said_in_all += said[i] ? 1u : 0u;
    }
  }
  EXPECT_GT(said_in_all, 200u);
  EXPECT_LT(said_in_all, 5800u);
}

double cpu_seconds_of(const std::function<void()>& work) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

std::vector<std::string> paths(std::size_t count) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back("src/services/aaaa" + std::to_string(i) + ".py");
  return made;
}

TEST(FactSearch, AThousandTimesAsManyFactsCostFewTimesAsMuch) {
  const std::string text(1u << 20, 'a');
  const std::vector<std::string> few = paths(8), many = paths(8'000);
  const double of_few = cpu_seconds_of([&] { (void)are_said(few, text); });
  const double of_many = cpu_seconds_of([&] { (void)are_said(many, text); });
  EXPECT_LT(of_many, 40 * of_few);
}

// Where the text goes on, each of them ends at every second byte.
TEST(FactSearch, WhatWasFoundIsNotMetAgain) {
  std::string text, fact;
  std::vector<std::string> facts;
  for (int i = 0; i < 400; ++i) facts.push_back(fact += fact.empty() ? "a" : " a");
  for (int i = 0; i < 200'000; ++i) text += "a ";
  const std::vector<std::string> one = {facts.back()};
  const double of_one = cpu_seconds_of([&] { (void)are_said(one, text); });
  const double of_all = cpu_seconds_of([&] { (void)are_said(facts, text); });
  EXPECT_LT(of_all, 40 * of_one);
}

TEST(FactSearch, AsksTheLimitsWhileItReads) {
  int asked = 0;
  const Work work({.interrupted = [&asked]() -> Result<void> {
    if (++asked <= 10) return {};
    return Error{ErrorCode::unavailable, "enough"};
  }});
  EXPECT_THROW((void)are_said(paths(8), std::string(4u << 20, 'a'), &work), Failure);
  asked = 0;
  EXPECT_THROW((void)are_said(paths(8'000), "a", &work), Failure) << "while it prepares";
}

}  // namespace
}  // namespace undertext
