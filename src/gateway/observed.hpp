// What a gateway has seen, for whoever records it. Traffic never waits for a recorder, and nothing
// that a recorder does or throws reaches a client.
//
//     class MyRecorder : public ExchangeRecorder {
//       void request(const std::shared_ptr<const ObservedRequest>& request) override;
//       void finished(ObservedExchange exchange) override;
//     };
//
// Calls come from one thread of the gateway, in the order of what happened; of one exchange
// request() comes before finished(). While a recorder works, what follows waits in memory, within
// GatewayOptions::recording_bytes. What does not fit is dropped: an exchange is reported whole or
// not at all, except that one whose answer outgrows the budget ends with `dropped`. Drops are
// counted, and told as an event.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/dialect_name.hpp>
#include <undertext/error.hpp>

#include "gateway/upstreams.hpp"
#include "http/budget.hpp"
#include "http/http.hpp"

namespace undertext {

class Conversation;

enum class RecordLevel : std::uint8_t {
  full,
  // heads without bodies: ObservedRequest::body and ObservedExchange::body are empty, the sizes are
  // there
  metadata,
  none,  // the recorder is not called
};
Result<RecordLevel> read_record_level(std::string_view text);  // invalid_argument

struct ObservedRequest {
  std::uint64_t number = 0;  // of this process, from 1
  std::string tenant;        // of the server's token; "default" without tokens
  // A keyed digest of the client's credential, in hexadecimal: the same for the same credential.
  // Empty: it came without one.
  std::string client;
  RecordLevel level = RecordLevel::full;

  CallKind call = CallKind::other;
  std::string upstream;  // its name
  std::optional<Dialect> dialect = {};

  std::string method;
  std::string target;  // as it came, without what carries a key
  // as they came, without credentials; X-Undertext-* are here, though no upstream gets them
  std::vector<http::Field> fields;
  // The credentials that the upstream may have got, so that a recorder can take them out of an answer
  // which repeats them. Never to be kept.
  std::vector<std::string> secrets = {};
  std::string content_encoding;  // of the body; "" for none
  // As it came; see decoded(). Null: not kept.
  std::shared_ptr<const std::string> body = {};
  std::uint64_t body_bytes = 0;

  std::chrono::system_clock::time_point received;

  // the first of this name; null when there is none
  const std::string* find(std::string_view field) const;
};

struct ObservedExchange {
  std::shared_ptr<const ObservedRequest> request;

  enum class End : std::uint8_t {
    complete,
    torn,         // the upstream's answer began and did not end
    client_left,  // before the answer had ended; the upstream was told
    // there was no answer: `failure` says why, and the status is what the gateway answered itself
    upstream_failed,
  };
  End end = End::complete;
  std::string failure = {};  // such as "upstream_timeout"

  unsigned status = 0;  // 0: none came
  std::vector<http::Field> fields = {};
  std::string content_encoding = {};
  std::string body = {};  // as it came; see decoded()
  std::uint64_t body_bytes = 0;
  bool dropped = false;  // the body did not fit the budget: `body` is empty

  std::optional<std::chrono::system_clock::time_point> first_byte = {};  // of the answer's head
  std::chrono::system_clock::time_point ended = {};

  http::Budget::Share share = {};  // what both bodies have of the budget, for as long as this lives
};
std::string_view name(ObservedExchange::End end);

class ExchangeRecorder {
 public:
  virtual ~ExchangeRecorder() = default;
  // A request was read whole, and is on its way.
  virtual void request(const std::shared_ptr<const ObservedRequest>& request) = 0;
  virtual void finished(ObservedExchange exchange) = 0;
  // What it could not record, and reported itself; what it threw is counted without it. Any thread.
  virtual std::uint64_t failures() const { return 0; }
  // Whether it has any use for the bodies of such a call; else it gets what it would of
  // RecordLevel::metadata.
  virtual bool keeps_bodies([[maybe_unused]] CallKind call) const { return true; }
  // The conversation that a request under way belongs to, by ObservedRequest::number; null: none.
  virtual std::shared_ptr<Conversation> conversation_of([[maybe_unused]] std::uint64_t number) {
    return nullptr;
  }
};

// The bytes behind a Content-Encoding: gzip, deflate, zstd, identity, or several of them in the
// order of the field.
// unsupported: another coding. too_large: more than `bytes_max` decoded bytes. invalid_argument:
// not of this coding, or cut off, unless `cut` allows it.
enum class CutOff : std::uint8_t { refused, allowed };
Result<std::string> decoded(std::string_view bytes, std::string_view content_encoding,
                            std::uint64_t bytes_max, CutOff cut = CutOff::refused);

}  // namespace undertext
