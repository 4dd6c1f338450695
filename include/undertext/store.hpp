// Where conversations last: the one contract of every store.
//
//     std::shared_ptr<Store> store = open_store("sqlite:agent.db").value();
//     Conversation conversation = Conversation::open(store, "support-17").value();
//     conversation.apply({op::Append{{hello}}}).value();      // on disk when this returns
//
// A store keeps records and understands none of them. Of each conversation:
//
//     versions   1 … head      one operation each: the truth; version v is what the operation v made of version v - 1
//     messages   0 … n - 1     by ordinal, bytes as given
//     checkpoint, pages        what is derived from these up to some version, so that opening does not replay everything
//     requests   1 … n         what clients asked, beside the versions: a fork begins with none
//
// A fork's numbers go on where its origin's were: records below the three numbers of its Origin are the origin's, and are asked for there.
//
// What is being put together and nobody may see yet, such as an import, is staged: kept under an id that begins with a dot (store/staged.hpp), which list() leaves
// out and no door takes, until publish() gives it the id it is for, as a whole.
//
// Two writers never both succeed: commit() carries the version it goes on from, and is refused with `conflict` when that is no longer the head.
// It is wholly there or wholly absent, whatever happens; when it has answered, it lasts as the store's durability says.
//
// Threads: any number may call any method at once; commits under way at the same time share what they can (one fsync).
// Failure, of every method: unavailable (busy, cut off, the disk is full, the deadline has passed: try again later; a commit that ended so may have
// happened, and an operation id tells), corrupt (what is stored is damaged; the message says where), invalid_argument (a bad conversation id).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/message.hpp>

