#include "story.hpp"

#include <algorithm>
#include <array>

#include "store/chain.hpp"

namespace undertext::test {
namespace {

std::optional<Error> error_of(const Result<ConversationRecord>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

// Makes the steps, knowing where each conversation stands when it is their turn.
class Telling {
 public:
  explicit Telling(std::vector<Step>& steps) : steps_(steps) {}

  void create(const Writing& writing) {
    steps_.push_back({"create " + writing.id(), [made = writing.creation()](Store& store) {
                        return error_of(store.create(made));
                      }});
  }
  void fork(const Writing& of, const std::string& id, std::uint64_t next_page) {
    NewConversation made = of.fork(id, next_page);
    made.checkpoint = Checkpoint{of.version(), next_page + 1, "forked"};
    made.pages = {{next_page, "page of " + id}};
    steps_.push_back({"fork " + id, [made](Store& store) { return error_of(store.create(made)); }});
  }
  void commit(const Commit& commit) {
    steps_.push_back({"commit to " + commit.conversation,
                      [commit](Store& store) { return store.commit(commit); }});
  }
  // Bodies of `sizes`, in one version.
  void append(Writing& writing, const std::vector<std::size_t>& sizes) {
    std::vector<std::string> bodies;
    for (const std::size_t size : sizes) bodies.push_back(body(number_++, size));
    const Commit made = writing.append(bodies, "op-" + std::to_string(number_));
    messages_.insert(messages_.end(), made.messages.begin(), made.messages.end());
    writing.taken(made);
    commit(made);
  }
  void checkpoint(const Writing& writing, std::uint64_t first_page) {
    Commit made{.conversation = writing.id(), .expected_version = writing.version()};
    made.checkpoint =
        Checkpoint{writing.version(), first_page + 2, "root " + std::to_string(first_page)};
    made.pages = {{first_page, std::string(700, 'p')}, {first_page + 1, std::string(5000, 'q')}};
    made.settings = "settings " + std::to_string(first_page);
    commit(made);
  }
  void redact(const Writing& writing, const MessageRecord& message) {
    steps_.push_back(
        {"redact in " + writing.id(), [id = writing.id(), stub = stub_of(message)](Store& store) {
           return store.redact(id, {stub}, {"who", 1, "why"});
         }});
  }
  void purge(const Writing& writing) {
    steps_.push_back({"purge " + writing.id(), [id = writing.id()](Store& store) {
                        return store.purge(id, {"who", 2, "why"});
                      }});
  }
  void prune(const Writing& writing, std::uint64_t first_version, std::uint64_t next_page) {
    Prune made{.conversation = writing.id(),
               .expected_version = writing.version(),
               .first_version = first_version};
    made.checkpoint = Checkpoint{writing.version(), next_page + 1, "pruned"};
    made.pages = {{next_page, "all that is left"}};
    steps_.push_back({"prune " + writing.id(), [made](Store& store) { return store.prune(made); }});
  }
  void compact() {
    steps_.push_back({"compact", [](Store& store) { return store.compact(); }});
  }

  const MessageRecord& last_message() const { return messages_.back(); }

 private:
  std::vector<Step>& steps_;
  std::vector<MessageRecord> messages_;
  std::uint64_t number_ = 0;
};

}  // namespace

Story::Story(int length) {
  Telling telling(steps_);
  for (int round = 0; round < length; ++round) {
    const std::string suffix = std::to_string(round);
    Writing first("first" + suffix), second("second" + suffix);
    telling.create(first);
    telling.append(first, {40, 300});
    telling.append(first, {500});
    telling.create(second);
    telling.append(second, {9000});
    telling.append(first, {500, 500, 500});
    const MessageRecord early = telling.last_message();
    telling.checkpoint(first, 1);
    telling.append(second, {300});
    telling.checkpoint(first, 3);
    telling.fork(first, "fork" + suffix, 5);
    Writing fork = first.forked("fork" + suffix);
    telling.append(fork, {700});
    telling.append(first, {});
    telling.redact(first, early);
    telling.append(first, {800});
    telling.append(second, {500, 20000});
    telling.prune(second, second.version() - 1, 1);
    telling.append(second, {100});
    telling.purge(fork);
    telling.append(first, {600});
    if (round % 2 == 1) telling.compact();
    telling.append(second, {600});
  }
  const std::shared_ptr<Store> memory = memory_store();
  contents_.push_back(contents(*memory).value());
  for (const Step& step : steps_) {
    step.run(*memory).value();
    contents_.push_back(contents(*memory).value());
  }
}

std::optional<std::size_t> Story::steps_for(const std::string& held) const {
  const auto found = std::find(contents_.begin(), contents_.end(), held);
  if (found == contents_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - contents_.begin());
}

Result<std::string> contents(Store& store) {
  std::string all;
  const auto add = [&all](std::string_view text) {
    all += std::to_string(text.size()) + ":" + std::string(text);
  };
  const auto add_number = [&all](std::uint64_t number) { all += std::to_string(number) + ","; };
  Result<CheckReport> report = check_store(store);
  if (!report) return report.error();
  if (!report->damage.empty())
    return Error{ErrorCode::corrupt,
                 report->damage.front().conversation + ": " + report->damage.front().what};
  Result<std::vector<ConversationRecord>> records = store.list({.limit = 1000});
  if (!records) return records.error();
  for (const ConversationRecord& listed : *records) {
    Result<ConversationRecord> record = store.find(listed.id);
    if (!record) return record.error();
    add(record->id);
    add(record->settings);
    add(hex(record->chain));
    for (const std::uint64_t number :
         {record->first_version, record->version, record->log_length, record->checkpoint_version})
      add_number(number);
    for (const std::string& fork : record->forks) add(fork);
    Result<std::vector<VersionRecord>> versions = store.versions(listed.id, 0, ~std::uint64_t{0});
    if (!versions) return versions.error();
    for (const VersionRecord& version : *versions) {
      add_number(version.version);
      add(version.operation);
      add(version.operation_id);
      add(version.answer);
      add(hex(version.chain));
    }
    Result<std::vector<MessageRecord>> messages = store.messages(listed.id, 0, ~std::uint64_t{0});
    if (!messages) return messages.error();
    for (const MessageRecord& message : *messages) {
      add_number(message.ordinal);
      add(message.body);
      add(message.redacted ? hex(*message.redacted) : "");
    }
    Result<std::optional<Checkpoint>> checkpoint = store.checkpoint(listed.id);
    if (!checkpoint) return checkpoint.error();
    if (*checkpoint) {
      add((*checkpoint)->root);
      for (std::uint64_t number = 1; number < (*checkpoint)->next_page; ++number) {
        const std::array<std::uint64_t, 1> one = {number};
        Result<std::vector<Page>> page = store.pages(listed.id, one);
        if (!page && page.error().code != ErrorCode::corrupt) return page.error();
        add(page ? page->front().bytes : "none");
      }
    }
    Result<std::vector<RemovalRecord>> removals = store.removals(listed.id);
    if (!removals) return removals.error();
    for (const RemovalRecord& removal : *removals) add(hex(removal.digest));
  }
  // Which are purged shows in none of these.
  for (int round = 0; round < 100; ++round) {
    Result<std::vector<RemovalRecord>> purged = store.removals("fork" + std::to_string(round));
    if (!purged && purged.error().code == ErrorCode::not_found) break;
    if (!purged) return purged.error();
    add_number(purged->size());
  }
  return hex(sha256(all));
}

Result<void> run_again(const Step& step, Store& store) {
  Result<void> done = step.run(store);
  if (!done && done.error().code == ErrorCode::conflict) return {};
  return done;
}

}  // namespace undertext::test
