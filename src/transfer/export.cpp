#include "transfer/export.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/durable.hpp"
#include "engine/lineage.hpp"
#include "history/state.hpp"
#include "store/chain.hpp"
#include "transfer/export_lines.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t read_at_once = 256;

// The records of a conversation and of what it was forked from, one after another.
class Records {
 public:
  Records(Store& store, Lineage lineage) : store_(store), lineage_(std::move(lineage)) {}

  VersionRecord version(std::uint64_t number) {
    if (versions_.empty() || number < versions_.front().version ||
        number > versions_.back().version) {
      const Lineage::Owner owner = lineage_.of_version(number);
      versions_ =
          store_.versions(owner.id, number, std::min(number + read_at_once, owner.end)).value();
      if (versions_.empty() || versions_.front().version != number) missing("version", number);
    }
    VersionRecord& found = versions_.at(number - versions_.front().version);
    if (found.version != number) missing("version", number);
    return std::move(found);
  }

  const MessageRecord& message(std::uint64_t ordinal) {
    if (messages_.empty() || ordinal < messages_.front().ordinal ||
        ordinal > messages_.back().ordinal) {
      const Lineage::Owner owner = lineage_.of_message(ordinal);
      messages_ =
          store_.messages(owner.id, ordinal, std::min(ordinal + read_at_once, owner.end)).value();
      if (messages_.empty() || messages_.front().ordinal != ordinal) missing("message", ordinal);
    }
    const MessageRecord& found = messages_.at(ordinal - messages_.front().ordinal);
    if (found.ordinal != ordinal) missing("message", ordinal);
    return found;
  }
  const std::string& oldest() const { return lineage_.oldest(); }

 private:
  [[noreturn]] static void missing(const char* what, std::uint64_t number) {
    throw Failure(Error{
        ErrorCode::corrupt,
        std::string("the ") + what + " " + std::to_string(number) + " is missing in the store"});
  }

  Store& store_;
  Lineage lineage_;
  std::vector<VersionRecord> versions_;
  std::vector<MessageRecord> messages_;
};

}  // namespace

std::optional<Error> export_conversation(Store& store, const Conversation& conversation,
                                         const ExportCalls& calls) {
  return answering_failure([&]() -> std::optional<Error> {
    const History history = conversation.history();
    const std::uint64_t head = history.version().value;
    if (history.first_version().value > 0) {
      return Error{ErrorCode::unsupported,
                   "versions below " + std::to_string(history.first_version().value) +
                       " were pruned: the history cannot be exported, the messages can"};
    }
    const ConversationRecord record = store.find(conversation.id()).value();
    Records records(store, Lineage::of(store, record).value());
    LinesDigest digest;
    const auto write = [&](const std::string& line) {
      digest.add(line);
      calls.write(line);
    };
    std::string settings = Durable::note_of(record);
    if (calls.settings) settings = calls.settings(std::move(settings));
    write(line_of(
        ExportHeader{record.created_at_ms, Durable::tokenizer_of(record), std::move(settings)}));
    std::uint64_t ordinal = 0;
    Digest chain = first_chain(records.oldest());
    for (std::uint64_t v = 1; v <= head; ++v) {
      const VersionRecord stored = records.version(v);
      const VersionInfo info = history.version_info(Version(v));
      ExportedVersion version{
          v, {operation_of(stored), stored.at_ms}, info.message_count, info.batch_index};
      std::vector<MessageRecord> stored_messages;
      for (; ordinal < stored.log_length; ++ordinal) {
        stored_messages.push_back(records.message(ordinal));
        version.past.messages.push_back(message_of(stored_messages.back()));
      }
      if (!are_redacted(stored.arguments) &&
          next_chain(chain, stored, stored_messages) != stored.chain) {
        return Error{ErrorCode::corrupt, "version " + std::to_string(v) +
                                             " is damaged: its record and messages are not what "
                                             "was stored (its chain of digests differs)"};
      }
      chain = stored.chain;
      write(line_of(version));
      if (calls.progress) calls.progress(v, head);
    }
    calls.write(line_of(ExportEnd{head, ordinal, digest_of_view(history.view()), digest.hex()}));
    return {};
  });
}

}  // namespace undertext
