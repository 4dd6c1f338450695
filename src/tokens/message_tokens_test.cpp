#include "tokens/message_tokens.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "tokens/estimate_tokenizer.hpp"

namespace undertext {
namespace {

// The simplest tokenizer there is: a byte is a token. So a test sees exactly which bytes were
// counted.
class ByteTokenizer final : public Tokenizer {
 public:
  std::string_view name() const noexcept override { return "bytes"; }
  bool is_exact() const noexcept override { return true; }
  std::uint64_t count(std::string_view text) const override { return text.size(); }
  Result<std::vector<std::uint32_t>> encode(std::string_view text) const override {
    return std::vector<std::uint32_t>(text.begin(), text.end());
  }
};

const CostProfile& profile(const char* name) { return *find_cost_profile(name); }

std::uint32_t cost(const std::string& json, const CostProfile& of = default_cost_profile()) {
  return count_message_tokens(Message::parse(json).value(), ByteTokenizer(), of);
}
// Without what stands around the message.
std::uint32_t content(const std::string& json, const CostProfile& of = default_cost_profile()) {
  return cost(R"({"role":"user","content":)" + json + "}", of) - of.message.value;
}
std::uint32_t assistant(const std::string& fields, const CostProfile& of = default_cost_profile()) {
  return cost(R"({"role":"assistant",)" + fields + "}", of) - of.message.value;
}

// The head of a PNG of 1024 by 1024 pixels.
const std::string png_1024 = "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAIAAADwf7zU";

TEST(MessageTokens, AMessageIsItsFrameAndItsText) {
  EXPECT_EQ(cost(R"({"role":"user","content":"Hello"})"), 4u + 5u);
  EXPECT_EQ(cost(R"({"role":"tool","content":""})"), 4u);
  EXPECT_EQ(cost(R"({"role":"user","content":"Hello"})", profile("anthropic")), 2u + 5u);
}

TEST(MessageTokens, ANameCostsItsTokensAndOneMore) {
  EXPECT_EQ(cost(R"({"role":"user","name":"ana","content":"Hi"})"), 4u + 2u + 1u + 3u);
}

TEST(MessageTokens, TextCountsAsWhatItSaysNotAsItIsEscaped) {
  EXPECT_EQ(content(R"("\n\t\"\\")"), 4u);
  EXPECT_EQ(content(R"("\u0061")"), 1u);
  EXPECT_EQ(content(R"("\u4e2d")"), 3u);
  EXPECT_EQ(content(R"("\ud83d\ude00")"), 4u);
  EXPECT_EQ(content(R"("a\ud83db")"), 5u);  // a lone surrogate is sent as U+FFFD
  EXPECT_EQ(content(R"("\udc00\ud800")"), 6u);
}

TEST(MessageTokens, TextPartsCountAsTheirText) {
  EXPECT_EQ(
      content(
          R"([{"type":"text","text":"abcd"},{"text":"e\nf","type":"text","cache_control":{"type":"ephemeral"}}])"),
      7u);
  EXPECT_EQ(content(R"([ { "type" : "input_text" , "text" : "abcd" } ])"), 4u);
  EXPECT_EQ(content(R"([{"\u0074ype":"t\u0065xt","text":"abcd"}])"), 4u);
}

TEST(MessageTokens, FieldsThatAreNotSentCostNothing) {
  EXPECT_EQ(
      cost(
          R"({"id":"0123456789","role":"user","timestamp":1700000000000,"metadata":{"note":"a long note"},"content":"abcd","x":[1,[2],"]"]})"),
      8u);
}

TEST(MessageTokens, ACallIsItsNameAndItsArgumentsInEverySpelling) {
  const std::uint32_t frame = default_cost_profile().call_frame.value;
  // {"path":"a"} has 12 bytes, and ls two.
  EXPECT_EQ(
      assistant(
          R"("content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"path\":\"a\"}"}}])"),
      frame + 14);
  EXPECT_EQ(
      assistant(
          R"("content":"","toolCalls":[{"id":"call_1","name":"ls","arguments":{"path":"a"}}])"),
      frame + 14);
  EXPECT_EQ(
      assistant(
          R"("content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{"path":"a"}}])"),
      frame + 14);
  EXPECT_EQ(
      assistant(
          R"("content":[{"type":"tool_use","tool_use":{"id":"toolu_1","name":"ls","input":{"path":"a"}}}])"),
      frame + 14);
  EXPECT_EQ(
      assistant(
          R"("content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"ls","input":"abc"}}])"),
      frame + 5);
  EXPECT_EQ(assistant(R"("content":"x","function_call":{"name":"ls","arguments":"{}"})"),
            frame + 5);
  EXPECT_EQ(
      assistant(R"("content":null,"tool_calls":[{"id":"a","name":"f"},{"id":"b","name":"g"}])"),
      2 * frame + 2);
}

