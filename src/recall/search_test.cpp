#include "recall/search.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "recall/words.hpp"

namespace undertext {
namespace {

// A log of messages that count 10 tokens each, and the index of it.
struct Searched {
  explicit Searched(const std::vector<std::string>& texts, Role role = Role::user) {
    std::vector<Message> messages;
    for (const std::string& text : texts) {
      messages.push_back(Message::make(role, text).value());
      index.add(text_words(messages.back()));
    }
    const ApplyContext context{.count_tokens = [](const Message&) { return 10u; }};
    history = history.apply(Operation{op::Append{std::move(messages)}}, context).value().history;
  }
  Recalled find(const std::string& text, std::uint64_t messages_max) const {
    return search(history, index,
                  {.text = text, .budget_tokens = 10 * messages_max, .which = {.all = true}})
        .value();
  }

  History history;
  RecallIndex index;
};

TEST(Search, TheSameAnswerToAnotherQuestionComesWithThatQuestion) {
  std::vector<std::string> texts = {"Tom: tennis match, hall, Friday evening",
                                    "It was a short match."};
  texts.insert(texts.end(), 5, "Nothing happened.");
  texts.insert(texts.end(), {"Tom: tennis match", "It was a short match."});
  texts.insert(texts.end(), 5, "Nothing happened.");
  for (int i = 0; i < 10; ++i) texts.push_back("match " + std::to_string(100 + i));
  const Recalled found =
      Searched(texts).find("match of Tom at tennis, Friday evening in the hall", 10);
  const auto has = [](const RecalledUnit& unit, std::uint64_t ordinal) {
    return std::find(unit.ordinals.begin(), unit.ordinals.end(), Ordinal(ordinal)) !=
           unit.ordinals.end();
  };
  EXPECT_TRUE(std::any_of(found.units.begin(), found.units.end(),
                          [&](const auto& unit) { return has(unit, 7) && has(unit, 8); }));
  EXPECT_EQ(found.tokens, 100u);
}

TEST(Search, OfMessagesThatSayTheSameTheBestIsEnough) {
  std::vector<std::string> texts;
  for (int i = 0; i < 5; ++i) {
    texts.push_back("the kettle is blue");
    texts.insert(texts.end(), 9, "Nothing happened.");
  }
  EXPECT_EQ(Searched(texts).find("kettle", 100).units.size(), 1u);
}

// How many answers a search finds that gives the first of two answers twice, and the second once.
std::size_t count_answers(const std::string& question, Role role) {
  const Searched log(
      {question, "It is 8080.", "Nothing happened.", "Nothing happened.", question,
       "It is 9090 now.", "Nothing happened.", "Nothing happened.", question, "It is 8080."},
      role);
  const Recalled found = log.find("which port has the kettle", 6);
  std::vector<std::uint64_t> answers;
  for (const RecalledUnit& unit : found.units)
    for (const Ordinal ordinal : unit.ordinals)
      if (ordinal.value % 4 == 1) answers.push_back(ordinal.value);
  EXPECT_EQ(std::count(answers.begin(), answers.end(), 5u), answers.size() > 1 ? 1 : 0)
      << "the second answer is another one";
  EXPECT_EQ(found.units.size(), answers.size());
  return answers.size();
}

TEST(Search, AQuestionThatWasAnsweredInTwoWaysIsFoundTwice) {
  EXPECT_EQ(count_answers("Which port does the kettle use?", Role::user), 2u);
  EXPECT_EQ(count_answers("The port of the kettle, please", Role::user), 2u);
  EXPECT_EQ(count_answers("Which port does the kettle use?", Role::assistant), 2u);
  EXPECT_EQ(count_answers("port of the kettle\uFF1F \n", Role::assistant), 2u);
  EXPECT_EQ(count_answers("The port of the kettle", Role::assistant), 1u) << "no question";
}

TEST(Search, WhatStandsBetweenTwoThatAreFoundGoesWithTheBetterOne) {
  std::vector<std::string> texts(10, "Nothing happened.");
  texts.insert(texts.end(), {"Tom asks for the port of the red kettle", "It is 8080.",
                             "Tom likes the red kettle"});
  texts.insert(texts.end(), 10, "Nothing happened.");
  const Recalled found = Searched(texts).find("the port of the red kettle", 100);
  ASSERT_EQ(found.units.size(), 2u);
  EXPECT_EQ(found.units[0].ordinals, (std::vector{Ordinal(10), Ordinal(11)}));
  EXPECT_EQ(found.units[1].ordinals, (std::vector{Ordinal(12), Ordinal(13)}));
}

TEST(Search, TheMessageBeforeComesAlongWhereItScoresHalf) {
  std::vector<std::string> texts(10, "Nothing happened.");
  texts.insert(texts.end(), {"Who has the port?", "Tom has the port of the red kettle."});
  texts.insert(texts.end(), 10, "Nothing happened.");
  const Searched log(texts);
  EXPECT_EQ(log.find("the port of the red kettle", 100).units[0].ordinals,
            (std::vector{Ordinal(10), Ordinal(11), Ordinal(12)}));
  EXPECT_EQ(log.find("red kettle", 100).units[0].ordinals, (std::vector{Ordinal(11), Ordinal(12)}));
}

TEST(Search, SaysHowMuchWouldHaveBeenEnough) {
  const Searched log({"the kettle is blue", "Nothing happened.", "the kettle"});
  EXPECT_EQ(log.find("kettle", 1).tokens_needed, 0u);
  const Recalled none =
      search(log.history, log.index, {.text = "kettle", .budget_tokens = 9, .which = {.all = true}})
          .value();
  EXPECT_TRUE(none.units.empty());
  EXPECT_EQ(none.tokens_needed, 10u);
  EXPECT_EQ(quote(none, "kettle", {}).error().code, ErrorCode::cannot_fit);
  EXPECT_EQ(quote(none, "kettle", {}).error().tokens_minimum, 10u);
  EXPECT_EQ(quote(log.find("zebra", 1), "zebra", {}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace undertext
