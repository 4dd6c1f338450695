// Idempotency-Key of what makes something new: a request that is sent again is answered as the
// first time, and nothing is made twice. Safe for any number of threads, and of processes on one
// store.
//
// Who makes a conversation leaves in the store, before it does, which request the key came with and
// under which id the conversation will be: a record that nobody sees (store/staged.hpp), kept for a
// day. Whether it came to that is then seen from the conversation itself, which has a mark of the
// key and the request that made it: one that somebody else made under the same id is not taken for
// it. Keys of operations are their operation ids, which the engine keeps; only whether the request
// was another one is remembered here, in this process.
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

Parameter idempotency_key(
    std::string what =
        "What is sent again with the same key, within a day, answers as the first time.");
http::Reply key_reused();  // 422: it was given for another request

struct MakingOnce {
  std::string what;  // with the body of the call, what must be the same when the key is
  std::string id;    // of the new conversation
  // `mark`: what the conversation is to be made_by (OpenOptions); empty without a key.
  std::function<http::Reply(const std::string& id, const std::string& mark)> make;
  std::function<http::Reply(const ConversationRecord& made)> again;  // what make() answered
};
// make(), or again() where the key of the call was used for it. Without a key it is make() alone.
// Throws Failure.
http::Reply make_once(Store& store, const Call& call, const MakingOnce& making);

// The requests that came with the last so many keys.
class RequestsByKey {
 public:
  explicit RequestsByKey(std::size_t count_max) : count_max_(count_max) {}
  // Before the request is carried out. False: the key belongs to another one, which was carried out
  // or is being so. Else end() must follow.
  bool begin(std::string_view key, std::string_view request);
  void end(std::string_view key, bool is_done);  // a key of which nothing came is free again

 private:
  const std::size_t count_max_;
  struct Known {
    std::uint64_t request = 0;  // its digest
    std::uint32_t at_work = 0;  // how many times it is being carried out
    bool is_done = false;
  };

  std::mutex lock_;
  std::unordered_map<std::uint64_t, Known> requests_;  // by the digest of the key
  std::deque<std::uint64_t> order_;                    // the oldest first
};

}  // namespace undertext
