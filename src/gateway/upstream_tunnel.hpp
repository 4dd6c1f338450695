// A WebSocket to an upstream: the client's request to change the protocol goes out, and after the
// upstream's 101 bytes go both ways as they are. libcurl makes the connection, with its proxies and
// TLS, and carries the bytes.
//
// Everything happens on the thread of UpstreamClient, which asks what to wait for and calls move()
// when it is there.
#pragma once

#if UNDERTEXT_HAVE_CURL

#  include <chrono>
#  include <memory>
#  include <string>
#  include <string_view>

#  include <curl/curl.h>

#  include "gateway/upstream_client.hpp"
#  include "gateway/upstream_head.hpp"
#  include "http/body.hpp"

namespace undertext {

// What every connection to an upstream has in common: certificates, proxies, patience.
void set_connection_options(CURL* easy, const Upstream& upstream, const UpstreamLimits& limits);
UpstreamEnd upstream_end_of(CURLcode code);

class UpstreamTunnel {
 public:
  UpstreamTunnel(UpstreamRequest request, std::shared_ptr<UpstreamCall> call,
                 const UpstreamLimits& limits);
  UpstreamTunnel(const UpstreamTunnel&) = delete;
  UpstreamTunnel& operator=(const UpstreamTunnel&) = delete;

  CURL* easy() const { return easy_.get(); }
  UpstreamCall& call() const { return *call_; }

  // The connection is there, or is not. After that, as long as it is open: what to wait for.
  void connected(CURLcode code);
  curl_waitfd waits_for() const;
  bool is_connected() const { return socket_ != CURL_SOCKET_BAD; }

  void send(std::string bytes);  // the client's
  void resume();                 // after on_bytes() said no
  void move();                   // whatever can be sent or read now
  bool is_silent(std::chrono::steady_clock::time_point now, std::chrono::milliseconds patience);

  // Set once it has ended: on_end() is still to be called.
  struct End {
    UpstreamEnd how;
    std::string detail;
  };
  const End* ended() const { return end_.get(); }

 private:
  void write_out();
  void read_in();
  void take(std::string_view bytes);
  void take_head(std::string_view& bytes);
  void begin_answer();
  void take_answer(std::string_view bytes);
  void give(std::string_view bytes);
  void close();
  void finish(UpstreamEnd how, std::string_view detail);

  struct FreeTunnel {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  enum class State : std::uint8_t { head, answer, open };

  const UpstreamRequest request_;
  const std::shared_ptr<UpstreamCall> call_;
  const std::unique_ptr<CURL, FreeTunnel> easy_;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
  State state_ = State::head;
  std::string out_;            // unsent
  bool is_of_client_ = false;  // of which the client's bytes are a part
  std::string line_;           // a part of one, of the head
  std::string held_;           // read, and not taken by the client's side
  UpstreamHeadReader head_reader_{UpstreamHeadReader::Upgrade::allowed};
  UpstreamHead head_;
  http::BodyReader body_reader_;  // of an answer that is no 101
  bool ends_with_connection_ = false;
  std::string answer_;
  std::chrono::steady_clock::time_point moved_ = std::chrono::steady_clock::now();
  std::unique_ptr<End> end_;
};

}  // namespace undertext

#endif
