// The readers of heads and bodies as values, and a second opinion: what they take, and
// Boost.Beast's parser takes too, says the same to both. Beast takes more: folded lines, equal
// lengths twice, no Host or two, codings that it does not know.
#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <gtest/gtest.h>

#include "../../tests/http/mutations.hpp"
#include "http/body.hpp"
#include "http/head.hpp"

namespace undertext::http {
namespace {

using namespace testing;

struct Reading {
  std::string method, target, body;
  std::vector<std::string> fields;  // "name: value", sorted
  std::size_t bytes = 0;            // how many the request is long
  bool operator==(const Reading&) const = default;
};

// Fed as a connection does it: what a reader leaves is given to it again, with what has come since.
// `cuts`: where the pieces end.
std::optional<Reading> ours(const std::string& bytes, const std::vector<std::size_t>& cuts = {}) {
  const Limits limits;
  HeadReader head(limits);
  std::optional<RequestHead> request;
  BodyReader body;
  std::size_t read = 0;
  Progress progress = Progress::more;
  for (std::size_t piece = 0; piece <= cuts.size() && progress == Progress::more; ++piece) {
    const std::size_t come = piece < cuts.size() ? cuts[piece] : bytes.size();
    std::string_view rest = std::string_view(bytes).substr(read, come - read);
    if (!request && (progress = head.read(rest)) == Progress::done) {
      request = head.take();
      body = BodyReader(*request, 1 << 20, limits.head_bytes);
    }
    if (request) progress = body.read(rest);
    read = come - rest.size();
  }
  if (progress != Progress::done) return std::nullopt;
  Reading reading{.method = request->head.method,
                  .target = request->head.target,
                  .body = body.take(),
                  .fields = {},
                  .bytes = read};
  for (const Field& field : request->head.fields)
    reading.fields.push_back(field.name + ": " + field.value);
  std::sort(reading.fields.begin(), reading.fields.end());
  return reading;
}

std::optional<Reading> theirs(const std::string& bytes) {
  namespace beast = boost::beast::http;
  beast::request_parser<beast::string_body> parser;
  parser.eager(true);
  boost::system::error_code error;
  std::size_t read = 0;
  while (!parser.is_done() && !error && read < bytes.size()) {
    const std::size_t taken =
        parser.put(boost::asio::buffer(bytes.data() + read, bytes.size() - read), error);
    read += taken;
    if (taken == 0) break;
  }
  if (error || !parser.is_done()) return std::nullopt;
  const auto& message = parser.get();
  Reading reading{.method = std::string(message.method_string()),
                  .target = std::string(message.target()),
                  .body = message.body(),
                  .fields = {},
                  .bytes = read};
  for (const auto& field : message)
    reading.fields.push_back(std::string(field.name_string()) + ": " + std::string(field.value()));
  std::sort(reading.fields.begin(), reading.fields.end());
  return reading;
}

TEST(Readers, SayTheSameHoweverTheBytesArrive) {
  const unsigned seed = seed_of_run();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  int taken = 0;
  for (int i = 0; i < 50'000 && !HasFailure(); ++i) {
    const std::string bytes =
        mutated(proper(random), random) + "GET / HTTP/1.1\r\nHost: next\r\n\r\n";
    std::vector<std::size_t> cuts(1 + random() % 8), every(bytes.size());
    for (std::size_t& cut : cuts) cut = random() % bytes.size();
    std::sort(cuts.begin(), cuts.end());
    std::iota(every.begin(), every.end(), std::size_t{1});
    const std::optional<Reading> whole = ours(bytes);
    if (whole) ++taken;
    EXPECT_TRUE(whole == ours(bytes, cuts)) << bytes;
    EXPECT_TRUE(whole == ours(bytes, every)) << bytes;
  }
  EXPECT_GT(taken, 2'000);
}

TEST(BodyReader, ABodyThatHasBegunGetsTheRestOfItsMemoryAtOnceUpToALimit) {
  const auto held = [](std::uint64_t length, std::size_t come) {
    RequestHead head;
    head.content_length = length;
    BodyReader body(head, 64 << 20, 1000);
    for (const std::string piece(1000, 'x'); come > 0; come -= 1000) {
      std::string_view bytes = piece;
      EXPECT_EQ(body.read(bytes), Progress::more);
    }
    return body.bytes_held();
  };
  EXPECT_LE(held(400'000, 32'000), 64u << 10) << "who has sent little holds little";
  EXPECT_EQ(held(400'000, 33'000), 400'000u);
  EXPECT_LE(held(60'000'000, 33'000), (1u << 20) + (64 << 10));
}

TEST(Oracle, AgreesOnWhatBothTake) {
  const unsigned seed = seed_of_run();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  int both = 0, only_theirs = 0;
  for (int i = 0; i < 200'000 && !HasFailure(); ++i) {
    const std::string bytes =
        mutated(proper(random), random) + "GET / HTTP/1.1\r\nHost: next\r\n\r\n";
    const std::optional<Reading> a = ours(bytes), b = theirs(bytes);
    if (b && !a) ++only_theirs;
    if (!a || !b) continue;
    ++both;
    EXPECT_EQ(a->bytes, b->bytes) << bytes;
    EXPECT_EQ(a->method, b->method) << bytes;
    EXPECT_EQ(a->target, b->target) << bytes;
    EXPECT_EQ(a->body, b->body) << bytes;
    // Trailers are dropped here, and fields there.
    EXPECT_TRUE(
        std::includes(b->fields.begin(), b->fields.end(), a->fields.begin(), a->fields.end()))
        << bytes;
  }
  EXPECT_GT(both, 10'000);
  EXPECT_GT(only_theirs, 100);
}

}  // namespace
}  // namespace undertext::http
