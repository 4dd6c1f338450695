#include "gateway/fields.hpp"

#include <gtest/gtest.h>

#include "gateway/upstream_head.hpp"

namespace undertext {
namespace {

using http::Field;

std::string text_of(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) text += field.name + "=" + field.value + ";";
  return text;
}

http::Head head_with(std::vector<Field> fields, std::string target = "/") {
  http::Head head;
  head.method = "POST";
  head.target = std::move(target);
  head.fields = std::move(fields);
  return head;
}

TEST(Fields, ThoseOfAConnectionAndTheGatewaysOwnAreNotPassedOn) {
  const Upstream upstream{.name = "openai"};
  const http::Head head = head_with({{"Host", "h"},
                                     {"CONNECTION", "X-Drop , close"},
                                     {"x-drop", "1"},
                                     {"Keep-Alive", "1"},
                                     {"TE", "trailers"},
                                     {"Trailer", "x"},
                                     {"Transfer-Encoding", "chunked"},
                                     {"Upgrade", "h2c"},
                                     {"Proxy-Authorization", "x"},
                                     {"Expect", "100-continue"},
                                     {"X-Undertext-Conversation", "c"},
                                     {"x-Undertext", "kept"},
                                     {"Authorization", "Bearer a"},
                                     {"x-API-key", "b"},
                                     {"Content-Length", "3"}});
  EXPECT_EQ(text_of(outgoing_fields(head, upstream)),
            "x-Undertext=kept;Authorization=Bearer a;x-API-key=b;Content-Length=3;");
}

TEST(Fields, TheGatewaysKeyReplacesEveryKeyOfTheClient) {
  const http::Head head = head_with(
      {{"authorization", "Bearer a"}, {"X-Api-Key", "b"}, {"x-goog-api-key", "c"}, {"A", "1"}});
  const auto sent = [&](Provider provider) {
    return text_of(outgoing_fields(head, {.provider = provider, .key = "own"}));
  };
  EXPECT_EQ(sent(Provider::anthropic), "A=1;x-api-key=own;");
  EXPECT_EQ(sent(Provider::openai), "A=1;Authorization=Bearer own;");
  EXPECT_EQ(sent(Provider::gemini), "A=1;x-goog-api-key=own;");
  EXPECT_EQ(outgoing_target("/x?key=a&alt=sse", {.key = "own"}), "/x?alt=sse");
  EXPECT_EQ(outgoing_target("/x?key=a&alt=sse", {}), "/x?key=a&alt=sse");
}

TEST(Fields, AKeyInATargetIsTakenOutWhereverItStands) {
  EXPECT_EQ(without_key("/x"), "/x");
  EXPECT_EQ(without_key("/x?key=a"), "/x");
  EXPECT_EQ(without_key("/x?a=1&key=b"), "/x?a=1");
  EXPECT_EQ(without_key("/x?key=a&b=1&key=c"), "/x?b=1");
  EXPECT_EQ(without_key("/x?monkey=1&keys=2"), "/x?monkey=1&keys=2");
  EXPECT_EQ(without_key("/key=a?b"), "/key=a?b");
}

TEST(Fields, ACredentialIsFoundWhereClientsPutIt) {
  const auto secret = [](const http::Head& head) {
    const std::optional<Credential> found = credential_of(head);
    return found ? found->secret + (found->is_ours ? " ours" : "") : "none";
  };
  EXPECT_EQ(secret(head_with({})), "none");
  EXPECT_EQ(secret(head_with({{"Authorization", "bearer  t "}})), "t");
  EXPECT_EQ(secret(head_with({{"Authorization", "Basic x"}})), "Basic x");
  EXPECT_EQ(secret(head_with({{"X-API-Key", "k"}, {"Authorization", "Bearer t"}})), "k");
  EXPECT_EQ(secret(head_with({}, "/x?a=1&key=q&b=2")), "q");
  EXPECT_EQ(secret(head_with({{"x-undertext-token", "u"}, {"x-api-key", "k"}})), "u ours");
}

TEST(Fields, NoSecretIsKept) {
  EXPECT_EQ(text_of(without_secrets({{"Authorization", "a"},
                                     {"Cookie", "b"},
                                     {"Set-Cookie", "c"},
                                     {"X-Goog-Api-Key", "d"},
                                     {"X-Undertext-Token", "e"},
                                     {"X-Undertext-Conversation", "f"}})),
            "X-Undertext-Conversation=f;");
}

UpstreamHeadReader::Progress read_all(UpstreamHeadReader& reader,
                                      std::initializer_list<std::string_view> lines) {
  auto progress = UpstreamHeadReader::Progress::more;
  for (const std::string_view line : lines) progress = reader.read(line);
  return progress;
}

TEST(UpstreamHeadReader, GivesTheAnswersHeadWithoutInterimOnes) {
  UpstreamHeadReader reader;
  ASSERT_EQ(
      read_all(reader, {"HTTP/1.1 103 Early\r\n", "Link: a\r\n", "\r\n",
                        "HTTP/1.1 529 Too much  of it\r\n", "x-A:  b \r\n", "Connection: x-c\r\n",
                        "X-C: 1\r\n", "Content-Length: 3\r\n", "\r\n"}),
      UpstreamHeadReader::Progress::done);
  const UpstreamHead head = reader.take();
  EXPECT_EQ(head.status, 529u);
  EXPECT_EQ(head.reason, "Too much  of it");
  EXPECT_EQ(text_of(head.fields), "x-A=b;Content-Length=3;");
  EXPECT_EQ(reader.read("X-Trailer: 1\r\n"), UpstreamHeadReader::Progress::more);
}

TEST(UpstreamHeadReader, RefusesWhatCouldBeReadInTwoWays) {
  using Lines = std::initializer_list<std::string_view>;
  for (const Lines lines :
       {Lines{"HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n", "Content-Length: 1\r\n", "\r\n"},
        Lines{"HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n",
              "\r\n"},
        Lines{"HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked, identity\r\n", "\r\n"},
        Lines{"HTTP/1.1 200 OK\r\n", "Content-Length: 1x\r\n", "\r\n"},
        Lines{"HTTP/1.1 200 OK\r\n", " folded\r\n"}, Lines{"HTTP/1.1 200 OK\r\n", "a: b\rc: d\r\n"},
        Lines{"HTTP/1.1 2000 OK\r\n"}, Lines{"HTTP/1.1 101 X\r\n"}}) {
    UpstreamHeadReader reader;
    EXPECT_EQ(read_all(reader, lines), UpstreamHeadReader::Progress::refused) << *(lines.end() - 1);
  }
}

TEST(UpstreamHeadReader, TakesAnUpgradeToAWebSocketWhereOneWasAskedFor) {
  UpstreamHeadReader reader(UpstreamHeadReader::Upgrade::allowed);
  ASSERT_EQ(read_all(reader, {"HTTP/1.1 101 Switching\r\n", "Upgrade: WebSocket\r\n",
                              "Connection: Upgrade\r\n", "a: b\r\n", "\r\n"}),
            UpstreamHeadReader::Progress::done);
  EXPECT_EQ(text_of(reader.take().fields), "a=b;");
  for (const std::string_view other : {"Upgrade: h2c\r\n", "X: websocket\r\n"}) {
    UpstreamHeadReader refusing(UpstreamHeadReader::Upgrade::allowed);
    EXPECT_EQ(read_all(refusing, {"HTTP/1.1 101 Switching\r\n", other, "\r\n"}),
              UpstreamHeadReader::Progress::refused);
  }
}

TEST(GatewayFields, SecretsAreFoundWhereverARequestHasThem) {
  http::Head head;
  head.target = "/v1/x?key=in-the-target&a=1";
  head.fields = {{"Authorization", "Bearer one"},
                 {"authorization", "Basic  two"},
                 {"X-Api-Key", "three"},
                 {"x-undertext-token", "ut_four"},
                 {"x-other", "five"}};
  EXPECT_EQ(secrets_of(head),
            (std::vector<std::string>{"one", "two", "three", "ut_four", "in-the-target"}));
}

}  // namespace
}  // namespace undertext
