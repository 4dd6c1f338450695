// The PostgreSQL store against a real server: what is its own, beside the contract that every store
// keeps. tests/postgres/server.py gives it one in UNDERTEXT_TEST_POSTGRES, with a role that is
// neither a superuser nor above row security.
#include <undertext/store.hpp>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <undertext/conversation.hpp>

#include "postgres/postgres_store.hpp"
#include "store/chain.hpp"

namespace undertext {
namespace {

std::string test_url() {
  const char* const url = std::getenv("UNDERTEXT_TEST_POSTGRES");
  return url == nullptr ? std::string() : std::string(url);
}

std::string fresh_name(const std::string& prefix) {
  static std::random_device random;
  return prefix + "_" + std::to_string(random()) + std::to_string(random());
}

// A tenant of its own for each test, so that tests cannot see each other.
class PostgresStore : public testing::Test {
 protected:
  void SetUp() override {
    if (test_url().empty()) GTEST_SKIP() << "postgres: UNDERTEXT_TEST_POSTGRES names no server";
    tenant_ = fresh_name("test");
    store_ = open();
  }

  std::shared_ptr<Store> open(const std::string& more = "", StoreOptions options = {}) {
    if (options.tenant.empty()) options.tenant = tenant_;
    return open_postgres_store(test_url() + more, options).value();
  }

  // The next version of the conversation, with one message.
  static Commit next(Store& store, const std::string& id, const std::string& body,
                     const std::string& operation_id = "") {
    const ConversationRecord head = store.find(id).value();
    Commit commit{.conversation = id, .expected_version = head.version};
    commit.messages.push_back(
        {.ordinal = head.log_length, .body = body, .time_ms = 7, .tokens = 3});
    VersionRecord version;
    version.version = head.version + 1;
    version.at_ms = 8;
    version.log_length = head.log_length + 1;
    version.operation = "append";
    version.operation_id = operation_id;
    version.chain = next_chain(head.chain, version, commit.messages);
    commit.versions.push_back(version);
    return commit;
  }