TEST(MessageTokens, AResultCostsWhatItContains) {
  const CostProfile& claude = profile("anthropic");
  const std::uint32_t frame = claude.result_frame.value;
  EXPECT_EQ(content(R"([{"type":"tool_result","tool_use_id":"toolu_1","content":"abc"}])", claude),
            frame + 3);
  EXPECT_EQ(content(R"([{"type":"tool_result","tool_result":{"tool_use_id":"t","content":"abc"}}])",
                    claude),
            frame + 3);
  EXPECT_EQ(
      content(
          R"([{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"abc"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":")" +
              png_1024 + R"("}}]}])",
          claude),
      frame + 3 + 1369);
  EXPECT_EQ(
      content(
          R"([{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","title":"abc","url":"de"}]}])",
          claude),
      frame + 5);
  EXPECT_EQ(cost(R"({"role":"tool","toolCallId":"call_1","content":"abc"})"), 4u + 3u);
}

// They hold their results, each elsewhere.
TEST(MessageTokens, AHostedCallCostsTheStringsInIt) {
  const auto hosted = [](std::string_view members) {
    return assistant(R"("content":[{"type":"openai_responses","item":{"id":"0123456789",)" +
                     std::string(members) + "}}]");
  };
  const std::string more(100, 'x');
  for (
      const std::string_view members : {
          R"("type":"mcp_call","name":"q","server_label":"s","arguments":"{}","output":"_")",
          R"("type":"mcp_list_tools","server_label":"s","tools":[{"name":"q","description":"_"}])",
          R"("type":"web_search_call","status":"completed","action":{"type":"search","query":"_"})",
          R"("type":"file_search_call","queries":["q"],"results":[{"text":"_","filename":"a"}])",
          R"("type":"code_interpreter_call","code":"1","outputs":[{"type":"logs","logs":"_"}])",
          R"("type":"some_new_tool_call","call_id":"c","found":"_")",
      }) {
    const std::uint32_t tokens = hosted(members);
    EXPECT_GT(tokens, 0u) << members;
    EXPECT_EQ(hosted(std::string(members).replace(members.find("\"_\"") + 1, 1, more)), tokens + 99)
        << members;
  }
  EXPECT_GT(
      assistant(
          R"("content":[{"type":"gemini","item":{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":")" +
          more + R"("}}}])"),
      100u);
}

TEST(MessageTokens, ThinkingCostsItsTextAndNotItsSignature) {
  EXPECT_EQ(
      assistant(
          R"("content":[{"type":"thinking","thinking":"hmm","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk"}])"),
      3u);
  EXPECT_EQ(assistant(R"("content":"yes","reasoning_content":"hmm")"), 6u);
  EXPECT_EQ(assistant(R"("content":"yes","reasoning":"hmm","reasoning_content":"hmm")"), 6u);
  EXPECT_EQ(
      assistant(
          R"("content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"abc"}],"encrypted_content":"AAAAAAAAAAAAAAAA"}])"),
      3u + 3u);  // 16 characters are 12 bytes, 4 of them a token
}

TEST(MessageTokens, RedactedThinkingCostsByItsBytes) {
  EXPECT_EQ(assistant(R"("content":[{"type":"redacted_thinking","data":")" +
                      std::string(1600, 'A') + R"("}])"),
            300u);
}

