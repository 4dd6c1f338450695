// What two programs could read in two ways, over real sockets: each is answered once, with 400, and
// ends the connection.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;
using namespace std::string_literals;

struct Case {
  const char* name;
  std::string bytes;
};

std::string with(std::string_view fields, std::string_view body = "") {
  return "POST / HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) + "\r\n" +
         std::string(body);
}
std::string chunked(std::string_view body) { return with("Transfer-Encoding: chunked\r\n", body); }

const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::vector<Case> malformed() {
  return {
      // Two lengths, or none that can be trusted.
      {"length and chunks",
       with("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + smuggled)},
      {"chunks and length",
       with("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n" + smuggled)},
      {"two lengths", with("Content-Length: 0\r\nContent-Length: 44\r\n", smuggled)},
      {"two equal lengths", with("Content-Length: 0\r\nContent-Length: 0\r\n")},
      {"a list of lengths", with("Content-Length: 0, 0\r\n")},
      {"a negative length", with("Content-Length: -1\r\n")},
      {"a length with a sign", with("Content-Length: +1\r\n", "x")},
      {"a hexadecimal length", with("Content-Length: 0x1\r\n", "x")},
      {"a length with a space", with("Content-Length: 1 1\r\n", "x")},
      {"a length with a letter", with("Content-Length: 1a\r\n", "x")},
      {"a length with an exponent", with("Content-Length: 1e1\r\n", "x")},
      {"a length of nothing", with("Content-Length:\r\n")},
      {"a length beyond 64 bits", with("Content-Length: 18446744073709551617\r\n", "x")},
      {"a length of 40 digits",
       with("Content-Length: 0000000000000000000000000000000000000001\r\n", "x")},
      {"a space before the colon of the length", with("Content-Length : 1\r\n", "x")},
      {"a tab before the colon of the coding",
       with("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n")},
      // Codings.
      {"two codings",
       with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {"identity", with("Transfer-Encoding: identity\r\n")},
      {"identity, then chunked", with("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n")},
      {"chunked, then identity", with("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n")},
      {"chunked twice", with("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")},
      {"gzip, chunked", with("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
      {"xchunked", with("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")},
      {"chunked in quotes", with("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n")},
      {"chunked with a parameter", with("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n")},
      {"an empty coding", with("Transfer-Encoding:\r\n", "0\r\n\r\n")},
      {"a vertical tab before chunked", with("Transfer-Encoding: \vchunked\r\n", "0\r\n\r\n")},
      {"chunked with a NUL", with("Transfer-Encoding: chunked\0\r\n"s, "0\r\n\r\n")},
      {"chunks in HTTP/1.0",
       "POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      // Lines.
      {"a folded line", with("X: a\r\n b\r\n")},
      {"a folded line with a tab", with("X: a\r\n\tb\r\n")},
      {"a folded coding", with("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n")},
      {"a space before the first field", "GET / HTTP/1.1\r\n Host: localhost\r\n\r\n"},
      {"a bare LF after the request line", "GET / HTTP/1.1\nHost: localhost\r\n\r\n"},
      {"a bare LF after a field", "GET / HTTP/1.1\r\nHost: localhost\n\r\n"},
      {"a bare LF as the empty line", "GET / HTTP/1.1\r\nHost: localhost\r\n\n"},
      {"bare LF throughout", "GET / HTTP/1.1\nHost: localhost\n\n"},
      {"a bare CR in a field", with("X: a\rContent-Length: 44\r\n")},
      {"bare CR throughout", "GET / HTTP/1.1\rHost: localhost\r\r"},
      {"two CR", "GET / HTTP/1.1\r\r\nHost: localhost\r\n\r\n"},
      {"two empty lines before the request", "\r\n\r\n" + smuggled},
      {"a field without a colon", with("X\r\n")},
      {"a field without a name", with(": x\r\n")},
      {"a name with a control character", with("X\x01: x\r\n")},
      {"a name with a bracket", with("X[: x\r\n")},
      {"a name beyond ASCII", with("X\xc3\xa9: x\r\n")},
      {"a NUL in a value", with("X: a\0b\r\n"s)},
      {"a DEL in a value", with("X: a\x7f\r\n")},
      {"an escape in a value", with("X: a\x1b[0m\r\n")},
      // Request lines.
      {"two spaces", "GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a tab between", "GET\t/ HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a space in the target", "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a space behind the version", "GET / HTTP/1.1 \r\nHost: localhost\r\n\r\n"},
      {"no version", "GET /\r\nHost: localhost\r\n\r\n"},
      {"a version in small letters", "GET / http/1.1\r\nHost: localhost\r\n\r\n"},
      {"a version with more digits", "GET / HTTP/1.10\r\nHost: localhost\r\n\r\n"},
      {"a method that is no word", "GE(T / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a target with a control character", "GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a target with a NUL", "GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n"s},
      {"a target beyond ASCII", "GET /\xc3\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a target with a fragment", "GET /#a HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a target that is no path", "GET a HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"an asterisk for GET", "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"an authority", "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"another host in the target",
       "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a user in the target", "GET http://a@localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"another scheme", "GET file://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"},
      {"a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n"s},
      // Host.
      {"no host", "GET / HTTP/1.1\r\n\r\n"},
      {"two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"},
      {"an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"},
      {"a host with a path", "GET / HTTP/1.1\r\nHost: localhost/a\r\n\r\n"},
      {"a host with a user", "GET / HTTP/1.1\r\nHost: a@localhost\r\n\r\n"},
      {"a host with a space", "GET / HTTP/1.1\r\nHost: local host\r\n\r\n"},
      {"a list of hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"},
      {"a port that is no number", "GET / HTTP/1.1\r\nHost: localhost:80a\r\n\r\n"},
      {"a bracket left open", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"},
      // Chunks.
      {"a chunk without a size", chunked("\r\nabc\r\n0\r\n\r\n")},
      {"a negative chunk", chunked("-1\r\nabc\r\n0\r\n\r\n")},
      {"a chunk with a sign", chunked("+3\r\nabc\r\n0\r\n\r\n")},
      {"a chunk with 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n")},
      {"a chunk whose size overflows", chunked("10000000000000003\r\nabc\r\n0\r\n\r\n")},
      {"a chunk of all ones", chunked("ffffffffffffffff\r\nabc\r\n0\r\n\r\n")},
      {"a size with a space before it", chunked(" 3\r\nabc\r\n0\r\n\r\n")},
      {"a size with a space behind it", chunked("3 \r\nabc\r\n0\r\n\r\n")},
      {"a size with a bare LF", chunked("3\nabc\r\n0\r\n\r\n")},
      {"an extension with a bare LF", chunked("3;a\nbc\r\nabc\r\n0\r\n\r\n")},
      {"an extension with a control character", chunked("3;a\x01\r\nabc\r\n0\r\n\r\n")},
      {"an extension with a bare CR", chunked("3;a\rb\r\nabc\r\n0\r\n\r\n")},
      {"an extension without an end", chunked("3;" + std::string(300, 'a'))},
      {"a chunk longer than its size", chunked("3\r\nabcd\r\n0\r\n\r\n")},
      {"a chunk that ends with LF", chunked("3\r\nabc\n0\r\n\r\n")},
      {"a trailer that is no field", chunked("0\r\nX\r\n\r\n")},
      {"a folded trailer", chunked("0\r\nX: a\r\n b\r\n\r\n")},
      {"a trailer with a bare LF", chunked("0\r\nX: a\n\r\n")},
  };
}

TEST(Strictness, RefusesOnceAndCloses) {
  std::atomic<int> smugglings = 0;
  Calls calls = echoing();
  calls.handle = [&](Request request, std::unique_ptr<Exchange> exchange) {
    if (request.target == "/smuggled") ++smugglings;
    echo(std::move(request), std::move(exchange));
  };
  Server server = serve(calls);
  const std::vector<Case> cases = malformed();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RawClient client(server);
    client.send(c.bytes + smuggled);
    const std::string all = client.read_all();
    EXPECT_EQ(status_of(all), 400u) << all;
    EXPECT_EQ(count_of(all, "HTTP/1.1 "), 1u) << all;
    EXPECT_NE(all.find("\r\nConnection: close\r\n"), all.npos);
  }
  EXPECT_EQ(smugglings, 0);
  EXPECT_EQ(server.counts().malformed, cases.size());
}

TEST(Strictness, RefusesWithoutWaitingForMore) {
  Server server = serve(echoing());
  for (const std::string& bytes :
       {"GET / HTTP/1.1\nHost: a"s, "GET / HTTP/1.1\rHost: a"s, "GET / HTTP/1.1\r\nHost: a\nX"s}) {
    RawClient client(server);
    client.send(bytes);
    EXPECT_EQ(status_of(client.read_answer()), 400u);
  }
}

TEST(Strictness, RefusesOtherVersionsAndExpectations) {
  Server server = serve(echoing());
  for (const auto& [bytes, status] : std::vector<std::pair<std::string, unsigned>>{
           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
           {"GET / HTTP/1.2\r\nHost: localhost\r\n\r\n", 505},
           {"GET / HTTP/0.9\r\nHost: localhost\r\n\r\n", 505},
           {with("Expect: 200-ok\r\nContent-Length: 1\r\n", "x"), 417},
       }) {
    RawClient client(server);
    client.send(bytes);
    const std::string all = client.read_all();
    EXPECT_EQ(status_of(all), status);
    EXPECT_EQ(count_of(all, "HTTP/1.1 "), 1u);
  }
}

TEST(Strictness, TakesWhatIsProperThoughUnusual) {
  Server server = serve(echoing());
  for (const auto& [bytes, body] : std::vector<std::pair<std::string, std::string>>{
           {"\r\n" + get("/"), "GET / "},
           {"GET / HTTP/1.1\r\nhOST:localhost\r\n\r\n", "GET / "},
           {"GET / HTTP/1.1\r\nHost: \t localhost:8777 \t \r\n\r\n", "GET / "},
           {"GET / HTTP/1.1\r\nHost: [::1]:8777\r\n\r\n", "GET / "},
           {"GET http://LocalHost/a?b HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /a?b "},
           {"GET http://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / "},
           {"GET http://localhost?b HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /?b "},
           {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", "OPTIONS * "},
           {"GET //a/../b HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET //a/../b "},
           {"GET /a|b{c}^ HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /a|b{c}^ "},
           {with("Content-Length: 0003\r\n", "abc"), "POST / abc"},
           {with("X:\r\nY: \xc3\xa9\ttab\r\n"), "POST / "},
           {chunked("0003\r\nabc\r\n00\r\n\r\n"), "POST / abc"},
           {chunked("A\r\n0123456789\r\n0\r\n\r\n"), "POST / 0123456789"},
           {chunked("1;a=b;c\r\nx\r\n0;d\r\nContent-Length: 9\r\n\r\n"), "POST / x"},
           {"PROPFIND / HTTP/1.1\r\nHost: localhost\r\n\r\n", "PROPFIND / "},
       }) {
    RawClient client(server);
    client.send(bytes);
    EXPECT_EQ(body_of(client.read_answer()), body) << bytes;
  }
}

TEST(Strictness, AnswersABodyThatEndsEarlyOnce) {
  Server server = serve(echoing());
  for (const std::string& bytes :
       {with("Content-Length: 9\r\n", "abc"), chunked("9\r\nabc"), chunked("3\r\nabc\r\n")}) {
    RawClient client(server);
    client.send(bytes);
    client.end_sending();
    EXPECT_EQ(status_of(client.read_all()), 400u);
  }
}

}  // namespace
}  // namespace undertext::http
