#include "server/log.hpp"

#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json_text.hpp"
#include "server/log_fixture.hpp"

namespace undertext {
namespace {

class LogLines : public ::testing::Test, protected LogPipe {};

TEST_F(LogLines, ARequestIsOneLineOfJsonWhateverItsTextsHold) {
  log(ServerLog::Requests::each)
      .request({.method = "GE\r\nT",
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
  for (const char c : line.substr(0, line.size() - 1))
    EXPECT_TRUE(c >= 0x20 && c < 0x7f) << static_cast<int>(c);
  const JsonText text =
      JsonText::parse(std::string_view(line).substr(0, line.size() - 1), {}).value();
  EXPECT_EQ(text.root().find("method")->string(), "GE\r\nT");
  EXPECT_EQ(text.root().find("route")->string(), "/v1/conversations/{id}");
  EXPECT_EQ(text.root().find("status")->raw(), "200");
  EXPECT_EQ(text.root().find("us")->raw(), "1500");
  EXPECT_EQ(text.root().find("bytesOut")->raw(), "70");
  EXPECT_EQ(text.root().find("level")->string(), "info");
}

TEST_F(LogLines, WithoutRequestsOnlyEventsAreWritten) {
  const ServerLog& log = this->log(ServerLog::Requests::none);
  log.request(
      {.method = "GET", .route = "/", .status = 200, .tenant = "", .token = "", .peer = ""});
  log.event(ServerLog::Level::error, "stopped", {{"why", "x\ny"}});
  const std::string line = written();
  EXPECT_EQ(line.find("request"), std::string::npos);
  EXPECT_NE(line.find(R"("event":"stopped","why":"x\u000ay"})"), std::string::npos) << line;
}

TEST_F(LogLines, NobodyWaitsForAReaderAndWhatIsDroppedIsCounted) {
  const ServerLog& log = this->log(ServerLog::Requests::each);
  for (int i = 0; i < 30'000; ++i) log.event(ServerLog::Level::info, "something");
  std::string text;
  std::thread reader([&] {
    char some[4096];
    for (ssize_t got = 0; (got = ::read(ends_[0], some, sizeof some)) > 0;)
      text.append(some, static_cast<std::size_t>(got));
  });
  log_.reset();
  ::close(ends_[1]);
  reader.join();
  EXPECT_NE(text.find(R"("event":"lines dropped","count":)"), std::string::npos);
  EXPECT_NE(text.find(R"("event":"something")"), std::string::npos);
}

TEST_F(LogLines, ALogThatNobodyEverReadsEnds) {
  const ServerLog& log = this->log(ServerLog::Requests::each);
  for (int i = 0; i < 30'000; ++i) log.event(ServerLog::Level::info, "something");
  log_.reset();
  EXPECT_NE(written().find(R"("event":"something")"), std::string::npos);
}

}  // namespace
}  // namespace undertext
