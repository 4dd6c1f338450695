// The same over TLS, with a certificate made for the occasion.
#include <cstdio>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "../../tests/http/raw_client.hpp"

namespace undertext::http {
namespace {

using namespace testing;

// A key and a certificate signed by itself, in two files that go with it.
class Certificate {
 public:
  Certificate()
      : folder_(std::filesystem::temp_directory_path() /
                ("undertext-tls-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_sign(certificate, key, EVP_sha256());
    write(tls().key_file, [&](std::FILE* file) {
      PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
    write(tls().certificate_file, [&](std::FILE* file) { PEM_write_X509(file, certificate); });
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  ~Certificate() { std::filesystem::remove_all(folder_); }
  Tls tls() const {
    return {(folder_ / "certificate.pem").string(), (folder_ / "key.pem").string()};
  }

 private:
  template <class Call>
  static void write(const std::string& path, Call call) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    call(file);
    std::fclose(file);
  }
  std::filesystem::path folder_;
};

class TlsClient {
 public:
  explicit TlsClient(const Server& server, int newest_version = TLS1_3_VERSION)
      : raw_(server), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_security_level(context_, 0);  // so that old versions are offered at all
    SSL_CTX_set_max_proto_version(context_, newest_version);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, raw_.socket());
    is_open_ = SSL_connect(ssl_) == 1;
  }
  ~TlsClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  bool is_open() const { return is_open_; }
  void send(const std::string& bytes) {
    EXPECT_GT(SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())), 0);
  }
  std::string read_all() {
    std::string all;
    char bytes[4096];
    for (int count; (count = SSL_read(ssl_, bytes, sizeof bytes)) > 0;)
      all.append(bytes, static_cast<std::size_t>(count));
    ended_properly_ = SSL_get_error(ssl_, 0) == SSL_ERROR_ZERO_RETURN;
    return all;
  }
  bool ended_properly() const { return ended_properly_; }
  RawClient& raw() { return raw_; }

 private:
  RawClient raw_;
  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
  bool is_open_ = false;
  bool ended_properly_ = false;
};

struct Secure : ::testing::Test {
  Certificate certificate;
  Server server_with(Limits limits, Calls calls = echoing(64 << 20)) {
    return Server::listen({.limits = limits, .tls = certificate.tls()}, std::move(calls)).value();
  }
};

TEST_F(Secure, AnswersRequestsAndSaysThatItEnds) {
  Calls calls = echoing();
  calls.handle = [](Request request, std::unique_ptr<Exchange> exchange) {
    exchange->answer({.body = request.secure ? "secure" : "plain"});
  };
  Server server = server_with({}, calls);
  EXPECT_TRUE(server.address().starts_with("https://127.0.0.1:"));
  TlsClient client(server);
  ASSERT_TRUE(client.is_open());
  client.send(get("/") + get("/", "Connection: close\r\n"));
  EXPECT_EQ(count_of(client.read_all(), "\r\n\r\nsecure"), 2u);
  EXPECT_TRUE(client.ended_properly());
}

TEST_F(Secure, CarriesLargeBodiesBothWays) {
  Server server = server_with({});
  TlsClient client(server);
  ASSERT_TRUE(client.is_open());
  const std::string body(4 << 20, 'x');
  client.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(body_of(client.read_all()) == "POST / " + body);
}

TEST_F(Secure, CarriesStreams) {
  Calls calls = echoing();
  std::thread writer;
  calls.handle = [&](Request, std::unique_ptr<Exchange> exchange) {
    writer = std::thread([stream = exchange->stream(200, "text/plain", {{"Connection", "close"}})] {
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(stream->write(std::string(100'000, '#')));
      stream->end();
    });
  };
  Server server = server_with({}, calls);
  TlsClient client(server);
  client.send(get("/", "Connection: close\r\n"));
  EXPECT_EQ(count_of(client.read_all(), "#"), 10'000'000u);
  writer.join();
}

TEST_F(Secure, SpeaksTls12ButNothingOlder) {
  Server server = server_with({});
  EXPECT_TRUE(TlsClient(server, TLS1_2_VERSION).is_open());
  EXPECT_FALSE(TlsClient(server, TLS1_1_VERSION).is_open());
}

TEST_F(Secure, ClosesOnPlainText) {
  Server server = server_with({});
  RawClient client(server);
  client.send(get("/"));
  EXPECT_EQ(client.read_all().find("HTTP"), std::string::npos);
}

TEST_F(Secure, HasNoPatienceForASlowHandshake) {
  Server server = server_with({.head_patience = std::chrono::milliseconds(40)});
  RawClient client(server);
  client.send("\x16\x03\x01");
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(server.counts().timed_out, 1u);
}

TEST_F(Secure, OutlivesClientsThatGoInTheMiddle) {
  Server server = server_with({});
  for (int i = 0; i < 20; ++i) {
    TlsClient client(server);
    client.send(
        post("/", std::string(100'000, 'x')).substr(0, static_cast<std::size_t>(1 + i * 5000)));
    client.raw().reset();
  }
  TlsClient client(server);
  client.send(get("/", "Connection: close\r\n"));
  EXPECT_EQ(body_of(client.read_all()), "GET / ");
}

TEST_F(Secure, RefusesAKeyOfAnotherCertificate) {
  const Tls wrong{certificate.tls().certificate_file, certificate.tls().certificate_file};
  EXPECT_EQ(Server::listen({.tls = wrong}, echoing()).error().field, "key");
}

}  // namespace
}  // namespace undertext::http
