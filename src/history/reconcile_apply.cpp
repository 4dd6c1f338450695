// Does what a RECONCILE decided: from the record alone, without the request.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "history/reconcile.hpp"

namespace undertext {
namespace {

Error damaged(const char* field, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), field};
}

std::vector<std::uint32_t> narrow(const std::vector<std::uint64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Only a damaged record has any.
std::optional<Error> problem_of(const Draft& draft, const op::Reconciled& d) {
  const std::uint64_t length = draft.log().size();
  const bool is_append = d.outcome == ReconcileOutcome::appended;
  if (d.outcome == ReconcileOutcome::same) return damaged("outcome", "nothing was to be done");
  if (is_append && !(d.hidden.empty() && d.shown.empty() && d.fronts.empty()))
    return damaged("outcome", "what only appends changes nothing else");
  if (!d.fronts.empty() && d.fronts.size() != d.messages.size())
    return damaged("fronts", "there is one for each message");
  for (const std::uint64_t front : d.fronts)
    if (front > length) return damaged("fronts", "there is no such message");
  std::uint64_t end = 0;
  for (const Range& range : d.hidden) {
    if (range.start < end || range.start >= range.end || range.end > draft.view().size())
      return damaged("hidden", "the view has no such stretch");
    end = range.end;
  }
  for (const std::uint64_t ordinal : d.shown)
    if (ordinal >= length || draft.view().shows(static_cast<std::uint32_t>(ordinal)))
      return damaged("shown", "there is no such hidden message");
  for (const op::Reconciled::Made& made : d.made) {
    if (made.message >= d.messages.size() || made.stands_for.empty())
      return damaged("made", "there is no such message");
    for (const std::uint64_t ordinal : made.stands_for)
      if (ordinal >= length) return damaged("made", "it stands for what is not there");
  }
  for (const op::Reconciled::Summary& summary : d.summaries) {
    if (summary.ordinal >= length || summary.stands_for.empty() ||
        draft.log().stands_for(static_cast<std::uint32_t>(summary.ordinal)))
      return damaged("summaries", "there is no such message, or it stands for others already");
    for (const std::uint64_t ordinal : summary.stands_for)
      if (ordinal >= summary.ordinal)
        return damaged("summaries", "it stands for what came after it");
  }
  for (const ClientListEntry& entry : d.left_out)
    if (entry.ordinal >= length) return damaged("leftOut", "there is no such message");
  for (const ClientListEdit& edit : d.list)
    for (const ClientListEntry& entry : edit.entries)
      if (entry.ordinal >= length + d.messages.size())
        return damaged("list", "there is no such message");
  return {};
}

// Stores the new messages, with what they stand for and where they belong.
Result<std::vector<std::uint32_t>> store(Draft& draft, const op::Reconciled& d) {
  std::unordered_map<std::uint64_t, const op::Reconciled::Made*> made;
  for (const op::Reconciled::Made& each : d.made) made[each.message] = &each;
  std::vector<std::uint32_t> ordinals;
  ordinals.reserve(d.messages.size());
  for (std::size_t k = 0; k < d.messages.size(); ++k) {
    const auto found = made.find(k);
    const op::Reconciled::Made* const one = found == made.end() ? nullptr : found->second;
    Result<std::uint32_t> stored = 0u;
    if (one && one->is_summary) {
      stored = draft.store_summary(d.messages[k], narrow(one->stands_for));
    } else if (one) {
      stored = draft.store_copy(d.messages[k], narrow(one->stands_for));
    } else {
      Result<std::vector<std::uint32_t>> plain = draft.store({&d.messages[k], 1});
      if (!plain) return plain.error();
      stored = plain->front();
    }
    if (!stored) return stored.error();
    if (!d.fronts.empty() && d.fronts[k] > 0)
      draft.put_in_front(*stored, static_cast<std::uint32_t>(d.fronts[k] - 1));
    ordinals.push_back(*stored);
  }
  return ordinals;
}

}  // namespace

std::optional<Error> apply_differences(Draft& draft, const op::Reconciled& d) {
  if (std::optional<Error> problem = problem_of(draft, d)) return problem;
  ClientState client = draft.base().client();
  if (!client.edit(d.list, draft.log().work.get()))
    return damaged("list", "the client list has no such stretch");
  client.leave_out(d.left_out);
  Result<std::vector<std::uint32_t>> coming = store(draft, d);
  if (!coming) return coming.error();
  for (const op::Reconciled::Summary& summary : d.summaries)
    draft.note_summary(static_cast<std::uint32_t>(summary.ordinal), narrow(summary.stands_for));
  if (d.outcome == ReconcileOutcome::appended) {
    draft.append(*coming);
    draft.only_appended();
  } else {
    std::vector<std::uint64_t> leaving;
    for (const Range& range : d.hidden)
      for (std::uint64_t index = range.start; index < range.end; ++index) leaving.push_back(index);
    for (const std::uint64_t ordinal : d.shown)
      coming->push_back(static_cast<std::uint32_t>(ordinal));
    if (!coming->empty() || !leaving.empty()) draft.bring_back(std::move(*coming), leaving);
    draft.open_batch();
  }
  // What was dropped before keeps the identities that it was known by: nearly all are made alike.
  if (d.volatile_key != 0) client.volatile_key = d.volatile_key;
  client.log_length = static_cast<std::uint32_t>(draft.log().size());
  draft.set_client(std::move(client));
  return {};
}

}  // namespace undertext
