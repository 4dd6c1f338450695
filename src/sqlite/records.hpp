// Records to rows and back. Each function runs inside the caller's transaction, and throws
// SqliteError.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <undertext/store.hpp>

#include "sqlite/connection.hpp"
#include "store/rules.hpp"

namespace undertext {

struct StoredConversation {
  std::uint64_t number = 0;
  ConversationRecord record;  // complete but for `forks`
  std::uint64_t next_page = 1;
  StoredHead head() const {
    return {record.version, record.log_length, record.checkpoint_version, next_page};
  }
};

std::optional<StoredConversation> find_conversation(Connection& connection, std::string_view id);
std::vector<std::string> forks_of(Connection& connection, std::uint64_t number);
bool is_purged(Connection& connection, std::string_view id);

std::vector<VersionRecord> read_versions(Connection& connection, std::uint64_t number,
                                         std::uint64_t first, std::uint64_t end);
std::vector<MessageRecord> read_messages(Connection& connection, std::uint64_t number,
                                         std::uint64_t first, std::uint64_t end);
std::optional<VersionRecord> find_operation(Connection& connection, std::uint64_t number,
                                            std::string_view operation_id);
std::optional<Checkpoint> read_checkpoint(Connection& connection, std::uint64_t number);
std::optional<Page> read_page(Connection& connection, std::uint64_t number, std::uint64_t page);

// too_large: the numbers are beyond what a key can hold.
Result<std::uint64_t> add_conversation(Connection& connection, const NewConversation& made,
                                       std::optional<std::uint64_t> origin);
std::optional<Error> rename_conversation(Connection& connection, std::string_view staged,
                                         std::string_view id);
std::optional<Error> write_commit(Connection& connection, const Commit& commit);
std::optional<Error> write_stubs(Connection& connection, const StoredConversation& stored,
                                 const std::vector<MessageRecord>& stubs, const Removal* removal);
std::optional<Error> write_prune(Connection& connection, const Prune& prune);
std::optional<Error> delete_conversation(Connection& connection, std::string_view id,
                                         const Removal& removal, const PurgeOptions& options);
std::vector<RemovalRecord> read_removals(Connection& connection, std::string_view id);

// Rows that belong to no conversation.
std::vector<Damage> find_orphans(Connection& connection);

}  // namespace undertext
