// Durable storage of conversations: the contract of every store.
//
//     std::shared_ptr<Store> store = open_store("sqlite:agent.db").value();
//     Conversation conversation = Conversation::open(store, "support-17").value();
//     conversation.apply({op::Append{{hello}}}).value();      // on disk when this returns
//
// A store keeps records without interpreting them. Of each conversation:
//
//     versions   1 … head      one operation each: the source of truth; operation v turns version v - 1 into version v
//     messages   0 … n - 1     by ordinal, bytes as given
//     checkpoint, pages        derived from these up to some version, so that opening does not replay everything
//     requests   1 … n         requests of clients, beside the versions: a fork starts with none
//
// A fork continues the numbers of its origin: records below the three numbers of its Origin are the
// origin's, and are read there.
//
// Staging: an unfinished conversation, such as an import, has an id that begins with a dot
// (store/staged.hpp). list() omits it, and no API accepts its id. publish() gives it its final id
// atomically.
//
// Optimistic concurrency: commit() carries the version it builds on, and fails with `conflict` when
// that is no longer the head.
// A commit is atomic; once it has returned, it is as durable as StoreOptions::durability says.
//
// Threads: any thread may call any method at any time. Concurrent commits share an fsync where they
// can (group commit).
// Errors of every method:
//   unavailable       busy, disconnected, disk full, or deadline passed: retry later. A commit that ended so may have happened:
//                     find_operation() shows whether it did
//   corrupt           stored data is damaged; the message says where
//   invalid_argument  a bad conversation id
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
  // default: after StoreOptions::patience
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
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
  // In a commit: the body equals that of this earlier message of the same conversation, and `body`
  // is empty. Reading returns the body as usual; SQLite stores the bytes once.
  std::optional<std::uint64_t> same_as = {};
  // In a commit: a fork of this conversation has a message with the same body. SQLite then stores
  // the bytes once; a purge or a redaction of one message leaves the other as it is.
  std::optional<StoredElsewhere> stored_in = {};
  friend bool operator==(const MessageRecord&, const MessageRecord&) = default;
};

// An operation, and the version it made. It stored the messages from the previous version's log
// length up to `log_length`.
struct VersionRecord {
  std::uint64_t version = 0;
  std::int64_t at_ms = 0;
  std::uint64_t log_length = 0;  // after it
  std::string operation;         // its canonical name
  // opaque bytes, without the messages; often empty. See are_redacted()
  std::string arguments;
  std::string operation_id;  // empty: none; unique within a conversation
  std::string answer;        // what a repeated operation id returns; opaque bytes
  // over this record, its messages and the chain before it: store/chain.hpp
  Digest chain = {};
  friend bool operator==(const VersionRecord&, const VersionRecord&) = default;
};

// Arguments from which texts were redacted begin with a zero byte; others never do. Such a record
// no longer matches its chain digest; the chain continues from the stored one.
inline bool are_redacted(std::string_view arguments) { return arguments.starts_with('\0'); }

// A piece of a checkpoint. Written once under its number, never changed.
struct Page {
  std::uint64_t number = 0;
  std::string bytes;
  friend bool operator==(const Page&, const Page&) = default;
};

