// Conversation::replay(): versions of the past, carried out again.
#include <algorithm>

#include <undertext/conversation.hpp>

#include "engine/conversation_rep.hpp"
#include "history/operation_table.hpp"
#include "history/replay.hpp"

namespace undertext {

Result<std::vector<Outcome>> Conversation::replay(const std::vector<PastVersion>& versions) {
  if (std::optional<Error> refused = rep_->refuse_nested()) return std::move(*refused);
  if (versions.empty())
    return Error{ErrorCode::invalid_argument, "a list of versions must not be empty"};
  const Rep::Turn turn(*rep_);
  return rep_->change(false, [&](Rep::Work& work, bool) -> Result<std::vector<Outcome>> {
    std::vector<Outcome> outcomes;
    outcomes.reserve(versions.size());
    const auto refuse = [&](Error error) {
      error.operation_index = outcomes.size();
      return error;
    };
    for (const PastVersion& past : versions) {
      const std::string& id = past.record.operation.options.operation_id;
      if (!id.empty() && (work.answered.contains(id) || rep_->first_answer(id))) {
        return refuse(
            {ErrorCode::conflict, "there is an operation with this id already", "operationId"});
      }
      std::vector<StoredMessage> stored;
      stored.reserve(past.messages.size());
      for (const Message& message : past.messages) {
        const std::uint32_t tokens =
            std::min(rep_->context.count_tokens(message), tokens_per_message_max);
        stored.emplace_back(message, message.timestamp_ms().value_or(past.at_ms), tokens);
      }
      Result<Step> step = undertext::replay(work.history, past.record, past.at_ms, stored);
      if (!step) return refuse(std::move(step.error()));
      Outcome outcome{std::move(step->applied), {}};
      if (traits_of(past.record.operation).by_strategy) {
        outcome.by_strategy = true;
        outcome.receipt = step->history.receipt(outcome.version);
      }
      if (!id.empty()) work.answered.emplace(id, outcome);
      work.history = std::move(step->history);
      work.stats = outcome.stats;
      work.changed = true;
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  });
}

}  // namespace undertext
