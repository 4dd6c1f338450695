// What the store in a SQLite file promises beyond the contract.
#include <chrono>
#include <fstream>
#include <thread>

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kinds.hpp"
#include "sqlite/statements.hpp"
#include "sqlite/version.hpp"
#include "writing.hpp"

namespace undertext {
namespace {

using test::body;
using test::Folder;
using test::Writing;

class SqliteStore : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("store.db"); }
  std::shared_ptr<Store> open(const StoreOptions& options = {}) const {
    return open_store("sqlite:" + path(), options).value();
  }

  // Behind the store's back, but with pages whose checksums are right, where there is a store.
  void run_sql(const std::string& sql) const {
    sqlite3* db = nullptr;
    const char* const files = sqlite3_vfs_find("undertext") ? "undertext" : nullptr;
    ASSERT_EQ(
        sqlite3_open_v2(path().c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, files),
        SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << (message ? message : "");
    sqlite3_free(message);
    sqlite3_close(db);
  }

  static unsigned mode(const std::string& file) {
    struct stat about;
    return ::stat(file.c_str(), &about) == 0 ? about.st_mode & 0777 : 0;
  }

  Folder folder_;
};

TEST_F(SqliteStore, IsLinkedWithASqliteThatDoesNotDamageItsLog) {
  EXPECT_EQ(std::string(sqlite3_libversion()), SQLITE_VERSION);
  EXPECT_GE(sqlite3_libversion_number(), 3051003);
  EXPECT_FALSE(is_known_bad_sqlite(sqlite3_libversion_number()));
  for (const int bad : {3007000, 3040001, 3044005, 3050006, 3051002})
    EXPECT_TRUE(is_known_bad_sqlite(bad)) << bad;
  for (const int good : {3044006, 3050007, 3051003, 3053002})
    EXPECT_FALSE(is_known_bad_sqlite(good)) << good;
}

TEST_F(SqliteStore, KeepsItsFilesToTheirOwnerWhateverTheUmask) {
  const ::mode_t before = ::umask(0);
  const std::string file = folder_.file("new.db");
  {
    const auto store = open_store("sqlite:" + file).value();
    Writing writing("mode");
    ASSERT_TRUE(writing.create_in(*store));
    ASSERT_TRUE(writing.append_to(*store, {body(0)}));
    EXPECT_EQ(mode(file), 0600u);
    EXPECT_EQ(mode(file + "-wal"), 0600u);
    EXPECT_EQ(mode(file + "-shm"), 0600u);
    ASSERT_TRUE(store->backup(folder_.file("copy.db")));
    EXPECT_EQ(mode(folder_.file("copy.db")), 0600u);
  }
  ::umask(before);
}

TEST_F(SqliteStore, AMistypedPathMakesNoFolder) {
  const Result<std::shared_ptr<Store>> opened =
      open_store("sqlite:" + folder_.file("mistyped/folder/store.db"));
  EXPECT_CODE(opened.error(), ErrorCode::not_found);
  EXPECT_NE(opened.error().message.find(folder_.file("mistyped/folder")), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("mistyped")));
}