struct Checkpoint {
  std::uint64_t version = 0;    // the version that it describes
  std::uint64_t next_page = 1;  // all its pages are below
  std::string root;             // opaque bytes, which name the first pages
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// A row of the full-text index: the words of the messages [first, end). It is deleted with the text
// of any of them.
struct WordsRow {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::uint64_t size_bytes = 0;  // of `bytes`, also where these were not read
  std::string bytes = {};        // opaque
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
  std::string settings;  // opaque bytes
  std::int64_t created_at_ms = 0;
  std::optional<Origin> origin = {};
  std::uint64_t first_version = 0;  // versions below were pruned
  // the head: of its last version record, or origin->version, or 0
  std::uint64_t version = 0;
  std::uint64_t log_length = 0;          // likewise
  std::int64_t updated_at_ms = 0;        // likewise
  Digest chain = {};                     // likewise
  std::uint64_t checkpoint_version = 0;  // of the last checkpoint; 0: none
  // of the last checkpoint, else of the origin; changes when pages are rewritten
  std::uint64_t next_page = 1;
  std::vector<std::string> forks = {};  // conversations whose origin this is
  friend bool operator==(const ConversationRecord&, const ConversationRecord&) = default;
};

struct NewConversation {
  std::string id;
  std::string settings = {};
  std::int64_t created_at_ms = 0;
  Digest chain = {};  // the start of its chain of digests
  std::optional<Origin> origin = {};
  std::optional<Checkpoint> checkpoint = {};  // of a fork
  std::vector<Page> pages = {};
};

// One or more versions, with all that belongs to them.
struct Commit {
  std::string conversation;
  std::uint64_t expected_version = 0;
  // Set: conflict when a checkpoint was written since (by a prune, a recount, a redaction), at any
  // version.
  std::optional<std::uint64_t> expected_next_page = {};
  // set: conflict when the stored settings differ
  std::optional<std::string> expected_settings = {};
  std::vector<VersionRecord> versions =
      // expected_version + 1 and so on; may be empty where only a checkpoint or settings are
      // written
      {};
  std::vector<MessageRecord> messages = {};  // from the log length of expected_version on
  std::optional<Checkpoint> checkpoint = {};
  // Pages come with a checkpoint only: they have numbers from the stored checkpoint's next_page up
  // to this one's.
  std::vector<Page> pages = {};
  std::optional<std::string> settings = {};
  // Rising, of messages of its own that are stored or in this commit. Each replaces rows whose
  // messages are all within it.
  std::vector<WordsRow> words = {};
};

// Who deleted something, when and why. This record remains.
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
  std::uint64_t version = 0;  // that it saw
  std::int64_t at_ms = 0;
  std::vector<std::string> keys = {};
  std::string facts = {};  // opaque bytes, without text of messages
  // opaque bytes, which may have such text; redact() empties this and the next two
  std::string parts = {};
  std::string request = {};  // the raw request, packed
  std::string answer = {};   // the raw answer, packed
  friend bool operator==(const RequestRow&, const RequestRow&) = default;
};

struct NewRequest {
  std::string conversation;
  RequestRow row;
  // As Commit::expected_next_page: bodies that `request` is packed against may be deleted.
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

// Deletes old versions. What the kept ones need is in the checkpoint; nothing else of the old ones
// is kept.
// With the `first_version` that is stored, all versions stay: only pages and texts of operations
// are rewritten.
struct Prune {
  std::string conversation;
  std::uint64_t expected_version = 0;
  // Deletes the version records up to and with this one, except what find_operation() returns
  // (without operation and arguments).
  // versions() still returns this version's reduced record, since the chain continues from it.
  std::uint64_t first_version = 0;
  // replace messages that no kept version shows; `redacted` is set
  std::vector<MessageRecord> stubs = {};
  // Their arguments and answers replace those of the kept versions with the same number.
  std::vector<VersionRecord> operations = {};
  Checkpoint checkpoint = {};  // of expected_version
  // all of its pages: every other one is deleted, and a fork needs none of its origin's
  std::vector<Page> pages = {};
  // Request rows of versions before first_version are deleted, except the newest row. Rows with
  // these numbers get this `request` and `answer`.
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

  // The store as one tenant sees it ("": the default tenant), over the same file or connections;
  // null: this store has no tenants.
  virtual std::shared_ptr<Store> for_tenant([[maybe_unused]] std::string_view tenant) {
    return nullptr;
  }

