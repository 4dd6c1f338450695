#include "base/event_stream.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace undertext {
namespace {

// Every event as "name|data", from a stream that comes in pieces of that many bytes.
std::vector<std::string> events(std::string_view text, std::size_t piece_bytes) {
  EventStream stream;
  std::vector<std::string> seen;
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    EXPECT_TRUE(stream.read(text.substr(at, piece_bytes),
                            [&](std::string_view name, std::string_view data) {
                              seen.push_back(std::string(name) + "|" + std::string(data));
                              return true;
                            }));
  }
  return seen;
}

TEST(EventStream, GivesTheSameEventsInPiecesOfAnySize) {
  const std::string text =
      ": a comment\n"
      "data: one\n\n"
      "event: named\r\ndata:two\r\ndata:  more\r\n\r\n"
      "id: 7\nretry: 10\nunknown\n\n"
      "data\n\n"
      "event: without data\n\n"
      "data: {\"a\":\n: between\ndata: 1}\n\n"
      "data: never ended";
  const std::vector<std::string> expected = {"|one", "named|two\n more", "|", "|{\"a\":\n1}"};
  for (std::size_t piece_bytes = 1; piece_bytes <= text.size(); ++piece_bytes)
    EXPECT_EQ(events(text, piece_bytes), expected);
}

TEST(EventStream, EndsLinesAsTheStandardAllows) {
  const std::vector<std::string> expected = {"named|one\ntwo", "|three", "|\xEF\xBB\xBF"};
  for (const std::string end : {"\n", "\r\n", "\r"})
    for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
      const std::string text = mark + "event: named" + end + "data: one" + end + "data: two" + end +
                               end + "data: three" + end + end + "data: \xEF\xBB\xBF" + end + end;
      for (std::size_t piece_bytes = 1; piece_bytes <= text.size(); ++piece_bytes)
        EXPECT_EQ(events(text, piece_bytes), expected);
    }
}

TEST(EventStream, GivesAnEventAtTheBareReturnThatEndsIt) {
  EXPECT_EQ(events("data: 1\r\r", 1), std::vector<std::string>{"|1"});
  EXPECT_EQ(events("\xEF\xBB", 1), std::vector<std::string>());
}

TEST(EventStream, StopsWhenNoMoreIsWanted) {
  EventStream stream;
  int seen = 0;
  EXPECT_TRUE(stream.read("data: 1\n\ndata: 2\n\n",
                          [&](std::string_view, std::string_view) { return ++seen < 1; }));
  EXPECT_EQ(seen, 1);
}

TEST(EventStream, GivesUpOnAnEventWithoutAnEnd) {
  const auto read_until_refused = [](const std::string& piece) {
    EventStream stream;
    std::size_t bytes = 0;
    while (stream.read(piece, [](std::string_view, std::string_view) { return true; }) &&
           bytes < 10 * EventStream::event_bytes_max)
      bytes += piece.size();
    return bytes;
  };
  EXPECT_LE(read_until_refused(std::string(1000, 'x')), EventStream::event_bytes_max);
  EXPECT_LE(read_until_refused("data: " + std::string(1000, 'x') + "\n"),
            2 * EventStream::event_bytes_max);
}

}  // namespace
}  // namespace undertext
