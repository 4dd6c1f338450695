// Which certificates a call trusts. For files that have libcurl: it includes curl.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <curl/curl.h>

namespace undertext {

// A libcurl that was built for no system in particular, as in packages, knows no file of
// certificates: it is given the one of this system. One that knows its file keeps it, and
// SSL_CERT_FILE and SSL_CERT_DIR come first.
inline void trust_system_certificates(CURL* easy) {
#if LIBCURL_VERSION_NUM >= 0x075400
  const char* own = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_CAINFO, &own) != CURLE_OK || own != nullptr) return;
  if (std::getenv("SSL_CERT_FILE") != nullptr || std::getenv("SSL_CERT_DIR") != nullptr) return;
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) continue;
    curl_easy_setopt(easy, CURLOPT_CAINFO, file);
    return;
  }
#else
  static_cast<void>(easy);
#endif
}

}  // namespace undertext
