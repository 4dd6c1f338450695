#include "gateway/upstream_tunnel.hpp"

#if UNDERTEXT_HAVE_CURL

#  include <algorithm>
#  include <array>
#  include <new>
#  include <utility>

#  include "http/head.hpp"

namespace undertext {
namespace {

constexpr std::size_t tunnel_piece_bytes = 16 << 10;
// of an upstream that refuses the upgrade
constexpr std::uint64_t tunnel_answer_bytes_max = 1 << 20;

std::string upgrade_request(const UpstreamRequest& request) {
  const std::string& origin = request.upstream->origin;
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\n";
  text += "Host: " + origin.substr(origin.find("://") + 3) + "\r\n";
  for (const http::Field& field : request.fields) text += field.name + ": " + field.value + "\r\n";
  return text + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
}

}  // namespace

UpstreamTunnel::UpstreamTunnel(UpstreamRequest request, std::shared_ptr<UpstreamCall> call,
                               const UpstreamLimits& limits)
    : request_(std::move(request)), call_(std::move(call)), easy_(curl_easy_init()) {
  if (easy_ == nullptr) throw std::bad_alloc();
  set_connection_options(easy(), *request_.upstream, limits);
  curl_easy_setopt(easy(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(easy(), CURLOPT_FRESH_CONNECT, 1L);
}

void UpstreamTunnel::connected(CURLcode code) {
  if (code == CURLE_OK) code = curl_easy_getinfo(easy(), CURLINFO_ACTIVESOCKET, &socket_);
  if (code != CURLE_OK || socket_ == CURL_SOCKET_BAD)
    return finish(upstream_end_of(code), curl_easy_strerror(code));
  out_ = upgrade_request(request_);
  move();
}

curl_waitfd UpstreamTunnel::waits_for() const {
  short events = held_.empty() ? CURL_WAIT_POLLIN : short{0};
  if (!out_.empty()) events = static_cast<short>(events | CURL_WAIT_POLLOUT);
  return {.fd = socket_, .events = events, .revents = 0};
}

void UpstreamTunnel::send(std::string bytes) {
  out_ += bytes;
  is_of_client_ = true;
  move();
}

void UpstreamTunnel::resume() {
  give(std::exchange(held_, {}));
  move();
}

bool UpstreamTunnel::is_silent(std::chrono::steady_clock::time_point now,
                               std::chrono::milliseconds patience) {
  if (!held_.empty()) moved_ = now;  // a client that does not read is no fault of the upstream's
  return now - moved_ > patience;
}

void UpstreamTunnel::move() {
  if (!is_connected() || end_) return;
  write_out();
  read_in();
}

void UpstreamTunnel::write_out() {
  while (!out_.empty() && !end_) {
    std::size_t sent = 0;
    const CURLcode code = curl_easy_send(easy(), out_.data(), out_.size(), &sent);
    if (code == CURLE_AGAIN) return;
    if (code != CURLE_OK) return finish(UpstreamEnd::torn, curl_easy_strerror(code));
    out_.erase(0, sent);
    moved_ = std::chrono::steady_clock::now();
  }
  if (std::exchange(is_of_client_, false)) call_->on_sent();
}

void UpstreamTunnel::read_in() {
  std::array<char, tunnel_piece_bytes> piece;
  while (held_.empty() && !end_) {
    std::size_t size = 0;
    const CURLcode code = curl_easy_recv(easy(), piece.data(), piece.size(), &size);
    if (code == CURLE_AGAIN) return;
    if (code != CURLE_OK) return finish(UpstreamEnd::torn, curl_easy_strerror(code));
    moved_ = std::chrono::steady_clock::now();
    if (size == 0) return close();
    take({piece.data(), size});
  }
}

void UpstreamTunnel::take(std::string_view bytes) {
  if (state_ == State::head) take_head(bytes);
  if (end_ || bytes.empty()) return;
  if (state_ == State::open) return give(bytes);
  if (state_ == State::answer) take_answer(bytes);
}

// Takes the head off the front of `bytes`.
void UpstreamTunnel::take_head(std::string_view& bytes) {
  while (state_ == State::head && !bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    line_ += bytes.substr(0, end);
    bytes.remove_prefix(end);
    if (!line_.ends_with('\n') && line_.size() <= tunnel_piece_bytes) continue;
    const UpstreamHeadReader::Progress progress = head_reader_.read(line_);
    if (!line_.ends_with("\r\n") || progress == UpstreamHeadReader::Progress::refused)
      return finish(UpstreamEnd::invalid, "no HTTP");
    line_.clear();
    if (progress == UpstreamHeadReader::Progress::done) begin_answer();
  }
}

void UpstreamTunnel::begin_answer() {
  http::RequestHead framing;
  bool has_length = false;
  head_ = head_reader_.take();
  for (const http::Field& field : head_.fields)
    if (http::equal_ignoring_case(field.name, "content-length")) {
      has_length = true;
      framing.content_length = std::stoull(field.value);
    }
  if (head_.status == 101) {
    state_ = State::open;
    head_.fields.push_back({"Connection", "Upgrade"});
    head_.fields.push_back({"Upgrade", "websocket"});
    return call_->on_head(std::move(head_));
  }
  state_ = State::answer;
  framing.is_chunked = head_.is_chunked;
  if (framing.content_length > tunnel_answer_bytes_max)
    return finish(UpstreamEnd::invalid, "the answer is too large");
  ends_with_connection_ =
      !framing.is_chunked && !has_length && head_.status != 204 && head_.status != 304;
  body_reader_ = http::BodyReader(framing, tunnel_answer_bytes_max, tunnel_piece_bytes);
  if (!ends_with_connection_) take_answer({});
}

// An upstream that does not change the protocol answers as HTTP does.
void UpstreamTunnel::take_answer(std::string_view bytes) {
  if (ends_with_connection_) {
    answer_ += bytes;
    if (answer_.size() > tunnel_answer_bytes_max)
      finish(UpstreamEnd::invalid, "the answer is too large");
    return;
  }
  line_ += bytes;
  std::string_view unread = line_;
  const http::Progress progress = body_reader_.read(unread);
  line_.erase(0, line_.size() - unread.size());
  if (progress == http::Progress::more) return;
  if (progress == http::Progress::refused)
    return finish(UpstreamEnd::invalid, body_reader_.refusal().why);
  answer_ = body_reader_.take();
  ends_with_connection_ = true;
  close();
}

void UpstreamTunnel::give(std::string_view bytes) {
  if (!bytes.empty() && !call_->on_bytes(bytes)) held_ = bytes;
}

void UpstreamTunnel::close() {
  if (state_ == State::answer && ends_with_connection_) {
    call_->on_head(std::move(head_));
    if (!answer_.empty()) call_->on_bytes(answer_);  // there is room: these are the first bytes
  }
  const bool is_whole = state_ == State::open || (state_ == State::answer && ends_with_connection_);
  finish(is_whole ? UpstreamEnd::complete : UpstreamEnd::torn, "");
}

void UpstreamTunnel::finish(UpstreamEnd how, std::string_view detail) {
  if (!end_) end_ = std::make_unique<End>(End{how, std::string(detail)});
}

}  // namespace undertext

#endif
