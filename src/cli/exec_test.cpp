#include "cli/exec.hpp"

#include <algorithm>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace undertext {
namespace {

struct Pipe {
  int out = -1;
  int in = -1;
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    out = ends[0];
    in = ends[1];
  }
  ~Pipe() {
    close_in();
    close_out();
  }
  void close_in() { close_end(in); }
  void close_out() { close_end(out); }
  void put(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(in, text.data(), text.size());
      ASSERT_GT(written, 0);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  std::string take() {  // whatever is there, waiting for the first byte
    char buffer[4096];
    const ssize_t got = read(out, buffer, sizeof buffer);
    return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : "";
  }
  std::string take_all() {
    std::string all;
    for (std::string some = take(); !some.empty(); some = take()) all += some;
    return all;
  }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

// Everything that comes back for `input`, with input in chunks of `chunk` bytes.
std::string play(std::string_view input, std::uint64_t line_bytes = 1 << 20,
                 std::size_t chunk = 1 << 20) {
  Conversation conversation;
  Pipe requests, answers;
  std::string all;
  std::thread exec([&] {
    EXPECT_EQ(exec_lines(conversation, requests.out, answers.in, line_bytes), 0);
    answers.close_in();
  });
  std::thread reader([&] { all = answers.take_all(); });
  for (; !input.empty(); input.remove_prefix(std::min(chunk, input.size())))
    requests.put(input.substr(0, chunk));
  requests.close_in();
  exec.join();
  reader.join();
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t from = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', from)) {
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  EXPECT_EQ(from, text.size()) << "the last answer lacks its newline";
  return lines;
}

bool is_ok(const std::string& line) { return line.starts_with(R"({"ok":true)"); }
bool has_code(const std::string& line, const std::string& code) {
  return line.starts_with(R"({"ok":false,"error":{"code":")" + code + "\"");
}

TEST(Exec, EveryLineIsAnsweredInOrder) {
  const std::vector<std::string> answers =
      lines_of(play("{\"operation\":\"APPEND\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]"
                    "}\n{nonsense\n{\"query\":\"version\"}\n"));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(is_ok(answers[0]));
  EXPECT_TRUE(has_code(answers[1], "invalid_argument"));
  EXPECT_EQ(answers[2], R"({"ok":true,"result":1})");
}

TEST(Exec, AnAnswerComesBeforeTheNextLineIsAsked) {
  Conversation conversation;
  Pipe requests, answers;
  std::thread exec(
      [&] { EXPECT_EQ(exec_lines(conversation, requests.out, answers.in, 1 << 20), 0); });
  for (int i = 0; i < 3; ++i) {
    requests.put("{\"query\":\"version\"}\n");
    EXPECT_EQ(answers.take(), "{\"ok\":true,\"result\":0}\n");
  }
  requests.close_in();
  exec.join();
}

TEST(Exec, NoInputIsNoAnswer) { EXPECT_EQ(play(""), ""); }

TEST(Exec, TheLastLineMayLackItsNewline) {
  EXPECT_EQ(lines_of(play("{\"query\":\"version\"}\n{\"query\":\"version\"}")).size(), 2u);
}

TEST(Exec, EmptyLinesAndNulBytesAreAnsweredLikeAnyOtherNonsense) {
  using namespace std::string_view_literals;
  const std::vector<std::string> answers =
      lines_of(play("\n\r\n\0\n{\"query\":\"version\"}\0\n{\"query\":\"version\"}\r\n"sv));
  ASSERT_EQ(answers.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(has_code(answers[i], "invalid_argument")) << answers[i];
  EXPECT_TRUE(is_ok(answers[4]));
}

TEST(Exec, ALineOverTheLimitIsReadToItsEndAndTheLoopGoesOn) {
  const std::string longest = R"({"query":"version"})";  // 19 bytes
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
    const std::vector<std::string> answers =
        lines_of(play(longest + "\n" + longest + " \n" + std::string(1000, 'x') + "\n" + longest +
                          "\n" + std::string(30, 'y'),
                      19, chunk));
    ASSERT_EQ(answers.size(), 5u) << chunk;
    EXPECT_TRUE(is_ok(answers[0]));
    EXPECT_TRUE(has_code(answers[1], "too_large"));
    EXPECT_TRUE(has_code(answers[2], "too_large"));
    EXPECT_TRUE(is_ok(answers[3]));
    EXPECT_TRUE(has_code(answers[4], "too_large"));
  }
}

TEST(Exec, LinesOfManySizesArriveWhole) {
  std::string input, expected;
  for (std::size_t size = 1; size < 3000000; size = size * 3 + 1) {
    const std::string message = R"({"role":"user","content":")" + std::string(size, 'x') + R"("})";
    input += R"({"operation":"APPEND","messages":[)" + message +
             "]}\n{\"query\":\"messages\",\"last\":1}\n";
    expected += message;
  }
  const std::vector<std::string> answers = lines_of(play(input, 1 << 28, 100003));
  std::string got;
  for (const std::string& line : answers) {
    const std::size_t from = line.find("\"messages\":[");
    if (from != std::string::npos)
      got += line.substr(from + 12, line.rfind("],\"ordinals\"") - from - 12);
  }
  EXPECT_EQ(got, expected);
}

TEST(Exec, AnOutputThatIsGoneEndsTheLoopWithAFailure) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Conversation conversation;
  Pipe requests, answers;
  answers.close_out();
  requests.put("{\"query\":\"version\"}\n");
  EXPECT_EQ(exec_lines(conversation, requests.out, answers.in, 1 << 20), 1);
  std::signal(SIGPIPE, before);
}

TEST(Exec, AnInputThatCannotBeReadEndsTheLoopWithAFailure) {
  Conversation conversation;
  EXPECT_EQ(exec_lines(conversation, -1, -1, 1 << 20), 1);
}

TEST(Exec, OptionsThatAreNoGoodAreRefused) {
  EXPECT_EQ(run_exec({.store = "nosuch:chat.db"}), 2);
  EXPECT_EQ(run_exec({.config = "{"}), 2);
  EXPECT_EQ(run_exec({.config = R"({"tokenizer":"nobody knows"})"}), 2);
}

}  // namespace
}  // namespace undertext