  std::string tenant_;
  std::shared_ptr<Store> store_;
};

struct Client {
  explicit Client(const std::string& url) : connection(PQconnectdb(url.c_str())) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { PQfinish(connection); }
  // The first column of the first row, or the SQLSTATE of a refusal.
  std::string ask(const std::string& sql) const {
    PGresult* const result = PQexec(connection, sql.c_str());
    std::string answer;
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0)
      answer = PQgetvalue(result, 0, 0);
    if (PQresultStatus(result) == PGRES_FATAL_ERROR)
      answer = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    PQclear(result);
    return answer;
  }
  PGconn* connection;
};

TEST_F(PostgresStore, bodies_with_zero_bytes_and_no_utf8_come_back_as_they_were) {
  ASSERT_TRUE(store_->create({.id = "a", .settings = std::string("s\0t", 3)}));
  const std::string body("{\0\xff\xfe}", 5);
  ASSERT_TRUE(store_->commit(next(*store_, "a", body, std::string("o\0p", 3))));
  EXPECT_EQ(store_->messages("a", 0, 9).value().at(0).body, body);
  EXPECT_EQ(store_->find("a").value().settings, std::string("s\0t", 3));
  EXPECT_EQ(store_->find_operation("a", std::string("o\0p", 3)).value()->version, 1u);
  EXPECT_FALSE(store_->find_operation("a", "o").value());
}

TEST_F(PostgresStore, a_tenant_sees_nothing_of_another_one) {
  ASSERT_TRUE(store_->create({.id = "a"}));
  ASSERT_TRUE(store_->commit(next(*store_, "a", "secret")));
  const std::string other = fresh_name("other");
  const auto stranger = open("", {.tenant = other});
  EXPECT_EQ(stranger->find("a").error().code, ErrorCode::not_found);
  EXPECT_TRUE(stranger->list().value().empty());
  ASSERT_TRUE(stranger->create({.id = "a"})) << "the same id is another conversation";
  EXPECT_EQ(stranger->find("a").value().version, 0u);
  EXPECT_TRUE(stranger->purge("a", {"stranger", 1, "no reason"}));
  EXPECT_EQ(store_->find("a").value().version, 1u);
}

TEST_F(PostgresStore, tenants_that_share_a_connection_see_their_own) {
  const auto one = open("", {.connections_max = 1});
  const auto other = one->for_tenant(fresh_name("other"));
  for (int turn = 0; turn < 3; ++turn) {
    const std::string id = "turn" + std::to_string(turn);
    ASSERT_TRUE(one->create({.id = id}));
    EXPECT_EQ(other->find(id).error().code, ErrorCode::not_found);
    ASSERT_TRUE(other->create({.id = id}));
    ASSERT_TRUE(other->commit(next(*other, id, "secret")));
    EXPECT_EQ(one->find(id).value().version, 0u);
    EXPECT_EQ(other->find(id).value().version, 1u);
    EXPECT_EQ(one->list().value().size(), static_cast<std::size_t>(turn) + 1);
  }
}

TEST_F(PostgresStore, statements_written_by_hand_see_one_tenant_only) {
  ASSERT_TRUE(store_->create({.id = "a"}));
  ASSERT_TRUE(store_->commit(next(*store_, "a", "secret")));
  const Client client(test_url());
  EXPECT_EQ(client.ask("SELECT count(*) FROM undertext_message"), "0")
      << "whoever does not say whose rows he wants";
  client.ask("SELECT set_config('undertext.tenant', '" + fresh_name("other") + "', false)");
  EXPECT_EQ(client.ask("SELECT count(*) FROM undertext_message"), "0");
  EXPECT_EQ(client.ask("SELECT count(*) FROM undertext_message WHERE tenant = '" + tenant_ + "'"),
            "0");
  EXPECT_EQ(client.ask("INSERT INTO undertext_page VALUES ('a', '" + tenant_ + "', 1, '')"),
            "42501")
      << "nor writes for another";
  EXPECT_EQ(
      client.ask(
          "WITH gone AS (DELETE FROM undertext_message RETURNING 1) SELECT count(*) FROM gone"),
      "0");
  client.ask("SELECT set_config('undertext.tenant', '" + tenant_ + "', false)");
  EXPECT_EQ(client.ask("SELECT count(*) FROM undertext_message"), "1");
  client.ask("BEGIN");
  client.ask("SELECT set_config('undertext.tenant', '" + tenant_ + "', true)");
  client.ask("COMMIT");
}

TEST_F(PostgresStore, every_table_has_row_security_that_binds_its_owner_too) {
  const Client client(test_url());
  EXPECT_EQ(client.ask("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE "
                       "'undertext%' AND relname <> 'undertext_schema'"),
            "10");
  EXPECT_EQ(client.ask("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE "
                       "'undertext%' AND relname <> 'undertext_schema' "
                       "AND NOT (relrowsecurity AND relforcerowsecurity)"),
            "0");
}

TEST_F(PostgresStore, works_without_named_prepared_statements) {
  const auto plain = open("?undertext_prepare=off");
  ASSERT_TRUE(plain->create({.id = "a"}));
  ASSERT_TRUE(plain->commit(next(*plain, "a", "x")));
  EXPECT_EQ(store_->find("a").value().version, 1u);
}

TEST_F(PostgresStore, a_url_that_nobody_understands_is_refused_without_its_password) {
  const auto unknown = open_postgres_store("postgres://u:secret@h/d?undertext_fast=1", {});
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  const auto broken = open_postgres_store("postgres://u:secret@h/d?nonsense=1", {});
  EXPECT_EQ(broken.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(broken.error().message.find("secret"), std::string::npos);
}

TEST_F(PostgresStore, its_name_holds_no_password) {
  std::string url = test_url();
  url.insert(url.find('@'), ":secret");
  const auto store = open_postgres_store(url, {.tenant = tenant_}).value();
  EXPECT_EQ(store->name().find("secret"), std::string::npos);
  EXPECT_EQ(store->name().find("postgres://"), 0u);
}

TEST_F(PostgresStore, a_server_that_is_not_there_is_unavailable_in_time) {
  const auto begun = std::chrono::steady_clock::now();
  const auto store = open_postgres_store("postgres://127.0.0.1:1/nothing",
                                         {.patience = std::chrono::milliseconds(200)});
  EXPECT_EQ(store.error().code, ErrorCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
}

TEST_F(PostgresStore, the_next_host_of_the_url_is_tried) {
  const std::string url = test_url();
  const std::size_t host = url.find('@') + 1, end = url.find('/', host);
  const std::string several = url.substr(0, host) + "127.0.0.1:1," + url.substr(host, end - host) +
                              url.substr(end) + "?target_session_attrs=read-write";
  EXPECT_TRUE(open_postgres_store(several, {.tenant = tenant_}));
}

TEST_F(PostgresStore, a_database_without_tables_is_not_found_where_none_are_to_be_made) {
  const std::string schema = fresh_name("empty");
  Client(test_url()).ask("CREATE SCHEMA " + schema);
  const std::string url = test_url() + "?options=-csearch_path%3D" + schema;
  EXPECT_EQ(open_postgres_store(url, {.create = false}).error().code, ErrorCode::not_found);
  EXPECT_EQ(open_postgres_store(url, {.read_only = true}).error().code, ErrorCode::not_found);
}

TEST_F(PostgresStore, many_that_start_at_once_on_an_empty_database_all_succeed) {
  const std::string schema = fresh_name("fresh");
  Client(test_url()).ask("CREATE SCHEMA " + schema);
  const std::string url = test_url() + "?options=-csearch_path%3D" + schema;
  std::vector<std::thread> threads;
  std::vector<std::string> errors(16);
  for (std::size_t i = 0; i < errors.size(); ++i)
    threads.emplace_back([&, i] {
      const auto store = open_postgres_store(url, {.patience = std::chrono::seconds(30)});
      if (!store) errors[i] = store.error().message;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, std::vector<std::string>(errors.size()));
  EXPECT_EQ(Client(test_url()).ask("SELECT version FROM " + schema + ".undertext_schema"), "4");
}

TEST_F(PostgresStore, tables_of_a_later_version_are_left_alone) {
  const std::string schema = fresh_name("later");
  const Client client(test_url());
  client.ask("CREATE SCHEMA " + schema);
  client.ask("CREATE TABLE " + schema +
             ".undertext_schema (id bigint PRIMARY KEY, version bigint NOT NULL)");
  client.ask("INSERT INTO " + schema + ".undertext_schema VALUES (1, 99)");
  EXPECT_EQ(open_postgres_store(test_url() + "?options=-csearch_path%3D" + schema, {}).error().code,
            ErrorCode::unsupported);
}

TEST_F(PostgresStore, what_is_open_writes_no_more_once_a_later_release_has_changed_the_tables) {
  const std::string schema = fresh_name("upgraded");
  const Client client(test_url());
  client.ask("CREATE SCHEMA " + schema);
  const auto store =
      open_postgres_store(test_url() + "?options=-csearch_path%3D" + schema, {}).value();
  ASSERT_TRUE(store->create({.id = "a"}));
  const std::string set = "UPDATE " + schema + ".undertext_schema SET version = ";
  client.ask(set + "99");
  EXPECT_EQ(store->commit(next(*store, "a", "one")).error().code, ErrorCode::unsupported);
  EXPECT_EQ(store->create({.id = "b"}).error().code, ErrorCode::unsupported);
  client.ask(set + "4");
  EXPECT_TRUE(store->commit(next(*store, "a", "one")));
}

TEST_F(PostgresStore, writers_that_race_for_one_version_never_both_succeed) {
  ASSERT_TRUE(store_->create({.id = "a"}));
  for (const std::string level : {"read%5C%20committed", "serializable"}) {
    const auto racing = open("?options=-cdefault_transaction_isolation%3D" + level);
    const Commit one = next(*store_, "a", "one");
    std::vector<std::thread> threads;
    std::atomic<int> done = 0, refused = 0;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        const Result<void> committed = racing->commit(one);
        if (committed) ++done;
        if (!committed && committed.error().code == ErrorCode::conflict) ++refused;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(done, 1) << level;
    EXPECT_EQ(refused, 7) << level;
  }
}

TEST_F(PostgresStore,
       a_call_that_waits_too_long_is_unavailable_and_its_connection_is_not_used_again) {
  ASSERT_TRUE(store_->create({.id = "a"}));
  const auto store = open("", {.patience = std::chrono::milliseconds(300), .connections_max = 1});
  const Commit one = next(*store, "a", "one");
  const Client blocker(test_url());
  blocker.ask("SELECT set_config('undertext.tenant', '" + tenant_ + "', false)");
  blocker.ask("BEGIN");
  blocker.ask("SELECT 1 FROM undertext_conversation WHERE conversation_id = 'a' FOR UPDATE");
  const auto begun = std::chrono::steady_clock::now();
  const Result<void> late = store->commit(one);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
  // The server may have begun later than the caller, and then gives up later: what still waits
  // would go on.
  const Client watcher(test_url());
  const auto end = begun + std::chrono::seconds(10);
  while (watcher.ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") != "0")
    ASSERT_LT(std::chrono::steady_clock::now(), end);
  blocker.ask("ROLLBACK");
  EXPECT_EQ(store->find("a").value().version, 0u);
  EXPECT_TRUE(store->commit(one));
}

// Between a store and its server. When it was asked to, it ends a connection instead of passing on
// the answer to a COMMIT.
class Between {
 public:
  Between() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in here = loopback(0);
    socklen_t size = sizeof here;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&here), size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size), 0);
    port_ = ntohs(here.sin_port);
    accepting_ = std::thread([this] {
      for (int client = -1; (client = ::accept(listener_, nullptr, nullptr)) >= 0;)
        pairs_.emplace_back([this, client] { pass_on(client); });
    });
  }
  // After the store that uses it.
  ~Between() {
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    for (std::thread& pair : pairs_) pair.join();
    ::close(listener_);
  }
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;

  std::string url() const {
    std::string url = test_url();
    const std::size_t at = url.find(host) + host.size();
    return url.replace(at, url.find('/', at) - at, std::to_string(port_));
  }
  // Of the next transaction that has this statement; `then` is called before anyone can see that
  // the connection has ended.
  void lose_the_answer_to(std::string statement, std::function<void()> then = {}) {
    const std::lock_guard lock(mutex_);
    statement_ = std::move(statement);
    then_ = std::move(then);
  }
  int lost() const { return lost_; }

 private:
  static inline const std::string host = "127.0.0.1:";

  static sockaddr_in loopback(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    address.sin_port = ::htons(static_cast<std::uint16_t>(port));
    return address;
  }

  bool is_to_be_lost(std::string_view sent) {
    const std::lock_guard lock(mutex_);
    if (statement_.empty() || sent.find(statement_) == std::string_view::npos) return false;
    statement_.clear();
    return true;
  }

  void pass_on(int client) {
    const int server = ::socket(AF_INET, SOCK_STREAM, 0);
    const std::string url = test_url();
    const sockaddr_in there = loopback(std::stoi(url.substr(url.find(host) + host.size())));
    ASSERT_EQ(::connect(server, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
    pollfd ends[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    bool is_losing = false, is_over = false;
    std::string answer;
    while (!is_over && ::poll(ends, 2, -1) > 0) {
      for (const int from : {0, 1}) {
        if (ends[from].revents == 0 || is_over) continue;
        char bytes[65536];
        const ::ssize_t size = ::recv(ends[from].fd, bytes, sizeof bytes, 0);
        const std::string_view part(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
        is_over = size <= 0;
        if (from == 0 && is_to_be_lost(part)) is_losing = true;
        if (from == 1 && is_losing) {
          answer += part;
          is_over = answer.find("COMMIT") != std::string::npos;
          lost_ += is_over ? 1 : 0;
          if (is_over && then_) then_();
        } else if (!is_over) {
          ::send(ends[1 - from].fd, part.data(), part.size(), MSG_NOSIGNAL);
        }
      }
    }
    ::close(client);
    ::close(server);
  }

  const int listener_;
  int port_ = 0;
  std::thread accepting_;
  std::vector<std::thread> pairs_;
  std::mutex mutex_;
  std::string statement_;
  std::function<void()> then_;
  std::atomic<int> lost_ = 0;
};

TEST_F(PostgresStore, settings_whose_answer_was_lost_are_changed_once_and_not_in_conflict) {
  Between between;
  ASSERT_TRUE(store_->create({.id = "a", .settings = "0"}));
  const auto store = open_postgres_store(between.url(), {.tenant = tenant_}).value();
  const auto change = [](Store& through, const std::string& from, const std::string& to) {
    Commit commit{.conversation = "a"};
    commit.expected_settings = from;
    commit.settings = to;
    return through.commit(commit);
  };
  between.lose_the_answer_to("update_settings");
  EXPECT_TRUE(change(*store, "0", "1"));
  EXPECT_EQ(between.lost(), 1);
  EXPECT_EQ(store->find("a").value().settings, "1");
  EXPECT_EQ(change(*store, "0", "1").error().code, ErrorCode::conflict) << "another's";
  between.lose_the_answer_to("update_settings", [&] { EXPECT_TRUE(change(*store_, "2", "3")); });
  EXPECT_EQ(change(*store, "1", "2").error().code, ErrorCode::unavailable) << "nobody knows";
  EXPECT_EQ(store->find("a").value().settings, "3");
}

TEST_F(PostgresStore, usage_whose_answer_was_lost_is_counted_once) {
  Between between;
  const std::shared_ptr<Store> store =
      open_postgres_store(between.url(), {.tenant = tenant_}).value();
  Conversation conversation = Conversation::open(store, "a").value();
  for (std::uint64_t turn = 1; turn <= 3; ++turn) {
    between.lose_the_answer_to("update_settings");
    RequestUsage usage;
    usage.request_id = std::to_string(turn);
    usage.prompt = 10;
    ASSERT_TRUE(conversation.record_usage(usage));
    EXPECT_EQ(between.lost(), static_cast<int>(turn));
    EXPECT_EQ(Conversation::open(store_, "a").value().usage().totals().requests, turn);
    EXPECT_EQ(Conversation::open(store_, "a").value().usage().totals().prompt, turn * 10);
  }
}

TEST_F(PostgresStore, what_was_removed_and_its_answer_lost_is_removed_once) {
  Between between;
  for (const std::string id : {"a", "b", "c"}) {
    ASSERT_TRUE(store_->create({.id = id}));
    for (int n = 0; n < 3; ++n) ASSERT_TRUE(store_->commit(next(*store_, id, "body")));
  }
  const auto store = open_postgres_store(between.url(), {.tenant = tenant_}).value();
  const auto stub = [&](const std::string& id, std::uint64_t ordinal) {
    MessageRecord record = store_->messages(id, ordinal, ordinal + 1).value().at(0);
    record.redacted = sha256(record.body);
    record.body = "{}";
    return record;
  };
  Prune prune{.conversation = "a", .expected_version = 3, .first_version = 3};
  prune.stubs = {stub("a", 0)};
  prune.checkpoint = Checkpoint{3, 11, "root"};
  prune.pages = {{10, "page"}};
  between.lose_the_answer_to("move_first_version");
  EXPECT_TRUE(store->prune(prune));
  EXPECT_EQ(between.lost(), 1);
  EXPECT_EQ(store->find("a").value().first_version, 3u);
  between.lose_the_answer_to("insert_removal");
  EXPECT_TRUE(store->redact("b", {stub("b", 1)}, {"me", 1, "why"}));
  EXPECT_EQ(between.lost(), 2);
  EXPECT_EQ(store->removals("b").value().size(), 1u);
  between.lose_the_answer_to("insert_removal");
  EXPECT_TRUE(store->purge("c", {"me", 1, "why"}));
  EXPECT_EQ(between.lost(), 3);
  EXPECT_EQ(store->removals("c").value().size(), 1u);
}

TEST_F(PostgresStore, settings_that_many_change_at_once_lose_no_change) {
  ASSERT_TRUE(store_->create({.id = "a", .settings = "0"}));
  for (const std::string level : {"read%5C%20committed", "serializable"}) {
    const auto racing = open("?options=-cdefault_transaction_isolation%3D" + level);
    const int before = std::stoi(store_->find("a").value().settings);
    std::atomic<int> done = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < 20; ++n) {
          Commit commit{.conversation = "a"};
          commit.expected_settings = racing->find("a").value().settings;
          commit.settings = std::to_string(std::stoi(*commit.expected_settings) + 1);
          if (racing->commit(commit)) ++done;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(done, 0);
    EXPECT_EQ(std::stoi(store_->find("a").value().settings), before + done) << level;
  }
}

TEST_F(PostgresStore, a_body_that_messages_share_is_kept_once_and_outlives_the_first_of_them) {
  ASSERT_TRUE(store_->create({.id = "a"}));
  const std::string body(100'000, 'x');
  ASSERT_TRUE(store_->commit(next(*store_, "a", body)));
  const std::uint64_t size = store_->size_bytes("a").value();
  for (std::uint64_t copy = 1; copy <= 20; ++copy) {
    Commit one = next(*store_, "a", "");
    one.messages[0].same_as = copy - 1;
    ASSERT_TRUE(store_->commit(one));
  }
  EXPECT_LT(store_->size_bytes("a").value(), size + 10'000);
  const auto stub = [&](std::uint64_t ordinal) {
    MessageRecord record = store_->messages("a", ordinal, ordinal + 1).value().at(0);
    record.redacted = sha256(record.body);
    record.body = "{}";
    return record;
  };
  ASSERT_TRUE(store_->redact("a", {stub(0), stub(1), stub(7)}, {"me", 1, "why"}));
  ASSERT_TRUE(store_->redact("a", {stub(2)}, {"me", 1, "why"}));
  for (std::uint64_t ordinal = 0; ordinal <= 20; ++ordinal) {
    const bool is_redacted = ordinal < 3 || ordinal == 7;
    EXPECT_EQ(store_->messages("a", ordinal, ordinal + 1).value().at(0).body,
              is_redacted ? "{}" : body)
        << ordinal;
  }
  EXPECT_LT(store_->size_bytes("a").value(), size + 10'000);
}

TEST_F(PostgresStore, connections_that_the_server_has_closed_are_replaced) {
  ASSERT_TRUE(store_->create({.id = "a"}));
  for (int round = 0; round < 5; ++round) {
    const Commit one = next(*store_, "a", "x", "op" + std::to_string(round));
    Client(test_url())
        .ask(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name "
            "= 'undertext'");
    EXPECT_TRUE(store_->commit(one));
  }
  EXPECT_EQ(store_->find("a").value().version, 5u);
}

TEST_F(PostgresStore, a_child_of_fork_leaves_the_connections_of_its_parent_alone) {
  ASSERT_TRUE(store_->create({.id = "a"}));
  const auto store = open("", {.patience = std::chrono::milliseconds(100)});
  ASSERT_TRUE(store->find("a"));
  const pid_t child = fork();
  if (child == 0) {
    const auto found = store->find("a");
    store_.reset();
    _exit(!found && found.error().code == ErrorCode::unavailable ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(store_->commit(next(*store_, "a", "x")));
}

TEST_F(PostgresStore, backups_are_left_to_postgresql) {
  EXPECT_EQ(store_->backup("file").error().code, ErrorCode::unsupported);
  EXPECT_TRUE(store_->compact());
  EXPECT_TRUE(store_->check().value().empty());
}

TEST_F(PostgresStore,
       a_role_that_does_not_own_the_tables_works_with_them_and_does_not_rewrite_them) {
  const std::string role = fresh_name("worker");
  const Client owner(test_url());
  if (owner.ask("SELECT rolcreaterole FROM pg_roles WHERE rolname = current_user") != "t")
    GTEST_SKIP() << "inapplicable: the role may make no roles";
  owner.ask("CREATE ROLE " + role + " LOGIN");
  owner.ask("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + role);
  std::string url = test_url();
  url.replace(url.find("//") + 2, url.find('@') - url.find("//") - 2, role);
  const auto worker = open_postgres_store(url, {.tenant = tenant_}).value();
  ASSERT_TRUE(worker->create({.id = "a"}));
  ASSERT_TRUE(worker->commit(next(*worker, "a", "x")));
  EXPECT_EQ(worker->compact().error().code, ErrorCode::unsupported);
  const Client client(url);
  EXPECT_EQ(client.ask("SELECT count(*) FROM undertext_message"), "0");
  EXPECT_EQ(client.ask("ALTER TABLE undertext_message NO FORCE ROW LEVEL SECURITY"), "42501");
  owner.ask("DROP OWNED BY " + role);
  owner.ask("DROP ROLE " + role);
}

TEST_F(PostgresStore, rows_without_their_conversation_are_damage) {
  const Client client(test_url());
  client.ask("SELECT set_config('undertext.tenant', '" + tenant_ + "', false)");
  client.ask("INSERT INTO undertext_page VALUES ('lost', '" + tenant_ + "', 1, '')");
  const auto damage = store_->check().value();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].conversation, "lost");
}

}  // namespace
}  // namespace undertext
