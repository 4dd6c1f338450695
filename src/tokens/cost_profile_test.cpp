#include "tokens/cost_profile.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace undertext {
namespace {

std::uint32_t image(const char* profile, std::uint32_t width, std::uint32_t height,
                    ImageDetail detail = ImageDetail::high) {
  return find_cost_profile(profile)->image.tokens({width, height}, detail);
}

TEST(CostProfile, ImagesCostWhatTheProvidersExamplesSay) {
  // OpenAI guide, Images and vision
  EXPECT_EQ(image("openai", 1024, 1024), 765u);
  EXPECT_EQ(image("openai", 2048, 4096), 1105u);
  EXPECT_EQ(image("openai", 4096, 8192, ImageDetail::low), 85u);
  EXPECT_EQ(image("openai", 512, 512), 255u);
  EXPECT_EQ(image("openai-mini", 1024, 1024), 1659u);  // 1024 patches times 1.62
  EXPECT_EQ(image("openai-mini", 1800, 2400), 2352u);  // 1452 patches times 1.62
  // Anthropic docs, Vision, and requests that others measured
  EXPECT_EQ(image("anthropic", 256, 256), 100u);
  EXPECT_EQ(image("anthropic", 1024, 1024), 1369u);
  EXPECT_EQ(image("anthropic", 1280, 720), 1196u);
  EXPECT_EQ(image("anthropic", 1920, 1080), 1560u);
  EXPECT_EQ(image("anthropic", 4032, 3024), 1564u);
  EXPECT_EQ(image("anthropic-4.7", 1920, 1080), 2691u);
  // Gemini API docs
  EXPECT_EQ(image("gemini", 384, 384), 258u);
  EXPECT_EQ(image("gemini", 385, 10), 258u);
  EXPECT_EQ(image("gemini", 1024, 1024), 4 * 258u);
  EXPECT_EQ(image("gemini-3", 4032, 3024), 1100u);
  // Requests that others measured
  EXPECT_EQ(image("openai-gpt-5.5", 256, 256), 77u);
  EXPECT_EQ(image("openai-gpt-5.5", 1024, 1024), 1229u);
  EXPECT_EQ(image("openai-gpt-5.5", 3840, 2160), 9792u);
}

TEST(CostProfile, NoSizeIsFreeOrWithoutBound) {
  for (const CostProfile& profile : cost_profiles())
    for (const std::uint32_t width : {0u, 1u, 767u, 1'000'000u, 0xFFFFFFFFu})
      for (const std::uint32_t height : {0u, 1u, 769u, 0x7FFFFFFFu, 0xFFFFFFFFu})
        for (const ImageDetail detail : {ImageDetail::high, ImageDetail::low}) {
          const std::uint32_t tokens = profile.image.tokens({width, height}, detail);
          EXPECT_GE(tokens, 1u) << profile.name;
          EXPECT_LE(tokens, 50'000u) << profile.name << ' ' << width << " x " << height;
        }
}

TEST(CostProfile, EveryNumberSaysWhereItComesFrom) {
  for (const CostProfile& profile : cost_profiles()) {
    EXPECT_EQ(find_cost_profile(profile.name), &profile);
    for (const Figure& figure :
         {profile.request, profile.message, profile.name_field, profile.call_frame,
          profile.result_frame, profile.audio_per_second, profile.video_per_second,
          profile.document_page, profile.audio_bytes_per_second, profile.video_bytes_per_second,
          profile.document_bytes_per_page, profile.file_unseen, profile.encrypted_bytes_per_token})
      EXPECT_FALSE(figure.source.empty()) << profile.name;
    EXPECT_FALSE(profile.image.source.empty()) << profile.name;
    for (const Figure& divisor :
         {profile.audio_bytes_per_second, profile.video_bytes_per_second,
          profile.document_bytes_per_page, profile.encrypted_bytes_per_token})
      EXPECT_GT(divisor.value, 0u) << profile.name;
  }
  EXPECT_EQ(find_cost_profile("nobody"), nullptr);
  EXPECT_EQ(default_cost_profile().name, "openai");
}

TEST(CostProfile, AModelHasTheProfileOfItsMaker) {
  const auto of = [](const char* model) { return cost_profile_for_model(model).name; };
  EXPECT_EQ(of("gpt-4o-2024-08-06"), "openai");
  EXPECT_EQ(of("gpt-4o-mini"), "openai-4o-mini");
  EXPECT_EQ(of("gpt-4.1-mini"), "openai-mini");
  EXPECT_EQ(of("o4-mini"), "openai-mini");
  EXPECT_EQ(of("openai/gpt-5"), "openai-gpt-5");
  EXPECT_EQ(of("gpt-5.5"), "openai-gpt-5.5");
  EXPECT_EQ(of("claude-3-5-sonnet-20241022"), "anthropic");
  EXPECT_EQ(of("claude-sonnet-4-20250514"), "anthropic");
  EXPECT_EQ(of("claude-opus-4-6"), "anthropic");
  EXPECT_EQ(of("claude-opus-4-7"), "anthropic-4.7");
  EXPECT_EQ(of("anthropic/claude-sonnet-5"), "anthropic-4.7");
  EXPECT_EQ(of("gemini-2.5-flash"), "gemini");
  EXPECT_EQ(of("gemini-3-pro-preview"), "gemini-3");
  EXPECT_EQ(of("llama3"), "openai");
  EXPECT_EQ(of(""), "openai");
}

// "4 exact"
std::string cell(const Figure& figure) {
  return std::to_string(figure.value) + ' ' + std::string(name(figure.certainty));
}

TEST(CostProfile, TheManualShowsTheSameNumbers) {
  const std::filesystem::path manual =
      std::filesystem::path(__FILE__).parent_path() / "../../docs/tokens.md";
  std::ifstream file(manual);
  ASSERT_TRUE(file) << manual;
  std::stringstream text;
  text << file.rdbuf();
  for (const CostProfile& profile : cost_profiles()) {
    std::string row = "| `" + std::string(profile.name) + "` | " + std::string(profile.models);
    for (const Figure& figure : {profile.request, profile.message, profile.name_field,
                                 profile.call_frame, profile.result_frame, profile.audio_per_second,
                                 profile.video_per_second, profile.document_page})
      row += " | " + cell(figure);
    row += " | " + std::to_string(profile.image.tokens({1024, 1024}, ImageDetail::high)) + ' ' +
           std::string(name(profile.image.certainty)) + " |\n";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace undertext