TEST_F(SqliteStore, IsOpenedByManyAtOnceTheFirstTime) {
  for (int round = 0; round < 5; ++round) {
    const std::string url = "sqlite:" + folder_.file("round" + std::to_string(round));
    std::vector<std::thread> threads;
    for (int i = 0; i < 32; ++i) {
      threads.emplace_back([&url, i] {
        const auto store = open_store(url, {.patience = std::chrono::seconds(60)});
        ASSERT_TRUE(store) << store.error().message;
        const Result<void> made = Writing("c" + std::to_string(i)).create_in(**store);
        ASSERT_TRUE(made) << made.error().message;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(open_store(url).value()->list().value().size(), 32u);
  }
}

TEST_F(SqliteStore, IsOpenedByManyProcessesAtOnceTheFirstTime) {
  std::vector<::pid_t> children;
  for (int i = 0; i < 32; ++i) {
    const ::pid_t child = ::fork();
    if (child == 0) {
      const auto store = open_store("sqlite:" + path(), {.patience = std::chrono::seconds(60)});
      ::_exit(store && Writing("p" + std::to_string(i)).create_in(**store) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const ::pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open()->list().value().size(), 32u);
}

// As a power cut leaves it: the pages are in the file, and the journal, which would undo them, is
// still there.
TEST_F(SqliteStore, IsMadeAgainWhereThePowerWentBeforeItWasMade) {
  open();
  std::string journal(512, '\0');
  journal.replace(0, 8, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  journal[22] = 0x02;  // sectors of 512 bytes
  journal[26] = 0x10;  // pages of 4096 bytes; and the file had none
  std::ofstream(path() + "-journal", std::ios::binary) << journal;
  const auto again = open_store("sqlite:" + path());
  ASSERT_TRUE(again) << again.error().message;
  Writing writing("again");
  const Result<void> made = writing.create_in(**again);
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_EQ((*again)->list().value().size(), 1u);
}

TEST_F(SqliteStore, IsSharedByProcessesThatRaceForEveryVersion) {
  constexpr int processes = 8, wins_each = 25;
  ASSERT_TRUE(Writing("raced").create_in(*open()));
  std::vector<::pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const ::pid_t child = ::fork();
    if (child == 0) {
      const auto store =
          open_store("sqlite:" + path(), {.patience = std::chrono::seconds(60)}).value();
      std::vector<std::uint64_t> answered;
      const auto id = [&](std::size_t n) { return std::to_string(p) + "-" + std::to_string(n); };
      while (answered.size() < wins_each) {
        const Writing writing(store->find("raced").value());
        const Result<void> done =
            store->commit(writing.append({body(0, 200)}, id(answered.size())));
        if (!done && done.error().code != ErrorCode::conflict) ::_exit(1);
        if (done) answered.push_back(writing.version() + 1);
      }
      // Each is where its answer said, whatever the others did since.
      for (std::size_t n = 0; n < answered.size(); ++n)
        if (store->find_operation("raced", id(n)).value()->version != answered[n]) ::_exit(2);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const ::pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto store = open();
  // As many versions as answers, each linked to the one before by its digest: they are one serial
  // order of what was answered.
  EXPECT_EQ(store->find("raced").value().version, std::uint64_t{processes * wins_each});
  EXPECT_TRUE(check_store(*store).value().damage.empty());
}

TEST_F(SqliteStore, WaitsForAnotherWriterUntilTheDeadlineAndNoLonger) {
  const auto store = open();
  Writing writing("busy");
  ASSERT_TRUE(writing.create_in(*store));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto begin = std::chrono::steady_clock::now();
  const Result<void> done =
      store->commit(writing.append({body(0)}), {begin + std::chrono::milliseconds(100)});
  EXPECT_CODE(done.error(), ErrorCode::unavailable);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, std::chrono::milliseconds(100));
  EXPECT_LT(took, std::chrono::seconds(5));
  // Reading goes on.
  EXPECT_EQ(store->find("busy").value().version, 0u);
  // One with more time gets its turn when the other lets go, though one with less gives up in the
  // meantime.
  std::thread patient([&] {
    EXPECT_TRUE(store->commit(writing.append({body(0)}), {begin + std::chrono::seconds(60)}));
  });
  std::thread hasty([&] {
    EXPECT_FALSE(store->commit(Writing("busy").append({body(1)}),
                               {std::chrono::steady_clock::now() + std::chrono::milliseconds(50)}));
  });
  hasty.join();
  sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  patient.join();
  sqlite3_close(other);
  EXPECT_EQ(store->find("busy").value().version, 1u);
}

TEST_F(SqliteStore, SaysSoWhenAReaderElsewhereKeepsRedactedBytesInTheLog) {
  const auto store = open();
  Writing writing("kept");
  ASSERT_TRUE(writing.create_in(*store));
  ASSERT_TRUE(writing.append_to(*store, {body(0), body(1)}));
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM messages", nullptr, nullptr, nullptr),
            SQLITE_OK);
  const std::vector<MessageRecord> stubs = {
      test::stub_of(store->messages("kept", 0, 1).value().front())};
  const CallOptions soon{std::chrono::steady_clock::now() + std::chrono::milliseconds(100)};
  EXPECT_CODE(store->redact("kept", stubs, {"me", 1, "why"}, soon).error(), ErrorCode::unavailable);
  sqlite3_close(reader);
  EXPECT_TRUE(store->redact("kept", stubs, {"me", 1, "why"}));
  EXPECT_EQ(store->removals("kept").value().size(), 1u);
}

TEST_F(SqliteStore, OpensNothingThatIsNotItsOwn) {
  EXPECT_CODE(open_store("sqlite:").error(), ErrorCode::invalid_argument);
  EXPECT_CODE(open_store("sqlite:" + path(), {.create = false}).error(), ErrorCode::not_found);
  EXPECT_CODE(open_store("sqlite:" + path(), {.read_only = true}).error(), ErrorCode::not_found);
  run_sql("CREATE TABLE theirs (x)");
  EXPECT_CODE(open_store("sqlite:" + path()).error(), ErrorCode::invalid_argument);
  {
    std::ofstream text(folder_.file("text"));
    text << std::string(5000, 'x');
  }
  EXPECT_CODE(open_store("sqlite:" + folder_.file("text")).error(), ErrorCode::corrupt);
  EXPECT_CODE(open_store("sqlite:" + folder_.path().string()).error(), ErrorCode::unavailable);
  EXPECT_CODE(open_store("sqlite:/proc/nowhere/store.db").error(), ErrorCode::not_found);
}

TEST_F(SqliteStore, RefusesTablesThatWereTamperedWithAndFilesOfTheFuture) {
  open();
  run_sql("CREATE TRIGGER spy AFTER INSERT ON messages BEGIN SELECT 1; END");
  EXPECT_CODE(open_store("sqlite:" + path()).error(), ErrorCode::corrupt);
  run_sql("DROP TRIGGER spy; PRAGMA user_version = 99");
  EXPECT_CODE(open_store("sqlite:" + path()).error(), ErrorCode::unsupported);
  run_sql("PRAGMA user_version = 1");
  EXPECT_CODE(open_store("sqlite:" + path()).error(), ErrorCode::corrupt)
      << "tables that version 1 had not";
  run_sql("PRAGMA user_version = 3");
  EXPECT_CODE(open_store("sqlite:" + path()).error(), ErrorCode::corrupt)
      << "tables that version 3 had not";
  run_sql("PRAGMA user_version = 4");
  EXPECT_TRUE(open_store("sqlite:" + path())) << "version 5 has the same tables";
}

TEST_F(SqliteStore, TakesNoMoreCommitsOnceALaterReleaseHasMigratedItsTables) {
  const auto store = open();
  Writing writing("one");
  ASSERT_TRUE(writing.create_in(*store));
  ASSERT_TRUE(writing.append_to(*store, {body(0)}));
  run_sql("CREATE TABLE of_the_future (x); PRAGMA user_version = 99");
  EXPECT_CODE(writing.append_to(*store, {body(1)}).error(), ErrorCode::unsupported);
  EXPECT_CODE(writing.append_to(*store, {body(1)}).error(), ErrorCode::unsupported)
      << "and goes on saying so";
  EXPECT_CODE(open_store("sqlite:" + path()).error(), ErrorCode::unsupported)
      << "the version of the tables is as the later release left it";
}

TEST_F(SqliteStore, AnOlderFileHasNoRequestsAndGetsTheirTablesWhenItIsWrittenTo) {
  {
    const auto store = open();
    Writing writing("old");
    ASSERT_TRUE(writing.create_in(*store));
    ASSERT_TRUE(writing.append_to(*store, {body(0)}));
  }
  for (const char* version : {"2", "1"}) {
    run_sql(
        "DROP TABLE request_keys; DROP TABLE requests; DROP TABLE words; PRAGMA user_version = " +
        std::string(version));
    const auto older = open({.read_only = true});
    EXPECT_TRUE(older->requests("old", 1, 10, RequestBytes::with).value().empty());
    EXPECT_EQ(older->last_request("old").value(), 0u);
    EXPECT_TRUE(older->find_requests(std::vector<std::string>{"k"}).value().empty());
    EXPECT_GT(older->size_bytes("old").value(), 0u);
    EXPECT_TRUE(check_store(*older).value().damage.empty());
    const auto store = open();
    EXPECT_TRUE(store->put_request({"old", {.number = 1}}));
  }
}

TEST_F(SqliteStore, ReadsAFileItMayNotWriteTo) {
  {
    const auto store = open();
    Writing writing("read");
    ASSERT_TRUE(writing.create_in(*store));
    ASSERT_TRUE(writing.append_to(*store, {body(0)}));
  }
  const auto store = open({.read_only = true});
  EXPECT_EQ(store->messages("read", 0, 10).value().size(), 1u);
  EXPECT_CODE(store->create(Writing("other").creation()).error(), ErrorCode::unsupported);
  EXPECT_TRUE(check_store(*store).value().damage.empty());
}

TEST_F(SqliteStore, ShowsEveryKindOfDamageInACheckAndReadsTheRest) {
  const std::string of_b = "(SELECT number << 35 FROM conversations WHERE id = 'b')";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"UPDATE messages SET body = CAST(replace(CAST(body AS TEXT), 'message 2', 'message 7') AS "
       "BLOB) WHERE key = 2 + " +
           of_b,
       "version 3"},
      {"DELETE FROM messages WHERE key = 4 + " + of_b, "message 4 is missing"},
      {"DELETE FROM versions WHERE key = 3 + " + of_b, "version 3 is missing"},
      {"UPDATE versions SET operation = x'00' WHERE key = 5 + " + of_b, "version 5"},
      {"UPDATE versions SET chain = zeroblob(32) WHERE key = 5 + " + of_b, "version 5"},
      {"UPDATE versions SET log_length = 99 WHERE key = 5 + " + of_b, "version 5"},
      {"UPDATE messages SET role = 3 WHERE key = 1 + " + of_b, "version 2"},
      {"UPDATE messages SET redacted = x'00' WHERE key = 1 + " + of_b, "digest"},
      {"DELETE FROM versions WHERE key = 6 + " + of_b +
           "; UPDATE conversations SET chain = zeroblob(32) WHERE id = 'b'",
       ""},
      {"DELETE FROM conversations WHERE id = 'b'", "which is missing"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].first);
    const Folder other;
    {
      const auto store = open_store("sqlite:" + other.file("store.db")).value();
      for (const char* id : {"a", "b", "c"}) {
        Writing writing(id);
        ASSERT_TRUE(writing.create_in(*store));
        for (std::uint64_t n = 0; n < 6; ++n) ASSERT_TRUE(writing.append_to(*store, {body(n)}));
      }
    }
    sqlite3* db = nullptr;
    ASSERT_EQ(
        sqlite3_open_v2(other.file("store.db").c_str(), &db, SQLITE_OPEN_READWRITE, "undertext"),
        SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, cases[i].first.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db);
    sqlite3_close(db);
    const auto store = open_store("sqlite:" + other.file("store.db")).value();
    const CheckReport report = check_store(*store).value();
    if (cases[i].second.empty()) {
      // The last version, taken off cleanly: nothing inside the file can tell.
      EXPECT_TRUE(report.damage.empty());
      continue;
    }
    ASSERT_FALSE(report.damage.empty());
    EXPECT_NE(report.damage.front().what.find(cases[i].second), std::string::npos)
        << report.damage.front().what;
    for (const Damage& damage : report.damage)
      EXPECT_TRUE(damage.conversation == "b" || damage.conversation.empty());
    EXPECT_EQ(store->messages("c", 0, 10).value().size(), 6u);
    EXPECT_TRUE(check_store(*store, "a").value().damage.empty());
  }
}

TEST_F(SqliteStore, ReportsATornFileAsCorruptAndNeverCrashesOnOne) {
  {
    const auto store = open();
    for (const char* id : {"a", "b"}) {
      Writing writing(id);
      ASSERT_TRUE(writing.create_in(*store));
      for (std::uint64_t n = 0; n < 60; ++n) ASSERT_TRUE(writing.append_to(*store, {body(n, 900)}));
    }
  }
  std::ifstream whole_file(path(), std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(whole_file), {});
  int corrupt = 0, said = 0;
  const auto look_at = [&](const std::string& bytes) {
    const Folder other;
    {
      std::ofstream file(other.file("store.db"), std::ios::binary);
      file << bytes;
    }
    const auto store = open_store("sqlite:" + other.file("store.db"));
    if (!store) {
      EXPECT_CODE(store.error(), ErrorCode::corrupt);
      ++corrupt;
      return;
    }
    const Result<CheckReport> report = check_store(**store);
    if (!report) {
      EXPECT_CODE(report.error(), ErrorCode::corrupt);
      ++corrupt;
    } else {
      said += report->damage.empty() ? 0 : 1;
    }
  };
  for (std::size_t size = 4096; size < whole.size(); size += 4096) look_at(whole.substr(0, size));
  EXPECT_EQ(static_cast<std::size_t>(corrupt + said), whole.size() / 4096 - 1);
  // Single bytes anywhere, of which some lie in unused parts; and in bodies, where each must show.
  const auto flip = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    const int before = corrupt + said;
    look_at(bytes);
    return corrupt + said > before;
  };
  for (std::size_t at = 100; at < whole.size(); at += 797) flip(at);
  for (std::size_t at = whole.find("message"), n = 0; at != std::string::npos && n < 120;
       at = whole.find("message", at + 300), ++n)
    EXPECT_TRUE(flip(at + n)) << at + n;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A store as a process that was killed leaves it: with commits in its log.
struct KilledStore {
  std::string file, log;
  std::vector<std::size_t> commits = {};  // ends of commits in the log

  static KilledStore made(const std::string& path, std::uint64_t commit_count) {
    const auto store = open_store("sqlite:" + path).value();
    Writing writing("a");
    EXPECT_TRUE(writing.create_in(*store));
    KilledStore made;
    for (std::uint64_t n = 0; n < commit_count; ++n) {
      EXPECT_TRUE(writing.append_to(*store, {body(n, 900)}));
      made.commits.push_back(std::filesystem::file_size(path + "-wal"));
    }
    made.file = bytes_of(path);
    made.log = bytes_of(path + "-wal");
    return made;
  }
  // The version of its conversation, after a check; or why there is none.
  Result<std::uint64_t> opened_with(const std::string& its_log,
                                    const StoreOptions& options = {}) const {
    const Folder other;
    const std::string path = other.file("store.db");
    put_bytes(path, file);
    put_bytes(path + "-wal", its_log);
    const auto store = open_store("sqlite:" + path, options);
    if (!store) return store.error();
    EXPECT_TRUE(check_store(**store).value().damage.empty());
    return (*store)->find("a").value().version;
  }
};

constexpr std::size_t frame_bytes = 24 + 4096;

TEST_F(SqliteStore, ReportsCommitsBehindADamagedPlaceOfItsLogAsCorrupt) {
  const KilledStore killed = KilledStore::made(path(), 12);
  EXPECT_EQ(killed.opened_with(killed.log).value(), 12u);
  // Everywhere but in the last two commits, and whatever a byte is for.
  const std::size_t end = killed.commits[9];
  for (std::size_t at = 0; at < end; at += at < 60 ? 1 : 397) {
    const bool is_salt = at >= 16 && at < 24;  // the whole log is of another generation then
    const bool is_size = at >= 8 && at < 12;   // and here its frames cannot be found
    if (is_salt || is_size) continue;
    std::string damaged = killed.log;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    const Result<std::uint64_t> opened = killed.opened_with(damaged);
    ASSERT_FALSE(opened) << at;
    EXPECT_CODE(opened.error(), ErrorCode::corrupt) << at;
  }
}

TEST_F(SqliteStore, OpensALogAsACrashLeavesIt) {
  const KilledStore killed = KilledStore::made(path(), 12);
  // Torn anywhere in its last commit, whatever is written there instead.
  const std::size_t last = killed.commits[10];
  for (std::size_t at = last; at <= killed.log.size(); at += 499) {
    EXPECT_EQ(killed.opened_with(killed.log.substr(0, at)).value(),
              at == killed.log.size() ? 12u : 11u);
    if (at + 600 > killed.log.size()) continue;
    std::string torn = killed.log;
    torn.replace(at, 512, 512, 'Z');
    EXPECT_EQ(killed.opened_with(torn).value(), 11u) << at;
  }
  // Behind the frames that count: those of a generation before, with other salts.
  std::string older = killed.log;
  for (std::size_t frame = killed.commits[5]; frame < older.size(); frame += frame_bytes)
    older[frame + 8] = static_cast<char>(older[frame + 8] + 1);
  EXPECT_EQ(killed.opened_with(older).value(), 6u);
  // What is left of a longer commit that was given up, behind a shorter one that came later.
  std::string given_up = killed.log.substr(0, killed.commits[5]);
  given_up += killed.log.substr(killed.commits[6], killed.commits[7] - killed.commits[6]);
  EXPECT_EQ(killed.opened_with(given_up).value(), 6u);
  // Without a sync of each commit, a power cut loses any of them.
  std::string lost = killed.log;
  lost.replace(killed.commits[5], frame_bytes, frame_bytes, '\0');
  EXPECT_EQ(killed.opened_with(lost, {.durability = Durability::normal}).value(), 6u);
}

std::string header_of(const std::string& path) {
  std::string header(100, '\0');
  std::ifstream(path, std::ios::binary).read(header.data(), 100);
  return header;
}

// Appends until the log was moved into the file, and restarted.
void append_through_a_log(Store& store, Writing& writing, const std::string& path) {
  const std::string before = header_of(path);
  std::uint64_t n = writing.version();
  while (header_of(path) == before) ASSERT_TRUE(writing.append_to(store, {body(++n, 3000)}));
  ASSERT_TRUE(writing.append_to(store, {body(++n, 3000)}));
}

TEST_F(SqliteStore, TakesNoMoreCommitsWhenAnOlderCopyIsPutOverItsFile) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(*open()));
  const std::string older = bytes_of(path());
  const auto store = open({.durability = Durability::normal});
  for (int time = 0; time < 3; ++time) {
    append_through_a_log(*store, writing, path());
    ASSERT_EQ(store->find("a").value().version, writing.version());
    const std::string newer = bytes_of(path());
    put_bytes(path(), older);
    EXPECT_CODE(store->messages("a", 0, 1).error(), ErrorCode::unavailable);
    for (int again = 0; again < 2; ++again)
      EXPECT_CODE(writing.append_to(*store, {body(1)}).error(), ErrorCode::unavailable);
    EXPECT_CODE(store->find("a").error(), ErrorCode::unavailable);
    EXPECT_CODE(store->backup(folder_.file("copy.db")).error(), ErrorCode::unavailable);
    put_bytes(path(), newer);
    ASSERT_TRUE(writing.append_to(*store, {body(1)}));
  }
  EXPECT_TRUE(check_store(*store).value().damage.empty());
}