  // conflict: the id is taken or purged; or the fork has a checkpoint, and its origin has a newer
  // one than Origin::next_page.
  // not_found: the origin, or its version. The origin keeps what the fork needs from then on.
  virtual Result<ConversationRecord> create(const NewConversation& conversation,
                                            const CallOptions& options = {}) = 0;
  // not_found
  virtual Result<ConversationRecord> find(std::string_view id, const CallOptions& options = {}) = 0;
  // by id, rising; `forks` left empty
  virtual Result<std::vector<ConversationRecord>> list(const ListOptions& options = {}) = 0;

  // Gives a staged conversation its final id, atomically. conflict: the id is taken or purged.
  // not_found: no such staged conversation. Takes time linear in the records where they have to be
  // rewritten (PostgreSQL), and has no default deadline.
  virtual Result<void> publish(std::string_view staged, std::string_view id,
                               const CallOptions& options = {}) = 0;

  // The conversation's own records in [first, end), rising; missing ones are omitted. A very large
  // answer is cut off after at least one record: continue after the last one.
  virtual Result<std::vector<VersionRecord>> versions(std::string_view id, std::uint64_t first,
                                                      std::uint64_t end,
                                                      const CallOptions& options = {}) = 0;
  virtual Result<std::vector<MessageRecord>> messages(std::string_view id, std::uint64_t first,
                                                      std::uint64_t end,
                                                      const CallOptions& options = {}) = 0;
  // In the order asked for. corrupt: one is missing.
  virtual Result<std::vector<Page>> pages(std::string_view id,
                                          std::span<const std::uint64_t> numbers,
                                          const CallOptions& options = {}) = 0;
  virtual Result<std::optional<Checkpoint>> checkpoint(std::string_view id,
                                                       const CallOptions& options = {}) = 0;
  virtual Result<std::optional<VersionRecord>> find_operation(std::string_view id,
                                                              std::string_view operation_id,
                                                              const CallOptions& options = {}) = 0;

  // conflict: expected_version is not the head, an operation id is known already, or the checkpoint
  // is older than the stored one (by its version or next_page). invalid_argument: its parts do not
  // fit together. too_large: a record of more than 256 MiB, an operation id of more than 1 KiB.
  virtual Result<void> commit(const Commit& commit, const CallOptions& options = {}) = 0;

  // Adds a request row. conflict: its number is not that of the newest row + 1 (the first: 1).
  // invalid_argument: more than 16 keys, or one that is empty, begins with a control character, is
  // there twice or has more than 256 bytes. too_large: as commit().
  virtual Result<void> put_request(const NewRequest& request, const CallOptions& options = {}) = 0;
  // Rows [first, end), rising; cut off as versions(). Of an older store: none.
  virtual Result<std::vector<RequestRow>> requests(std::string_view id, std::uint64_t first,
                                                   std::uint64_t end, RequestBytes bytes,
                                                   const CallOptions& options = {}) = 0;
  // its number; 0: none
  virtual Result<std::uint64_t> last_request(std::string_view id,
                                             const CallOptions& options = {}) = 0;
  // For each key, its newest row by time in any conversation (except staged ones); of rows of the
  // same time, either.
  virtual Result<std::vector<FoundRequest>> find_requests(std::span<const std::string> keys,
                                                          const CallOptions& options = {}) = 0;

  // Rows of the full-text index that begin within [first, end), rising; cut off as versions(). A
  // message without a row is indexed from its body. Of an older store: none.
  virtual Result<std::vector<WordsRow>> words(std::string_view id, std::uint64_t first,
                                              std::uint64_t end, WordsBytes bytes,
                                              const CallOptions& options = {}) = 0;

