// Records of the requests that a client sent: the version that each saw, what it asked for, its
// outcome, and its bytes.
//
//     ClientRequest request = read_client_request(client, {}, body, {}, head).value();
//     RequestRecord record = describe_request(client, request, body, head);
//     record.version = conversation.apply({std::move(request.reconcile)}).value().version;
//     …                                                      // the provider answers
//     record.status = 200;
//     record.keys.push_back("response:" + record.response_id);
//     std::uint64_t n = conversation.record_request(std::move(record), body, answer).value();
//     conversation.raw_request(n).value() == body;           // byte for byte
//
// The bytes are stored as differences to what the conversation has: the messages of the log and an
// earlier request. docs/clients.md says what that costs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/client.hpp>
#include <undertext/dialect.hpp>
#include <undertext/export.hpp>
#include <undertext/ids.hpp>
#include <undertext/usage.hpp>

namespace undertext {

struct RequestRecord {
  std::uint64_t number = 0;  // 1 … in its conversation; record_request() sets it
  Version version;           // that the request saw: RECONCILE made or found it
  Version answer_version;    // that has the answer; 0: none
  std::int64_t at_ms = 0;    // its arrival; 0: record_request() reads the clock
  std::string client = {};   // the profile's name
  std::string dialect = {};
  ClientRequestKind kind = ClientRequestKind::turn;
  std::string method = {};
  std::string path = {};  // without the query, which may have a key
  std::string model = {};
  std::string tools_digest = {};       // hexadecimal, of the tools' bytes; empty: none
  std::string parameters_digest = {};  // of all other fields but the list
  std::uint64_t messages = 0;          // in its list
  std::vector<VolatilePart> volatile_parts = {};
  std::string response_id = {};
  std::uint32_t status = 0;  // of HTTP; 0: no answer came
  bool is_torn = false;      // the answer was incomplete
  // as the provider reported it; without request_id: none
  RequestUsage usage = {};
  std::optional<std::int64_t> first_byte_ms = {};  // from the request to the answer's first byte
  std::optional<std::int64_t> duration_ms = {};    // to its last
  std::uint64_t request_bytes = 0;                 // record_request() sets these two
  std::uint64_t answer_bytes = 0;
  bool has_raw_request = false;  // raw_request() has it; likewise
  bool has_raw_answer = false;
  // For Store::find_requests(), over all conversations of a tenant: "response:resp_123", "list:…".
  // At most 16, each of at most 256 bytes. A store only compares them.
  std::vector<std::string> keys = {};
  friend bool operator==(const RequestRecord&, const RequestRecord&) = default;
};

// A record with what the request itself says: client, dialect, kind, path, model, digests,
// messages, volatile parts, and the key "list:…" (list_key of the whole list).
UNDERTEXT_API RequestRecord describe_request(const ClientProfile& client,
                                             const ClientRequest& request, std::string_view json,
                                             const ClientRequestHead& head = {});

// "list:" and a digest of the identities of the first `count` messages, in order.
UNDERTEXT_API std::string list_key(const op::Reconcile& request,
                                   std::size_t count = std::numeric_limits<std::size_t>::max());

struct RequestQuery {
  std::uint64_t first = 1;                 // from this number on
  std::uint64_t limit = 100;               // at most so many
  std::optional<std::uint64_t> last = {};  // instead: the newest so many
};

}  // namespace undertext