TEST_F(SqliteStore, RefusesTheLogOfALaterOrAnEarlierStateOfItsFile) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(*open()));
  std::vector<KilledStore> states;
  std::vector<std::uint64_t> versions;
  {
    const auto store = open({.durability = Durability::normal});
    for (int time = 0; time < 4; ++time) {
      ASSERT_TRUE(writing.append_to(*store, {body(writing.version(), 900)}));
      states.push_back({bytes_of(path()), bytes_of(path() + "-wal")});
      versions.push_back(writing.version());
      append_through_a_log(*store, writing, path());
    }
  }
  for (std::size_t file = 0; file < states.size(); ++file) {
    EXPECT_EQ(states[file].opened_with(states[file].log).value(), versions[file]);
    for (std::size_t log = 0; log < states.size(); ++log) {
      // A part of the log that was moved into the file last ends with the file's own counter.
      if (file == log || file == log + 1) continue;
      const Result<std::uint64_t> opened = states[file].opened_with(states[log].log);
      ASSERT_FALSE(opened) << file << " " << log;
      EXPECT_CODE(opened.error(), ErrorCode::unavailable) << file << " " << log;
    }
  }
}

TEST_F(SqliteStore, OpensAnEarlierFileUnderTheLogThatBeganOverIt) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(*open()));
  KilledStore killed{bytes_of(path()), {}};
  const auto store = open({.durability = Durability::normal});
  std::uint64_t n = 0;
  const std::string header = header_of(path());
  while (header_of(path()) == header) ASSERT_TRUE(writing.append_to(*store, {body(++n, 900)}));
  killed.log = bytes_of(path() + "-wal");
  EXPECT_EQ(killed.opened_with(killed.log).value(), writing.version());
}