  // Deletes bodies permanently: the stubs, with `redacted` set, replace them, and the old bytes are
  // deleted from all files of the store. A second redaction keeps the first digest. All request
  // rows of the conversation lose `parts`, `request` and `answer`, which may contain the text;
  // without stubs, nothing else happens.
  // not_found: the conversation has no such message of its own. invalid_argument: a stub's role,
  // time or digest differs from the message's.
  virtual Result<void> redact(std::string_view id, const std::vector<MessageRecord>& stubs,
                              const Removal& removal, const CallOptions& options = {}) = 0;
  // Deletes a whole conversation permanently; repeating it is no error. A staged conversation
  // leaves no removal record, and its bytes are not overwritten. conflict: it has forks, or another
  // version than expected.
  virtual Result<void> purge(std::string_view id, const Removal& removal,
                             const PurgeOptions& options = {}) = 0;
  virtual Result<std::vector<RemovalRecord>> removals(std::string_view id,
                                                      // of purged ones too
                                                      const CallOptions& options = {}) = 0;
  // conflict: expected_version is not the head, or there are forks; where no version is pruned,
  // only forks that need its pages count (Origin::next_page).
  virtual Result<void> prune(const Prune& prune, const CallOptions& options = {}) = 0;

  // Bytes of a conversation's own records, without the store's overhead. not_found. The default
  // reads all records; stores override it.
  virtual Result<std::uint64_t> size_bytes(std::string_view id, const CallOptions& options = {});

  // The store's own integrity, without what records mean: see check_store() for that.
  virtual Result<std::vector<Damage>> check(const CallOptions& options = {}) = 0;
  // Returns free space to the system.
  virtual Result<void> compact(const CallOptions& options = {}) = 0;
  // Distributes the tables over the nodes of a distributed database (Citus), by conversation.
  // Repeat it after adding nodes or tables. Existing connections have to reconnect. unsupported:
  // the store or the database is of another kind.
  virtual Result<void> distribute(const CallOptions& options = {});
  // Writes a consistent copy while others read and write. unsupported: not by this kind of store.
  // invalid_argument: the file exists.
  virtual Result<void> backup(const std::string& path, const CallOptions& options = {}) = 0;
};

enum class Durability : std::uint8_t {
  full,  // SQLite: acknowledged commits survive a power cut, if the disk honours fsync
  // SQLite: they survive the end of the process; a power cut may lose the last ones, and never
  // damages the file
  normal,
};

struct StoreOptions {
  Durability durability = Durability::full;
  std::chrono::milliseconds patience{5000};  // timeout of calls without a deadline
  // creates a missing file or missing tables; else not_found
  bool create = true;
  bool read_only = false;
  std::string tenant = {};            // 1 to 64 of A-Z a-z 0-9 _ -; empty: the default tenant
  std::uint32_t connections_max = 8;  // PostgreSQL
};

// sqlite:PATH, postgres://… or memory: (an empty one each time). invalid_argument: no such kind.
// unsupported: built without it.
// not_found, unavailable, corrupt: as their names say.
UNDERTEXT_API Result<std::shared_ptr<Store>> open_store(std::string_view url,
                                                        const StoreOptions& options = {});

// Replaces the store that `url` names by the backup, with its log and index. The backup is checked
// first and is not changed. An error leaves the store as it was. unavailable: a process has the
// store open. corrupt: the backup is damaged. not_found: there is no backup.
// unsupported: not with this kind of store.
UNDERTEXT_API Result<void> restore_store(std::string_view url, const std::string& backup);

// For tests, and for conversations that need not outlive the process.
UNDERTEXT_API std::shared_ptr<Store> memory_store();

// Checks the store's own integrity, that all records are complete and in order, and the chain of
// digests of each conversation. Pages are derived data: Conversation::check() reads them.
// Default for `id`: all conversations.
struct CheckReport {
  std::uint64_t conversations = 0, versions = 0, messages = 0;
  std::vector<Damage> damage = {};
};
UNDERTEXT_API Result<CheckReport> check_store(Store& store, std::string_view id = {},
                                              const CallOptions& options = {});

// Whether this may be a conversation's id: 1 to 128 of A-Z a-z 0-9 . _ -, not beginning with a dot.
UNDERTEXT_API bool is_conversation_id(std::string_view id);

}  // namespace undertext
