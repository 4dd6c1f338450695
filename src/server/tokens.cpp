#include "server/tokens.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <openssl/crypto.h>

#include "base/json_text.hpp"
#include "store/chain.hpp"
#include "store/tenant.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace undertext {
namespace {

constexpr std::string_view secret_prefix = "ut_";  // by which scanners for leaked secrets know one
constexpr std::size_t secret_bytes = 32;
constexpr std::size_t tokens_max = 10'000;
constexpr std::uint64_t file_bytes_max = std::uint64_t{8} << 20;
constexpr std::int64_t look_again_ms = 250;

Error system_error(const std::string& path, int error = errno) {
  return {error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
          path + ": " + std::strerror(error), "tokens"};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Who may write to it could let anybody in.
std::optional<Error> refuse_shared(int file, const std::string& path) {
  const std::optional<FileStatus> status = status_of(file);
  if (!status) return system_error(path);
  if (!status->is_regular || (!status->others_may_write && status->is_own)) return std::nullopt;
  return Error{ErrorCode::denied,
               path + " can be written by others than its user: chmod 600, and own it", "tokens"};
}

Result<std::string> read_file(const std::string& path) {
  const OpenFile file = open_file(path, OpenFor::reading);
  if (!file) return system_error(path);
  if (std::optional<Error> error = refuse_shared(file.descriptor(), path)) return *std::move(error);
  std::string text;
  char some[1 << 14];
  for (;;) {
    const std::int64_t got = read_some(file.descriptor(), some, sizeof some);
    if (got < 0) return system_error(path);
    if (got == 0) return text;
    text.append(some, static_cast<std::size_t>(got));
    if (text.size() > file_bytes_max)
      return Error{ErrorCode::too_large, path + " is no file of tokens: it is too large", "tokens"};
  }
}

// Under another name first, so that nobody ever sees a part of it.
std::optional<Error> write_file(const std::string& path, std::string_view text) {
  const std::string unfinished = path + ".unfinished-" + std::to_string(process_id());
  remove_name(unfinished);
  {
    const OpenFile file = open_file(unfinished, OpenFor::making);
    if (!file || !write_all(file.descriptor(), text) || !sync_to_disk(file.descriptor()))
      return system_error(unfinished);
  }
  if (!rename_over(unfinished, path)) return system_error(path);
  const OpenFile folder = open_file(folder_of(path), OpenFor::folder);
  if (!folder || !sync_to_disk(folder.descriptor())) return system_error(folder_of(path));
  return std::nullopt;
}

std::optional<Digest> read_hex(std::string_view text) {
  Digest digest = {};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    const std::size_t value = digits.find(text[i]);
    if (value == std::string_view::npos) return std::nullopt;
    digest[i / 2] = static_cast<std::uint8_t>(std::size_t{digest[i / 2]} << 4 | value);
  }
  return digest;
}

std::string base64url(std::span<const unsigned char> bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) text += letters[bits >> (count - 6) & 63];
  }
  if (count > 0) text += letters[bits << (6 - count) & 63];
  return text;
}

std::optional<Token> read_line(std::string_view line) {
  const Result<JsonText> text = JsonText::parse(line, {});
  if (!text || !text->root().is(JsonType::object)) return std::nullopt;
  const auto string = [&](std::string_view key) {
    const std::optional<JsonValue> value = text->root().find(key);
    return value && value->is(JsonType::string) ? value->string() : std::string();
  };
  const auto time = [&](std::string_view key, std::optional<std::int64_t>& to) {
    const std::optional<JsonValue> value = text->root().find(key);
    if (value) to = value->is(JsonType::number) ? value->int64() : std::nullopt;
    return !value || to;
  };
  Token token{.name = string("name"), .tenant = string("tenant"), .rights = {}};
  const std::optional<Digest> digest = read_hex(string("sha256"));
  const std::optional<JsonValue> rights = text->root().find("rights");
  if (!is_tenant_name(token.name) || !is_tenant_name(token.tenant) || !digest || !rights ||
      !rights->is(JsonType::array))
    return std::nullopt;
  token.digest = *digest;
  for (const JsonValue right : rights->elements()) {
    const Result<Rights> one = read_rights(right.is(JsonType::string) ? right.string() : "");
    if (!one) return std::nullopt;
    token.rights.read = token.rights.read || one->read;
    token.rights.write = token.rights.write || one->write;
    token.rights.metrics = token.rights.metrics || one->metrics;
    token.rights.operate = token.rights.operate || one->operate;
  }
  std::optional<std::int64_t> made;
  // A time that cannot be read must not become a token without an end.
  if (!time("made", made) || !time("expires", token.expires_ms) ||
      !time("revoked", token.revoked_ms))
    return std::nullopt;
  token.made_ms = made.value_or(0);
  return token;
}