TEST_F(SqliteStore, IsNotRestoredFromItself) {
  Writing writing("a");
  ASSERT_TRUE(writing.create_in(*open()));
  std::filesystem::create_symlink(path(), folder_.file("link.db"));
  for (const std::string& same : {path(), folder_.file("link.db")}) {
    EXPECT_CODE(restore_store("sqlite:" + path(), same).error(), ErrorCode::invalid_argument);
    EXPECT_CODE(restore_store("sqlite:" + same, path()).error(), ErrorCode::invalid_argument);
  }
  EXPECT_TRUE(open()->find("a"));
}

TEST_F(SqliteStore, IsRestoredBehindASymbolicLink) {
  std::filesystem::create_directory(folder_.file("disk"));
  const std::string target = folder_.file("disk/store.db"), backup = folder_.file("backup.db");
  Writing writing("a");
  {
    const auto store = open_store("sqlite:" + target).value();
    ASSERT_TRUE(writing.create_in(*store));
    ASSERT_TRUE(store->backup(backup));
    ASSERT_TRUE(writing.append_to(*store, {body(1)}));
  }
  std::filesystem::create_symlink("disk/store.db", path());
  ASSERT_TRUE(restore_store("sqlite:" + path(), backup));
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  EXPECT_EQ(open_store("sqlite:" + target).value()->find("a").value().version, 0u);
  std::filesystem::remove(target);
  EXPECT_CODE(restore_store("sqlite:" + path(), backup).error(), ErrorCode::not_found);
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
}

