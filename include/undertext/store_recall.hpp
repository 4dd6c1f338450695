// Full-text search over all conversations of a store.
//
//     StoreRecall recall(store);
//     for (const StoreFound& found : recall.search({.text = "token bucket"}).value().found)
//       print(found.conversation, found.ordinal, found.message);
//
// One index of all messages is kept in memory, built from the store's rows (recall.hpp). So scores
// of different conversations are comparable. Results are read from the store: a message that was
// redacted or purged meanwhile is not found. A search sees all that the store can read: give a
// caller its tenant's store.
//
// Threads: any thread may call search(); the searches of one StoreRecall wait for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>
#include <undertext/store.hpp>
#include <undertext/work.hpp>

namespace undertext {

struct StoreRecallOptions {
  // The minimum time between two scans for new messages. A search runs the scan, which walks the
  // list of conversations.
  std::uint64_t fresh_ms = 1000;
  // Of the index. Beyond it, the least recently changed conversations are left out.
  std::uint64_t bytes_max = std::uint64_t{256} << 20;
};

struct StoreRecallQuery {
  std::string text;
  std::uint64_t messages_max = 20;
  std::vector<Role> roles = {};  // empty: all
  // Whether a conversation is searched; unset: all are.
  std::function<bool(const ConversationRecord& record)> in_scope = {};
};

struct StoreFound {
  std::string conversation;
  Ordinal ordinal;
  Message message;
  double score = 0;  // comparable within one answer only
};

struct StoreRecalled {
  std::vector<StoreFound> found;        // best first; of messages that say the same, the best one
  std::uint64_t conversations = 0;      // in the index
  std::uint64_t conversations_out = 0;  // left out of it: StoreRecallOptions::bytes_max
};

class UNDERTEXT_API StoreRecall {
 public:
  explicit StoreRecall(std::shared_ptr<Store> store, StoreRecallOptions options = {});
  ~StoreRecall();
  StoreRecall(StoreRecall&&) noexcept;
  StoreRecall& operator=(StoreRecall&&) noexcept;

  // The first search reads the index of the whole store; later ones only new rows. After an error,
  // the next search continues there.
  // invalid_argument: no text. unavailable, corrupt: as Store. With `work` (null: without limits),
  // also what that throws.
  Result<StoreRecalled> search(const StoreRecallQuery& query,
                               const std::shared_ptr<Work>& work = {});

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace undertext