std::string as_line(const Token& token) {
  std::string line = R"({"name":")" + token.name + R"(","sha256":")" + hex(token.digest) +
                     R"(","tenant":")" + token.tenant;
  line += R"(","rights":[)";
  std::string rights = token.rights.text();
  for (std::size_t comma = rights.find(','); comma != std::string::npos;
       comma = rights.find(',', comma + 3))
    rights.replace(comma, 1, R"(",")");
  if (!rights.empty()) line += "\"" + rights + "\"";
  line += R"(],"made":)" + std::to_string(token.made_ms);
  if (token.expires_ms) line += R"(,"expires":)" + std::to_string(*token.expires_ms);
  if (token.revoked_ms) line += R"(,"revoked":)" + std::to_string(*token.revoked_ms);
  return line + "}\n";
}

// `change` gets what is there; two processes never change the file at the same time. A lock on the
// folder, because the file itself is replaced.
template <class Change>
std::optional<Error> change_tokens(const std::string& path, Change change) {
  const OpenFile folder = open_file(folder_of(path), OpenFor::folder);
  if (!folder || !lock_whole(folder.descriptor())) return system_error(folder_of(path));
  Result<std::vector<Token>> tokens = read_tokens(path);
  if (!tokens && tokens.error().code == ErrorCode::not_found) tokens = std::vector<Token>();
  if (!tokens) return tokens.error();
  if (std::optional<Error> error = change(*tokens)) return error;
  std::string text;
  for (const Token& token : *tokens) text += as_line(token);
  return write_file(path, text);
}

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool Rights::allow(Right right) const {
  switch (right) {
    case Right::none: return true;
    case Right::read: return read;
    case Right::write: return write;
    case Right::metrics: return metrics;
    case Right::operate: return operate;
  }
  return false;
}

std::string Rights::text() const {
  std::string text;
  for (const auto& [has, name] : {std::pair(read, "read"), std::pair(write, "write"),
                                  std::pair(metrics, "metrics"), std::pair(operate, "operate")}) {
    if (!has) continue;
    if (!text.empty()) text += ',';
    text += name;
  }
  return text;
}

Result<Rights> read_rights(std::string_view text) {
  Rights rights;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    if (word == "read") {
      rights.read = true;
    } else if (word == "write") {
      rights.write = true;
    } else if (word == "metrics") {
      rights.metrics = true;
    } else if (word == "operate") {
      rights.operate = true;
    } else {
      return Error{ErrorCode::invalid_argument,
                   "rights are read, write, metrics and operate, with commas between them",
                   "rights"};
    }
    if (comma == std::string_view::npos) return rights;
    text.remove_prefix(comma + 1);
  }
}

Caller Token::caller() const {
  return {tenant == operators_tenant ? "" : tenant, name, rights.write};
}

