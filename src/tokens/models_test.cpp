#include <undertext/models.hpp>

#include <set>

#include <gtest/gtest.h>

#include "tokens/counting.hpp"
#include "tokens/model_table.hpp"

namespace undertext {
namespace {

ModelTable shipped() { return read_model_table(models_json(), {}).value(); }

std::string error_of(std::string_view json) {
  const Result<ModelTable> read = read_model_table(json, shipped());
  return read ? "" : read.error().message;
}

TEST(Models, EverySpellingOfANameIsTheSameModel) {
  const std::vector<std::vector<const char*>> spellings = {
      {"claude-opus-4-7", "Claude-Opus-4-7", "CLAUDE-OPUS-4.7", "claude-opus-4-7-20260416",
       "claude-opus-4-7-latest", "anthropic/claude-opus-4.7",
       "us.anthropic.claude-opus-4-7-20260416-v1:0", "claude-opus-4-7@20260416",
       "bedrock/eu-west-1/anthropic.claude-opus-4-7-v1:0",
       "openrouter/anthropic/claude-opus-4.7:free"},
      {"gpt-5.5", "GPT-5.5", "openai/gpt-5.5", "gpt-5.5-2026-04-23", "azure/GPT-5_5",
       "ft:gpt-5.5:me::x"},
      {"gpt-4.1", "gpt-4.1-2025-04-14", "GPT-4.1-latest"},
      {"gemini-2.5-pro", "models/gemini-2.5-pro", "Gemini-2.5-Pro", "google/gemini-2.5-pro"},
  };
  for (const auto& names : spellings) {
    const Model first = find_model(names.front());
    EXPECT_TRUE(first.limits.window) << first.name;
    for (const char* name : names) {
      const Model model = find_model(name);
      EXPECT_EQ(model.row, first.row) << name;
      EXPECT_EQ(model.tokenizer, first.tokenizer) << name;
      EXPECT_EQ(model.costs, first.costs) << name;
      EXPECT_EQ(model.profiles, first.profiles) << name;
      EXPECT_EQ(model.limits.window, first.limits.window) << name;
      EXPECT_EQ(model.prices.output, first.prices.output) << name;
    }
  }
}

TEST(Models, ANameWithoutAVersionIsTheNewestOfItsFamily) {
  for (const char* name : {"claude-opus-latest", "claude-opus", "claude-sonnet-latest", "Claude"}) {
    EXPECT_EQ(find_model(name).tokenizer, find_model("claude-opus-4-7").tokenizer) << name;
    EXPECT_EQ(find_model(name).costs, find_model("claude-opus-4-7").costs) << name;
    EXPECT_FALSE(find_model(name).limits.window) << "which one it is, is unknown";
  }
}

TEST(Models, ANameTellsItsTokenizer) {
  const auto tokenizer = [](const char* name) { return find_model(name).tokenizer; };
  for (const char* name : {"gpt-4o", "gpt-4o-mini", "openai/gpt-5", "GPT-4.1", "o3-mini",
                           "ft:gpt-4o:me::x", "gpt-oss-120b", "gpt-7"})
    EXPECT_EQ(tokenizer(name), "o200k_base") << name;
  for (const char* name : {"gpt-4", "gpt-4-turbo", "gpt-4-1106-preview", "gpt-3.5-turbo",
                           "gpt-35-turbo", "text-embedding-3-small"})
    EXPECT_EQ(tokenizer(name), "cl100k_base") << name;
  for (const char* name :
       {"claude-3-5-sonnet-20241022", "claude-3.5-sonnet", "anthropic.claude-3-haiku",
        "claude-sonnet-4-5-20250929", "claude-opus-4-20250514", "claude-opus-4-6", "claude-2.1",
        "claude-instant-1.2", "claude-4-sonnet"})
    EXPECT_EQ(tokenizer(name), "estimate:claude") << name;
  for (const char* name : {"claude-opus-4-7", "anthropic/claude-opus-4.8", "claude-sonnet-5",
                           "claude-opus-5-20270101", "claude-fable-5"})
    EXPECT_EQ(tokenizer(name), "estimate:claude-4.7") << name;
  EXPECT_EQ(tokenizer("Qwen/Qwen3-8B"), "estimate:qwen");
  EXPECT_EQ(tokenizer("meta-llama/Llama-3.3-70B-Instruct"), "estimate:llama3");
}

TEST(Models, ADatedNameWithARowOfItsOwnHasThatRow) {
  EXPECT_EQ(find_model("gpt-4o-2024-05-13").prices.input, 5);
  EXPECT_EQ(find_model("gpt-4o-2024-08-06").prices.input, 2.5);
  EXPECT_EQ(find_model("gpt-4o-2024-05-13").tokenizer, "o200k_base")
      << "what it does not say follows from its family";
}

TEST(Models, AnUnknownModelIsEstimatedAndSaysSo) {
  for (const char* name : {"parrot", "", "*", "-latest", "claud", "/", ":", "@", "ft:"}) {
    const Model model = find_model(name);
    EXPECT_FALSE(model.is_known()) << name;
    EXPECT_EQ(model.name, name);
    EXPECT_EQ(model.tokenizer, "estimate");
    EXPECT_EQ(model.costs, "openai");
    EXPECT_TRUE(model.profiles.empty());
    EXPECT_FALSE(model.limits.window);
    EXPECT_FALSE(model.prices.input);
  }
}

TEST(Models, ANameWithoutEndIsUnknown) {
  for (const char* part : {"a", "a.", "a/", "-2025-04-14", "9", ":", "@"}) {
    std::string name = "gpt-4o";
    while (name.size() < (4u << 20)) name += part;
    // what stands behind a name is not part of it
    const bool is_behind = part[0] == ':' || part[0] == '@';
    EXPECT_EQ(find_model(name).is_known(), is_behind) << part;
  }
}

TEST(Models, EveryRowOfTheTableIsSound) {
  const ModelTable table = shipped();
  const auto check = [](const Source& source, const std::string& name) {
    EXPECT_FALSE(source.title.empty()) << name;
    EXPECT_EQ(source.date.size(), 10u) << name;
  };
  for (const EstimateRow& row : table.estimates) check(row.source, row.name);
  for (const CostProfile& row : table.costs) {
    EXPECT_EQ(row.date.size(), 10u) << row.name;
    EXPECT_FALSE(row.tools.source.empty()) << row.name;
  }
  EXPECT_GT(table.models.size(), 100u);
  for (const auto& [folded, row] : table.models) {
    const bool is_family = folded.ends_with('*');
    if (row.tokenizer || row.costs || row.profiles) check(row.source, row.name);
    EXPECT_EQ(is_family, row.tokenizer && row.costs && row.profiles) << row.name;
    EXPECT_NE(is_family, row.limits || row.prices)
        << row.name << ": of one model, not of those that begin like it";
    if (row.limits) check(row.limits->source, row.name);
    if (row.prices) check(row.prices->source, row.name);
    const Model model = table.find(row.name);
    EXPECT_FALSE(model.profiles.empty()) << row.name << ": no family has it";
    EXPECT_TRUE(is_family || model.row == row.name)
        << row.name << ": another row is nearer, " << model.row;
    EXPECT_LE(model.limits.answer_max.value_or(0), model.limits.window.value_or(0)) << row.name;
    EXPECT_TRUE(find_tokenizer(row.name)) << row.name;
  }
}

TEST(Models, AFileIsLaidOverWhatIsThere) {
  const Result<ModelTable> read =
      read_model_table(R"({"costs":[{"name":"dear","like":"openai","message":{"value":9}}],
      "models":[{"names":["gpt-4o"],"limits":{"window":1000}},
                {"names":["parrot*"],"tokenizer":"estimate:qwen","costs":"dear","profiles":["mistral"]},
                {"names":["parrot-2"],"prices":{"input":0.5}}]})",
                       shipped());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->find("gpt-4o").limits.window, 1000u);
  EXPECT_FALSE(read->find("gpt-4o").limits.answer_max) << "limits are said as a whole";
  EXPECT_EQ(read->find("gpt-4o").prices.input, 2.5) << "the rest stays";
  EXPECT_EQ(read->find("Parrot-2-latest").costs, "dear");
  EXPECT_EQ(read->find("parrot-2").prices.input, 0.5);
  EXPECT_EQ(read->find_costs("dear")->message.value, 9u);
  EXPECT_EQ(read->find_costs("dear")->image.base, 85u);
  EXPECT_EQ(shipped().find("gpt-4o").limits.window, 128000u);
}

