#include "server/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json_text.hpp"

namespace undertext {
namespace {

class LogLines : public ::testing::Test {
 protected:
  LogLines() {
    if (::pipe(ends_) != 0) std::abort();
  }
  ~LogLines() override { ::close(ends_[0]); }
  std::string written() {
    ::close(ends_[1]);
    std::string text;
    char some[4096];
    for (ssize_t got = 0; (got = ::read(ends_[0], some, sizeof some)) > 0;) text.append(some, static_cast<std::size_t>(got));
    return text;
  }
  int ends_[2] = {-1, -1};
};

TEST_F(LogLines, ARequestIsOneLineOfJsonWhateverItsTextsHold) {
  const ServerLog log(ends_[1], ServerLog::Requests::each);
  log.request({.method = "GE\r\nT",
               .route = "/v1/conversations/{id}",
               .status = 200,
               .duration = std::chrono::microseconds(1500),
               .bytes_in = 3,
               .bytes_out = 70,
               .tenant = "a\"\\\x1b]52;c;x\x07",
               .token = "\xff\xc3",
               .peer = "::1"});
  const std::string line = written();
  ASSERT_FALSE(line.empty());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  for (const char c : line.substr(0, line.size() - 1)) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << static_cast<int>(c);
  const JsonText text = JsonText::parse(std::string_view(line).substr(0, line.size() - 1), {}).value();
  EXPECT_EQ(text.root().find("method")->string(), "GE\r\nT");
  EXPECT_EQ(text.root().find("route")->string(), "/v1/conversations/{id}");
  EXPECT_EQ(text.root().find("status")->raw(), "200");
  EXPECT_EQ(text.root().find("us")->raw(), "1500");
  EXPECT_EQ(text.root().find("bytesOut")->raw(), "70");
  EXPECT_EQ(text.root().find("level")->string(), "info");
}

TEST_F(LogLines, WithoutRequestsOnlyEventsAreWritten) {
  const ServerLog log(ends_[1], ServerLog::Requests::none);
  log.request({.method = "GET", .route = "/", .status = 200, .tenant = "", .token = "", .peer = ""});
  log.event(ServerLog::Level::error, "stopped", {{"why", "x\ny"}});
  const std::string line = written();
  EXPECT_EQ(line.find("request"), std::string::npos);
  EXPECT_NE(line.find(R"("event":"stopped","why":"x\u000ay"})"), std::string::npos) << line;
}

}  // namespace
}  // namespace undertext