TEST_F(SqliteStore, TakesNoMoreCommitsWhenALinkOfItsPathLeadsElsewhere) {
  std::filesystem::create_directory(folder_.file("one"));
  std::filesystem::create_directory(folder_.file("two"));
  Writing writing("a"), other("a");
  ASSERT_TRUE(other.create_in(*open_store("sqlite:" + folder_.file("two/store.db")).value()));
  for (const bool is_folder : {false, true}) {
    const std::string link = folder_.file(is_folder ? "now" : "now.db"),
                      end = is_folder ? "" : "/store.db";
    std::filesystem::create_symlink(folder_.file("one" + end), link);
    const auto store = open_store("sqlite:" + link + (is_folder ? "/store.db" : "")).value();
    if (!is_folder) {
      ASSERT_TRUE(writing.create_in(*store));
    }
    ASSERT_TRUE(writing.append_to(*store, {body(1)}));
    std::filesystem::remove(link);
    std::filesystem::create_symlink(folder_.file("two" + end), link);
    EXPECT_CODE(writing.append_to(*store, {body(2)}).error(), ErrorCode::unavailable);
    std::filesystem::remove(link);
    EXPECT_CODE(writing.append_to(*store, {body(2)}).error(), ErrorCode::unavailable);
    std::filesystem::create_symlink(folder_.file("one" + end), link);
    writing = Writing(store->find("a").value());
    EXPECT_TRUE(writing.append_to(*store, {body(2)}));
  }
}