TEST(Models, AFileThatIsNoGoodIsRefusedWithItsLineRowAndField) {
  EXPECT_EQ(
      error_of(
          "{\"models\":[\n{\"names\":[\"a\"]},\n{\"names\":[\"b\"],\"limits\":{\"window\":-1}}]}"),
      "line 3, models[1] (b), limits: window must be a whole number of at least 0");
  EXPECT_EQ(error_of(R"({"models":[{"names":["a"],"tokeniser":"x"}]})"),
            "line 1, models[0] (a): tokeniser is unknown here");
  const char* const refused[] = {
      "",
      "[]",
      R"({"model":[]})",
      R"({"models":{}})",
      R"({"models":[1]})",
      R"({"models":[{}]})",
      R"({"models":[{"names":[]}]})",
      R"({"models":[{"names":["a*b"]}]})",
      R"({"models":[{"names":["a","A"]}]})",
      R"({"models":[{"names":["a.b"]},{"names":["a-b"]}]})",
      R"({"models":[{"names":["a"],"tokenizer":"o300k"}]})",
      R"({"models":[{"names":["a"],"tokenizer":"estimate:parrot"}]})",
      R"({"models":[{"names":["a"],"costs":"parrot"}]})",
      R"({"models":[{"names":["a"],"profiles":"openai_chat"}]})",
      R"({"models":[{"names":["a"],"limits":{"window":10,"answer":11}}]})",
      R"({"models":[{"names":["a"],"prices":{"input":-1}}]})",
      R"({"models":[{"names":["a"],"prices":{"input":"1"}}]})",
      R"({"costs":[{"name":"a"}]})",
      R"({"costs":[{"name":"a","like":"parrot"}]})",
      R"({"costs":[{"name":"a","like":"openai","message":4}]})",
      R"({"costs":[{"name":"a","like":"openai","message":{"value":1,"certainty":"sure"}}]})",
      R"({"costs":[{"name":"a","like":"openai","image":{"kind":"round"}}]})",
      R"({"costs":[{"name":"a","like":"openai","image":{"kind":"patches","unit":0,"patchesMax":1}}]})",
      R"({"costs":[{"name":"a","like":"openai","encryptedBytesPerToken":{"value":0}}]})",
      R"({"estimates":[{"name":"a","weights":"parrot"}]})",
  };
  for (const char* json : refused) EXPECT_NE(error_of(json), "") << json;
}