namespace undertext {

struct CallOptions {
  std::optional<std::chrono::steady_clock::time_point> deadline = {};  // unset: the store's own patience, StoreOptions::patience
};

using Digest = std::array<std::uint8_t, 32>;  // SHA-256

// A message of another conversation of the store.
struct StoredElsewhere {
  std::string conversation;
  std::uint64_t ordinal = 0;
  friend bool operator==(const StoredElsewhere&, const StoredElsewhere&) = default;
};

// A message of the log.
struct MessageRecord {
  std::uint64_t ordinal = 0;
  std::string body;  // the JSON as given; of a redacted one, that of its stub
  Role role = Role::user;
  std::int64_t time_ms = 0;  // its timestamp, else its arrival
  std::uint32_t tokens = 0;
  std::optional<Digest> redacted = {};  // set: the body was redacted, and this is its digest
  // Of a commit only: the body is that of this earlier message of the conversation's own, and `body` is empty. It is read with its body, like any other;
  // SQLite stores the bytes once.
  std::optional<std::uint64_t> same_as = {};
  // Of a commit only: a fork of this conversation has a message with the same body. SQLite then stores the bytes once; a purge or a
  // redaction of the one leaves the other as it is.
  std::optional<StoredElsewhere> stored_in = {};
  friend bool operator==(const MessageRecord&, const MessageRecord&) = default;
};

// An operation, and the version it made. What it stored are the messages from the log length of the version before up to `log_length`.
struct VersionRecord {
  std::uint64_t version = 0;
  std::int64_t at_ms = 0;
  std::uint64_t log_length = 0;  // after it
  std::string operation;         // its canonical name
  std::string arguments;         // bytes of the engine's, without the messages; often empty. See are_redacted()
  std::string operation_id;      // empty: none; no two versions of a conversation have the same
  std::string answer;            // what a repeated operation id is answered with; bytes of the engine's
  Digest chain = {};             // over this record, its messages and the chain before it: store/chain.hpp
  friend bool operator==(const VersionRecord&, const VersionRecord&) = default;
};

// Arguments from which texts were redacted begin with a zero byte, and others never do. Such a record is no longer what its chain was made of, and the
// chain goes on from what is stored.
inline bool are_redacted(std::string_view arguments) { return arguments.starts_with('\0'); }

// A piece of a checkpoint. Written once under its number, never changed.
struct Page {
  std::uint64_t number = 0;
  std::string bytes;
  friend bool operator==(const Page&, const Page&) = default;
};

struct Checkpoint {
  std::uint64_t version = 0;    // what it is of
  std::uint64_t next_page = 1;  // all its pages are below
  std::string root;             // bytes of the engine's, which name the first pages
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// A piece of the full-text index: the words of the messages [first, end). Derived from these, and
// deleted with the text of any of them.
struct WordsRow {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::uint64_t size_bytes = 0;  // of `bytes`, also where these were not read
  std::string bytes = {};        // of the engine's
  friend bool operator==(const WordsRow&, const WordsRow&) = default;
};

enum class WordsBytes : std::uint8_t {
  without,  // `bytes` are empty
  with,
};

// What a fork has in common with the conversation it came from.
struct Origin {
  std::string conversation;
  std::uint64_t version = 0;     // versions up to and with this one,
  std::uint64_t log_length = 0;  // messages below this ordinal,
  std::uint64_t next_page = 1;   // and pages below this number are the origin's
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct ConversationRecord {
  std::string id;
  std::string settings;  // bytes of the engine's
  std::int64_t created_at_ms = 0;
  std::optional<Origin> origin = {};
  std::uint64_t first_version = 0;       // versions below were pruned
  std::uint64_t version = 0;             // the head: of its last version record, or origin->version, or 0
  std::uint64_t log_length = 0;          // likewise
  std::int64_t updated_at_ms = 0;        // likewise
  Digest chain = {};                     // likewise
  std::uint64_t checkpoint_version = 0;  // of the last checkpoint; 0: none
  std::uint64_t next_page = 1;           // of the last checkpoint, else of the origin: another one: all was rewritten
  std::vector<std::string> forks = {};   // conversations whose origin this is
  friend bool operator==(const ConversationRecord&, const ConversationRecord&) = default;
};

struct NewConversation {
  std::string id;
  std::string settings = {};
  std::int64_t created_at_ms = 0;
  Digest chain = {};  // what its first version's chain goes on from
  std::optional<Origin> origin = {};
  std::optional<Checkpoint> checkpoint = {};  // of a fork
  std::vector<Page> pages = {};
};

// One or more versions, with all that belongs to them.
struct Commit {
  std::string conversation;
  std::uint64_t expected_version = 0;
  // Set: conflict when a checkpoint was written since (by a prune, a recount, a redaction), whatever the version.
  std::optional<std::uint64_t> expected_next_page = {};
  std::optional<std::string> expected_settings = {};  // set: conflict when the settings are others by now
  std::vector<VersionRecord> versions =
      {};  // expected_version + 1 and so on; may be empty where only a checkpoint or settings are written
  std::vector<MessageRecord> messages = {};  // from the log length of expected_version on
  std::optional<Checkpoint> checkpoint = {};
  // Pages come with a checkpoint only: they have numbers from the stored checkpoint's next_page up to this one's.
  std::vector<Page> pages = {};
  std::optional<std::string> settings = {};
  // Rising, of messages of its own that are stored or in this commit. Each takes the place of rows
  // whose messages are all within it.
  std::vector<WordsRow> words = {};
};

// Who deleted something, when and why: what remains of it.
struct Removal {
  std::string who;
  std::int64_t at_ms = 0;
  std::string why;
  friend bool operator==(const Removal&, const Removal&) = default;
};

struct RemovalRecord {
  std::string conversation;
  std::optional<std::uint64_t> ordinal = {};  // unset: the whole conversation
  Removal removal;
  Digest digest = {};  // of the body, or the chain of the last version
  friend bool operator==(const RemovalRecord&, const RemovalRecord&) = default;
};

// A request that was recorded. The store knows its number, its version and its keys.
struct RequestRow {
  std::uint64_t number = 0;   // 1 …, without a gap but for what prune() removed at the beginning
  std::uint64_t version = 0;  // what it saw
  std::int64_t at_ms = 0;
  std::vector<std::string> keys = {};
  std::string facts = {};    // bytes of the engine's, which hold no text of a message
  std::string parts = {};    // likewise, which may hold some; redact() empties this and the next two
  std::string request = {};  // the raw request, packed
  std::string answer = {};   // the raw answer, packed
  friend bool operator==(const RequestRow&, const RequestRow&) = default;
};

struct NewRequest {
  std::string conversation;
  RequestRow row;
  // Set: conflict when a checkpoint was written since, as of Commit: bodies that `request` is packed against may be gone.
  std::optional<std::uint64_t> expected_next_page = {};
};

struct FoundRequest {
  std::string key;
  std::string conversation;
  std::uint64_t number = 0;
  friend bool operator==(const FoundRequest&, const FoundRequest&) = default;
};

// What of the rows is read.
enum class RequestBytes : std::uint8_t {
  without,  // `request` and `answer` are empty
  with,
};

// Deletes old versions. What the kept ones need is in the checkpoint; nothing else of the old ones is kept.
// With the `first_version` that is stored, all versions stay: only pages and texts of operations are rewritten.
struct Prune {
  std::string conversation;
  std::uint64_t expected_version = 0;
  // Version records up to and with this one go, but for what find_operation() answers (without operation and arguments). Its own stays for
  // versions() too, so reduced: the chain goes on from it.
  std::uint64_t first_version = 0;
  std::vector<MessageRecord> stubs = {};  // take the place of messages that no kept version shows; `redacted` is set
  // Their arguments and answers take the place of those of the kept versions with the same number.
  std::vector<VersionRecord> operations = {};
  Checkpoint checkpoint = {};    // of expected_version
  std::vector<Page> pages = {};  // all of its pages: every other one goes, and a fork needs none of its origin's
  // Request rows of earlier versions than first_version go, but the newest row stays. Of the rows with these numbers, `request` and `answer` are replaced.
  std::vector<RequestRow> requests = {};
};

struct ListOptions {
  std::string after = {};     // ids beyond this one, rising; empty: from the first
  std::uint32_t limit = 100;  // 1 … 1000
  bool staged = false;        // those that are staged, instead of all others
  CallOptions call = {};
};

struct PurgeOptions {
  std::optional<std::uint64_t> expected_version =
      {};  // set: conflict, with the field `expected_version`, where the head is another
  CallOptions call = {};
};

struct Damage {
  std::string conversation;  // empty: the store itself
  std::string what;          // for people: which record, and how it is wrong
  friend bool operator==(const Damage&, const Damage&) = default;
};

class UNDERTEXT_API Store {
 public:
  virtual ~Store() = default;

