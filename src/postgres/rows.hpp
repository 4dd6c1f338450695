// Records from rows. corrupt: a column holds what no call has stored.
#pragma once

#include <string_view>
#include <vector>

#include <undertext/store.hpp>

#include "postgres/connection.hpp"

namespace undertext::postgres {

struct FoundConversation {
  ConversationRecord record;
  std::uint64_t next_page = 1;  // of its checkpoint, or of its origin
};

// of sql::find; not_found
Result<FoundConversation> read_conversation(std::string_view id, const Rows& rows);
Result<std::vector<VersionRecord>> read_versions(std::string_view id, const Rows& rows);
Result<std::vector<MessageRecord>> read_messages(std::string_view id, const Rows& rows);
Result<std::vector<RemovalRecord>> read_removals(std::string_view id, const Rows& rows);
std::optional<Checkpoint> read_checkpoint(const Rows& rows);
std::vector<RequestRow> read_requests(const Rows& rows, const Rows& keys, RequestBytes bytes);

}  // namespace undertext::postgres
