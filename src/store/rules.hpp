// What every store asks of a call, in one place, so that no two stores answer differently.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/store.hpp>

namespace undertext {

// Where versions() and messages() cut their answers off.
inline constexpr std::size_t answer_bytes_max = std::size_t{8} << 20;
inline constexpr std::size_t answer_records_max = 10'000;
// of one body, page and so on
inline constexpr std::size_t record_bytes_max = std::size_t{256} << 20;
inline constexpr std::size_t operation_id_bytes_max = 1024;
inline constexpr std::size_t request_keys_max = 16;
inline constexpr std::size_t request_key_bytes_max = 256;

// What a commit goes on from.
struct StoredHead {
  std::uint64_t version = 0;
  std::uint64_t log_length = 0;
  std::uint64_t checkpoint_version = 0;
  std::uint64_t next_page = 1;  // of the last checkpoint, or of the origin
};

// Of the call itself, before anything is looked at. Nothing: it is good.
std::optional<Error> bad_id(std::string_view id);      // of a user's
std::optional<Error> bad_own_id(std::string_view id);  // of a user's, or staged: see staged.hpp
// the same, of a tenant too: see tenant.hpp
std::optional<Error> bad_stored_id(std::string_view id);
std::optional<Error> bad_publishing(std::string_view staged, std::string_view id);
std::optional<Error> too_late(const CallOptions& options);
std::optional<Error> bad_list(const ListOptions& options);
std::optional<Error> bad_creation(const NewConversation& conversation);
std::optional<Error> bad_commit(const Commit& commit);
std::optional<Error> bad_stubs(const std::vector<MessageRecord>& stubs);
std::optional<Error> bad_prune(const Prune& prune);
std::optional<Error> bad_request(const NewRequest& request);
// A user's key has no control character at its beginning: what a tenant's view stores has
// (tenant.hpp).
std::optional<Error> bad_request_key(std::string_view key);

// Against what is stored.
// `version`: that of the head.
std::optional<Error> refuse_purge(std::string_view id, std::uint64_t version, bool forked,
                                  const PurgeOptions& options);
std::optional<Error> refuse_fork(const NewConversation& fork, const ConversationRecord& origin,
                                 std::uint64_t origin_next_page);
std::optional<Error> refuse_commit(const Commit& commit, const StoredHead& head);
// Rows of the index are of messages of its own, from `first_own` on, that are stored or in the
// commit.
std::optional<Error> refuse_words(const Commit& commit, std::uint64_t first_own,
                                  std::uint64_t log_length);
// `last`: the number of the newest row.
std::optional<Error> refuse_request(const NewRequest& request, std::uint64_t last,
                                    std::uint64_t next_page);
// `pages_needed`: the end of the pages that forks need; 0: there are no forks.
std::optional<Error> refuse_prune(const Prune& prune, const StoredHead& head,
                                  std::uint64_t first_version, std::uint64_t pages_needed);
// The stub as it is to be stored in the place of `message`.
Result<MessageRecord> stub_for(const MessageRecord& message, const MessageRecord& stub);

Error other_settings(std::string_view id);
Error no_conversation(std::string_view id);
Error no_message(std::string_view id, std::uint64_t ordinal);
Error no_page(std::string_view id, std::uint64_t number);
Error id_taken(std::string_view id);
Error has_forks(std::string_view id);
Error operation_known(std::string_view operation_id);
Error deadline_passed();

}  // namespace undertext
