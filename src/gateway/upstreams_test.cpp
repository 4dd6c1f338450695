#include "gateway/upstreams.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "gateway/error_reply.hpp"

namespace undertext {
namespace {

http::Head head_of(std::string method, std::string target, std::vector<http::Field> fields = {}) {
  http::Head head;
  head.method = std::move(method);
  head.target = std::move(target);
  head.fields = std::move(fields);
  return head;
}

struct Case {
  std::string method, target;
  std::vector<http::Field> fields;
  std::string upstream, call, sent;
};

TEST(Upstreams, APathAndAFewFieldsDecideWhereACallGoes) {
  const Upstreams upstreams = Upstreams::make({}).value();
  const std::vector<Case> cases = {
      {"POST", "/v1/messages?beta=true", {}, "anthropic", "messages", "/v1/messages?beta=true"},
      {"POST",
       "/v1/messages/count_tokens",
       {},
       "anthropic",
       "count_tokens",
       "/v1/messages/count_tokens"},
      {"GET", "/v1/messages/batches", {}, "anthropic", "other", "/v1/messages/batches"},
      {"POST", "/v1/chat/completions", {}, "openai", "chat_completions", "/v1/chat/completions"},
      {"GET", "/v1/chat/completions", {}, "openai", "other", "/v1/chat/completions"},
      {"POST", "/v1/responses", {}, "openai", "responses", "/v1/responses"},
      {"POST", "/v1/responses/compact", {}, "openai", "responses_compact", "/v1/responses/compact"},
      {"POST",
       "/v1/responses/input_tokens",
       {},
       "openai",
       "count_tokens",
       "/v1/responses/input_tokens"},
      {"GET",
       "/v1/responses/resp_1?stream=true",
       {},
       "openai",
       "response",
       "/v1/responses/resp_1?stream=true"},
      {"GET",
       "/v1/responses/resp_1/input_items",
       {},
       "openai",
       "other",
       "/v1/responses/resp_1/input_items"},
      {"DELETE", "/v1/responses/resp_1", {}, "openai", "other", "/v1/responses/resp_1"},
      {"POST", "/v1/threads/t/messages", {}, "openai", "other", "/v1/threads/t/messages"},
      {"GET", "/v1/models", {}, "openai", "models", "/v1/models"},
      {"GET",
       "/v1/models?limit=3",
       {{"Anthropic-Version", "2023-06-01"}},
       "anthropic",
       "models",
       "/v1/models?limit=3"},
      {"GET", "/v1/models", {{"X-Goog-Api-Key", "k"}}, "gemini", "models", "/v1/models"},
      {"GET", "/v1beta/models", {{"x-goog-api-key", "k"}}, "gemini", "models", "/v1beta/models"},
      {"POST",
       "/v1/models/m:generateContent",
       {},
       "gemini",
       "generate_content",
       "/v1/models/m:generateContent"},
      {"POST",
       "/v1beta/models/m:streamGenerateContent?alt=sse",
       {},
       "gemini",
       "stream_generate_content",
       "/v1beta/models/m:streamGenerateContent?alt=sse"},
      {"POST",
       "/v1beta/models/m:countTokens",
       {},
       "gemini",
       "other",
       "/v1beta/models/m:countTokens"},
      {"POST", "/v1beta/cachedContents", {}, "gemini", "other", "/v1beta/cachedContents"},
      {"HEAD", "/", {}, "anthropic", "other", "/"},
      {"POST", "/v1/embeddings", {}, "openai", "other", "/v1/embeddings"},
      {"POST",
       "/v1/embeddings",
       {{"authorization", "Bearer x"}, {"anthropic-version", "x"}},
       "anthropic",
       "other",
       "/v1/embeddings"},
      {"POST", "/anthropic/v1/messages", {}, "anthropic", "messages", "/v1/messages"},
      {"POST", "/openai/chat/completions", {}, "openai", "chat_completions", "/chat/completions"},
      {"POST", "/openai/v1/messages", {}, "openai", "messages", "/v1/messages"},
      {"HEAD", "/anthropic", {}, "anthropic", "other", "/"},
      {"GET", "/gemini?x=1", {}, "gemini", "other", "/?x=1"},
      {"GET", "/openai/../anthropic/v1", {}, "openai", "other", "/../anthropic/v1"},
      {"GET", "/openaix/v1/models", {}, "openai", "models", "/openaix/v1/models"},
      {"GET", "//evil.example/v1/models", {}, "openai", "models", "//evil.example/v1/models"},
      // Google's keys stand in a parameter too.
      {"GET", "/v1beta/models?key=k", {}, "gemini", "models", "/v1beta/models?key=k"},
      {"GET", "/v1beta/models/m", {}, "gemini", "models", "/v1beta/models/m"},
      {"GET", "/v1/models?pageSize=3&key=k", {}, "gemini", "models", "/v1/models?pageSize=3&key=k"},
      {"POST", "/upload/v1beta/files?key=k", {}, "gemini", "other", "/upload/v1beta/files?key=k"},
      {"POST",
       "/v1/models/m%3AgenerateContent",
       {},
       "gemini",
       "generate_content",
       "/v1/models/m%3AgenerateContent"},
      {"POST",
       "/v1beta/openai/chat/completions",
       {},
       "gemini",
       "chat_completions",
       "/v1beta/openai/chat/completions"},
      // What is sent stays as it came, however many slashes a base URL and a client have put
      // together.
      {"POST", "/v1/messages/", {}, "anthropic", "messages", "/v1/messages/"},
      {"POST", "/v1//messages?beta=true", {}, "anthropic", "messages", "/v1//messages?beta=true"},
      {"POST", "/anthropic//v1/messages", {}, "anthropic", "messages", "//v1/messages"},
      {"POST",
       "/openai/v1//chat/completions/",
       {},
       "openai",
       "chat_completions",
       "/v1//chat/completions/"},
      {"HEAD", "/anthropic/", {}, "anthropic", "other", "/"},
      // Not everybody takes /v1 to be part of Anthropic's paths.
      {"POST", "/anthropic/messages", {}, "anthropic", "messages", "/v1/messages"},
      {"GET", "/anthropic/models?limit=1", {}, "anthropic", "models", "/v1/models?limit=1"},
      // Azure has deployments before it, and others folders.
      {"POST",
       "/openai/deployments/d/chat/completions?api-version=1",
       {},
       "openai",
       "chat_completions",
       "/deployments/d/chat/completions?api-version=1"},
      {"POST",
       "/api/v1/chat/completions",
       {},
       "openai",
       "chat_completions",
       "/api/v1/chat/completions"},
      {"POST",
       "/openai/responses?api-version=1",
       {},
       "openai",
       "responses",
       "/responses?api-version=1"},
  };
  for (const Case& one : cases) {
    const std::optional<GatewayRoute> route =
        upstreams.route(head_of(one.method, one.target, one.fields));
    ASSERT_TRUE(route) << one.target;
    EXPECT_EQ(route->upstream->name, one.upstream) << one.target;
    EXPECT_EQ(name(route->call), one.call) << one.target;
    EXPECT_EQ(route->target, one.sent) << one.target;
  }
}

TEST(Upstreams, ATargetThatIsNoPathHasNoRoute) {
  const Upstreams upstreams = Upstreams::make({}).value();
  EXPECT_FALSE(upstreams.route(head_of("OPTIONS", "*")));
  http::Head url = head_of("GET", "/v1/models");
  url.was_url = true;
  EXPECT_FALSE(upstreams.route(url));
}

TEST(Upstreams, TheOriginIsTheConfigurationsAndThePathComesBeforeEveryRequests) {
  const Upstreams upstreams =
      Upstreams::make({.urls = {{"openai", "https://proxy.example:8443/api/"}}}).value();
  const std::optional<GatewayRoute> route =
      upstreams.route(head_of("POST", "/v1/chat/completions"));
  EXPECT_EQ(route->upstream->origin, "https://proxy.example:8443");
  EXPECT_EQ(route->target, "/api/v1/chat/completions");
}

TEST(Upstreams, APathWithoutAVersionStaysAsItIsWhereTheUrlIsTheOperators) {
  const Upstreams upstreams =
      Upstreams::make({.urls = {{"anthropic", "https://proxy.example/x"}}}).value();
  EXPECT_EQ(upstreams.route(head_of("POST", "/anthropic/messages"))->target, "/x/messages");
}

TEST(Upstreams, CodexWithALoginIsSentToWhereItsLoginIsGood) {
  const std::vector<http::Field> login = {{"Authorization", "Bearer jwt"},
                                          {"ChatGPT-Account-ID", "a"}};
  const auto sent = [](const UpstreamSettings& settings, const std::string& target,
                       const std::vector<http::Field>& fields) {
    const Upstreams upstreams = Upstreams::make(settings).value();
    const std::optional<GatewayRoute> route = upstreams.route(head_of("POST", target, fields));
    return route->upstream->origin + route->target + " " + std::string(name(route->call));
  };
  const std::string there = "https://chatgpt.com/backend-api/codex";
  EXPECT_EQ(sent({}, "/openai/v1/responses", login), there + "/responses responses");
  EXPECT_EQ(sent({}, "/v1/responses/compact?a=1", login),
            there + "/responses/compact?a=1 responses_compact");
  EXPECT_EQ(sent({}, "/chatgpt/responses", {}), there + "/responses responses");
  EXPECT_EQ(sent({}, "/openai/v1/responses", {}), "https://api.openai.com/v1/responses responses");
  EXPECT_EQ(sent({}, "/v1/messages", login), "https://api.anthropic.com/v1/messages messages");
  const UpstreamSettings other = {.urls = {{"openai", "http://127.0.0.1:1"}}};
  EXPECT_EQ(sent(other, "/v1/responses", login), "http://127.0.0.1:1/v1/responses responses");
  const UpstreamSettings both = {
      .urls = {{"openai", "http://127.0.0.1:1"}, {"chatgpt", "http://127.0.0.1:2/c"}}};
  EXPECT_EQ(sent(both, "/v1/responses", login), "http://127.0.0.1:2/c/responses responses");
}

TEST(Upstreams, SettingsThatCannotWorkAreRefusedAndShowNoKey) {
  ::setenv("UNDERTEXT_TEST_KEY", "canary\nx", 1);
  for (const UpstreamSettings& settings :
       {UpstreamSettings{.urls = {{"nobody", "https://x.example"}}},
        UpstreamSettings{.urls = {{"openai", "ftp://x.example"}}},
        UpstreamSettings{.urls = {{"openai", "https://x.example/?a=1"}}},
        UpstreamSettings{.key_variables = {{"openai", "UNDERTEXT_NOT_SET"}}},
        UpstreamSettings{.key_variables = {{"openai", "UNDERTEXT_TEST_KEY"}}}}) {
    const Result<Upstreams> made = Upstreams::make(settings);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(made.error().message.find("canary"), std::string::npos);
  }
}

TEST(GatewayError, HasTheFormOfTheProvidersErrors) {
  EXPECT_EQ(gateway_error(Provider::anthropic, 502, "upstream_unreachable", "no \"way\"").body,
            R"({"type":"error","error":{"type":"api_error","message":"no \"way\""}})");
  EXPECT_EQ(
      gateway_error(Provider::openai, 504, "upstream_timeout", "late").body,
      R"({"error":{"message":"late","type":"server_error","param":null,"code":"upstream_timeout"}})");
  EXPECT_EQ(gateway_error(Provider::gemini, 504, "upstream_timeout", "late").body,
            R"({"error":{"code":504,"message":"late","status":"DEADLINE_EXCEEDED"}})");
}

}  // namespace
}  // namespace undertext
