// Embeddings of a server of this machine (tests/endpoint/fault_server.py).
#include <undertext/embeddings.hpp>

#include <cstdlib>

#include <gtest/gtest.h>

#include "../../tests/endpoint/fault_server.hpp"
#include "endpoint/http.hpp"

namespace undertext {
namespace {

class EmbeddingsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!http_available()) GTEST_SKIP() << "endpoint: built without libcurl";
  }
  EmbeddingsSettings settings(const std::string& model) const {
    return {.base_url = server_.origin() + "/v1", .model = model, .timeout_ms = 30'000};
  }
  FaultServer server_;
};

TEST_F(EmbeddingsTest, RankByMeaning) {
  const Rerank rank = embeddings_rerank(settings("synonyms")).value();
  const std::vector<double> fits = rank("crimson", {"a blue kettle", "a red kettle"}).value();
  ASSERT_EQ(fits.size(), 2u);
  EXPECT_GT(fits[1], fits[0]);
}

TEST_F(EmbeddingsTest, OfATextAreAskedForOnce) {
  const Rerank rank = embeddings_rerank(settings("synonyms")).value();
  const std::vector<double> first = rank("crimson", {"a blue kettle", "a red kettle"}).value();
  EXPECT_EQ(rank("crimson", {"a blue kettle", "a red kettle"}).value(), first);
  EXPECT_EQ(server_.requests().find("crimson"), server_.requests().rfind("crimson"))
      << server_.requests();
}

TEST_F(EmbeddingsTest, ThatAreNoAnswerAreAnError) {
  for (const char* model : {"status-500", "status-401", "lacks-one", "foreign"})
    EXPECT_FALSE(embeddings_rerank(settings(model)).value()("a", {"b"})) << model;
  EXPECT_EQ(embeddings_rerank({.base_url = "http://127.0.0.1:1/v1", .model = "m"})
                .value()("a", {"b"})
                .error()
                .code,
            ErrorCode::unavailable);
}

TEST_F(EmbeddingsTest, AreRefusedWhereTheyCannotWork) {
  EXPECT_FALSE(embeddings_rerank({.base_url = "ftp://127.0.0.1", .model = "m"}));
  EXPECT_FALSE(embeddings_rerank({.base_url = "https://127.0.0.1", .model = ""}));
  EXPECT_EQ(
      embeddings_rerank({.base_url = "http://198.51.100.1", .model = "m", .key_variable = "K"})
          .error()
          .field,
      "base_url")
      << "a key does not travel in the open";
}

}  // namespace
}  // namespace undertext
