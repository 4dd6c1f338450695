#include "server/tokens.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace undertext {
namespace {

class TokensFile : public ::testing::Test {
 protected:
  TokensFile() {
    std::string name = ::testing::TempDir() + "undertext-tokens-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    path_ = folder_ + "/tokens";
  }
  ~TokensFile() override {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  std::string make(std::string name, std::string tenant = "acme") {
    return make_token(path_, {.name = std::move(name),
                              .tenant = std::move(tenant),
                              .rights = {.read = true},
                              .made_ms = 1000})
        .value();
  }
  std::unique_ptr<Tokens> open() {
    return Tokens::open(path_, [&](const Error& error) { complaints_.push_back(error); }).value();
  }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The file is looked at again a while after it was looked at last.
  template <class Condition>
  static void wait_until(Condition condition) {
    for (int i = 0; i < 1000 && !condition(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(condition());
  }

  std::string folder_, path_;
  std::vector<Error> complaints_;
};

TEST_F(TokensFile, ATokenIsKnownByWhatItsHolderWasGivenAndTheFileDoesNotHoldThat) {
  const std::string secret = make("ci");
  EXPECT_TRUE(secret.starts_with("ut_"));
  EXPECT_EQ(secret.size(), 3u + 43u) << "256 bits";
  EXPECT_NE(make("other"), secret);
  EXPECT_EQ(text().find(secret.substr(3)), std::string::npos);
  const auto tokens = open();
  const Token found = tokens->find(secret, 2000).value();
  EXPECT_EQ(found.name, "ci");
  EXPECT_EQ(found.caller().tenant, "acme");
  EXPECT_TRUE(found.rights.allow(Right::read));
  EXPECT_TRUE(found.rights.allow(Right::none));
  EXPECT_FALSE(found.rights.allow(Right::write));
  EXPECT_FALSE(found.rights.allow(Right::metrics));
  for (const std::string& wrong :
       {std::string(), secret.substr(1), secret + "A", std::string("ut_"), secret.substr(0, 45)})
    EXPECT_FALSE(tokens->find(wrong, 2000)) << wrong;
}

TEST_F(TokensFile, OnlyItsOwnerReadsTheFile) {
  make("ci");
  struct stat status = {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(TokensFile, AFileThatOthersCanWriteIsRefused) {
  make("one");
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(read_tokens(path_).error().code, ErrorCode::denied);
  }
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  EXPECT_EQ(read_tokens(path_).value().size(), 1u);
}

TEST_F(TokensFile, ANameIsNeverUsedTwice) {
  make("ci");
  ASSERT_FALSE(revoke_token(path_, "ci", 5000));
  EXPECT_EQ(make_token(path_, {.name = "ci", .tenant = "acme", .rights = {}}).error().code,
            ErrorCode::conflict);
  EXPECT_EQ(revoke_token(path_, "nobody", 5000)->code, ErrorCode::not_found);
  for (const char* bad : {"", "a b", "a/b", "a\nb", "\xc3\xa9"}) {
    EXPECT_EQ(make_token(path_, {.name = bad, .tenant = "acme", .rights = {}}).error().code,
              ErrorCode::invalid_argument)
        << bad;
    EXPECT_EQ(make_token(path_, {.name = "x", .tenant = bad, .rights = {}}).error().code,
              ErrorCode::invalid_argument)
        << bad;
  }
}

TEST_F(TokensFile, WhatIsRevokedOrExpiredIsNoLongerGood) {
  const std::string revoked = make("revoked");
  const std::string ending = make_token(path_, {.name = "ending",
                                                .tenant = "acme",
                                                .rights = {.read = true},
                                                .made_ms = 1000,
                                                .expires_ms = 9000})
                                 .value();
  const auto tokens = open();
  EXPECT_TRUE(tokens->find(revoked, 2000));
  EXPECT_TRUE(tokens->find(ending, 8999));
  EXPECT_FALSE(tokens->find(ending, 9000));
  EXPECT_FALSE(tokens->is_good("ending", 9000));
  ASSERT_FALSE(revoke_token(path_, "revoked", 3000));
  wait_until([&] { return !tokens->find(revoked, 4000); });
  EXPECT_FALSE(tokens->is_good("revoked", 4000));
  EXPECT_TRUE(tokens->is_good("ending", 4000));
}

TEST_F(TokensFile, AServerTakesUpNewTokensAndLetsNobodyInWhileItCannotReadThem) {
  const std::string secret = make("ci");
  const auto tokens = open();
  const std::string later = make("later");
  wait_until([&] { return tokens->find(later, 2000).has_value(); });
  std::ofstream(path_, std::ios::app) << "{\"name\":\"broken\"}\n";
  wait_until([&] { return !tokens->find(secret, 2000); });
  ASSERT_EQ(complaints_.size(), 1u);
  EXPECT_EQ(complaints_[0].code, ErrorCode::corrupt);
  ::unlink(path_.c_str());
  wait_until([&] { return complaints_.size() == 2 || !tokens->find(secret, 2000); });
  EXPECT_FALSE(tokens->is_good("ci", 2000));
}

TEST_F(TokensFile, ALineThatIsNoTokenMakesTheFileUnreadable) {
  const std::string good = R"({"name":"a","sha256":")" + std::string(64, '0') +
                           R"(","tenant":"t","rights":["read"],"made":1)";
  const auto code = [&](const std::string& line) {
    std::ofstream(path_) << line << "\n";
    const Result<std::vector<Token>> tokens = read_tokens(path_);
    return tokens ? std::string("good") : std::string(name(tokens.error().code));
  };
  EXPECT_EQ(code(good + "}"), "good");
  EXPECT_EQ(code(good + "}\n\n"), "good");
  EXPECT_EQ(code(good + R"(,"expires":5})"), "good");
  for (const char* bad : {R"(,"expires":"never"})", R"(,"expires":1.5})", R"(,"revoked":true})",
                          R"(,"revoked":null})", ""})
    EXPECT_EQ(code(good + bad), "corrupt") << bad;
  EXPECT_EQ(code("x"), "corrupt");
  EXPECT_EQ(code("[]"), "corrupt");
  EXPECT_EQ(code(R"({"name":"a","sha256":"00","tenant":"t","rights":["read"],"made":1})"),
            "corrupt");
  EXPECT_EQ(code(R"({"name":"a","sha256":")" + std::string(64, '0') +
                 R"(","tenant":"t","rights":["all"],"made":1})"),
            "corrupt");
  EXPECT_EQ(code(R"({"name":"a","sha256":")" + std::string(64, '0') +
                 R"(","tenant":"t/u","rights":["read"],"made":1})"),
            "corrupt");
}

