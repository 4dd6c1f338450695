// How fast what is appended lasts, beside a plain SQLite insert of the same bytes in the same run;
// and how many bytes it takes on the disk.
//   stores_run FOLDER [ROUNDS]     prints JSON; FOLDER decides which disk is measured
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "../tests/store/writing.hpp"

namespace undertext::bench {
namespace {

using Clock = std::chrono::steady_clock;
using test::Writing;

constexpr std::size_t message_bytes = 500;
constexpr int commits = 2000;
constexpr int writers = 8;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "stores_run: %s\n", why.c_str());
  std::exit(1);
}

double seconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// One table, one row a transaction.
class Plain {
 public:
  explicit Plain(const std::string& file) {
    if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK) stop("no database");
    sqlite3_exec(db_,
                 "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER "
                 "PRIMARY KEY, body BLOB)",
                 nullptr, nullptr, nullptr);
    sqlite3_prepare_v2(db_, "INSERT INTO t (body) VALUES (?1)", -1, &insert_, nullptr);
  }
  ~Plain() {
    sqlite3_finalize(insert_);
    sqlite3_close(db_);
  }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;
  void insert(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string text = test::body(static_cast<std::uint64_t>(i), message_bytes);
      sqlite3_bind_blob(insert_, 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
      if (sqlite3_step(insert_) != SQLITE_DONE) stop(sqlite3_errmsg(db_));
      sqlite3_reset(insert_);
    }
  }

 private:
  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

// A store with as many conversations as threads.
class Stored {
 public:
  Stored(const std::string& file, int threads, Durability durability)
      : store_(open_store("sqlite:" + file, {.durability = durability}).value()) {
    for (int t = 0; t < threads; ++t) {
      writings_.emplace_back("c" + std::to_string(t));
      if (Result<void> made = writings_.back().create_in(*store_); !made)
        stop(made.error().message);
    }
  }
  // So many to each conversation, all at once.
  void append(int count) {
    const auto work = [&](Writing& writing) {
      for (int i = 0; i < count; ++i)
        if (Result<void> done = writing.append_to(
                *store_, {test::body(static_cast<std::uint64_t>(i), message_bytes)});
            !done)
          stop(done.error().message);
    };
    std::vector<std::thread> running;
    for (std::size_t t = 1; t < writings_.size(); ++t)
      running.emplace_back(work, std::ref(writings_[t]));
    work(writings_[0]);
    for (std::thread& thread : running) thread.join();
  }

 private:
  std::shared_ptr<Store> store_;
  std::vector<Writing> writings_;
};

class Bench {
 public:
  explicit Bench(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::string fresh_file() {
    const std::string file = (folder_ / ("bench" + std::to_string(files_++) + ".db")).string();
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file + end);
    return file;
  }
  void clear() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with("bench"))
        std::filesystem::remove(entry.path());
  }
  void drop(const std::string& file) {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file + end);
  }

  // fdatasync of 4 KiB appended, a second: what the disk itself does.
  double disk() {
    const std::string file = fresh_file();
    const int fd = ::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    const std::string page(4096, 'x');
    const double result = commits / seconds([&] {
                            for (int i = 0; i < commits; ++i)
                              if (::write(fd, page.data(), page.size()) < 0 || ::fdatasync(fd) != 0)
                                stop("the disk cannot be written");
                          });
    ::close(fd);
    drop(file);
    return result;
  }

  struct Rates {
    double plain = 0, one = 0, many = 0, normal = 0;
  };

  // Commits a second, in turns of a few each, so that what else the machine and its disk do falls
  // on all alike.
  Rates rates() {
    constexpr int turns = 20, commits_a_turn = commits / turns;
    Plain plain(fresh_file());
    Stored one(fresh_file(), 1, Durability::full), many(fresh_file(), writers, Durability::full),
        normal(fresh_file(), 1, Durability::normal);
    double plain_s = 0, one_s = 0, many_s = 0, normal_s = 0;
    for (int turn = 0; turn < turns; ++turn) {
      plain_s += seconds([&] { plain.insert(commits_a_turn); });
      one_s += seconds([&] { one.append(commits_a_turn); });
      many_s += seconds([&] { many.append(commits_a_turn); });
      normal_s += seconds([&] { normal.append(commits_a_turn); });
    }
    return {commits / plain_s, commits / one_s, commits * writers / many_s, commits / normal_s};
  }

  // Bytes on the disk, once closed, for turns of two messages in one APPEND.
  std::uintmax_t bytes(int turns) {
    const std::string file = fresh_file();
    {
      const auto store = open_store("sqlite:" + file, {.durability = Durability::normal}).value();
      Writing writing("turns");
      if (Result<void> made = writing.create_in(*store); !made) stop(made.error().message);
      for (int i = 0; i < turns; ++i) {
        const auto n = static_cast<std::uint64_t>(2 * i);
        if (Result<void> done = writing.append_to(
                *store, {test::body(n, message_bytes), test::body(n + 1, message_bytes)});
            !done)
          stop(done.error().message);
      }
    }
    const std::uintmax_t size = std::filesystem::file_size(file);
    drop(file);
    return size;
  }

 private:
  std::filesystem::path folder_;
  int files_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print(const char* name, const std::vector<double>& values, const char* end = ",") {
  std::printf("  \"%s\": {\"median\": %.0f, \"all\": [", name, median(values));
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.0f", i ? ", " : "", values[i]);
  std::printf("]}%s\n", end);
}

int run(const std::string& folder, int rounds) {
  Bench bench(folder);
  std::vector<double> disk, plain, one, many, one_normal, of_plain, eight_to_one;
  for (int round = 0; round < rounds; ++round) {
    disk.push_back(bench.disk());
    const Bench::Rates rates = bench.rates();
    bench.clear();
    plain.push_back(rates.plain);
    one.push_back(rates.one);
    many.push_back(rates.many);
    one_normal.push_back(rates.normal);
    of_plain.push_back(rates.one / rates.plain);
    eight_to_one.push_back(rates.many / rates.one);
  }
  std::printf("{\n  \"message_bytes\": %zu, \"commits_each\": %d, \"sqlite\": \"%s\",\n",
              message_bytes, commits, sqlite3_libversion());
  print("fdatasync_4k_per_s", disk);
  print("plain_insert_full_per_s", plain);
  print("append_full_per_s", one);
  print("append_full_8_conversations_per_s", many);
  print("append_normal_per_s", one_normal);
  std::printf("  \"append_to_plain_insert\": %.2f,\n  \"eight_to_one\": %.2f,\n",
              median(one) / median(plain), median(many) / median(one));
  std::printf("  \"bytes\": [");
  const std::vector<int> turns = {100, 200, 400, 800, 8000};
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::uintmax_t size = bench.bytes(turns[i]);
    std::printf("%s{\"turns\": %d, \"file\": %ju, \"per_turn\": %.0f}", i ? ", " : "", turns[i],
                size, static_cast<double>(size) / turns[i]);
  }
  std::printf("]\n}\n");
  return 0;
}

}  // namespace
}  // namespace undertext::bench

int main(int count, char** arguments) {
  if (count < 2 || count > 3) {
    std::fprintf(stderr, "usage: stores_run FOLDER [ROUNDS]\n");
    return 2;
  }
  return undertext::bench::run(arguments[1], count > 2 ? std::atoi(arguments[2]) : 5);
}
