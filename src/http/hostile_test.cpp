// Random bytes, and requests that were proper before a few bytes were changed: whatever comes, the
// server lives and answers others.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "../../tests/http/mutations.hpp"
#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;

std::string noise(std::mt19937& random) {
  std::string bytes(random() % 2000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Answers follow each other without a byte between them, and each has a status that this server
// gives.
void check_answers(std::string_view all) {
  while (!all.empty()) {
    ASSERT_TRUE(all.starts_with("HTTP/1.1 ")) << all;
    const unsigned status = status_of(std::string(all));
    ASSERT_TRUE(status == 100 || status == 200 || status == 400 || status == 408 || status == 413 ||
                status == 414 || status == 417 || status == 431 || status == 505)
        << all;
    const std::size_t end = all.find("\r\n\r\n"), length = all.find("Content-Length: ");
    ASSERT_NE(end, all.npos);
    const std::size_t body =
        length < end
            ? static_cast<std::size_t>(std::atoll(std::string(all.substr(length + 16, 20)).c_str()))
            : 0;
    ASSERT_LE(end + 4 + body, all.size());
    all.remove_prefix(end + 4 + body);
  }
}

TEST(Hostile, BytesOfAnyKindAreAnsweredProperly) {
  const unsigned seed = seed_of_run();
  SCOPED_TRACE("SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  Calls calls = echoing(1000);
  Server server = serve(calls);
  for (int i = 0; i < 3000 && !::testing::Test::HasFatalFailure(); ++i) {
    RawClient client(server);
    std::string bytes;
    for (auto requests = 1 + random() % 3; requests > 0; --requests)
      bytes += random() % 20 == 0 ? noise(random) : mutated(proper(random), random);
    // In two pieces, cut anywhere.
    const std::size_t cut = bytes.empty() ? 0 : random() % bytes.size();
    client.send(std::string_view(bytes).substr(0, cut));
    client.send(std::string_view(bytes).substr(cut));
    if (random() % 10 == 0) {
      client.reset();
      continue;
    }
    client.end_sending();
    check_answers(client.read_all());
  }
  RawClient client(server);
  client.send(get("/"));
  EXPECT_EQ(body_of(client.read_answer()), "GET / ");
}

}  // namespace
}  // namespace undertext::http
