// A transcript that grew since it was imported, as operations on the conversation that has its
// beginning.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/answering_failure.hpp"
#include "history/log.hpp"
#include "history/ordered.hpp"
#include "history/state.hpp"
#include "message/redacted.hpp"
#include "store/chain.hpp"
#include "transfer/transcript.hpp"

namespace undertext {
namespace {

// The messages of a transcript in the log of a conversation.
class Known {
 public:
  Known(const History& history, const ImportedTranscript& transcript, const VolatileParts& parts)
      : parts_(parts) {
    for (const Message& message : transcript.messages) {
      identities_.insert(identity(message, parts));
      if (std::optional<std::string> id = message.id()) ids_.insert(*std::move(id));
    }
    std::uint64_t ordinal = 0;
    for (const Message& message : history.log()) {
      if (message.is_redacted()) redacted_.emplace(redacted_sha256(message), ordinal);
      logged_.insert(identity(message, parts));
      if (std::optional<std::string> id = message.id()) logged_ids_.insert(*std::move(id));
      ++ordinal;
    }
    left_ = logged_;
    auto compaction = transcript.compactions.begin();
    for (const Message& message : transcript.messages) {
      while (compaction != transcript.compactions.end() && compaction->end <= count_) ++compaction;
      // What the program kept, it may write once more for its new list.
      const bool may_be_kept =
          compaction != transcript.compactions.end() && compaction->at <= count_;
      if (!take(message) && !(may_be_kept && logged_.contains(identity(message, parts)))) break;
      ++count_;
    }
  }

  // How many of the transcript's first messages are in the log.
  std::size_t count() const { return count_; }
  bool is_of_transcript(const Message& message) const {
    if (message.is_redacted() || identities_.contains(identity(message, parts_))) return true;
    const std::optional<std::string> id = message.id();
    return id && ids_.contains(*id);
  }
  // What is left of a message that was redacted here and still stands in the file.
  std::optional<std::uint64_t> redacted(const Message& message) const {
    if (redacted_.empty()) return std::nullopt;
    const auto found = redacted_.find(hex(sha256(message.json())));
    return found == redacted_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  // An answer that was written in part when it was read has more blocks now, under the same id.
  bool take(const Message& message) {
    if (const auto found = left_.find(identity(message, parts_)); found != left_.end()) {
      left_.erase(found);
      return true;
    }
    const std::optional<std::string> id = message.id();
    return (id && logged_ids_.contains(*id)) || redacted(message);
  }

  const VolatileParts& parts_;
  std::set<Identity> identities_;
  std::set<std::string> ids_, logged_ids_;
  std::multiset<Identity> logged_, left_;  // all, and those that were not taken yet
  std::map<std::string, std::uint64_t> redacted_;
  std::size_t count_ = 0;
};

// What the program's list would hide though the program never had it, in the log's order.
std::vector<std::uint32_t> not_of_program(const History& before, const History& after,
                                          const Known& known) {
  const Log& log = before.rep().log;
  std::set<std::uint32_t> kept, others;
  for (const Ordinal ordinal : after.client_list())
    kept.insert(static_cast<std::uint32_t>(ordinal.value));
  const auto add = [&](std::uint64_t number) {
    const auto ordinal = static_cast<std::uint32_t>(number);
    if (!kept.contains(ordinal) && !log.stands_for(ordinal) &&
        !known.is_of_transcript(log.message(ordinal)))
      others.insert(ordinal);
  };
  for (const Ordinal ordinal : before.client_list()) add(ordinal.value);
  const View shown = before.view();
  for (std::uint64_t i = 0; i < shown.size(); ++i)
    if (!after.view().index_of(shown.ordinal(i))) add(shown.ordinal(i).value);
  std::vector<std::uint32_t> sorted(others.begin(), others.end());
  log.order.sort(sorted);
  return sorted;
}

// The program's list, with what stands beside it in its places.
op::Reconcile with_others(const History& before, op::Reconcile request, const Known& known) {
  for (op::Reconcile::Sent& sent : request.list) sent.ordinal = known.redacted(sent.message);
  const History after = before.apply({request}, {}).value().history;
  const std::vector<std::uint32_t> others = not_of_program(before, after, known);
  if (others.empty()) return request;
  const Log& log = before.rep().log;
  const std::vector<Ordinal> placed = after.client_list();
  std::vector<op::Reconcile::Sent> list;
  std::size_t next = others.size();  // of those that stand behind what is still to be placed
  // From the end: what is new stands before the message that it comes before, and behind all
  // others.
  const auto add_others_behind = [&](std::optional<std::uint32_t> ordinal) {
    for (; next > 0 && (!ordinal || log.order.before(*ordinal, others[next - 1])); --next) {
      const Message message = log.message(others[next - 1]);
      list.push_back(
          {message, identity(message, request.volatile_parts), false, others[next - 1], {}});
    }
  };
  for (std::size_t place = request.list.size(); place-- > 0;) {
    const std::uint64_t ordinal = placed[place].value;
    if (ordinal < log.size()) add_others_behind(static_cast<std::uint32_t>(ordinal));
    list.push_back(std::move(request.list[place]));
  }
  add_others_behind(std::nullopt);
  std::reverse(list.begin(), list.end());
  request.list = std::move(list);
  return request;
}

// Those of the operations that change something.
std::vector<Operation> played(const History& history, std::vector<Operation> operations,
                              const Known& known) {
  std::vector<Operation> all;
  History head = history;
  for (Operation& operation : operations) {
    operation.what = with_others(head, std::get<op::Reconcile>(std::move(operation.what)), known);
    if (all.empty()) operation.options.expected_version = head.version();
    Step step = head.apply(operation, {}).value();
    if (step.history.version() == head.version()) continue;
    head = std::move(step.history);
    all.push_back(std::move(operation));
  }
  return all;
}

}  // namespace

Result<GrownTranscript> grown_operations(const History& stored,
                                         const ImportedTranscript& transcript) {
  return answering_failure([&]() -> Result<GrownTranscript> {
    const History history = with_order(stored);
    std::vector<Operation> newest = following_operations(transcript, transcript.compactions.size());
    const VolatileParts parts = client_of(transcript.format).volatile_parts;
    const Known known(history, transcript, parts);
    std::size_t compactions = 0;
    for (const ImportedTranscript::Compaction& compaction : transcript.compactions) {
      // Where the program only went back, nothing but the message behind tells that this was seen.
      if (known.count() < compaction.end + (compaction.summary ? 0 : 1)) break;
      ++compactions;
    }
    GrownTranscript grown{known.count(), played(history, std::move(newest), known)};
    if (!grown.operations.empty() && compactions < transcript.compactions.size())
      grown.operations = played(history, following_operations(transcript, compactions), known);
    return grown;
  });
}

}  // namespace undertext
