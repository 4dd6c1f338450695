// Idempotency-Key of what makes something new: a request that is sent again is answered as the first time, and nothing is made twice. Safe for any number of
// threads, and of processes on one store.
//
// Who makes a conversation leaves in the store, before it does, which request the key came with and under which id the conversation will be: a record that
// nobody sees (store/staged.hpp), kept for a day. Whether it came to that is then seen from the conversation itself. Keys of operations are their operation ids,
// which the engine keeps; only whether the request was another one is remembered here, in this process.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <undertext/store.hpp>

#include "http/http.hpp"
#include "server/route.hpp"

namespace undertext {

Parameter idempotency_key(std::string what = "What is sent again with the same key, within a day, answers as the first time.");
http::Reply key_reused();  // 422: it was given for another request

struct MakingOnce {
  std::string what;  // with the body of the call, what must be the same when the key is
  std::string id;    // of the new conversation
  std::function<http::Reply(const std::string& id)> make;
  std::function<http::Reply(const ConversationRecord& made)> again;  // what make() answered
};
// make(), or again() where the key of the call was used for it. Without a key it is make() alone. Throws Failure.
http::Reply make_once(Store& store, const Call& call, const MakingOnce& making);

// The requests that came with the last so many keys.
class RequestsByKey {
 public:
  explicit RequestsByKey(std::size_t count_max) : count_max_(count_max) {}
  bool is_another(std::string_view key, std::string_view request) const;  // the key is remembered, with a request that differs
  void remember(std::string_view key, std::string_view request);

 private:
  const std::size_t count_max_;
  mutable std::mutex lock_;
  std::unordered_map<std::uint64_t, std::uint64_t> requests_;  // digests of both
  std::deque<std::uint64_t> order_;                            // the oldest first
};

}  // namespace undertext