TEST(MessageTokens, AnImageCostsByItsPixelsWhateverItsLength) {
  const std::string url = "data:image/png;base64," + png_1024;
  EXPECT_EQ(content(R"([{"type":"image_url","image_url":{"url":")" + url + R"("}}])"), 765u);
  EXPECT_EQ(content(R"([{"type":"image_url","image_url":{"url":")" + url +
                    std::string(1'000'000, 'A') + R"("}}])"),
            765u);
  EXPECT_EQ(
      content(R"([{"type":"image_url","image_url":{"detail":"low","url":")" + url + R"("}}])"),
      85u);
  EXPECT_EQ(content(R"([{"type":"input_image","image_url":")" + url + R"(","detail":"high"}])"),
            765u);
  const std::string source =
      R"([{"type":"image","source":{"type":"base64","media_type":"image/png","data":")" + png_1024 +
      R"("}}])";
  EXPECT_EQ(content(source, profile("anthropic")), 1369u);
  EXPECT_EQ(content(source, profile("gemini")), 4 * 258u);
}

TEST(MessageTokens, AnImageThatIsElsewhereIsTakenForOneOf1024Pixels) {
  EXPECT_EQ(
      content(R"([{"type":"image_url","image_url":{"url":"https://example.org/a/picture.png"}}])"),
      765u);
  EXPECT_EQ(
      content(
          R"([{"type":"image","source":{"type":"file","file_id":"file_011CNha8iCJcU1wXNR6q4V8w"}}])",
          profile("anthropic")),
      1369u);
  EXPECT_EQ(content(R"([{"type":"image","source":{"type":"base64","data":"QQ=="}}])"), 765u);
  EXPECT_EQ(content(R"([{"type":"image"}])"), 765u);
}

TEST(MessageTokens, AnAbsurdImageHasABoundedCost) {
  // PNGs of 0 by 0 and of 4294967295 by 4294967295 pixels
  for (const char* data :
       {"iVBORw0KGgoAAAANSUhEUgAAAAAAAAAAAAAAAAAA", "iVBORw0KGgoAAAANSUhEUv//////////AAAAAAAA"})
    for (const CostProfile& each : cost_profiles()) {
      const std::uint32_t tokens =
          content(R"([{"type":"image","source":{"data":")" + std::string(data) + R"("}}])", each);
      EXPECT_GE(tokens, 1u);
      EXPECT_LE(tokens, 30'000u) << each.name;
    }
}

TEST(MessageTokens, AudioCostsByItsLength) {
  // 32,000 bytes a second
  const std::string wav_second = "UklGRiR9AABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQB9AAA";
  const std::string ten_seconds = wav_second + std::string(320'000 / 3 * 4, 'A');
  EXPECT_NEAR(content(R"([{"type":"input_audio","input_audio":{"format":"wav","data":")" +
                      ten_seconds + R"("}}])"),
              100, 1);
  EXPECT_NEAR(content(R"([{"type":"input_audio","input_audio":{"format":"wav","data":")" +
                          ten_seconds + R"("}}])",
                      profile("gemini")),
              320, 1);
  EXPECT_EQ(content(R"([{"type":"input_audio","input_audio":{"format":"mp3","data":")" +
                    std::string(16'000 / 3 * 4, 'A') + R"("}}])"),
            10u);
  EXPECT_EQ(content(R"([{"type":"audio","audio":{"id":"audio_1"}}])"),
            default_cost_profile().file_unseen.value);
}

TEST(MessageTokens, ADocumentCostsByItsPagesUnlessItIsTextOrParts) {
  const CostProfile& claude = profile("anthropic");
  const std::string pdf(400'000, 'J');  // 300,000 bytes: 6 pages
  EXPECT_EQ(
      content(
          R"([{"type":"document","title":"abc","source":{"type":"base64","media_type":"application/pdf","data":")" +
              pdf + R"("}}])",
          claude),
      3 + 6 * claude.document_page.value);
  EXPECT_EQ(
      content(
          R"([{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,)" +
          pdf + R"("}}])"),
      6 * default_cost_profile().document_page.value);
  EXPECT_EQ(
      content(
          R"([{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a\nb"}}])",
          claude),
      3u);
  EXPECT_EQ(
      content(
          R"([{"type":"document","source":{"type":"content","content":[{"type":"text","text":"abc"}]}}])",
          claude),
      3u);
  EXPECT_EQ(
      content(R"([{"type":"document","source":{"type":"url","url":"https://example.org/a.pdf"}}])",
              claude),
      claude.file_unseen.value);
  EXPECT_EQ(content(R"([{"type":"file","file":{"file_data":"data:text/plain;base64,)" +
                    std::string(400, 'Q') + R"("}}])"),
            300u);
}

