// Records for tests, with the chain they belong to.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <undertext/store.hpp>

#include "store/chain.hpp"

namespace undertext::test {

// Without a pattern, so that no store makes it smaller.
inline std::string body(std::uint64_t number, std::size_t size = 40) {
  std::string text = R"({"role":"user","content":"message )" + std::to_string(number) + " ";
  std::uint64_t state = number + 1;
  while (text.size() + 2 < size) {
    state = state * 6364136223846793005 + 1442695040888963407;
    text += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"[state >> 58];
  }
  return text + "\"}";
}

// Knows where a conversation stands, and makes what comes next.
class Writing {
 public:
  explicit Writing(std::string id) : id_(std::move(id)), chain_(first_chain(id_)) {}
  explicit Writing(const ConversationRecord& record)
      : id_(record.id),
        version_(record.version),
        log_length_(record.log_length),
        chain_(record.chain) {}

  const std::string& id() const { return id_; }
  std::uint64_t version() const { return version_; }
  std::uint64_t log_length() const { return log_length_; }
  const Digest& chain() const { return chain_; }

  NewConversation creation() const {
    return {.id = id_, .settings = "settings of " + id_, .created_at_ms = 1000, .chain = chain_};
  }

  NewConversation fork(std::string id, std::uint64_t next_page = 1) const {
    return {.id = std::move(id),
            .settings = "fork",
            .created_at_ms = 2000,
            .chain = chain_,
            .origin = Origin{id_, version_, log_length_, next_page}};
  }

  // Goes on from here under another id.
  Writing forked(std::string id) const {
    Writing fork = *this;
    fork.id_ = std::move(id);
    return fork;
  }

  // One version with these bodies. It becomes the head only by taken().
  Commit append(std::vector<std::string> bodies, std::string operation_id = {}) const {
    Commit commit{.conversation = id_, .expected_version = version_};
    std::uint64_t ordinal = log_length_;
    for (std::string& text : bodies)
      commit.messages.push_back({.ordinal = ordinal++,
                                 .body = std::move(text),
                                 .role = Role::user,
                                 .time_ms = 5000 + static_cast<std::int64_t>(ordinal),
                                 .tokens = 7});
    VersionRecord version{.version = version_ + 1,
                          .at_ms = 9000 + static_cast<std::int64_t>(version_),
                          .log_length = ordinal,
                          .operation = "APPEND",
                          .arguments = {},
                          .operation_id = std::move(operation_id),
                          .answer = "answer"};
    version.chain = next_chain(chain_, version, commit.messages);
    commit.versions.push_back(std::move(version));
    return commit;
  }

  void taken(const Commit& commit) {
    if (commit.versions.empty()) return;
    version_ = commit.versions.back().version;
    log_length_ = commit.versions.back().log_length;
    chain_ = commit.versions.back().chain;
  }

  // Makes it in the store, or appends, and goes on from there.
  Result<void> create_in(Store& store) const {
    if (Result<ConversationRecord> made = store.create(creation()); !made) return made.error();
    return {};
  }
  Result<void> append_to(Store& store, std::vector<std::string> bodies,
                         std::string operation_id = {}) {
    const Commit commit = append(std::move(bodies), std::move(operation_id));
    Result<void> done = store.commit(commit);
    if (done) taken(commit);
    return done;
  }

 private:
  std::string id_;
  std::uint64_t version_ = 0;
  std::uint64_t log_length_ = 0;
  Digest chain_;
};

inline MessageRecord stub_of(const MessageRecord& message,
                             std::string text = R"({"role":"user","content":"[redacted]"})") {
  MessageRecord stub = message;
  stub.redacted = message.redacted ? *message.redacted : sha256(message.body);
  stub.body = std::move(text);
  stub.tokens = 1;
  return stub;
}

}  // namespace undertext::test
