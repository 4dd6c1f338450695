// Who may come in. A token is 256 random bits, shown once; a file keeps its digest, whose it is and
// what it allows, a line of JSON each:
//
//     {"name":"ci","sha256":"9f86…","tenant":"acme","rights":["read","write"],"made":1780000000000,"expires":…,"revoked":…}
//
// Only its owner may read the file. It is written anew and then given its name, so that a reader
// sees it whole.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/store.hpp>

#include "server/route.hpp"

namespace undertext {

struct Rights {
  bool read = false, write = false, metrics = false, operate = false;
  bool allow(Right right) const;
  std::string text() const;  // such as "read,write"
};
Result<Rights> read_rights(std::string_view text);  // invalid_argument

struct Token {
  std::string name;  // 1 to 64 of A-Z a-z 0-9 _ -, never used twice
  Digest digest = {};
  std::string tenant;  // "default" is the operator's
  Rights rights;
  std::int64_t made_ms = 0;
  std::optional<std::int64_t> expires_ms = {};
  std::optional<std::int64_t> revoked_ms = {};

  bool is_good(std::int64_t now_ms) const {
    return !revoked_ms && (!expires_ms || now_ms < *expires_ms);
  }
  Caller caller() const;
};

// not_found, unavailable, corrupt: as it says.
Result<std::vector<Token>> read_tokens(const std::string& path);

// Adds a token, and answers what its holder is given; it cannot be had again. The file is made
// where there is none. `asked.digest` is ignored.
// invalid_argument: a name, a tenant. conflict: the name is taken, or was.
Result<std::string> make_token(const std::string& path, Token asked);
// not_found
std::optional<Error> revoke_token(const std::string& path, std::string_view name,
                                  std::int64_t now_ms);

// The file as a server uses it: read again when it has changed. While it cannot be read, nobody is
// let in. Any thread may call it.
class Tokens {
 public:
  using Complain = std::function<void(const Error&)>;  // told when the file becomes unreadable
  static Result<std::unique_ptr<Tokens>> open(std::string path, Complain complain);

  // Whose this is, if it is good now. Takes the same time whatever the token has in common with
  // those there are.
  std::optional<Token> find(std::string_view secret, std::int64_t now_ms);
  bool is_good(std::string_view name, std::int64_t now_ms);  // of the token of this name

 private:
  using List = std::vector<Token>;
  struct State {  // of the file, to tell whether it has changed
    std::uint64_t inode = 0, size = 0;
    std::int64_t changed_ns = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  Tokens(std::string path, Complain complain)
      : path_(std::move(path)), complain_(std::move(complain)) {}
  std::shared_ptr<const List> current();
  void look();
  static State state_of(const std::string& path);

  const std::string path_;
  const Complain complain_;
  std::atomic<std::int64_t> looked_ms_ = 0;
  std::mutex mutex_;  // guards what follows
  State state_;
  std::shared_ptr<const List> list_;
};

}  // namespace undertext