TEST_F(TokensFile, TokensMadeAtTheSameTimeAreAllThere) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this, i] {
      for (int k = 0; k < 5; ++k) make("t" + std::to_string(i) + "-" + std::to_string(k));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read_tokens(path_).value().size(), 40u);
}

// Without the slowest tenth, which says more about the machine than about the code.
double usual(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  samples.resize(samples.size() * 9 / 10);
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

// Each string has a time of its own, a fraction of a nanosecond apart from every other. Code that
// tells how near a guess was makes all near ones slower (or quicker) than all far ones; by chance
// that is one round of 35, and a machine that does something else meanwhile has no reason to order
// them so.
TEST_F(TokensFile, HowLongARefusalTakesDoesNotTellHowNearAGuessWas) {
  const std::string secret = make("one");
  const std::unique_ptr<Tokens> tokens = open();
  std::minstd_rand chance(1);
  constexpr std::size_t guesses = 8;  // the even ones are near
  for (int round = 0; round < 6; ++round) {
    std::string texts[guesses], guess;
    for (std::size_t i = 0; i < guesses; ++i) {
      texts[i] = secret;
      for (std::size_t k = i % 2 == 0 ? secret.size() - 1 : secret.size() / 2; k < secret.size();
           ++k)
        while (texts[i][k] == secret[k]) texts[i][k] = static_cast<char>('a' + chance() % 26);
    }
    std::vector<double> samples[guesses];
    for (int i = 0; i < 100'000; ++i) {
      const std::size_t which = chance() % guesses;
      // all at one place in memory, whose place in a cache would tell them apart
      guess = texts[which];
      const auto before = std::chrono::steady_clock::now();
      const bool is_known = tokens->find(guess, 2000).has_value();
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - before;
      ASSERT_FALSE(is_known);
      samples[which].push_back(static_cast<double>(took.count()));
    }
    double least[2] = {1e9, 1e9}, most[2] = {0, 0};
    for (std::size_t i = 0; i < guesses; ++i) {
      const double time = usual(std::move(samples[i]));
      least[i % 2] = std::min(least[i % 2], time);
      most[i % 2] = std::max(most[i % 2], time);
    }
    if (least[0] <= most[1] && least[1] <= most[0]) return;
  }
  FAIL() << "in six rounds every near guess took longer than every far one, or the other way round";
}

TEST(TheOperatorsTenant, IsTheOneWithoutAName) {
  EXPECT_EQ((Token{.name = "a", .tenant = "default", .rights = {}}).caller().tenant, "");
  EXPECT_EQ((Token{.name = "a", .tenant = "acme", .rights = {}}).caller().tenant, "acme");
}

TEST(RightsText, IsReadAndWritten) {
  EXPECT_EQ(read_rights("read,write,metrics").value().text(), "read,write,metrics");
  EXPECT_EQ(read_rights("write").value().text(), "write");
  for (const char* bad : {"", "read,", ",read", "all", "read write", "READ"})
    EXPECT_FALSE(read_rights(bad)) << bad;
}

}  // namespace
}  // namespace undertext
