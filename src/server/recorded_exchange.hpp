// An exchange whose answer is counted and logged, and bears what every answer of this server bears.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "http/http.hpp"
#include "server/log.hpp"
#include "server/metrics.hpp"
#include "server/route.hpp"

namespace undertext {

struct Recorder {
  const ServerLog& log;
  Metrics& metrics;
  std::atomic<std::uint64_t>& streams;  // open now
  // Every answer is the last one of its connection, so that its client opens the next one elsewhere.
  const std::atomic<bool>& is_draining;
};

// What is known of a request before it is answered.
struct RequestNote {
  const Route* route = nullptr;
  std::string method;
  std::string peer;
  Caller caller;
  std::uint64_t bytes_in = 0;
  std::chrono::steady_clock::time_point began;
};

// The reply as it is sent: counted and logged, with the cause of a 500, and with the fields that
// every answer has.
http::Reply recorded(http::Reply reply, const Recorder& recorder, const RequestNote& note);

// Unless the reply has said otherwise itself: not kept by anybody, not taken for another type, not
// shown within another page.
void add_guarding_fields(std::vector<http::Field>& fields);

// Borrows what the recorder holds.
std::unique_ptr<http::Exchange> recorded(std::unique_ptr<http::Exchange> exchange,
                                         const Recorder& recorder, RequestNote note);

}  // namespace undertext