TEST_F(SqliteStore, IsBackedUpWhileOthersWriteAndTheCopyIsAStore) {
  const auto store = open();
  Writing writing("backup");
  ASSERT_TRUE(writing.create_in(*store));
  for (std::uint64_t n = 0; n < 50; ++n) ASSERT_TRUE(writing.append_to(*store, {body(n, 500)}));
  std::thread other([&] {
    for (std::uint64_t n = 0; n < 50; ++n) ASSERT_TRUE(writing.append_to(*store, {body(n, 500)}));
  });
  const Result<void> done = store->backup(folder_.file("copy.db"));
  other.join();
  ASSERT_TRUE(done) << done.error().message;
  const auto copy = open_store("sqlite:" + folder_.file("copy.db")).value();
  EXPECT_GE(copy->find("backup").value().version, 50u);
  EXPECT_TRUE(check_store(*copy).value().damage.empty());
  EXPECT_CODE(store->backup(folder_.file("copy.db")).error(), ErrorCode::invalid_argument);
  EXPECT_CODE(store->backup(folder_.file("none/copy.db")).error(), ErrorCode::unavailable);
  // Given up, it leaves nothing behind.
  EXPECT_CODE(store
                  ->backup(folder_.file("late.db"),
                           {std::chrono::steady_clock::now() + std::chrono::microseconds(1)})
                  .error(),
              ErrorCode::unavailable);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find("unfinished"), std::string::npos) << entry.path();
}

