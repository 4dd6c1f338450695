// A conversation that a program keeps: one current History, changed by operations, watched by subscribers.
//
//     Conversation conversation;
//     conversation.apply({op::Append{{hello}}}).value();
//     conversation.messages({.roles = {Role::user}, .last = 3});
//     conversation.apply({op::Rollback{0}});
//
// Safe for any number of threads: writers take turns, readers never wait for a writer's work; history() gives a reader a value that
// stays as it is. Subscribers are called on the writer's thread, after the change is visible, in order, without a lock held on
// readers; they may read the conversation, and must not
// change it (invalid_argument) or throw.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/operation.hpp>
#include <undertext/query.hpp>

namespace undertext {

struct Event {
  enum class Type : std::uint8_t {
    message_added,         // ordinal
    batch_opened,          // batch
    rolled_back,           // batch: the one returned to
    context_changed,       // after every operation, last
    token_limit_exceeded,  // tokens_used, token_limit; once per crossing
  };
  Type type = Type::context_changed;
  Version version;
  Ordinal ordinal = {};
  BatchIndex batch = {};
  std::uint64_t tokens_used = 0;
  std::uint64_t token_limit = 0;
};
UNDERTEXT_API std::string_view name(Event::Type type);  // such as "TOKEN_LIMIT_EXCEEDED"

struct Limits {
  MessageLimits message = {};
};

struct Settings {
  std::string tokenizer = "estimate";  // the one there is so far; another is `unsupported`
  std::optional<std::uint64_t> token_limit = {};
  Pairs pairs = Pairs::literal;
  Limits limits = {};
  std::function<std::int64_t()> clock_ms = {};  // milliseconds since 1970; unset: the system's clock
};

// What an operation did, and what it set off that a caller should know of (token_limit_exceeded).
struct Outcome : Applied {
  std::vector<Event> events;
};

// Ends the subscription when destroyed; waits for a call to it that is under way on another thread. May outlive the conversation.
class UNDERTEXT_API Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&&) = default;
  Subscription& operator=(Subscription&&) = default;
  explicit Subscription(std::shared_ptr<void> token) : token_(std::move(token)) {}

 private:
  std::shared_ptr<void> token_;
};

class UNDERTEXT_API Conversation {
 public:
  Conversation();
  static Result<Conversation> open(Settings settings);  // unsupported: a tokenizer this build does not have

  // One operation, or a list as one atomic step: all or nothing, each making its version. An empty list is invalid_argument;
  // an error of a list carries operation_index.
  Result<Outcome> apply(Operation operation);
  Result<std::vector<Outcome>> apply(std::vector<Operation> operations);

  History history() const;  // O(1); reads everything, at any version
  const Settings& settings() const;

  Version version() const { return history().version(); }
  View view() const { return history().view(); }
  Stats stats() const { return history().stats(); }
  Result<MessageList> messages(const MessageQuery& query = {}) const { return history().messages(query); }
  Result<MessageCount> count(const MessageQuery& query = {}) const { return history().count(query); }

  // Another conversation that goes on from `version`, sharing all messages. Nothing done to one shows in the other.
  Result<Conversation> fork(Version version) const;

  [[nodiscard]] Subscription subscribe(std::function<void(const Event&)> receive);

  Conversation(Conversation&&) noexcept;
  Conversation& operator=(Conversation&&) noexcept;
  ~Conversation();

 private:
  struct Rep;
  explicit Conversation(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace undertext
