#include "server/admission.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace undertext {
namespace {

using Fields = std::vector<http::Field>;
using std::chrono::seconds;

Route route(const char* method, const char* path, Right right, Body body = Body::none) {
  Route made;
  made.method = method;
  made.path = path;
  made.right = right;
  made.body = body;
  return made;
}

std::vector<Route> some_routes() {
  return {route("GET", "/v1/things", Right::read),
          route("POST", "/v1/things", Right::write, Body::json),
          route("POST", "/v1/imports", Right::write, Body::lines),
          route("GET", "/metrics", Right::metrics),
          route("GET", "/healthz", Right::none),
          route("GET", "/readyz", Right::none),
          route("GET", "/docs", Right::none)};
}

class AdmissionOfRequests : public ::testing::Test {
 protected:
  AdmissionOfRequests() {
    std::string name = ::testing::TempDir() + "undertext-admission-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    const auto make = [&](const char* who, const char* tenant, Rights rights,
                          std::optional<std::int64_t> expires = {}) {
      return make_token(path(),
                        {.name = who, .tenant = tenant, .rights = rights, .expires_ms = expires})
          .value();
    };
    reader_ = make("reader", "acme", {.read = true});
    writer_ = make("writer", "zeta", {.read = true, .write = true});
    expired_ = make("expired", "acme", {.read = true}, 50);
    tokens_ = Tokens::open(path(), [](const Error&) {}).value();
  }
  ~AdmissionOfRequests() override {
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/tokens"; }

  static http::Head head(std::string method, std::string target, Fields fields,
                         std::string peer = "10.0.0.1") {
    http::Head made;
    made.method = std::move(method);
    made.target = std::move(target);
    made.fields = std::move(fields);
    made.peer = std::move(peer);
    const bool has_host = made.find("Host") != nullptr;
    if (!has_host) made.fields.push_back({"Host", "localhost:8777"});
    return made;
  }
  static unsigned status(Admission& admission, const http::Head& of, int second = 0) {
    const Admission::Verdict verdict =
        admission.decide(of, {std::chrono::steady_clock::time_point(seconds(1000 + second)), 100});
    if (!verdict.refusal) return 200;
    const unsigned status = verdict.refusal->status;
    EXPECT_EQ(verdict.refusal->error->code == ErrorCode::denied,
              status == 401 || status == 403 || status == 421)
        << status;
    return status;
  }
  Admission with_tokens(AdmissionLimits limits = {}) {
    return {routes_, tokens_.get(), hosts_, limits};
  }
  Admission without_tokens() { return {routes_, nullptr, hosts_}; }
  static http::Field bearer(const std::string& secret) {
    return {"Authorization", "Bearer " + secret};
  }

  const std::vector<Route> routes_ = some_routes();
  const Hosts hosts_{"127.0.0.1", 8777, false, {}};
  std::string folder_, reader_, writer_, expired_;
  std::unique_ptr<Tokens> tokens_;
};

TEST_F(AdmissionOfRequests, TheServerGoesByItsOwnNamesOnly) {
  struct Case {
    const char* host;
    bool good;
  };
  const Hosts hosts("10.1.2.3", 8777, false,
                    {"Undertext.example", "proxy.example:8443", "fe80::1"});
  for (const Case& one : {Case{"localhost:8777", true},
                          {"LOCALHOST:8777", true},
                          {"127.0.0.1:8777", true},
                          {"[::1]:8777", true},
                          {"10.1.2.3:8777", true},
                          {"undertext.example:8777", true},
                          {"undertext.example", true},
                          {"proxy.example:8443", true},
                          {"[fe80::1]:8777", true},
                          {"evil.example", false},
                          {"evil.example:8777", false},
                          {"localhost", false},
                          {"localhost:80", false},
                          {"127.0.0.1", false},
                          {"localhost:8777.evil.example", false},
                          {"localhost.evil.example:8777", false},
                          {"proxy.example", false},
                          {"proxy.example:8777", false},
                          {"", false},
                          {":8777", false},
                          {"0.0.0.0:8777", false},
                          {"2130706433:8777", false},
                          {"localhost:8777@evil.example", false},
                          {"localhost:08777", false}})
    EXPECT_EQ(hosts.allow(one.host), one.good) << one.host;
  EXPECT_TRUE(Hosts("127.0.0.1", 80, false, {}).allow("localhost"));
  EXPECT_TRUE(Hosts("127.0.0.1", 443, true, {}).allow("localhost"));
  EXPECT_FALSE(Hosts("127.0.0.1", 443, false, {}).allow("localhost"));
  EXPECT_TRUE(Hosts("::1", 8777, false, {}).allow("[::1]:8777"));
  EXPECT_FALSE(Hosts("0.0.0.0", 8777, false, {}).allow("0.0.0.0:8777"))
      << "browsers take it for this machine";
  EXPECT_FALSE(Hosts("::", 8777, false, {}).allow("[::]:8777"));
}

TEST_F(AdmissionOfRequests, HostAndOriginAreAskedBeforeAnythingElse) {
  Admission admission = without_tokens();
  struct Case {
    Fields fields;
    unsigned status;
  };
  const http::Field host{"Host", "localhost:8777"};
  for (const Case& one : std::vector<Case>{
           {{host}, 200},
           {{{"Host", "evil.example"}}, 421},
           {{{"Host", "evil.example:8777"}, {"Origin", "http://evil.example:8777"}}, 421},
           {{host, host}, 421},
           {{host, {"Origin", "http://localhost:8777"}}, 200},
           {{host, {"Origin", "https://localhost:8777"}}, 200},
           {{host, {"Origin", "http://127.0.0.1:8777"}}, 403},
           {{host, {"Origin", "http://localhost"}}, 403},
           {{host, {"Origin", "http://evil.example"}}, 403},
           {{host, {"Origin", "null"}}, 403},
           {{host, {"Origin", ""}}, 403},
           {{host, {"Origin", "file://localhost:8777"}}, 403},
           {{host, {"Origin", "http://localhost:8777"}, {"Origin", "http://evil.example"}}, 403},
           {{host, {"Sec-Fetch-Site", "same-origin"}}, 200},
           {{host, {"Sec-Fetch-Site", "none"}}, 200},
           {{host, {"Sec-Fetch-Site", "cross-site"}}, 403},
           {{host, {"Sec-Fetch-Site", "same-site"}}, 403},
       })
    EXPECT_EQ(status(admission, head("GET", "/v1/things", one.fields)), one.status)
        << one.fields.back().value;
  http::Head without_host = head("GET", "/v1/things", {});
  without_host.fields.clear();
  EXPECT_EQ(status(admission, without_host), 421u);
  EXPECT_EQ(status(admission, head("GET", "/healthz", {{"Sec-Fetch-Site", "cross-site"}})), 200u)
      << "what everybody may see";
}

TEST_F(AdmissionOfRequests, WhatIsNoRouteIsRefusedWithTheMethodsThereAre) {
  Admission admission = without_tokens();
  EXPECT_EQ(status(admission, head("GET", "/v1/nothing", {})), 404u);
  for (const char* method : {"DELETE", "OPTIONS", "PUT", "TRACE", "get"}) {
    const Admission::Verdict verdict = admission.decide(head(method, "/v1/things", {}), {});
    ASSERT_TRUE(verdict.refusal) << method;
    EXPECT_EQ(verdict.refusal->status, 405u) << method;
    const auto& fields = verdict.refusal->fields;
    const auto allow = std::find_if(fields.begin(), fields.end(),
                                    [](const http::Field& field) { return field.name == "Allow"; });
    ASSERT_NE(allow, fields.end());
    EXPECT_NE(allow->value.find("GET"), std::string::npos);
    EXPECT_NE(allow->value.find("POST"), std::string::npos);
    for (const http::Field& field : fields)
      EXPECT_FALSE(field.name.starts_with("Access-Control-")) << "no site may call from its pages";
  }
}

TEST_F(AdmissionOfRequests, ATokenGivesItsRightsAndNoOthers) {
  Admission admission = with_tokens();
  struct Case {
    const char* method;
    const char* target;
    Fields fields;
    unsigned status;
  };
  const http::Field json{"Content-Type", "application/json"};
  for (const Case& one : std::vector<Case>{
           {"GET", "/v1/things", {}, 401},
           {"GET", "/v1/things", {bearer("ut_wrong")}, 401},
           {"GET", "/v1/things", {bearer("")}, 401},
           {"GET", "/v1/things", {{"Authorization", "Basic " + reader_}}, 401},
           {"GET", "/v1/things", {{"Authorization", reader_}}, 401},
           {"GET", "/v1/things", {bearer(reader_), bearer(reader_)}, 401},
           {"GET", "/v1/things", {bearer(expired_)}, 401},
           {"GET", "/v1/things", {{"X-Authorization", "Bearer " + reader_}}, 401},
           {"GET", "/v1/things", {bearer(reader_)}, 200},
           {"GET", "/v1/things", {{"authorization", "bearer  " + reader_}}, 200},
           {"POST", "/v1/things", {bearer(reader_), json}, 403},
           {"POST", "/v1/things", {bearer(writer_), json}, 200},
           {"GET", "/metrics", {bearer(writer_)}, 403},
           {"GET", "/metrics", {}, 401},
           {"GET", "/healthz", {}, 200},
           {"GET", "/healthz", {bearer("ut_wrong")}, 200},
       })
    EXPECT_EQ(status(admission, head(one.method, one.target, one.fields)), one.status)
        << one.method << " " << one.target << " "
        << (one.fields.empty() ? "" : one.fields[0].value);
  const Admission::Verdict verdict =
      admission.decide(head("GET", "/v1/things", {bearer(writer_)}), {{}, 100});
  EXPECT_EQ(verdict.caller.tenant, "zeta");
  EXPECT_EQ(verdict.caller.name, "writer");
}

TEST_F(AdmissionOfRequests, WithoutTokensTheCallerIsTheOperator) {
  Admission admission = without_tokens();
  const Admission::Verdict verdict =
      admission.decide(head("GET", "/metrics", {bearer("ut_whatever")}), {});
  EXPECT_FALSE(verdict.refusal);
  EXPECT_EQ(verdict.caller.tenant, "");
  EXPECT_EQ(verdict.caller.name, "local");
}

TEST_F(AdmissionOfRequests, ABodyIsOfItsRoutesTypeAndNotCompressed) {
  Admission admission = without_tokens();
  struct Case {
    const char* target;
    Fields fields;
    unsigned status;
  };
  const http::Field some{"Content-Length", "5"};
  for (const Case& one : std::vector<Case>{
           {"/v1/things", {some, {"Content-Type", "application/json"}}, 200},
           {"/v1/things", {some, {"Content-Type", "Application/JSON; charset=utf-8"}}, 200},
           {"/v1/things",
            {{"Transfer-Encoding", "chunked"}, {"Content-Type", "application/json ; x=y"}},
            200},
           {"/v1/things", {}, 200},
           {"/v1/things", {{"Content-Length", "0"}}, 200},
           {"/v1/things", {some}, 415},
           {"/v1/things", {{"Transfer-Encoding", "chunked"}}, 415},
           {"/v1/things", {some, {"Content-Type", "text/plain"}}, 415},
           {"/v1/things", {some, {"Content-Type", "text/plain;application/json"}}, 415},
           {"/v1/things", {some, {"Content-Type", "application/x-www-form-urlencoded"}}, 415},
           {"/v1/things",
            {some, {"Content-Type", "multipart/form-data; boundary=application/json"}},
            415},
           {"/v1/things", {some, {"Content-Type", "application/jsonx"}}, 415},
           {"/v1/things", {some, {"Content-Type", "application/x-ndjson"}}, 415},
           {"/v1/things",
            {some, {"Content-Type", "application/json"}, {"Content-Type", "text/plain"}},
            415},
           {"/v1/things", {{"Content-Length", "0"}, {"Content-Type", "text/plain"}}, 415},
           {"/v1/things",
            {some, {"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}},
            415},
           {"/v1/things",
            {some, {"Content-Type", "application/json"}, {"Content-Encoding", "identity"}},
            200},
           {"/v1/imports", {some, {"Content-Type", "application/x-ndjson"}}, 200},
           {"/v1/imports", {some, {"Content-Type", "application/json"}}, 415},
       })
    EXPECT_EQ(status(admission, head("POST", one.target, one.fields)), one.status)
        << one.target << " " << (one.fields.empty() ? "" : one.fields.back().value);
}

TEST_F(AdmissionOfRequests, WrongTokensAreSlowedDownByPeerAndGoodOnesGoOn) {
  Admission admission = with_tokens({.failures_per_second = 1, .failures_at_once = 3});
  const http::Head wrong = head("GET", "/v1/things", {bearer("ut_wrong")});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status(admission, wrong), 401u);
  const Admission::Verdict verdict =
      admission.decide(wrong, {std::chrono::steady_clock::time_point(seconds(1000)), 100});
  EXPECT_EQ(verdict.refusal->status, 429u);
  EXPECT_EQ(verdict.refusal->fields.back().name, "Retry-After");
  EXPECT_EQ(status(admission, head("GET", "/v1/things", {}, "10.0.0.2")), 401u)
      << "another peer has its own count";
  EXPECT_EQ(status(admission, head("GET", "/v1/things", {bearer(reader_)})), 200u);
  EXPECT_EQ(status(admission, wrong, 2), 401u) << "two seconds later";
}

TEST_F(AdmissionOfRequests, WrongTokensFromEverywhereAreSlowedDownTogether) {
  Admission admission = with_tokens({.failures_at_once = 3, .all_failures_per_second = 5});
  unsigned refused = 0;
  for (int i = 0; i < 100; ++i)
    refused +=
        status(admission, head("GET", "/v1/things", {}, "10.0.1." + std::to_string(i))) == 429 ? 1u
                                                                                               : 0u;
  EXPECT_EQ(refused, 90u);
}

TEST_F(AdmissionOfRequests, WhatTakesNoTokenHasARateForEachPeer) {
  Admission admission = with_tokens({.open_per_second = 2});
  for (const char* target : {"/docs", "/nothing", "/docs", "/nothing"})
    EXPECT_NE(status(admission, head("GET", target, {})), 429u) << target;
  EXPECT_EQ(status(admission, head("GET", "/docs", {})), 429u);
  EXPECT_EQ(status(admission, head("GET", "/nothing", {})), 429u);
  EXPECT_EQ(status(admission, head("GET", "/docs", {}, "10.0.0.2")), 200u) << "another peer";
  EXPECT_EQ(status(admission, head("GET", "/v1/things", {bearer(reader_)})), 200u)
      << "who has a token";
  EXPECT_EQ(status(admission, head("GET", "/docs", {}), 1), 200u) << "a second later";
}

TEST_F(AdmissionOfRequests, ProbesAreAnsweredHoweverMuchElseAPeerAsksFor) {
  Admission admission = with_tokens({.open_per_second = 1});
  for (int i = 0; i < 10; ++i) status(admission, head("GET", "/nothing", {}));
  for (int i = 0; i < 10; ++i) {
    for (const char* target : {"/healthz", "/readyz"})
      EXPECT_EQ(status(admission, head("GET", target, {})), 200u) << target;
  }
}

TEST_F(AdmissionOfRequests, ATokenHasARateOfItsOwn) {
  Admission admission = with_tokens({.requests_per_second = 5});
  const http::Head one = head("GET", "/v1/things", {bearer(reader_)});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status(admission, one), 200u);
  EXPECT_EQ(status(admission, one), 429u);
  EXPECT_EQ(status(admission, head("GET", "/v1/things", {bearer(writer_)})), 200u);
  EXPECT_EQ(status(admission, head("GET", "/healthz", {bearer(reader_)})), 200u);
  EXPECT_EQ(status(admission, one, 1), 200u);
}

}  // namespace
}  // namespace undertext