TEST_F(SqliteStore, MovesItsLogIntoTheFileAsItGoesAndLeavesNoneWhenClosed) {
  const std::string log = path() + "-wal";
  {
    const auto store = open({.durability = Durability::normal});
    Writing writing("log");
    ASSERT_TRUE(writing.create_in(*store));
    for (std::uint64_t n = 0; n < 3000; ++n)
      ASSERT_TRUE(writing.append_to(*store, {body(n, 3000)}));
    ASSERT_TRUE(store->find("log"));  // a connection that reads is open, too
    EXPECT_LT(std::filesystem::file_size(log), std::size_t{6} << 20);
    EXPECT_GT(std::filesystem::file_size(path()), std::size_t{4} << 20);
  }
  EXPECT_FALSE(std::filesystem::exists(log));
}

TEST_F(SqliteStore, IsNotCarriedAcrossAFork) {
  const auto store = open();
  Writing writing("forked");
  ASSERT_TRUE(writing.create_in(*store));
  const ::pid_t child = ::fork();
  if (child == 0) {
    const bool refused =
        store->commit(writing.append({body(0)})).error().code == ErrorCode::unavailable &&
        !store->find("forked");
    const bool its_own = bool(open()->commit(writing.append({body(0)})));
    ::_exit(refused && its_own ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store->find("forked").value().version, 1u);
}

TEST_F(SqliteStore, UsesOnlyStatementsThatAreWrittenDown) {
  open();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
  for (std::size_t i = 0; i < sql_count; ++i) {
    sqlite3_stmt* statement = nullptr;
    const char* text = sql_text(static_cast<Sql>(i));
    EXPECT_EQ(sqlite3_prepare_v2(db, text, -1, &statement, nullptr), SQLITE_OK)
        << text << ": " << sqlite3_errmsg(db);
    EXPECT_NE(statement, nullptr) << i;
    sqlite3_finalize(statement);
  }
  sqlite3_close(db);
}

TEST_F(SqliteStore, LooksThingsUpAndNeverScans) {
  open();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
  for (std::size_t i = 0; i < sql_count; ++i) {
    const std::string text = sql_text(static_cast<Sql>(i));
    if (text.starts_with("PRAGMA") || text.starts_with("VACUUM") ||
        text.find("dbpage") != std::string::npos)
      continue;
    if (static_cast<Sql>(i) == Sql::conversation_numbers) continue;
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(
        sqlite3_prepare_v2(db, ("EXPLAIN QUERY PLAN " + text).c_str(), -1, &statement, nullptr),
        SQLITE_OK)
        << text;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      const std::string step = reinterpret_cast<const char*>(sqlite3_column_text(statement, 3));
      EXPECT_TRUE(!step.starts_with("SCAN") || step == "SCAN CONSTANT ROW") << text << ": " << step;
      EXPECT_EQ(step.find("TEMP B-TREE"), std::string::npos) << text << ": " << step;
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(db);
}

}  // namespace
}  // namespace undertext