TEST(MessageTokens, APartOfAnUnknownTypeCostsTheStringsInIt) {
  EXPECT_EQ(
      content(
          R"([{"type":"search_result","title":"abc","content":[{"type":"text","text":"de"}],"score":0.5,"id":"xyz"}])"),
      5u);
  EXPECT_EQ(content(R"([{"title":"abc"}])"), 3u);
  const std::string blob(1'000'000, 'Q');
  EXPECT_LT(content(R"([{"type":"hologram","data":")" + blob + R"("}])"), 30'000u);
  EXPECT_EQ(
      content(R"([{"type":"hologram","data":")" + png_1024 + std::string(1000, 'A') + R"("}])"),
      765u);
}

TEST(MessageTokens, ACountThatIsTooLargeIsTheLargest) {
  // Audio with a rate of next to nothing: 12 million bytes at a thousand a second, many times over.
  std::string parts;
  const std::string part = R"({"type":"video","data":")" + std::string(4'000'000, 'A') + R"("})";
  parts = part + "," + part + "," + part;
  CostProfile dear = default_cost_profile();
  dear.video_per_second.value = 0xFFFFFFFF;
  EXPECT_EQ(cost(R"({"role":"user","content":[)" + parts + "]}", dear), message_tokens_max);
}

std::string nested(std::size_t levels, const std::string& open, const std::string& inner,
                   const std::string& close) {
  std::string json;
  for (std::size_t i = 0; i < levels; ++i) json += open;
  json += inner;
  for (std::size_t i = 0; i < levels; ++i) json += close;
  return json;
}

TEST(MessageTokens, DeepMessagesAreCountedToTheBottom) {
  const std::string results = nested(60, R"([{"type":"tool_result","content":)", R"("abc")", "}]");
  EXPECT_GE(content(results), 3u);
  EXPECT_EQ(content(R"([{"x":)" + nested(120, "[", R"("abc")", "]") + "}]"), 3u);
  EXPECT_EQ(content("[" + nested(60, R"({"x":)", R"("abc")", "}") + "]"), 3u);
}

// Twice the message, at most a little more than twice the time: told apart from quadratic by a wide
// margin.
TEST(MessageTokens, TimeIsLinearInHostileMessages) {
  const auto seconds = [](const std::string& json) {
    const Message message = Message::parse(json).value();
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      count_message_tokens(message, *estimate_tokenizer(""), default_cost_profile());
      best = std::min(
          best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  const auto repeated = [](const std::string& piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
  };
  constexpr std::size_t bytes = 8'000'000;
  for (const std::string& piece :
       {std::string(R"(\\)"), std::string(R"(\")"), std::string(R"(\ud800)"),
        std::string("\xE4\xB8\xAD"), std::string("1"), std::string(R"(\u0041)")})
    EXPECT_LT(seconds(R"({"role":"user","content":")" + repeated(piece, bytes) + "\"}"), 2.0)
        << piece;
  EXPECT_LT(
      seconds(R"({"role":"user","content":[{"type":"text","text":"x"})" +
              repeated(R"(,{"type":"text","text":"as many parts as one may have"})", bytes) + "]}"),
      2.0);
  EXPECT_LT(seconds(R"({"role":"user","content":[{"type":"image","source":{"data":")" +
                    repeated("/9j/4QAC", bytes) + R"("}}]})"),
            2.0);
  EXPECT_LT(seconds(R"({"role":"user","content":)" +
                    nested(60, R"([{"type":"tool_result","content":)",
                           '"' + repeated("a", bytes) + '"', "}]") +
                    "}"),
            2.0);
}

}  // namespace
}  // namespace undertext
