// A transcript as operations. A program that compacted had several lists, one after the other; the
// conversation follows them.
#include <algorithm>
#include <optional>

#include <undertext/client.hpp>

#include "transfer/transcript.hpp"

namespace undertext {
namespace {

class Lists {
 public:
  explicit Lists(const ImportedTranscript& transcript)
      : transcript_(transcript),
        client_(client_of(transcript.format)),
        from_("imported from " + std::string(name(transcript.format))) {}

  // Without the lists before the compaction with this number.
  std::vector<Operation> take(std::size_t known) {
    // An empty list is news to a conversation that has seen others.
    if (known == 0) sent_.emplace();
    std::size_t next = 0, number = 0;
    for (const ImportedTranscript::Compaction& compaction : transcript_.compactions) {
      add_until(next, compaction.at);
      if (number >= known) send({}, from_);
      list_ = compaction.list;
      const bool went_back = !compaction.summary && compaction.at == compaction.end;
      if (number >= known)
        send(compaction.summary, (went_back ? "taken back in " : "summarised by ") +
                                     std::string(name(transcript_.format)));
      next = compaction.end;
      ++number;
    }
    add_until(next, transcript_.messages.size());
    send({}, from_);
    return std::move(operations_);
  }

 private:
  void add_until(std::size_t& next, std::size_t end) {
    while (next < end) list_.push_back(next++);
  }

  void send(std::optional<std::size_t> summary, const std::string& description) {
    if (list_ == sent_) return;
    std::vector<Message> messages;
    for (const std::size_t i : list_) messages.push_back(transcript_.messages[i]);
    op::Reconcile reconcile = client_list(client_, messages);
    const auto at = summary ? std::find(list_.begin(), list_.end(), *summary) : list_.end();
    if (at != list_.end())
      reconcile.list[static_cast<std::size_t>(at - list_.begin())].is_summary = true;
    operations_.push_back({std::move(reconcile), {.description = description}});
    sent_ = list_;
  }

  const ImportedTranscript& transcript_;
  const ClientProfile client_;
  const std::string from_;
  std::vector<std::size_t> list_;                 // places among the messages
  std::optional<std::vector<std::size_t>> sent_;  // nothing: it is not known
  std::vector<Operation> operations_;
};

}  // namespace

ClientProfile client_of(TranscriptFormat format) {
  const char* const name = format == TranscriptFormat::codex         ? "codex"
                           : format == TranscriptFormat::claude_code ? "claude_code"
                                                                     : "generic";
  return find_client(name).value();
}

std::vector<Operation> operations_of(const ImportedTranscript& transcript) {
  if (!transcript.compactions.empty()) return following_operations(transcript);
  return {{op::Append{transcript.messages},
           {.description = "imported from " + std::string(name(transcript.format))}}};
}

std::vector<Operation> following_operations(const ImportedTranscript& transcript,
                                            std::size_t known) {
  return Lists(transcript).take(known);
}

}  // namespace undertext