TEST(Models, RowsOfAProgramsOwnCountForTheWholeProcess) {
  EXPECT_FALSE(find_model("jay-1").is_known());
  ASSERT_TRUE(add_models(
      R"({"models":[{"names":["jay-1"],"tokenizer":"estimate:qwen","costs":"gemini"}]})"));
  EXPECT_EQ(counting_by("Jay-1").value().costs->name, "gemini");
  EXPECT_EQ(find_tokenizer("jay-1").value()->name(), "estimate:qwen");
  EXPECT_FALSE(add_models("{"));
  EXPECT_TRUE(find_model("jay-1").is_known()) << "a file that is refused changes nothing";
}

TEST(Models, WhatIsSetBesideAModelTakesTheModelsPlace) {
  EXPECT_EQ(counting_name("", "", ""), "estimate");
  EXPECT_EQ(counting_name("parrot", "", ""), "estimate");
  EXPECT_EQ(counting_name("gpt-4o", "", ""), "gpt-4o");
  EXPECT_EQ(counting_name("../OpenAI/GPT-4o", "", ""), "gpt-4o") << "no path";
  EXPECT_EQ(counting_name("claude-opus-4-7", "estimate", ""), "estimate+anthropic-4.7");
  EXPECT_EQ(counting_name("claude-opus-4-7", "estimate+anthropic-4.7", ""),
            "estimate+anthropic-4.7");
  EXPECT_EQ(counting_name("gpt-4o", "estimate", ""), "estimate")
      << "its costs are those of the estimate";
  EXPECT_EQ(counting_name("gpt-4o", "", "gemini"), "gpt-4o+gemini");
  EXPECT_EQ(counting_name("", "estimate", "gemini"), "estimate+gemini");
  EXPECT_EQ(counting_by("estimate+gemini").value().costs->name, "gemini");
  EXPECT_EQ(counting_by("estimate+parrot").error().code, ErrorCode::not_found);
}

