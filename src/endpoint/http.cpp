#include "endpoint/http.hpp"

#if UNDERTEXT_HAVE_CURL

#  include <algorithm>
#  include <charconv>
#  include <ctime>
#  include <memory>
#  include <new>
#  include <utility>

#  include <curl/curl.h>

#  include "endpoint/certificates.hpp"

namespace undertext {

namespace {

constexpr std::uint32_t connect_timeout_ms = 10'000;
constexpr std::size_t headers_bytes_max = 256u << 10;
constexpr int poll_ms = 60'000;  // what ends the wait are sockets, curl's own timers and cancelling

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

// Empty when the URL has no such part.
std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK || text == nullptr) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return result;
}

// By its spelling, which curl has normalised: a name that resolves to this machine is still a name
// that somebody else may change.
bool is_loopback_host(std::string_view host) {
  if (host == "localhost" || host == "[::1]") return true;
  const bool is_ipv4 = host.find_first_not_of("0123456789.") == std::string_view::npos &&
                       std::count(host.begin(), host.end(), '.') == 3;
  return is_ipv4 && host.starts_with("127.");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(space) + 1 - first);
}

// Seconds, or a date.
std::optional<std::uint64_t> read_retry_after(std::string_view value) {
  std::uint64_t seconds = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (fault == std::errc() && end == value.data() + value.size()) return seconds;
  const std::time_t date = curl_getdate(std::string(value).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  const std::time_t now = std::time(nullptr);
  return date > now ? static_cast<std::uint64_t>(date - now) : 0;
}

// What curl's callbacks fill in. They run inside C code, so that nothing may be thrown from them.
struct Arriving {
  HttpHead head;
  std::size_t headers_bytes = 0;
  std::string bytes;  // of the body, not yet read
  bool out_of_memory = false;
  bool headers_too_long = false;
};

void read_header(Arriving& arriving, std::string_view line) {
  if (line.starts_with("HTTP/")) arriving.head = {};  // another answer begins, after an interim one
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string name = in_lower_case(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-type")
    arriving.head.content_type = in_lower_case(trimmed(value.substr(0, value.find(';'))));
  if (name == "content-encoding") arriving.head.content_encoding = in_lower_case(value);
  if (name == "retry-after") arriving.head.retry_after_s = read_retry_after(value);
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) noexcept {
  Arriving& arriving = *static_cast<Arriving*>(user);
  arriving.headers_bytes += size * count;
  arriving.headers_too_long = arriving.headers_bytes > headers_bytes_max;
  if (arriving.headers_too_long) return 0;
  try {
    read_header(arriving, {data, size * count});
  } catch (const std::bad_alloc&) {
    arriving.out_of_memory = true;
    return 0;
  }
  return size * count;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) noexcept {
  Arriving& arriving = *static_cast<Arriving*>(user);
  try {
    arriving.bytes.append(data, size * count);
  } catch (const std::bad_alloc&) {
    arriving.out_of_memory = true;
    return 0;
  }
  return size * count;
}

// One transfer on handles of its own, so that nothing of it can reach another one.
class Transfer {
 public:
  explicit Transfer(const HttpRequest& request)
      : multi_(curl_multi_init()), easy_(curl_easy_init()) {
    bool made = multi_ != nullptr && easy_ != nullptr;
    for (const std::string& header : request.headers) {
      curl_slist* const longer = curl_slist_append(headers_, header.c_str());
      made = made && longer != nullptr;
      if (longer != nullptr) headers_ = longer;
    }
    if (made) set_options(request);
    if (!made || curl_multi_add_handle(multi_, easy_) != CURLM_OK) {
      free();
      throw std::bad_alloc();
    }
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() { free(); }

  void wake() { curl_multi_wakeup(multi_); }  // from any thread

  HttpOutcome run(const HttpReader& read, const std::stop_token& cancel) {
    for (int running = 1; running != 0;) {
      if (cancel.stop_requested()) return ended(HttpEnd::cancelled);
      if (curl_multi_perform(multi_, &running) != CURLM_OK) return ended(HttpEnd::broken);
      if (arriving_.out_of_memory) throw std::bad_alloc();
      if (!arriving_.bytes.empty()) {
        const std::string bytes = std::exchange(arriving_.bytes, {});
        if (!read(head(), bytes)) return ended(HttpEnd::enough);
      }
      if (running != 0) curl_multi_poll(multi_, nullptr, 0, poll_ms, nullptr);
    }
    int left = 0;
    const CURLMsg* const message = curl_multi_info_read(multi_, &left);
    return ended(message == nullptr ? HttpEnd::broken : end_of(message->data.result));
  }

 private:
  void set_options(const HttpRequest& request) {
    const auto set = [this](CURLoption option, auto value) {
      curl_easy_setopt(easy_, option, value);
    };
    set(CURLOPT_URL, request.url.c_str());
#  if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https");
#  else
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#  endif
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    trust_system_certificates(easy_);
    if (request.is_loopback) set(CURLOPT_NOPROXY, "*");
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
    set(CURLOPT_CONNECTTIMEOUT_MS,
        static_cast<long>(std::min(request.timeout_ms, connect_timeout_ms)));
#  if LIBCURL_VERSION_NUM >= 0x075700
    set(CURLOPT_QUICK_EXIT, 1L);  // cancelling does not wait for a name lookup to end
#  endif
    set(CURLOPT_USERAGENT, "undertext");
    set(CURLOPT_HTTPHEADER, headers_);
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, request.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&arriving_));
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&arriving_));
    set(CURLOPT_ERRORBUFFER, static_cast<char*>(detail_));
  }

  const HttpHead& head() {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    arriving_.head.status = static_cast<int>(status);
    return arriving_.head;
  }

  HttpOutcome ended(HttpEnd end) {
    return {end, head(),
            arriving_.headers_too_long ? "its headers are too long" : std::string(detail_)};
  }

  HttpEnd end_of(CURLcode code) {
    if (code != CURLE_OK && detail_[0] == 0)
      std::string_view(curl_easy_strerror(code)).copy(detail_, CURL_ERROR_SIZE - 1);
    switch (code) {
      case CURLE_OK: return HttpEnd::complete;
      case CURLE_OPERATION_TIMEDOUT: return HttpEnd::timed_out;
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
      case CURLE_COULDNT_CONNECT:
      case CURLE_SSL_CONNECT_ERROR: return HttpEnd::not_connected;
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
      case CURLE_SSL_ISSUER_ERROR: return HttpEnd::untrusted;
      default: return HttpEnd::broken;
    }
  }

  void free() {
    if (multi_ != nullptr && easy_ != nullptr) curl_multi_remove_handle(multi_, easy_);
    curl_easy_cleanup(easy_);
    curl_multi_cleanup(multi_);
    curl_slist_free_all(headers_);
  }

  CURLM* multi_;
  CURL* easy_;
  curl_slist* headers_ = nullptr;
  Arriving arriving_;
  char detail_[CURL_ERROR_SIZE] = {};
};

}  // namespace

