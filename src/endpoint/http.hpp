// One POST over HTTP or HTTPS, in as many pieces as it comes back, that can be given up at any
// moment. All that knows libcurl is in http.cpp.
//
// No redirect is followed, no other protocol is spoken, certificates are checked, nothing is
// decompressed. Proxies are those of the environment (http_proxy, https_proxy, no_proxy), but never
// for this machine itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>

namespace undertext {

// Whether this build has an HTTP client at all. Without one nothing else here is to be called.
bool http_available();

// Once a process, before anything else of libcurl; the functions here do it themselves. Throws
// bad_alloc.
void set_up_http_client();

struct HttpUrl {
  std::string text;       // normalised, without a slash at its end
  bool is_https = false;  // else http
  bool is_loopback = false;
};

// invalid_argument, field "base_url": no http or https URL, or one with a user, a query or a
// fragment.
Result<HttpUrl> read_base_url(const std::string& text);

struct HttpRequest {
  std::string url;
  bool is_loopback = false;
  std::vector<std::string> headers;  // "Name: value", one line each
  std::string body;
  std::uint32_t timeout_ms = 0;  // from name lookup to the last byte
};

struct HttpHead {
  int status = 0;                     // 0: there was no answer
  std::string content_type = {};      // in lower case, without parameters
  std::string content_encoding = {};  // in lower case
  std::optional<std::uint64_t> retry_after_s = {};
};

enum class HttpEnd : std::uint8_t {
  complete,
  enough,  // the reader wanted no more
  cancelled,
  timed_out,
  not_connected,  // also when a name is not known
  untrusted,      // the certificate cannot be verified
  broken,         // the connection ended early, or what came is no HTTP
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::complete;
  HttpHead head = {};
  std::string detail = {};  // for a person, when something went wrong
};

// Gets the body piece by piece on the calling thread, and returns whether it wants more. May throw.
using HttpReader = std::function<bool(const HttpHead& head, std::string_view bytes)>;

HttpOutcome http_post(const HttpRequest& request, const HttpReader& read,
                      const std::stop_token& cancel);

}  // namespace undertext