TEST(CountTools, OfOpenaiAreThoseOfTheCookbook) {
  const char* const tools =
      R"([{"type":"function","function":{"name":"get_current_weather","description":"Get the current weather in a given location",)"
      R"("parameters":{"type":"object","properties":{"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},)"
      R"("unit":{"type":"string","description":"The unit of temperature to return","enum":["celsius","fahrenheit"]}},"required":["location"]}}}])";
  const Result<std::shared_ptr<const Tokenizer>> o200k = find_tokenizer("o200k_base");
  if (!o200k) GTEST_SKIP() << "vocabularies: " << o200k.error().message;
  // The example of the cookbook: 101 tokens for gpt-4o, of which the messages have 20 and the
  // request 3 at its end.
  const ToolsCount count = count_tools(tools, "gpt-4o").value();
  EXPECT_EQ(count.tools, 1u);
  EXPECT_TRUE(count.exact);
  const auto text = [&](const char* said) { return (*o200k)->count(said); };
  EXPECT_EQ(count.tokens,
            12 + 7 + text("get_current_weather:Get the current weather in a given location") + 3 +
                3 + text("location:string:The city and state, e.g. San Francisco, CA") + 3 - 3 + 3 +
                text("celsius") + 3 + text("fahrenheit") +
                text("unit:string:The unit of temperature to return"));
}

TEST(CountTools, AreTheSameInEveryProvidersForm) {
  const char* const forms[] = {
      R"([{"type":"function","function":{"name":"f","description":"Does it.","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}])",
      R"([{"type":"function","name":"f","description":"Does it.","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}])",
      R"([{"name":"f","description":"Does it.","input_schema":{"type":"object","properties":{"a":{"type":"string"}}}}])",
      R"([{"name":"f","description":"Does it.","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}])",
      R"([{"functionDeclarations":[{"name":"f","description":"Does it.","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}]}])",
  };
  const ToolsCount first = count_tools(forms[0], "claude-opus-4-7").value();
  EXPECT_GT(first.tokens, 549u + 53u + 12u);
  EXPECT_FALSE(first.exact) << "a tokenizer that is estimated";
  for (const char* form : forms)
    EXPECT_EQ(count_tools(form, "claude-opus-4-7").value().tokens, first.tokens) << form;
}

TEST(CountTools, OnlyWhatIsPublishedIsExact) {
  if (!find_tokenizer("o200k_base")) GTEST_SKIP() << "vocabularies: o200k_base is not there";
  const auto exact = [](const char* tools, const char* model) {
    return count_tools(tools, model).value().exact;
  };
  EXPECT_TRUE(exact(R"([{"name":"f","description":"d"}])", "gpt-4o"));
  EXPECT_FALSE(exact(R"([{"name":"f","description":"d"}])", "gpt-5.5")) << "a rule that is fitted";
  EXPECT_FALSE(exact(R"([{"type":"web_search"}])", "gpt-4o")) << "a tool that the provider runs";
  EXPECT_FALSE(exact(
      R"([{"name":"f","parameters":{"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}}])",
      "gpt-4o"));
}

TEST(CountTools, NoToolsCostNothingAndNoListIsRefused) {
  EXPECT_EQ(count_tools("[]", "gpt-4o").value().tokens, 0u);
  for (const char* json : {"{}", "[1]", "", "[{]"})
    EXPECT_EQ(count_tools(json, "estimate").error().code, ErrorCode::invalid_argument) << json;
  EXPECT_EQ(count_tools("[]", "parrot").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace undertext
