// The stores that the contract is asked of: memory, SQLite where it is built in, what a tenant sees
// of a file of several, and PostgreSQL where it is built in and UNDERTEXT_TEST_POSTGRES names one.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <undertext/store.hpp>

namespace undertext::test {

// A folder of this test's own, gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "undertext-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline ::testing::AssertionResult has_code(const Error& error, ErrorCode code) {
  if (error.code == code) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << name(error.code) << " instead of " << name(code) << ": " << error.message;
}

inline bool is_built(const std::string& url) {
  const Result<std::shared_ptr<Store>> store = open_store(url, {.create = false});
  return store || store.error().code != ErrorCode::unsupported;
}

inline std::vector<std::string> kinds() {
  std::vector<std::string> all = {"memory"};
  if (is_built("sqlite:/nowhere/at/all")) all.insert(all.end(), {"sqlite", "tenant"});
  const char* postgres = std::getenv("UNDERTEXT_TEST_POSTGRES");
  if (postgres && *postgres && is_built(postgres)) all.emplace_back("postgres");
  return all;
}

// A store of each kind, empty at first.
class OfEveryStore : public ::testing::TestWithParam<std::string> {
 protected:
  OfEveryStore() {
    if (GetParam() == "postgres")
      options_.tenant = "test-" + std::to_string(std::random_device()());
    if (GetParam() == "tenant") options_.tenant = "acme";
    open();
  }

  std::string url() const {
    if (GetParam() == "memory") return "memory:";
    if (GetParam() == "sqlite" || GetParam() == "tenant")
      return "sqlite:" + folder_.file("store.db");
    return std::getenv("UNDERTEXT_TEST_POSTGRES");
  }
  bool lasts() const { return GetParam() != "memory"; }

  void open() { store_ = open_store(url(), options_).value(); }
  // What lasts is still there afterwards; what does not is not asked.
  void reopen() {
    if (!lasts()) return;
    store_.reset();
    open();
  }

  Store& store() { return *store_; }
  std::shared_ptr<Store> shared() { return store_; }

  Folder folder_;
  StoreOptions options_;

 private:
  std::shared_ptr<Store> store_;
};

inline std::string kind_name(const ::testing::TestParamInfo<std::string>& kind) {
  return kind.param;
}

}  // namespace undertext::test

#define EXPECT_CODE(error, code) EXPECT_TRUE(::undertext::test::has_code(error, code))

// NOLINTNEXTLINE: for the names of the tests
#define UNDERTEXT_OF_EVERY_STORE(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(Every, suite, ::testing::ValuesIn(::undertext::test::kinds()), \
                           ::undertext::test::kind_name)