Result<std::vector<Token>> read_tokens(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  std::vector<Token> tokens;
  std::size_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::optional<Token> token = read_line(line);
    if (!token)
      return Error{ErrorCode::corrupt, path + ": line " + std::to_string(number) + " is no token",
                   "tokens"};
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

Result<std::string> make_token(const std::string& path, Token asked) {
  if (!is_tenant_name(asked.name))
    return Error{ErrorCode::invalid_argument, "a name is 1 to 64 of A-Z a-z 0-9 _ -", "name"};
  if (!is_tenant_name(asked.tenant))
    return Error{ErrorCode::invalid_argument, "a tenant is 1 to 64 of A-Z a-z 0-9 _ -", "tenant"};
  unsigned char chance[secret_bytes];
  if (!fill_with_chance(chance, sizeof chance)) return system_error("random numbers");
  std::string secret = std::string(secret_prefix) + base64url(chance);
  asked.digest = sha256(secret);
  const std::optional<Error> error =
      change_tokens(path, [&](std::vector<Token>& tokens) -> std::optional<Error> {
        const auto taken = [&](const Token& token) { return token.name == asked.name; };
        if (std::any_of(tokens.begin(), tokens.end(), taken))
          return Error{ErrorCode::conflict, "there is, or was, a token " + asked.name, "name"};
        if (tokens.size() >= tokens_max)
          return Error{ErrorCode::too_large, "there are too many tokens in " + path};
        tokens.push_back(asked);
        return std::nullopt;
      });
  if (error) return *error;
  return secret;
}

std::optional<Error> revoke_token(const std::string& path, std::string_view name,
                                  std::int64_t now_ms) {
  return change_tokens(path, [&](std::vector<Token>& tokens) -> std::optional<Error> {
    const auto found = std::find_if(tokens.begin(), tokens.end(),
                                    [&](const Token& token) { return token.name == name; });
    if (found == tokens.end())
      return Error{ErrorCode::not_found, "there is no token " + std::string(name), "name"};
    if (!found->revoked_ms) found->revoked_ms = now_ms;
    return std::nullopt;
  });
}

Result<std::unique_ptr<Tokens>> Tokens::open(std::string path, Complain complain) {
  std::unique_ptr<Tokens> tokens(new Tokens(std::move(path), std::move(complain)));
  tokens->state_ = state_of(tokens->path_);
  Result<std::vector<Token>> list = read_tokens(tokens->path_);
  if (!list) return list.error();
  tokens->list_ = std::make_shared<const List>(*std::move(list));
  tokens->looked_ms_ = steady_ms();
  return tokens;
}

std::optional<Token> Tokens::find(std::string_view secret, std::int64_t now_ms) {
  const Digest digest = sha256(secret);
  const std::shared_ptr<const List> list = current();
  const Token* found = nullptr;
  for (const Token& token : *list)
    if (CRYPTO_memcmp(token.digest.data(), digest.data(), digest.size()) == 0) found = &token;
  if (found == nullptr || !found->is_good(now_ms)) return std::nullopt;
  return *found;
}

bool Tokens::is_good(std::string_view name, std::int64_t now_ms) {
  const std::shared_ptr<const List> list = current();
  return std::any_of(list->begin(), list->end(), [&](const Token& token) {
    return token.name == name && token.is_good(now_ms);
  });
}

std::shared_ptr<const Tokens::List> Tokens::current() {
  const std::int64_t now = steady_ms();
  std::int64_t looked = looked_ms_.load(std::memory_order_relaxed);
  if (now - looked >= look_again_ms && looked_ms_.compare_exchange_strong(looked, now)) look();
  const std::lock_guard lock(mutex_);
  return list_;
}

void Tokens::look() {
  const State state = state_of(path_);
  {
    const std::lock_guard lock(mutex_);
    if (state == state_) return;
  }
  Result<std::vector<Token>> list = read_tokens(path_);
  if (!list) complain_(list.error());
  const std::lock_guard lock(mutex_);
  state_ = state;
  list_ = std::make_shared<const List>(list ? *std::move(list) : List());
}

Tokens::State Tokens::state_of(const std::string& path) {
  const std::optional<FileStatus> status = status_of(path);
  return status ? State{status->inode, status->size_bytes, status->changed_ns} : State{};
}

}  // namespace undertext