bool http_available() { return true; }

// Never undone: others may be using curl too.
void set_up_http_client() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (done != CURLE_OK) throw std::bad_alloc();
}

Result<HttpUrl> read_base_url(const std::string& text) {
  const auto refuse = [](const std::string& why) {
    return Error{
        .code = ErrorCode::invalid_argument, .message = "base_url " + why, .field = "base_url"};
  };
  if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 0 && c <= ' '; }))
    return refuse("has a space or a control character in it");
  set_up_http_client();
  const std::unique_ptr<CURLU, FreeUrl> url(curl_url());
  if (!url) throw std::bad_alloc();
  const CURLUcode fault = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_DISALLOW_USER);
  if (fault == CURLUE_USER_NOT_ALLOWED)
    return refuse("holds a user or password; name a key with key_variable or key_file instead");
  const std::string scheme =
      fault == CURLUE_OK ? in_lower_case(part_of(url.get(), CURLUPART_SCHEME)) : std::string();
  if (scheme != "http" && scheme != "https")
    return refuse("is no URL that begins with http:// or https://");
  if (!part_of(url.get(), CURLUPART_QUERY).empty() ||
      !part_of(url.get(), CURLUPART_FRAGMENT).empty() ||
      text.find_first_of("?#") != std::string::npos)
    return refuse("has a query or a fragment, behind which no path can be put");
  std::string normalised = part_of(url.get(), CURLUPART_URL);
  while (normalised.ends_with('/')) normalised.pop_back();
  return HttpUrl{normalised, scheme == "https",
                 is_loopback_host(in_lower_case(part_of(url.get(), CURLUPART_HOST)))};
}

HttpOutcome http_post(const HttpRequest& request, const HttpReader& read,
                      const std::stop_token& cancel) {
  set_up_http_client();
  Transfer transfer(request);
  const std::stop_callback wake_on_cancel(cancel, [&transfer] { transfer.wake(); });
  return transfer.run(read, cancel);
}

}  // namespace undertext

#else

namespace undertext {

namespace {
constexpr const char* no_client = "this build of Undertext has no HTTP client (libcurl)";
}

bool http_available() { return false; }
void set_up_http_client() {}
Result<HttpUrl> read_base_url(const std::string&) {
  return Error{.code = ErrorCode::unsupported, .message = no_client};
}
HttpOutcome http_post(const HttpRequest&, const HttpReader&, const std::stop_token&) {
  return {.end = HttpEnd::not_connected, .detail = no_client};
}

}  // namespace undertext

#endif