  virtual std::string name() const = 0;  // for people: its URL without secrets

  // What one tenant sees of it ("": the default tenant), over the same file or connections; null where a store knows no tenants of its own.
  virtual std::shared_ptr<Store> for_tenant([[maybe_unused]] std::string_view tenant) { return nullptr; }

  // conflict: the id is taken, or was and is purged; or the fork has a checkpoint, and its origin a newer one than Origin::next_page knows of.
  // not_found: the origin, or its version. The origin keeps what the fork needs from then on.
  virtual Result<ConversationRecord> create(const NewConversation& conversation, const CallOptions& options = {}) = 0;
  virtual Result<ConversationRecord> find(std::string_view id, const CallOptions& options = {}) = 0;  // not_found
  virtual Result<std::vector<ConversationRecord>> list(const ListOptions& options = {}) = 0;  // by id, rising; `forks` left empty

  // Gives the staged conversation its id, in one step: before it nobody sees any of it, afterwards everything. conflict: the id is taken, or was and is
  // purged. not_found: there is no such staged one (any more). Takes as long as the records are many where they have to be rewritten (PostgreSQL), and has
  // no patience of its own.
  virtual Result<void> publish(std::string_view staged, std::string_view id, const CallOptions& options = {}) = 0;

  // Own records of the conversation, rising, without those that are not there: [first, end). The end is cut off where the answer would be very large (but not
  // below one record), so ask on from the last one.
  virtual Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first, std::uint64_t end,
                                                      const CallOptions& options = {}) = 0;
  virtual Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first, std::uint64_t end,
                                                      const CallOptions& options = {}) = 0;
  // In the order asked for. corrupt: one is missing.
  virtual Result<std::vector<Page>> pages(std::string_view id, std::span<const std::uint64_t> numbers,
                                          const CallOptions& options = {}) = 0;
  virtual Result<std::optional<Checkpoint>> checkpoint(std::string_view id, const CallOptions& options = {}) = 0;
  virtual Result<std::optional<VersionRecord>> find_operation(std::string_view id, std::string_view operation_id,
                                                              const CallOptions& options = {}) = 0;

  // Nothing, when it is done. conflict: expected_version is not the head, an operation id is known already, or the checkpoint is older than the stored one
  // (by its version or next_page). invalid_argument: its parts do not fit together. too_large: a record of more than 256 MiB, an operation id of more than 1 KiB.
  virtual Result<void> commit(const Commit& commit, const CallOptions& options = {}) = 0;

  // Adds a request row. conflict: its number is not that of the newest row + 1 (the first: 1). invalid_argument: more than 16 keys, or one that is
  // empty, begins with a control character, is there twice or has more than 256 bytes. too_large: as commit().
  virtual Result<void> put_request(const NewRequest& request, const CallOptions& options = {}) = 0;
  // Rows [first, end), rising; cut off as versions(). Of an older store: none.
  virtual Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first, std::uint64_t end, RequestBytes bytes,
                                                   const CallOptions& options = {}) = 0;
  virtual Result<std::uint64_t> last_request(std::string_view id, const CallOptions& options = {}) = 0;  // its number; 0: none
  // For each key that a row of any conversation has (staged ones excepted) its newest one, by time; of the same time, either.
  virtual Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys, const CallOptions& options = {}) = 0;

  // Rows of the full-text index that begin within [first, end), rising; cut off as versions(). Where
  // there is none for a message, its words are those of its body. Of an older store: none.
  virtual Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first, std::uint64_t end, WordsBytes bytes,
                                              const CallOptions& options = {}) = 0;

  // Deletes bodies permanently: the records given, with `redacted` set, take their places, and the old bytes are gone from everything this store
  // writes to. What is redacted twice keeps its first digest. not_found: no such message of this conversation's own. invalid_argument: a stub's role,
  // time or digest is not that of the message. All request rows of the conversation lose `parts`, `request` and `answer`: they may hold the text. That is
  // all that happens without stubs.
  virtual Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs, const Removal& removal,
                              const CallOptions& options = {}) = 0;
  // Deletes a whole conversation permanently; doing it again is no error. Of a staged one no record stays, and its bytes are
  // not overwritten. conflict: it has forks, or another version than expected.
  virtual Result<void> purge(std::string_view id, const Removal& removal, const PurgeOptions& options = {}) = 0;
  virtual Result<std::vector<RemovalRecord>> removals(std::string_view id,
                                                      const CallOptions& options = {}) = 0;  // of purged ones too
  // conflict: expected_version is not the head, or it has forks; where no version is pruned, forks that need pages of it (Origin::next_page).
  virtual Result<void> prune(const Prune& prune, const CallOptions& options = {}) = 0;

  // What a conversation's own records take, without what the store adds to them. not_found. This one reads them all; stores that know better override it.
  virtual Result<std::uint64_t> size_bytes(std::string_view id, const CallOptions& options = {});

  // The store's own integrity, without what records mean: see check_store() for that.
  virtual Result<std::vector<Damage>> check(const CallOptions& options = {}) = 0;
  // Gives free space back to the system.
  virtual Result<void> compact(const CallOptions& options = {}) = 0;
  // Spreads the tables over the nodes of a distributed database (Citus), by conversation; again where
  // nodes or tables were added. Other connections see it once they are made anew. unsupported: not by
  // this kind of store, or the database is not of that kind.
  virtual Result<void> distribute(const CallOptions& options = {});
  // A copy as of one moment, while others read and write. unsupported: not by this kind of store. invalid_argument: the file is there already.
  virtual Result<void> backup(const std::string& path, const CallOptions& options = {}) = 0;
};

enum class Durability : std::uint8_t {
  full,    // SQLite: what was answered survives a power cut, where the disk keeps its promises
  normal,  // SQLite: survives the end of the process; a power cut may take the last commits, and never damages the file
};

struct StoreOptions {
  Durability durability = Durability::full;
  std::chrono::milliseconds patience{5000};  // for calls without a deadline
  bool create = true;                        // make the file or the tables where there are none; else not_found
  bool read_only = false;
  std::string tenant = {};            // whose conversations are seen; empty: the default tenant's. 1 to 64 of A-Z a-z 0-9 _ -
  std::uint32_t connections_max = 8;  // PostgreSQL
};

// sqlite:PATH, postgres://… or memory: (an empty one each time). invalid_argument: no such kind. unsupported: built without it. not_found, unavailable,
// corrupt: as it says.
UNDERTEXT_API Result<std::shared_ptr<Store>> open_store(std::string_view url, const StoreOptions& options = {});

// Puts the backup in the place of the store that `url` names, as a whole, with neither log nor index of what was there before. The backup is read and
// checked first, and stays as it is. unavailable: something has the store open. corrupt: the backup is damaged. not_found: there is no backup. unsupported:
// not with this kind of store. Whatever fails has left the store as it was.
UNDERTEXT_API Result<void> restore_store(std::string_view url, const std::string& backup);

// For tests, and for what need not last.
UNDERTEXT_API std::shared_ptr<Store> memory_store();

// Reads all records that are stored and checks them against themselves (pages follow from these: Conversation::check reads them): the store's own integrity, that records are complete and in order, and the chain of digests
// over each conversation. Without an id: of all conversations.
struct CheckReport {
  std::uint64_t conversations = 0, versions = 0, messages = 0;
  std::vector<Damage> damage = {};
};
UNDERTEXT_API Result<CheckReport> check_store(Store& store, std::string_view id = {}, const CallOptions& options = {});

// Whether this may be a conversation's id: 1 to 128 of A-Z a-z 0-9 . _ -, not beginning with a dot.
UNDERTEXT_API bool is_conversation_id(std::string_view id);

}  // namespace undertext
